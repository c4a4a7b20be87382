"""Conditions: what a description says of states, order and letter case, put into the operations of a part."""

import re
from typing import Any

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.clauses import Clause, allowed_states, clauses_of, plain
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import present
from weft.agents.rules.environment.selecting import guard
from weft.agents.rules.environment.stated import allowed_flag
from weft.records.contract import ErrorSpec, Find, Insert, Operation, Transition, When
from weft.records.expression import Compare, Condition, Order, Where, const, var
from weft.records.state import ColumnRole, ColumnType, IdStyle

_WRITES = ("insert", "update", "delete", "transition", "each", "when")
_FIRST = re.compile(
    r"\b(newest|latest|most recent|oldest|earliest|largest|highest|smallest|lowest|biggest)\b"
    r"([\w ]{0,20}?)\s?\bfirst\b",
    re.IGNORECASE,
)
_RISING = ("oldest", "earliest", "smallest", "lowest")
_TIMED = ("newest", "latest", "most recent", "oldest", "earliest")


def keep_stated(part: Part, outcome: Outcome, blueprint: Blueprint) -> None:
    """Make the operations reject, order and compare as the description says, where it is clear what it says."""
    if part.when or "file" in part.options or part.table is None:
        return
    for clause in clauses_of(part.tool.description):
        if clause.kind == "fails" and clause.code == "invalid_state":
            _keep_state(clause, part, outcome, blueprint)
        elif clause.kind == "order":
            _keep_order(clause, part, outcome)
        elif clause.kind == "case":
            _keep_case(part, outcome)


def _passing(clause: Clause, table: TablePlan) -> tuple[ColumnPlan, Condition, tuple[Any, ...], str] | None:
    """The status column, and the states of it, that a clause lets pass."""
    listed = [c for c in table.columns if c.type == ColumnType.TEXT and c.enum and not c.hidden]
    usual = [c for c in listed if c.role == ColumnRole.STATUS or c.key[-1] in ("status", "state", "stage")]
    for column in usual:
        states = allowed_states(clause, column.name, column.enum)
        if states and len(states) < len(column.enum):
            held = Compare(op="compare", test="in", left=var("held", column.name), right=const(list(states)))
            return column, held, states, " or ".join(str(state) for state in states)
    for column in table.columns:
        if column.type == ColumnType.BOOLEAN:
            wanted = allowed_flag(clause, column.name)
            if wanted is not None:
                test: Any = "eq" if wanted else "ne"
                held = Compare(op="compare", test=test, left=var("held", column.name), right=const(True))
                return column, held, (), ("" if wanted else "not ") + plain(column.name)
    return None


def _keep_state(clause: Clause, part: Part, outcome: Outcome, blueprint: Blueprint) -> None:
    steps = outcome.operations
    made = next((step for step in steps if isinstance(step, Insert) and step.table == part.main().name), None)
    if made is not None:
        _keep_parent(clause, part, outcome, made, blueprint)
        return
    found = _passing(clause, part.main())
    at = next((i for i, step in enumerate(steps) if step.op in _WRITES and step.op != "when"), None)
    row = any(
        isinstance(s, Find) and s.into == "row" and not s.many and s.table == part.main().name for s in steps[:at]
    )
    if found is None or at is None or steps[at].op == "each" or not row:
        return
    column, held, states, told = found
    for number, step in enumerate(steps):
        if isinstance(step, Transition) and step.column == column.name:
            sources = tuple(state for state in states if state != getattr(step.to, "value", None))
            if sources:
                steps[number] = step.model_copy(update={"sources": sources})
            return
    message = f"the {part.main().entity} must be {told}"
    steps.insert(at, guard(_of(held, "row"), "invalid_state", message))
    outcome.errors.append("invalid_state")


def _of(held: Condition, name: str) -> Condition:
    assert isinstance(held, Compare)
    left = held.left.model_copy(update={"name": name})
    return held.model_copy(update={"left": left})


def _keep_parent(clause: Clause, part: Part, outcome: Outcome, made: Insert, blueprint: Blueprint) -> None:
    """A new row needs that the row it belongs to is in a state."""
    told = set(plain(part.tool.description).split())
    for use in part.role("link", "attribute"):
        column = use.column
        if column is None or not column.references or column.name not in made.values or use.field.is_array:
            continue
        parent = next((table for table in blueprint.tables if table.name == column.references), None)
        found = _passing(clause, parent) if parent is not None and parent.phrase[-1] in told else None
        if parent is None or found is None:
            continue
        value = made.values[column.name]
        missing = ErrorSpec(
            code="not_found", message=f"no {parent.entity} with {use.field.name} {{{use.field.dotted}}}"
        )
        where = (Where(test="eq", column=parent.id, value=value),)
        steps: tuple[Operation, ...] = (
            Find(op="find", into="held", table=parent.name, where=where, missing=missing),
            guard(found[1], "invalid_state", f"the {parent.entity} must be {found[3]}"),
        )
        if not use.field.required:
            steps = (When(op="when", condition=present(value), operations=steps),)
        at = next(i for i, step in enumerate(outcome.operations) if step.op in _WRITES)
        outcome.operations[at:at] = steps
        outcome.reads.append(parent.name)
        outcome.errors += ["not_found", "invalid_state"]
        return


def _keep_order(clause: Clause, part: Part, outcome: Outcome) -> None:
    told = _FIRST.search(clause.text)
    if told is None or part.role("sort", "direction"):
        return
    table = part.main()
    column = _ordering(told[1].lower(), told[2].split(), table)
    for number, step in enumerate(outcome.operations):
        if column and isinstance(step, Find) and step.many and step.table == table.name and not step.order:
            order = Order(column=column, descending=const(told[1].lower() not in _RISING))
            outcome.operations[number] = step.model_copy(update={"order": (order,)})
            return


def _ordering(way: str, words: list[str], table: TablePlan) -> str:
    """The column that rows come in the order of: the named one, or when they were made; "" if none is clear."""
    if words:
        named = table.find(tuple(word.lower() for word in words))
        return named.name if named is not None and named.type not in (ColumnType.JSON, ColumnType.BOOLEAN) else ""
    if way not in _TIMED:
        return ""
    made = [column for column in table.columns if column.role == ColumnRole.CREATED]
    days = [
        column
        for column in table.columns
        if column.type in (ColumnType.DATETIME, ColumnType.DATE) and column.role != ColumnRole.UPDATED
    ]
    if made or len(days) == 1:
        return (made or days)[0].name
    return ""


def _keep_case(part: Part, outcome: Outcome) -> None:
    """Compare the text that a look-up is by without regard to letter case."""
    table = part.main()

    def folded(where: Where) -> Where:
        if where.test != "eq" or not where.column or where.path:
            return where
        column = table.column(where.column)
        given = column.role != ColumnRole.ID or table.id_style == IdStyle.NATURAL
        if column.type != ColumnType.TEXT or column.enum or column.references or not given:
            return where
        return where.model_copy(update={"ignore_case": True})

    for number, step in enumerate(outcome.operations):
        if isinstance(step, Find) and step.table == table.name:
            changed = step.model_copy(update={"where": tuple(folded(where) for where in step.where)})
            outcome.operations[number] = changed


__all__ = ["keep_stated"]
