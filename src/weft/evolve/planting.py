"""Planted faults: seeded defects of single components, to measure whether attribution finds them where they are.

Each function gives the component with one defect, or None where the defect does not apply. Hashes stay as they were:
:func:`restamp_environment` and its likes write them anew, so that nothing but behaviour tells the defect.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from weft.evolve.system import AtomicEntry
from weft.records.base import JSON
from weft.records.codec import content_hash
from weft.records.contract import Contract, ContractSet
from weft.records.environment import Environment
from weft.records.state import ColumnRole, DatabaseSchema, InitialState, Table
from weft.records.task import AtomicSolution, Given
from weft.records.verdict import Verifier
from weft.runtime.values import json_equal

Document = dict[str, JSON]
"""A contract in its JSON form."""


class Planted(StrEnum):
    """What is planted: in a contract, in an initial state or a reference, or in a verifier."""

    DROPPED_COLUMN = "dropped_column"
    IGNORED_FILTER = "ignored_filter"
    WRONG_TRANSITION = "wrong_transition"
    RAISED_FAULT = "raised_fault"
    WRONG_FIELD = "wrong_field"
    ROW_DELETED = "row_deleted"
    VALUE_CHANGED = "value_changed"
    MISSING_ROW = "missing_row"
    WRONG_EXPECTED_VALUE = "wrong_expected_value"
    MISSING_CHANGE = "missing_change"
    WRONG_ANSWER = "wrong_answer"
    ACCEPTS_ANYTHING = "accepts_anything"


IN_ENVIRONMENT = (
    Planted.DROPPED_COLUMN,
    Planted.IGNORED_FILTER,
    Planted.WRONG_TRANSITION,
    Planted.RAISED_FAULT,
    Planted.WRONG_FIELD,
)
IN_TASK = (Planted.ROW_DELETED, Planted.VALUE_CHANGED, Planted.MISSING_ROW)
IN_VERIFIER = (
    Planted.WRONG_EXPECTED_VALUE,
    Planted.MISSING_CHANGE,
    Planted.WRONG_ANSWER,
    Planted.ACCEPTS_ANYTHING,
)


def plant_in_environment(environment: Environment, tool: str, kind: Planted, rng: random.Random) -> Environment | None:
    """Plant a defect in the contract of one tool."""
    contract = environment.contracts.contract(tool)
    document: Document = contract.model_dump(mode="json", by_alias=True)
    if not _IN_CONTRACT[kind](document, environment.contracts.schema_, rng):
        return None
    changed = Contract.model_validate(document)
    contracts = tuple(changed if one.tool == tool else one for one in environment.contracts.contracts)
    made = ContractSet(schema=environment.contracts.schema_, contracts=contracts)
    return environment.model_copy(update={"contracts": made})


def _operations(document: Mapping[str, JSON]) -> Iterator[dict[str, JSON]]:
    def walk(operations: list[dict[str, JSON]]) -> Iterator[dict[str, JSON]]:
        for operation in operations:
            yield operation
            for nested in ("operations", "otherwise"):
                yield from walk(operation.get(nested, []))

    for case in document["cases"]:
        yield from walk(case["operations"])


def _mentions_argument(expression: JSON) -> bool:
    if isinstance(expression, dict):
        return expression.get("op") == "arg" or any(_mentions_argument(item) for item in expression.values())
    return isinstance(expression, list) and any(_mentions_argument(item) for item in expression)


def _drop_column(document: Document, schema: DatabaseSchema, rng: random.Random) -> bool:
    """A written argument does not reach its column."""
    places = [
        (operation["values"], column)
        for operation in _operations(document)
        if operation["op"] in ("insert", "update")
        for column, value in operation["values"].items()
        if _mentions_argument(value)
        and (operation["op"] == "update" or _may_be_left(schema, operation["table"], column))
    ]
    if not places:
        return False
    values, column = places[rng.randrange(len(places))]
    del values[column]
    return True


def _may_be_left(schema: DatabaseSchema, table: str, column: str) -> bool:
    found = schema.table(table).column(column)
    return found.nullable or found.default is not None


def _ignore_filter(document: Document, _schema: DatabaseSchema, rng: random.Random) -> bool:
    """A search or look-up leaves one of its conditions out."""
    places = [
        operation["where"] for operation in _operations(document) if operation["op"] == "find" and operation["where"]
    ]
    if not places:
        return False
    where = places[rng.randrange(len(places))]
    del where[rng.randrange(len(where))]
    return True


def _wrong_transition(document: Document, schema: DatabaseSchema, rng: random.Random) -> bool:
    """A status change ends in another status."""
    for operation in _operations(document):
        if operation["op"] != "transition" or operation["to"].get("op") != "const":
            continue
        enum = schema.table(operation["table"]).column(operation["column"]).enum
        others = [value for value in enum if value != operation["to"]["value"]]
        if others:
            operation["to"]["value"] = others[rng.randrange(len(others))]
            return True
    return False


def _raise_fault(document: Document, _schema: DatabaseSchema, _rng: random.Random) -> bool:
    """A call ends in a fault: its result breaks its own schema."""
    document["returns_schema"] = {"type": "object", "required": ["never_returned"]}
    return True


def _wrong_field(document: Document, schema: DatabaseSchema, rng: random.Random) -> bool:
    """A result shows one column in the place of another of the same type."""
    table = next((schema.table(case["table"]) for case in document["cases"] if case.get("table")), None)
    if table is None:
        return False
    places: list[tuple[dict[str, JSON], str]] = []
    for case in document["cases"]:
        for node in _variables(case["returns"]):
            name = node["path"][-1] if node["path"] else None
            other = _like(table, name, rng)
            if other is not None:
                places.append((node, other))
    if not places:
        return False
    node, other = places[rng.randrange(len(places))]
    node["path"] = [*node["path"][:-1], other]
    return True


def _variables(expression: JSON) -> Iterator[dict[str, JSON]]:
    if isinstance(expression, dict):
        if expression.get("op") == "var":
            yield expression
        for item in expression.values():
            yield from _variables(item)
    elif isinstance(expression, list):
        for item in expression:
            yield from _variables(item)


def _like(table: Table, name: JSON, rng: random.Random) -> str | None:
    column = next((one for one in table.columns if one.name == name), None)
    if column is None:
        return None
    others = [
        one.name
        for one in table.columns
        if one.name != name and one.type == column.type and one.nullable == column.nullable and not one.enum
    ]
    return others[rng.randrange(len(others))] if others and not column.enum else None


_IN_CONTRACT: Mapping[Planted, Callable[[Document, DatabaseSchema, random.Random], bool]] = {
    Planted.DROPPED_COLUMN: _drop_column,
    Planted.IGNORED_FILTER: _ignore_filter,
    Planted.WRONG_TRANSITION: _wrong_transition,
    Planted.RAISED_FAULT: _raise_fault,
    Planted.WRONG_FIELD: _wrong_field,
}


def plant_in_state(
    entry: AtomicEntry, environment: Environment, kind: Planted, rng: random.Random
) -> InitialState | None:
    """Plant a defect in the initial state: a row that the task speaks of is gone, or one of its values is another."""
    places = [
        (table, number)
        for item in entry.task.inputs
        if item.keyed
        for table, column in (item.keyed.split(".", 1),)
        for number, row in enumerate(environment.seed.rows.get(table, []))
        if json_equal(row.get(column), item.value)
    ]
    if not places:
        return None
    table, number = places[rng.randrange(len(places))]
    rows: dict[str, list[dict[str, Any]]] = {
        name: [dict(row) for row in found] for name, found in environment.seed.rows.items()
    }
    if kind is Planted.ROW_DELETED:
        _delete(rows, environment.contracts.schema_, table, rows[table][number])
    else:
        named = {item.keyed for item in entry.task.inputs}
        columns = [
            column
            for column in environment.contracts.schema_.table(table).columns
            if f"{table}.{column.name}" not in named
            and column.role in (ColumnRole.ATTRIBUTE, ColumnRole.NAME, ColumnRole.STATUS)
            and not column.unique
        ]
        choices = [
            (column.name, row.get(column.name))
            for column in columns
            for row in rows[table]
            if row.get(column.name) is not None
            and not json_equal(row.get(column.name), rows[table][number].get(column.name))
        ]
        if not choices:
            return None
        told = {getattr(part.source, "field", "") for part in entry.solution.reply}
        fields = {column.name: column.field for column in columns}
        # A value that the answer rests on says more than one that nobody looks at.
        choices = [choice for choice in choices if fields[choice[0]] in told] or choices
        column, value = choices[rng.randrange(len(choices))]
        rows[table][number][column] = value
    return environment.seed.model_copy(update={"rows": rows})


def _delete(rows: dict[str, list[dict[str, Any]]], schema: DatabaseSchema, table: str, gone: dict[str, Any]) -> None:
    """Delete a row and, as a careful hand would, the rows that refer to it."""
    rows[table] = [row for row in rows[table] if row is not gone]
    key = schema.table(table).key
    if len(key) != 1:
        return
    for other in schema.tables:
        for column in other.columns:
            if column.references == table:
                held = [row for row in rows.get(other.name, []) if json_equal(row.get(column.name), gone[key[0]])]
                for row in held:
                    if any(row is left for left in rows[other.name]):
                        _delete(rows, schema, other.name, row)


def plant_in_reference(entry: AtomicEntry, environment: Environment, rng: random.Random) -> AtomicEntry | None:
    """Plant a defect in the reference: an argument that finds a row names one that is not there."""
    steps = list(entry.solution.reference)
    places = []
    for number, step in enumerate(steps):
        uses = {use.path: use.role for use in environment.contracts.contract(step.tool).arguments}
        places += [(number, name) for name in step.arguments if uses.get(name) in ("identifier", "link", "parent")]
    if not places:
        return None
    number, name = places[rng.randrange(len(places))]
    wrong = Given(kind="given", value=_unlike(environment, steps[number].tool, name), reason="planted")
    arguments = {**steps[number].arguments, name: wrong}
    steps[number] = steps[number].model_copy(update={"arguments": arguments})
    return AtomicEntry(entry.task, entry.solution.model_copy(update={"reference": tuple(steps)}))


def _unlike(environment: Environment, tool: str, name: str) -> JSON:
    schema = next(one.input_schema for one in environment.spec.tools if one.name == tool)
    kind = schema.get("properties", {}).get(name, {}).get("type", "string")
    return 987654321 if kind == "integer" else "no-such-thing"


def plant_in_verifier(solution: AtomicSolution, kind: Planted, rng: random.Random) -> AtomicSolution | None:
    """Plant a defect in the verifier."""
    verifier = solution.verifier
    made: Verifier | None = None
    if kind is Planted.ACCEPTS_ANYTHING:
        made = Verifier(reply_required=False, frame=verifier.frame, rubric=verifier.rubric)
    elif kind is Planted.MISSING_CHANGE and verifier.changes:
        left = rng.randrange(len(verifier.changes))
        made = verifier.model_copy(
            update={"changes": tuple(one for number, one in enumerate(verifier.changes) if number != left)}
        )
    elif kind is Planted.WRONG_ANSWER and verifier.answer:
        chosen = rng.randrange(len(verifier.answer))
        parts = [
            part.model_copy(update={"value": _other(part.value), "rivals": ()}) if number == chosen else part
            for number, part in enumerate(verifier.answer)
        ]
        made = verifier.model_copy(update={"answer": tuple(parts)})
    elif kind is Planted.WRONG_EXPECTED_VALUE:
        made = _wrong_value(verifier, rng)
    return None if made is None else solution.model_copy(update={"verifier": made})


def _wrong_value(verifier: Verifier, rng: random.Random) -> Verifier | None:
    places = [
        (number, column)
        for number, change in enumerate(verifier.changes)
        for column, test in change.after.items()
        if test.kind == "equals"
    ]
    if not places:
        return None
    number, column = places[rng.randrange(len(places))]
    changes = list(verifier.changes)
    test = changes[number].after[column]
    wrong = test.model_copy(update={"value": _other(test.value)})
    changes[number] = changes[number].model_copy(update={"after": {**changes[number].after, column: wrong}})
    return verifier.model_copy(update={"changes": tuple(changes)})


def _other(value: JSON) -> JSON:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 17
    return f"{value} (another one)" if isinstance(value, str) else "another one"


def restamp_environment(environment: Environment) -> Environment:
    """Return an environment whose certificate claims its present content, without a check having been run."""
    if environment.certificate is None:
        return environment
    certificate = environment.certificate.model_copy(update={"environment": environment.hash})
    return environment.model_copy(update={"certificate": certificate})


def restamp_task(entry: AtomicEntry, environment: Environment, state: InitialState) -> AtomicEntry:
    """Return a task that pins an environment and a state, and whose certificate claims its verifier as it is."""
    pin = entry.task.environment.model_copy(update={"hash": environment.hash, "state": content_hash(state)})
    solution = entry.solution
    if solution.certificate is not None:
        update = {"environments": {environment.name: environment.hash}, "verifier": content_hash(solution.verifier)}
        solution = solution.model_copy(update={"certificate": solution.certificate.model_copy(update=update)})
    return AtomicEntry(entry.task.model_copy(update={"environment": pin}), solution)
