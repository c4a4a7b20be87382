"""The local tool host: session groups in this process, with snapshot, fork and restore (Weft 3.2.1, 3.3).

A group holds one private session per environment. Sessions at rest are images, which snapshots and forks share;
a session is opened from its image when it is first called. The virtual clock is the group's: a call that changes
something in one session moves it for all.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio

from weft.errors import InputError, SessionClosed, UnknownSnapshot
from weft.hosts.naming import offered_names
from weft.ports import OfferedTool, SessionGroup
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.state import Changeset, Files, InitialState, Rows
from weft.records.trace import LedgerEntry, Outcome, ToolResult
from weft.runtime.clock import latest
from weft.runtime.session import Engine, EnvironmentSession, Program
from weft.runtime.state import Image
from weft.runtime.values import shown

K = TypeVar("K")
V = TypeVar("V")

MAX_PROGRAMS = 256
"""Environments that a host keeps ready to run; the longest unused goes first."""


@dataclass(frozen=True)
class LocalTool:
    """An offered tool; see :class:`weft.ports.OfferedTool`."""

    name: str
    server: str
    spec: ToolSpec


@dataclass(frozen=True)
class Snapshot:
    """A group at one moment; immutable."""

    images: Mapping[str, Image]
    clock: str
    ledger: tuple[LedgerEntry, ...]


class LocalHost:
    """Runs environments in this process; implements :class:`weft.ports.ToolHost`.

    Args:
        engine: the rendered backend, or the interpreter of contracts.
    """

    def __init__(self, *, engine: Engine = "backend") -> None:
        self._engine = engine
        self._programs: OrderedDict[str, Program] = OrderedDict()
        self._hashes: OrderedDict[int, tuple[Environment, str]] = OrderedDict()
        self._opened = 0

    async def open(
        self,
        environments: Sequence[Environment],
        *,
        seed: int,
        states: Mapping[str, InitialState] | None = None,
    ) -> SessionGroup:
        """Open a session group; see :meth:`weft.ports.ToolHost.open`."""
        names = [environment.name for environment in environments]
        if not names or len(set(names)) != len(names):
            raise InputError(f"a session group needs environments with names of their own; got {names}")
        given = dict(states or {})
        for name in given:
            if name not in names:
                raise InputError(f"a state is given for {name!r}, which is not opened; opened are {names}")
        slots: dict[str, _Slot] = {}
        clocks = []
        for environment in environments:
            program = self._program(environment)
            initial = given.get(environment.name, program.environment.seed)
            session = EnvironmentSession(environment, initial, seed, program=program)
            slots[environment.name] = _Slot(program, session, None)
            clocks.append(session.clock)
        self._opened += 1
        return LocalGroup(f"g{self._opened}", slots, latest(clocks), ledger=(), snapshots={})

    def _program(self, environment: Environment) -> Program:
        key = self._hash(environment)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = Program(environment, engine=self._engine)
        return _most_recent(self._programs, key, program)

    def _hash(self, environment: Environment) -> str:
        """The content hash, kept by identity: the record is held here, so an id in use never names another one."""
        known = self._hashes.get(id(environment))
        if known is None:
            known = self._hashes[id(environment)] = (environment, environment.hash)
        return _most_recent(self._hashes, id(environment), known)[1]


def _most_recent(kept: OrderedDict[K, V], key: K, value: V) -> V:
    kept.move_to_end(key)
    while len(kept) > MAX_PROGRAMS:
        kept.popitem(last=False)
    return value


class _Slot:
    """One environment's session in a group: open, or at rest as an image, or both while they agree."""

    def __init__(self, program: Program, session: EnvironmentSession | None, image: Image | None) -> None:
        self.program = program
        self._session = session
        self._image = image

    def session(self) -> EnvironmentSession:
        if self._session is None:
            assert self._image is not None
            self._session = EnvironmentSession.from_image(self.program.environment, self._image, program=self.program)
        return self._session

    def image(self) -> Image:
        if self._image is None:
            self._image = self.session().image()
        return self._image

    def changed(self) -> None:
        """The session moved on from the image."""
        self._image = None

    def rest(self, image: Image) -> None:
        """Go to an image; the open session stays if that is where it is."""
        if self._image is not image:
            self.close()
            self._image = image

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class LocalGroup:
    """The sessions of one rollout; implements :class:`weft.ports.SessionGroup`. Made by :meth:`LocalHost.open`.

    Calls and control operations of a group run one after the other, whoever makes them.
    """

    def __init__(
        self,
        identity: str,
        slots: Mapping[str, _Slot],
        clock: str,
        *,
        ledger: Sequence[LedgerEntry],
        snapshots: Mapping[str, Snapshot],
        tools: Sequence[LocalTool] | None = None,
    ) -> None:
        self._id = identity
        self._slots = dict(slots)
        self._clock = clock
        self._ledger = list(ledger)
        self._snapshots = dict(snapshots)
        self._branch = 0
        self._taken = 0
        self._forked = 0
        self._closed = False
        self._lock = anyio.Lock(fast_acquire=True)
        self._tools = _offered(self._slots) if tools is None else tools

    @property
    def id(self) -> str:
        """Identity of the group: ``g1``, its forks ``g1.1``, ``g1.2`` ..."""
        return self._id

    @property
    def branch(self) -> int:
        """The line of state; rises with each restore."""
        return self._branch

    def tools(self) -> Sequence[OfferedTool]:
        """The offered tools, in the order of environments and declarations."""
        return self._tools

    async def call(self, server: str, tool: str, arguments: Any, *, call_id: str = "") -> ToolResult:
        """Call a tool; see :meth:`weft.ports.SessionGroup.call`. An unknown environment or tool is an ERROR."""
        async with self._lock:
            self._check_open()
            recorded = _recorded(arguments)
            result, changes = self._run(server, tool, arguments)
            self._ledger.append(
                LedgerEntry(
                    index=len(self._ledger),
                    call_id=call_id,
                    server=server,
                    tool=tool,
                    arguments=recorded,
                    outcome=result.outcome,
                    result=_recorded(result.value),
                    changes=changes,
                )
            )
            return result

    def _run(self, server: str, tool: str, arguments: Any) -> tuple[ToolResult, Changeset]:
        slot = self._slots.get(server)
        if slot is None:
            error = {
                "code": "unknown_tool",
                "message": f"no environment {shown(server)} in this session",
                "details": {"servers": list(self._slots)},
            }
            return ToolResult(outcome=Outcome.ERROR, value={"error": error}), Changeset()
        session = slot.session()
        if session.clock != self._clock:
            session.set_clock(self._clock)
        result, changes = session.call(tool, arguments)
        if not changes.empty:
            slot.changed()
            self._clock = session.clock
        return result, changes

    async def snapshot(self) -> str:
        """Take a snapshot of every session and return its name."""
        async with self._lock:
            self._check_open()
            self._taken += 1
            name = f"{self._id}/s{self._taken}"
            images = {server: slot.image() for server, slot in self._slots.items()}
            self._snapshots[name] = Snapshot(images, self._clock, tuple(self._ledger))
            return name

    async def restore(self, snapshot: str) -> None:
        """Go back to a snapshot of this group or of one that it was forked from."""
        async with self._lock:
            self._check_open()
            there = self._snapshot(snapshot)
            for server, slot in self._slots.items():
                slot.rest(there.images[server])
            self._clock = there.clock
            self._ledger = list(there.ledger)
            self._branch += 1

    async def fork(self, snapshot: str, count: int) -> list[SessionGroup]:
        """Return ``count`` new groups that start from the snapshot.

        Raises:
            UnknownSnapshot: no such snapshot.
            InputError: ``count`` is negative.
        """
        async with self._lock:
            self._check_open()
            there = self._snapshot(snapshot)
            if count < 0:
                raise InputError(f"cannot fork into {count} groups; use 0 or more")
            groups: list[SessionGroup] = []
            for _ in range(count):
                self._forked += 1
                slots = {
                    server: _Slot(slot.program, None, there.images[server]) for server, slot in self._slots.items()
                }
                identity = f"{self._id}.{self._forked}"
                groups.append(
                    LocalGroup(
                        identity, slots, there.clock, ledger=there.ledger, snapshots=self._snapshots, tools=self._tools
                    )
                )
            return groups

    async def ledger(self, since: int = 0) -> list[LedgerEntry]:
        """The ledger of this branch from entry ``since``."""
        async with self._lock:
            self._check_open()
            if since < 0:
                raise InputError(f"the ledger has no entry {since}; count from 0")
            return self._ledger[since:]

    async def rows(self, server: str) -> Rows:
        """All rows of an environment now, in canonical form."""
        async with self._lock:
            return self._slot(server).session().rows()

    async def files(self, server: str) -> Files:
        """All workspace files of an environment now, by path."""
        async with self._lock:
            return self._slot(server).session().files()

    async def close(self) -> None:
        """Drop the group's state. Idempotent; forks live on."""
        async with self._lock:
            self._closed = True
            for slot in self._slots.values():
                slot.close()
            self._slots.clear()
            self._snapshots.clear()
            self._ledger.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed(f"session group {self._id} is closed; open or fork another one")

    def _slot(self, server: str) -> _Slot:
        self._check_open()
        if server not in self._slots:
            raise InputError(f"no environment {server!r} in group {self._id}; it has {list(self._slots)}")
        return self._slots[server]

    def _snapshot(self, name: str) -> Snapshot:
        if name not in self._snapshots:
            raise UnknownSnapshot(f"group {self._id} knows no snapshot {name!r}; it has {list(self._snapshots)}")
        return self._snapshots[name]


def _offered(slots: Mapping[str, _Slot]) -> tuple[LocalTool, ...]:
    served = [
        (server, spec)
        for server, slot in slots.items()
        for spec in slot.program.environment.spec.tools
        if spec.name in slot.program.tools
    ]
    names = offered_names((server, spec.name) for server, spec in served)
    return tuple(LocalTool(names[server, spec.name], server, spec) for server, spec in served)


def _recorded(value: Any) -> JSON:
    """A copy for the ledger. What is no JSON text (NaN, half a character, a Python object) is kept as its spelling."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {"not_json": shown(value, 400)}
