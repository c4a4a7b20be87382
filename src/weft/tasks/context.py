"""Context enrichment: distractors that make careless policies fail (Weft 3.1.2, round three of grounding; pure).

A careless policy carries out a node's reference with one habit:

``takes_first_hit``
    it takes the first object of a result instead of the one that matches;
``ignores_filter``
    it leaves out one optional filter of a read, and does not look at that field in the result either.

Where the state does not tell such a policy from a careful one, a distractor is proposed: a copy of the row that the
careful policy relies on, with a smaller key and another value in the column that the habit overlooks. Whether it really
flips the verdict is for a run to show; a distractor that flips nothing is not kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.records.base import JSON
from weft.records.contract import ArgumentUse, Contract
from weft.records.environment import Environment
from weft.records.state import Column, ColumnRole, DatabaseSchema, InitialState, Row, Table
from weft.records.task import BuildList, BuildObject, FromStep, FromSteps, ReferenceStep, Source
from weft.runtime.values import json_equal
from weft.tasks.plan import NodePlan
from weft.verify.evidence import objects

FILTERS = frozenset({"filter", "search", "range", "status"})
MOST_FILTERS = 2
"""Filters of one node that are tried, each on its own."""


@dataclass(frozen=True, slots=True)
class Habit:
    """A careless way to carry out a node.

    Attributes:
        policy: ``takes_first_hit`` or ``ignores_filter``.
        step: of the reference where it shows.
        plan: the node carried out that way.
        overlooked: column of the step's table that the habit does not look at, or "" when it is not known.
        table: the step's table, or "".
    """

    policy: str
    step: str
    plan: NodePlan
    overlooked: str = ""
    table: str = ""


def habits(plan: NodePlan, environment: Environment) -> list[Habit]:
    """Return the careless ways to carry out a node."""
    found = []
    for step in plan.solution.reference:
        matched = _matches_on(plan, step.id)
        if matched is not None:
            table, column = _column_of(environment, step, matched)
            found.append(Habit("takes_first_hit", step.id, _loosened(plan, step.id), column, table))
    dropped = 0
    for step in plan.solution.reference:
        contract = environment.contracts.contract(step.tool)
        for use in contract.arguments:
            if dropped < MOST_FILTERS and contract.effect == "read" and _is_filter(use) and use.path in step.arguments:
                careless = _loosened(plan, step.id, _fields(environment, use), use.path)
                found.append(Habit("ignores_filter", step.id, careless, use.column, use.table))
                dropped += 1
    return found


def _is_filter(use: ArgumentUse) -> bool:
    return use.role in FILTERS and not use.required


def _sources(plan: NodePlan) -> list[Source]:
    own = [source for step in plan.solution.reference for source in step.arguments.values()]
    return own + [part.source for part in plan.solution.reply]


def _flat(source: Source) -> list[Source]:
    if isinstance(source, BuildObject):
        return [source, *(one for item in source.fields.values() for one in _flat(item))]
    if isinstance(source, BuildList):
        return [source, *(one for item in source.items for one in _flat(item))]
    return [source]


def _matches_on(plan: NodePlan, step: str) -> str | None:
    """Return a field by which the node picks an object out of a step's result, or None if it takes what comes first."""
    for source in _sources(plan):
        for one in _flat(source):
            if isinstance(one, FromStep) and one.step == step and one.match:
                return next(iter(one.match))
    return None


def _relaxed(source: Source, step: str, fields: frozenset[str] | None) -> Source:
    """Return a source that looks less closely at a step's result: without its match, or without some fields of it."""
    if isinstance(source, FromStep) and source.step == step:
        left = {} if fields is None else {name: item for name, item in source.match.items() if name not in fields}
        return source.model_copy(update={"match": left})
    if isinstance(source, FromSteps) and source.step == step and fields is not None:
        left = {name: item for name, item in source.match.items() if name not in fields}
        return source.model_copy(update={"match": left})
    if isinstance(source, BuildObject):
        built = {name: _relaxed(item, step, fields) for name, item in source.fields.items()}
        return source.model_copy(update={"fields": built})
    if isinstance(source, BuildList):
        return source.model_copy(update={"items": tuple(_relaxed(item, step, fields) for item in source.items)})
    return source


def _loosened(plan: NodePlan, step: str, fields: frozenset[str] | None = None, argument: str = "") -> NodePlan:
    """Return a node that looks less closely at a step's result, and leaves out one of its arguments."""
    reference = tuple(
        one.model_copy(
            update={
                "arguments": {
                    name: _relaxed(item, step, fields)
                    for name, item in one.arguments.items()
                    if one.id != step or name != argument
                }
            }
        )
        for one in plan.solution.reference
    )
    reply = tuple(
        part.model_copy(update={"source": _relaxed(part.source, step, fields)}) for part in plan.solution.reply
    )
    return replace(plan, solution=plan.solution.model_copy(update={"reference": reference, "reply": reply}))


def _fields(environment: Environment, use: ArgumentUse) -> frozenset[str]:
    """Return the names under which results may show what a filter looks at."""
    table = next((one for one in environment.contracts.schema_.tables if one.name == use.table), None)
    shown = [one.field for one in table.columns if one.name == use.column] if table is not None else []
    return frozenset({use.path, use.column, *shown})


def _column_of(environment: Environment, step: ReferenceStep, field: str) -> tuple[str, str]:
    """Return the (table, column) that a field of a step's result shows, or empty names."""
    contract = environment.contracts.contract(step.tool)
    table = _main_table(contract)
    if not table:
        return "", ""
    columns = environment.contracts.schema_.table(table).columns
    return table, next((column.name for column in columns if field in (column.field, column.name)), "")


def _main_table(contract: Contract) -> str:
    return next((case.table for case in contract.cases if case.table), "")


def distractor(
    habit: Habit, result: JSON, state: InitialState, schema: DatabaseSchema, added: Sequence[Row] = ()
) -> Row | None:
    """Return a row that a careless policy would take for the right one, or None if none can be made.

    Args:
        habit: the careless way; names the table and the column that it overlooks.
        result: what the step showed in the reference.
        state: initial state of the server.
        schema: of the server.
        added: distractors of that table so far, whose keys are taken.
    """
    if not habit.table or not habit.overlooked:
        return None
    table = schema.table(habit.table)
    rows = state.rows.get(table.name, [])
    right = _shown_row(result, table, rows)
    if right is None or len(table.key) != 1 or habit.overlooked in table.key:
        return None
    overlooked = table.column(habit.overlooked)
    held = [row.get(overlooked.name) for row in rows]
    other = _other_value(overlooked, right.get(overlooked.name), rows)
    similar = habit.policy == "takes_first_hit" or overlooked.unique
    if similar and isinstance(right.get(overlooked.name), str) and not overlooked.enum:
        # A search for the right value finds this one too, and a unique column takes it.
        other = _apart(right[overlooked.name], held)
    if other is None:
        return None
    key = _smaller_key(right[table.key[0]], [row[table.key[0]] for row in (*rows, *added)])
    if key is None:
        return None
    copy = {**right, table.key[0]: key, overlooked.name: other}
    for column in table.columns:
        if column.unique and column.name not in table.key and column.name != overlooked.name:
            copy[column.name] = _apart(copy.get(column.name), [row.get(column.name) for row in (*rows, *added)])
    return copy


def _shown_row(result: JSON, table: Table, rows: Sequence[Row]) -> Row | None:
    """Return the first row of a table that a result shows, by its key field."""
    key = table.column(table.key[0])
    for seen in objects(result):
        for name in (key.field, key.name, "id"):
            if name in seen:
                row = next((row for row in rows if json_equal(row.get(key.name), seen[name])), None)
                if row is not None:
                    return row
    return None


def _other_value(column: Column, value: JSON, rows: Sequence[Row]) -> JSON:
    if column.role in (ColumnRole.CREATED, ColumnRole.UPDATED):
        return None
    held = [row.get(column.name) for row in rows] + list(column.enum)
    return next((one for one in held if one is not None and not json_equal(one, value)), None)


def _smaller_key(key: JSON, taken: Sequence[Any]) -> JSON:
    """Return a key of the same look that sorts before another one, or None."""
    if isinstance(key, int) and not isinstance(key, bool):
        free = [number for number in range(key - 1, 0, -1) if number not in taken]
        return free[0] if free else None
    if not isinstance(key, str):
        return None
    for place in range(len(key) - 1, -1, -1):
        letter = key[place]
        for lower in "0123456789abcdefghijklmnopqrstuvwxyz":
            if letter.isalnum() and lower < letter and lower.isdigit() == letter.isdigit():
                other = f"{key[:place]}{lower}{key[place + 1 :]}"
                if other not in taken:
                    return other
    return None


def _apart(value: JSON, taken: Sequence[Any]) -> JSON:
    """Return a value like another one that no row of a unique column holds."""
    if isinstance(value, str):
        number = 2
        while True:
            name, at, host = value.partition("@")
            other = f"{name}{number}{at}{host}" if at else f"{value} ({number})"
            if other not in taken:
                return other
            number += 1
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return max(one for one in taken if isinstance(one, (int, float))) + 1
    return value


def with_row(state: InitialState, table: str, row: Row) -> InitialState:
    """Return a state with one more row."""
    rows: Mapping[str, list[Row]] = state.rows
    return state.model_copy(update={"rows": {**rows, table: [row, *rows.get(table, [])]}})
