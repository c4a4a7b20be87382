"""Looking before proposing: an author may call tools on its own session to see what they show.

What it sees decides which fields a task can rest on. It proves nothing; certification runs every task again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.agents.reference import Unresolved, objects, resolve
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.state import Changeset, Column, ColumnRole, InitialState, Row, Rows, Table
from weft.records.task import ReferenceStep
from weft.records.trace import Outcome
from weft.runtime.session import EnvironmentSession, Program
from weft.runtime.values import json_equal


@dataclass(slots=True)
class Rehearsal:
    """What came of trying a draft's calls.

    Attributes:
        ok: every call ended well.
        results: by step id.
        changes: of each call, in order.
        error: what went wrong, else "".
    """

    ok: bool
    results: dict[str, JSON] = field(default_factory=dict)
    changes: list[Changeset] = field(default_factory=list)
    error: str = ""

    @property
    def changed(self) -> bool:
        """Whether anything changed."""
        return any(not change.empty for change in self.changes)


class Probe:
    """A private session of the environment that is set back after every use."""

    def __init__(self, environment: Environment, state: InitialState | None = None) -> None:
        self.environment = environment
        self._state = state or environment.seed
        self._program = Program(environment, engine="interpreter")
        self._session = EnvironmentSession(environment, self._state, 0, program=self._program)
        self._image = self._session.image()
        self._dirty = False
        self.rows: Rows = self._session.rows()
        self.files: Mapping[str, str] = self._session.files()

    def _fresh(self) -> EnvironmentSession:
        if self._dirty:
            self._session = EnvironmentSession.from_image(self.environment, self._image, program=self._program)
            self._dirty = False
        return self._session

    def call(self, tool: str, arguments: Mapping[str, JSON]) -> JSON | None:
        """Return what one call shows on the untouched state, or None when it does not end well."""
        result, changes = self._fresh().call(tool, dict(arguments))
        self._dirty = self._dirty or not changes.empty
        return result.value if result.outcome is Outcome.OK else None

    def rehearse(self, steps: Sequence[ReferenceStep], inputs: Mapping[str, JSON]) -> Rehearsal:
        """Try a reference on the untouched state."""
        session = self._fresh()
        found = Rehearsal(ok=True)
        for step in steps:
            try:
                arguments = {name: resolve(source, inputs, found.results) for name, source in step.arguments.items()}
            except Unresolved as missing:
                return Rehearsal(False, found.results, found.changes, str(missing))
            result, changes = session.call(step.tool, arguments)
            self._dirty = self._dirty or not changes.empty
            found.results[step.id] = result.value
            found.changes.append(changes)
            if result.outcome is not Outcome.OK:
                return Rehearsal(False, found.results, found.changes, f"{step.tool}: {result.value}"[:300])
        return found


def aligned(result: JSON, rows: Sequence[Row], table: Table) -> list[tuple[dict[str, Any], Row]]:
    """Return the objects of a result that show rows of a table, each with its row, in order."""
    if len(table.key) != 1:
        return []
    key = table.key[0]
    by_key = {repr(row[key]): row for row in rows}
    spelled = table.column(key).field
    found = []
    for seen in objects(result):
        names = [spelled, *[name for name in seen if name.casefold().endswith(("id", "key", "name", "path"))]]
        for name in names:
            row = by_key.get(repr(seen.get(name))) if name in seen else None
            if row is not None and (name == spelled or _agrees(seen, row, table, name)):
                found.append((seen, row))
                break
    return found


def _agrees(seen: Mapping[str, Any], row: Row, table: Table, besides: str) -> bool:
    """Return whether another field of an object agrees with its row."""
    return any(
        column.field in seen and column.field != besides and json_equal(seen[column.field], row[column.name])
        for column in table.columns
        if row.get(column.name) is not None
    )


def shown_fields(pairs: Sequence[tuple[Mapping[str, Any], Row]], table: Table) -> dict[str, str]:
    """Return column -> field for the columns that a result shows, by what the values say."""
    found: dict[str, str] = {}
    if not pairs:
        return found
    for column in table.columns:
        names = [column.field, *[name for name in pairs[0][0] if name != column.field]]
        for name in names:
            values = [(seen[name], row.get(column.name)) for seen, row in pairs if name in seen]
            telling = [pair for pair in values if pair[1] is not None]
            if not telling or not all(json_equal(*pair) for pair in telling):
                continue
            if name == column.field or _telling(column, name, [pair[1] for pair in telling]):
                found[column.name] = name
                break
    return found


def _telling(column: Column, name: str, values: Sequence[JSON]) -> bool:
    """Return whether a field of another name is borne out by values that could not agree by chance."""
    distinct = {repr(value) for value in values}
    if column.role is ColumnRole.ID and name.casefold().endswith(("id", "key", "number", "code")):
        return len(distinct) >= min(2, len(values))
    long = {repr(value) for value in values if isinstance(value, str) and len(value) > 3}
    return len(long) >= min(2, len(values)) > 0
