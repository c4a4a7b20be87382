"""Doubles of the ports, for the tests of Weft and of what is built on it. They are themselves tested.

:class:`FaultyHost` breaks a real host at planned calls; :class:`InMemoryToolHost` runs plain Python functions;
:class:`ScriptedModel` answers from a list.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weft.errors import HostError, InputError, ModelError, SessionClosed, ToolRejection, UnknownSnapshot
from weft.ports import Completion, OfferedTool, SessionGroup, ToolHost
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.state import Changeset, Files, InitialState, RowChange, Rows
from weft.records.trace import LedgerEntry, Message, Outcome, TokenSpan, ToolResult

Operation = Literal["open", "call", "snapshot", "restore", "fork"]
FaultKind = Literal["host_error", "lost_answer", "infrastructure", "corrupt", "drop_write"]


@dataclass(frozen=True)
class Fault:
    """One planned fault.

    Attributes:
        kind: ``host_error`` raises before anything is done; ``lost_answer`` does it, then raises; ``infrastructure``
            returns an INFRASTRUCTURE result and does nothing; ``corrupt`` changes the result's first plain value;
            ``drop_write`` reports the real result but undoes the effect. The last three are for calls only.
        at: which matching operation breaks, counted from 0 over everything that goes through the host.
        times: how many matching operations in a row break.
        operation: what breaks.
        server: only calls of this environment match, if given.
        tool: only calls of this tool match, if given.
    """

    kind: FaultKind
    at: int = 0
    times: int = 1
    operation: Operation = "call"
    server: str = ""
    tool: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("host_error", "lost_answer") and self.operation != "call":
            raise InputError(f"a {self.kind} fault breaks calls, not {self.operation}")

    def matches(self, operation: Operation, server: str, tool: str) -> bool:
        """True if an operation counts for this fault."""
        return operation == self.operation and self.server in ("", server) and self.tool in ("", tool)


@dataclass
class _Plan:
    faults: tuple[Fault, ...]
    seen: list[int] = field(default_factory=list)

    def next(self, operation: Operation, server: str = "", tool: str = "") -> FaultKind | None:
        """Count an operation; the kind of the first fault that breaks it."""
        self.seen = self.seen or [0] * len(self.faults)
        kind: FaultKind | None = None
        for index, fault in enumerate(self.faults):
            if fault.matches(operation, server, tool):
                if fault.at <= self.seen[index] < fault.at + fault.times:
                    kind = kind or fault.kind
                self.seen[index] += 1
        return kind


class FaultyHost:
    """Wraps any tool host and breaks it by a plan; deterministic where calls come in a fixed order.

    Args:
        host: the host to break.
        plan: the faults.
    """

    def __init__(self, host: ToolHost, plan: Sequence[Fault]) -> None:
        self._host = host
        self._plan = _Plan(tuple(plan))

    async def open(
        self,
        environments: Sequence[Environment],
        *,
        seed: int,
        states: Mapping[str, InitialState] | None = None,
    ) -> SessionGroup:
        """Open a group of the wrapped host."""
        kind = self._plan.next("open")
        if kind == "host_error":
            raise _planned("open")
        group = await self._host.open(environments, seed=seed, states=states)
        if kind == "lost_answer":
            await group.close()
            raise _planned("open")
        return FaultyGroup(group, self._plan, (), {})


class FaultyGroup:
    """A group of a :class:`FaultyHost`. It keeps the ledger itself, because a dropped write cuts the inner one."""

    def __init__(
        self,
        group: SessionGroup,
        plan: _Plan,
        ledger: Sequence[LedgerEntry],
        kept: Mapping[str, tuple[LedgerEntry, ...]],
    ) -> None:
        self._group = group
        self._plan = plan
        self._ledger = list(ledger)
        self._kept = dict(kept)
        self._branch = 0

    @property
    def id(self) -> str:
        """Identity of the wrapped group."""
        return self._group.id

    @property
    def branch(self) -> int:
        """The line of state as the caller made it; what a dropped write restores does not count."""
        return self._branch

    def tools(self) -> Sequence[OfferedTool]:
        """The tools of the wrapped group."""
        return self._group.tools()

    async def call(self, server: str, tool: str, arguments: Any, *, call_id: str = "") -> ToolResult:
        """Call a tool, or break as planned."""
        kind = self._plan.next("call", server, tool)
        if kind == "host_error":
            raise _planned("call")
        if kind == "infrastructure":
            body = {"error": {"code": "infrastructure", "message": "planned fault of the tool host; try again"}}
            result = ToolResult(outcome=Outcome.INFRASTRUCTURE, value=body)
            self._note(call_id, server, tool, arguments, result, Changeset())
            return result
        before = await self._group.snapshot() if kind == "drop_write" else ""
        known = len(await self._group.ledger())
        result = await self._group.call(server, tool, arguments, call_id=call_id)
        changes = (await self._group.ledger(known))[-1].changes
        if kind == "drop_write":
            await self._group.restore(before)
            changes = Changeset()
        if kind == "corrupt":
            result = ToolResult(outcome=result.outcome, value=corrupted(result.value))
        self._note(call_id, server, tool, arguments, result, changes)
        if kind == "lost_answer":
            raise _planned("call")
        return result

    def _note(
        self, call_id: str, server: str, tool: str, arguments: Any, result: ToolResult, changes: Changeset
    ) -> None:
        self._ledger.append(
            LedgerEntry(
                index=len(self._ledger),
                call_id=call_id,
                server=server,
                tool=tool,
                arguments=copy.deepcopy(arguments),
                outcome=result.outcome,
                result=copy.deepcopy(result.value),
                changes=changes,
            )
        )

    async def snapshot(self) -> str:
        """Take a snapshot, or break as planned."""
        kind = self._break_before("snapshot")
        name = await self._group.snapshot()
        self._kept[name] = tuple(self._ledger)
        self._break_after("snapshot", kind)
        return name

    async def restore(self, snapshot: str) -> None:
        """Restore, or break as planned."""
        kind = self._break_before("restore")
        await self._group.restore(snapshot)
        self._ledger = list(self._kept[snapshot])
        self._branch += 1
        self._break_after("restore", kind)

    async def fork(self, snapshot: str, count: int) -> list[SessionGroup]:
        """Fork, or break as planned."""
        kind = self._break_before("fork")
        groups = await self._group.fork(snapshot, count)
        if kind is not None:
            for group in groups:
                await group.close()
        self._break_after("fork", kind)
        return [FaultyGroup(group, self._plan, self._kept[snapshot], self._kept) for group in groups]

    def _break_before(self, operation: Operation) -> FaultKind | None:
        kind = self._plan.next(operation)
        if kind == "host_error":
            raise _planned(operation)
        return kind

    def _break_after(self, operation: Operation, kind: FaultKind | None) -> None:
        if kind is not None:
            raise _planned(operation)

    async def ledger(self, since: int = 0) -> list[LedgerEntry]:
        """The ledger with what was returned, faults included."""
        await self._group.ledger()  # a closed group says so
        return self._ledger[since:]

    async def rows(self, server: str) -> Rows:
        """The rows as they really are."""
        return await self._group.rows(server)

    async def files(self, server: str) -> Files:
        """The files as they really are."""
        return await self._group.files(server)

    async def close(self) -> None:
        """Close the wrapped group."""
        await self._group.close()


def corrupted(value: JSON) -> JSON:
    """Return a copy of a JSON value whose first plain value (keys in order) is another one of the same type."""
    found, changed = _corrupt(value)
    return changed if found else {"corrupted": changed}


def _corrupt(value: JSON) -> tuple[bool, JSON]:
    if isinstance(value, bool):
        return True, not value
    if isinstance(value, (int, float)):
        return True, value + 1
    if isinstance(value, str):
        return True, value + "?"
    if isinstance(value, (dict, list)):
        items = sorted(value.items()) if isinstance(value, dict) else list(enumerate(value))
        for key, item in items:
            found, changed = _corrupt(item)
            if found:
                other = copy.deepcopy(value)
                other[key] = changed
                return True, other
    return False, copy.deepcopy(value)


def _planned(operation: str) -> HostError:
    return HostError(f"planned fault of the tool host at {operation}; try again")


PythonTool = Callable[[Rows, dict[str, Any]], JSON]
"""A tool as a function of the rows, which it may change, and the arguments. It may raise ToolRejection."""


@dataclass(frozen=True)
class InMemoryTool:
    """An offered tool of :class:`InMemoryToolHost`."""

    name: str
    server: str
    spec: ToolSpec


class InMemoryToolHost:
    """A tool host whose tools are Python functions over rows; arguments are not checked and the clock stands still.

    Args:
        functions: by environment and tool name. Rows are told apart by their table's key, or by ``id`` where the
            environment's schema does not have the table.
    """

    def __init__(self, functions: Mapping[tuple[str, str], PythonTool]) -> None:
        self._functions = dict(functions)
        self._opened = 0

    async def open(
        self,
        environments: Sequence[Environment],
        *,
        seed: int,
        states: Mapping[str, InitialState] | None = None,
    ) -> SessionGroup:
        """Open a group; the seed is not used."""
        self._opened += 1
        tools = tuple(InMemoryTool(spec.name, each.name, spec) for each in environments for spec in each.spec.tools)
        initial = {each.name: (states or {}).get(each.name, each.seed) for each in environments}
        now = _Moment({name: (dict(state.rows), dict(state.files)) for name, state in initial.items()}, [])
        keys = {(each.name, table.name): table.key for each in environments for table in each.contracts.schema_.tables}
        return InMemoryGroup(f"m{self._opened}", self._functions, tools, keys, copy.deepcopy(now), {})


@dataclass
class _Moment:
    states: dict[str, tuple[Rows, Files]]
    ledger: list[LedgerEntry]


class InMemoryGroup:
    """A group of :class:`InMemoryToolHost`; every moment is a deep copy."""

    def __init__(
        self,
        identity: str,
        functions: Mapping[tuple[str, str], PythonTool],
        tools: Sequence[InMemoryTool],
        keys: Mapping[tuple[str, str], tuple[str, ...]],
        now: _Moment,
        snapshots: Mapping[str, _Moment],
    ) -> None:
        self._id = identity
        self._functions = functions
        self._tools = tools
        self._keys = keys
        self._now = now
        self._snapshots = dict(snapshots)
        self._branch = 0
        self._closed = False

    @property
    def id(self) -> str:
        """Identity of the group."""
        return self._id

    @property
    def branch(self) -> int:
        """The line of state; rises with each restore."""
        return self._branch

    def tools(self) -> Sequence[OfferedTool]:
        """The declared tools under their own names."""
        return self._tools

    async def call(self, server: str, tool: str, arguments: Any, *, call_id: str = "") -> ToolResult:
        """Run the function on a copy of the rows, which is kept if it returns."""
        now = self._open()
        function = self._functions.get((server, tool))
        changes = Changeset()
        if function is None or server not in now.states:
            error = {"code": "unknown_tool", "message": f"no tool {tool!r} in {server!r}"}
            result = ToolResult(outcome=Outcome.ERROR, value={"error": error})
        else:
            rows, files = now.states[server]
            after = copy.deepcopy(rows)
            try:
                result = ToolResult(outcome=Outcome.OK, value=function(after, copy.deepcopy(arguments or {})))
            except ToolRejection as rejection:
                error = {"code": rejection.code, "message": str(rejection)}
                result = ToolResult(outcome=Outcome.ERROR, value={"error": error})
            except Exception as failure:  # noqa: BLE001 - the edge between a tool and its caller
                error = {"code": "fault", "message": f"tool {tool} failed: {type(failure).__name__}"}
                result = ToolResult(outcome=Outcome.FAULT, value={"error": error})
            else:
                changes = Changeset(rows=self._changed_rows(server, rows, after))
                now.states[server] = (after, files)
        entry = LedgerEntry(
            index=len(now.ledger), call_id=call_id, server=server, tool=tool, arguments=copy.deepcopy(arguments),
            outcome=result.outcome, result=copy.deepcopy(result.value), changes=changes,
        )  # fmt: skip
        now.ledger.append(entry)
        return result

    async def snapshot(self) -> str:
        """Keep a copy of everything."""
        name = f"{self._id}/s{len(self._snapshots) + 1}"
        self._snapshots[name] = copy.deepcopy(self._open())
        return name

    async def restore(self, snapshot: str) -> None:
        """Go back to a copy."""
        self._open()
        self._now = copy.deepcopy(self._at(snapshot))
        self._branch += 1

    async def fork(self, snapshot: str, count: int) -> list[SessionGroup]:
        """Return groups that each start from a copy."""
        self._open()
        there = self._at(snapshot)
        return [
            InMemoryGroup(
                f"{snapshot}.{number}",
                self._functions,
                self._tools,
                self._keys,
                copy.deepcopy(there),
                self._snapshots,
            )
            for number in range(1, count + 1)
        ]

    async def ledger(self, since: int = 0) -> list[LedgerEntry]:
        """The ledger from entry ``since``."""
        return self._open().ledger[since:]

    async def rows(self, server: str) -> Rows:
        """A copy of the rows now."""
        return copy.deepcopy(self._open().states[server][0])

    async def files(self, server: str) -> Files:
        """A copy of the files now; no tool of this host changes them."""
        return copy.deepcopy(self._open().states[server][1])

    async def close(self) -> None:
        """Refuse further calls. Idempotent."""
        self._closed = True

    def _open(self) -> _Moment:
        if self._closed:
            raise SessionClosed(f"session group {self._id} is closed; open or fork another one")
        return self._now

    def _changed_rows(self, server: str, before: Rows, after: Rows) -> tuple[RowChange, ...]:
        found = []
        for table in sorted({*before, *after}):
            names = self._keys.get((server, table), ("id",))
            old = {tuple(row[name] for name in names): row for row in before.get(table, [])}
            new = {tuple(row[name] for name in names): row for row in after.get(table, [])}
            for key in sorted({**old, **new}, key=lambda key: [(isinstance(part, str), part) for part in key]):
                was, now = old.get(key), copy.deepcopy(new.get(key))
                if was != now:
                    op: Literal["insert", "update", "delete"] = (
                        "insert" if was is None else "delete" if now is None else "update"
                    )
                    named = dict(zip(names, key, strict=True))
                    found.append(RowChange(server=server, table=table, key=named, op=op, before=was, after=now))
        return tuple(found)

    def _at(self, snapshot: str) -> _Moment:
        if snapshot not in self._snapshots:
            raise UnknownSnapshot(f"group {self._id} knows no snapshot {snapshot!r}")
        return self._snapshots[snapshot]


@dataclass(frozen=True)
class ScriptedCompletion:
    """An answer of :class:`ScriptedModel`; see :class:`weft.ports.Completion`."""

    message: Message
    tokens: TokenSpan | None = None
    truncated: bool = False


@dataclass(frozen=True)
class Request:
    """What a model was asked."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...]
    seed: int
    temperature: float


class ScriptedModel:
    """A chat model that gives prepared answers in order; implements :class:`weft.ports.ModelClient`.

    Args:
        answers: messages, whole completions, or errors to raise.
        name: for records.

    Attributes:
        requests: what was asked, in order.
    """

    def __init__(self, answers: Sequence[Message | Completion | Exception], *, name: str = "scripted:answers") -> None:
        self._answers = list(answers)
        self._name = name
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """Name for records."""
        return self._name

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> Completion:
        """Return the next answer.

        Raises:
            ModelError: there are no more answers.
        """
        number = len(self.requests)
        self.requests.append(Request(tuple(messages), copy.deepcopy(tuple(tools)), seed, temperature))
        if number >= len(self._answers):
            raise ModelError(f"{self._name} has {len(self._answers)} answers and was asked for one more")
        answer = self._answers[number]
        if isinstance(answer, Exception):
            raise answer
        return ScriptedCompletion(answer) if isinstance(answer, Message) else answer
