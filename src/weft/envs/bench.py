"""The bench: runs calls of one environment on equal fresh states and remembers what each gave (Weft 3.1.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import FormatError
from weft.records.codec import canonical
from weft.records.environment import Environment
from weft.records.state import Changeset, Files, InitialState, Rows
from weft.records.trace import Outcome
from weft.runtime.session import EnvironmentSession, Program

SESSION_SEED = 20260302
"""Seed of the generated ids while validating; any fixed one does."""


@dataclass(frozen=True)
class Observation:
    """What one call gave.

    Attributes:
        outcome: how it ended.
        value: its result or error object.
        changes: rows and files that it changed.
    """

    outcome: Outcome
    value: Any
    changes: Changeset

    @property
    def ok(self) -> bool:
        """True if the call succeeded."""
        return self.outcome is Outcome.OK

    @property
    def code(self) -> str:
        """The error code, or "" for a success."""
        error = self.value.get("error") if isinstance(self.value, dict) and not self.ok else None
        return str(error.get("code", "")) if isinstance(error, dict) else ""

    @property
    def message(self) -> str:
        """The error message, or "" for a success."""
        error = self.value.get("error") if isinstance(self.value, dict) and not self.ok else None
        return str(error.get("message", "")) if isinstance(error, dict) else ""


@dataclass(frozen=True)
class Ending:
    """Where a sequence of calls led: rows, files and clock."""

    rows: Rows
    files: Files
    clock: str


class Bench:
    """Calls on equal fresh states of one environment.

    Args:
        environment: the draft as an environment; it needs no certificate.
        program: the environment made ready to run, by whatever engine.
        initial: what to start from; the environment's own seed state by default.

    Raises:
        InputError: the initial rows do not fit the schema.
    """

    def __init__(self, environment: Environment, program: Program, initial: InitialState | None = None) -> None:
        self.environment, self.program = environment, program
        self._initial = environment.seed if initial is None else initial
        self._session = self._fresh()
        self._image = self._session.image()
        self._seen: dict[bytes, Observation] = {}
        self._by_tool: dict[str, list[tuple[Any, Observation]]] = {}
        self.calls = 0

    def _fresh(self) -> EnvironmentSession:
        return EnvironmentSession(self.environment, self._initial, SESSION_SEED, program=self.program)

    def _reload(self) -> None:
        self._session.close()
        self._session = EnvironmentSession.from_image(self.environment, self._image, program=self.program)

    def _call(self, session: EnvironmentSession, tool: str, arguments: Any) -> Observation:
        self.calls += 1
        result, changes = session.call(tool, arguments)
        return Observation(result.outcome, result.value, changes)

    def run(self, tool: str, arguments: Any) -> Observation:
        """Return what the call gives on the initial state; the same call is run once."""
        try:
            key = canonical([tool, arguments])
        except FormatError:
            key = b""
        if key and key in self._seen:
            return self._seen[key]
        seen = self._call(self._session, tool, arguments)
        if not seen.changes.empty:
            self._reload()
        if key:
            self._seen[key] = seen
        self._by_tool.setdefault(tool, []).append((arguments, seen))
        return seen

    def again(self, tool: str, arguments: Any) -> Observation:
        """Return what a call gives when it is really run once more on the initial state."""
        seen = self._call(self._session, tool, arguments)
        if not seen.changes.empty:
            self._reload()
        return seen

    def observed(self, tool: str) -> list[tuple[Any, Observation]]:
        """Return every call of a tool that was run on the initial state, in order."""
        return self._by_tool.get(tool, [])

    def after(self, first: tuple[str, Any], then: Sequence[tuple[str, Any]]) -> list[Observation]:
        """Return what the calls in ``then`` give after ``first`` on the initial state."""
        try:
            self._call(self._session, *first)
            return [self._call(self._session, *call) for call in then]
        finally:
            self._reload()

    def sequence(self, calls: Sequence[tuple[str, Any]]) -> tuple[list[Observation], Ending]:
        """Return what the calls give one after the other in a session of their own, and where they lead."""
        session = self._fresh()
        seen = [self._call(session, *call) for call in calls]
        ending = Ending(session.rows(), session.files(), session.clock)
        session.close()
        return seen, ending

    def close(self) -> None:
        """Free the session's memory."""
        self._session.close()
