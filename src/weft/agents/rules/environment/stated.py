"""Stated rules: which rules of a description the contract enforces, and by what (DESIGN section 5, fidelity)."""

import re
from collections.abc import Iterator
from typing import Any

from weft.agents.rules.environment.clauses import Clause, allowed_states, clauses_of, plain
from weft.agents.rules.environment.words import singular
from weft.records.base import Record
from weft.records.contract import (
    Contract,
    Delete,
    Each,
    Find,
    Guard,
    Insert,
    Operation,
    StatedRule,
    Transition,
    Update,
    When,
)
from weft.records.expression import Order, Where
from weft.records.state import Column, ColumnType, DatabaseSchema, Table

_ASCENDING = re.compile(r"\b(?:oldest|earliest|smallest|lowest)\b", re.IGNORECASE)
_DESCENDING = re.compile(r"\b(?:newest|latest|recent|largest|highest|biggest|last)\b", re.IGNORECASE)
_TAKEN = re.compile(r"\b(?:taken|exists?|already|there|used)\b", re.IGNORECASE)
_HOLDS = re.compile(r"\b(?:while|still|holds?|contains?)\b", re.IGNORECASE)


def stated_rules(description: str, contract: Contract, schema: DatabaseSchema) -> tuple[StatedRule, ...]:
    """The rules that a description states, each with the operation of the contract that enforces it.

    A rule counts as enforced only if an operation of the contract was found that rejects or orders as it says; any
    doubt makes it not enforced.
    """
    found = []
    for clause in clauses_of(description):
        by = enforcer(clause, contract, schema)
        found.append(StatedRule(text=clause.text, enforced=bool(by), by=by))
    return tuple(found)


def enforcer(clause: Clause, contract: Contract, schema: DatabaseSchema) -> str:
    """What enforces a rule, or "" if nothing that can be found does."""
    steps = [step for case in contract.cases for step in walk(case.operations)]
    if clause.kind == "fails":
        check = {"not_found": _missing, "conflict": _conflict, "invalid_state": _state, "invalid_argument": _argument}
        return check[clause.code](clause, contract, schema, steps) if clause.code in check else ""
    if clause.kind == "order":
        return _order(clause, steps)
    if clause.kind == "case":
        return _case(steps)
    if clause.kind == "partial":
        return "update" if any(isinstance(step, Update) for step in steps) else ""
    if clause.kind == "filters":
        return "find" if any(isinstance(step, Find) and step.where for step in steps) else ""
    return ""


def walk(operations: tuple[Operation, ...]) -> Iterator[Operation]:
    """Every operation, those inside others included."""
    for step in operations:
        yield step
        if isinstance(step, Each):
            yield from walk(step.operations)
        elif isinstance(step, When):
            yield from walk(step.operations)
            yield from walk(step.otherwise)


def references(step: Operation, schema: DatabaseSchema) -> dict[str, str]:
    """The foreign keys that a step sets: column -> table."""
    if not isinstance(step, Insert | Update):
        return {}
    table = schema.table(step.table)
    return {c.name: c.references for c in table.columns if c.references and c.name in step.values}


def _missing(clause: Clause, contract: Contract, schema: DatabaseSchema, steps: list[Operation]) -> str:
    if any(step.op == "write_files" for step in steps) or all(not case.table for case in contract.cases):
        return "file"
    looked = {s.table for s in steps if isinstance(s, Find) and s.missing is not None}
    linked = {table for step in steps for table in references(step, schema).values()}
    guarded = any(isinstance(step, Guard) and step.error.code == "not_found" for step in steps)
    if not (looked or linked or guarded):
        return ""
    wanted = re.search(r"\bunknown ([\w ,]+?)$", clause.condition)
    if wanted is not None:
        reached = {word for name in looked | linked for word in _words(schema.table(name), steps, schema)}
        nouns = re.split(r",\s*|\s+(?:or|and)\s+", wanted[1].strip())
        if any(singular(plain(noun).split()[-1]) not in reached for noun in nouns if plain(noun)):
            return ""
    if re.search(r"\beither\b", clause.condition) and len(looked | linked) < 2:
        return ""
    return "find" if looked else "reference" if linked else "guard"


def _words(table: Table, steps: list[Operation], schema: DatabaseSchema) -> list[str]:
    """The nouns by which a description may speak of the rows that a call must find."""
    words = [*plain(table.entity).split(), *(singular(word) for word in plain(table.name).split())]
    for step in steps:
        for column, target in references(step, schema).items():
            if target == table.name:
                words += plain(column).split()
    return words


def _conflict(clause: Clause, _contract: Contract, schema: DatabaseSchema, steps: list[Operation]) -> str:
    if _HOLDS.search(clause.condition):
        for step in steps:
            if isinstance(step, Delete):
                emptied = {(s.table, name) for s in steps if isinstance(s, Update) for name in s.values}
                holding = [
                    (table.name, column.name)
                    for table in schema.tables
                    for column in table.columns
                    if column.references == step.table and table.name not in step.cascade
                ]
                if any(pair not in emptied for pair in holding):
                    return "delete"
        return ""
    if any(step.op == "write_files" and step.exists == "error" for step in steps):
        return "file"
    if not _TAKEN.search(clause.condition):
        return ""
    for step in steps:
        if (isinstance(step, Insert) and step.exists == "error") or isinstance(step, Update):
            table = schema.table(step.table)
            keyed = set(table.key) <= set(step.values) and isinstance(step, Insert)
            mentioned = [c for c in table.columns if c.unique and c.name in step.values and _told(c, clause)]
            natural = keyed and (table.relation or _told(table.column(table.key[0]), clause) or len(table.key) > 1)
            if mentioned or natural:
                return "unique key"
    return ""


def _told(column: Column, clause: Clause) -> bool:
    """True if the condition speaks of a column, by its last word."""
    return plain(column.name).split()[-1] in plain(clause.condition).split()


def _state(clause: Clause, _contract: Contract, schema: DatabaseSchema, steps: list[Operation]) -> str:
    writes = [step for step in steps if step.op in ("insert", "update", "delete", "transition")]
    if not writes:
        return ""
    for step in steps:
        if isinstance(step, Transition):
            column = schema.table(step.table).column(step.column)
            if _same_states(clause, column, list(step.sources), step.to):
                return "transition"
        if isinstance(step, Guard) and step.error.code == "invalid_state":
            for table in schema.tables:
                for column in table.columns:
                    if _guards(step, column) and _same_states(clause, column, _listed(step), None):
                        return "guard"
    return ""


def _guards(step: Guard, column: Column) -> bool:
    """True if a guard compares a column of a row."""
    return any(
        part.get("op") == "var" and list(part.get("path", ()))[-1:] == [column.name] for part in _parts(step.condition)
    )


def _listed(step: Guard) -> list[Any]:
    """The values that a guard lets pass: those of its constant."""
    for part in _parts(step.condition):
        if part.get("op") == "const":
            value = part["value"]
            if isinstance(value, bool) and getattr(step.condition, "test", "") == "ne":
                return [not value]
            return list(value) if isinstance(value, list) else [value]
    return []


def _parts(record: Record) -> Iterator[dict[str, Any]]:
    def inside(value: Any) -> Iterator[dict[str, Any]]:
        if isinstance(value, dict):
            yield value
            for item in value.values():
                yield from inside(item)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from inside(item)

    return inside(record.model_dump())


def _same_states(clause: Clause, column: Column, passing: list[Any], target: Any) -> bool:
    """True if the states that pass are those that the clause lets pass; staying in a state counts as nothing."""
    if column.type == ColumnType.BOOLEAN:
        wanted = allowed_flag(clause, column.name)
        return wanted is not None and passing == [wanted]
    states = allowed_states(clause, column.name, column.enum)
    to = getattr(target, "value", None)
    return bool(states) and bool(passing) and set(states) - {to} == set(passing) - {to}


def allowed_flag(clause: Clause, column: str) -> bool | None:
    """The value of a flag that an ``invalid_state`` clause lets pass, or None if it does not speak of the flag."""
    word = plain(column).removeprefix("is ")
    if not word or f" {word} " not in f" {plain(clause.condition)} ":
        return None
    return bool(re.search(r"\b(?:not|unless)\b", plain(clause.condition)))


def _argument(clause: Clause, _contract: Contract, _schema: DatabaseSchema, steps: list[Operation]) -> str:
    names = re.findall(r"[a-z]+(?:_[a-z]+)+", clause.condition)
    for step in steps:
        if isinstance(step, Guard) and step.error.code == "invalid_argument" and len(names) >= 2:
            used = [part["path"][-1] for part in _parts(step.condition) if part.get("op") in ("arg", "var")
                    and part.get("path")]  # fmt: skip
            if len(names) == 2 and all(name in used for name in names):
                return "guard"
    return ""


def _order(clause: Clause, steps: list[Operation]) -> str:
    down = bool(_DESCENDING.search(clause.text))
    for step in steps:
        if isinstance(step, Find) and step.many and step.order:
            order: Order = step.order[0]
            value = getattr(order.descending, "value", False if order.descending is None else None)
            if order.column and value is not None and bool(value) == down:
                return f"order by {order.column}"
    return ""


def _case(steps: list[Operation]) -> str:
    def ignores(where: Where) -> bool:
        return where.ignore_case or where.test in ("contains", "prefix", "search")

    return "find" if any(isinstance(s, Find) and any(ignores(w) for w in s.where) for s in steps) else ""
