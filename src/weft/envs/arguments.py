"""The declared arguments of a tool, with their use in the contract and the values that each could take."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.seeds.argument_paths import ELEMENT, Steps, locate
from weft.agents.rules.seeds.references import Schema, as_schema, flatten
from weft.agents.rules.seeds.values import ValueSchema
from weft.records.base import Record
from weft.records.contract import ArgumentUse, Case, Contract, Find, Guard
from weft.records.expression import (
    Aggregate,
    AllOf,
    AnyOf,
    Arg,
    Condition,
    Exists,
    Order,
    Present,
    ProjectFields,
    Select,
)
from weft.records.spec import ToolSpec
from weft.runtime.operations import selects

COMPARING = frozenset({"eq", "in"})
"""Tests that hold for the column's own values."""


@dataclass(frozen=True)
class Argument:
    """One declared argument.

    Attributes:
        use: how the contract uses it.
        steps: where it is in the arguments.
        schema: its schema.
        required: every object on the way requires it.
    """

    use: ArgumentUse
    steps: Steps
    schema: ValueSchema
    required: bool

    @property
    def path(self) -> str:
        """The contract's path."""
        return self.use.path

    @property
    def many(self) -> bool:
        """True if it takes a list of values."""
        return "array" in self.schema.types and "string" not in self.schema.types


def arguments_of(tool: ToolSpec, contract: Contract) -> list[Argument]:
    """Return the arguments that both the schema declares and the contract uses, in the contract's order."""
    found = []
    for use in contract.arguments:
        place = locate(tool.input_schema, use.path)
        if place is not None and place[0]:
            steps, schema = place
            found.append(
                Argument(use, steps, ValueSchema(schema, tool.input_schema), _required(tool.input_schema, steps))
            )
    return found


def undeclared_uses(tool: ToolSpec, contract: Contract) -> list[str]:
    """Return the paths that the contract uses and the schema does not declare."""
    places = [(use.path, locate(tool.input_schema, use.path)) for use in contract.arguments]
    return [path for path, place in places if place is None or not place[0]]


def unused_properties(tool: ToolSpec, contract: Contract) -> list[str]:
    """Return the declared top-level properties for which the contract states no use."""
    flat = flatten(tool.input_schema, tool.input_schema)
    heads = {place[0][0] for use in contract.arguments if (place := locate(tool.input_schema, use.path)) and place[0]}
    return [name for name in as_schema(flat.get("properties")) if name not in heads]


def _required(root: Schema, steps: Steps) -> bool:
    here = flatten(root, root)
    for step in steps:
        if step == ELEMENT:
            here = flatten(as_schema(here.get("items")), root)
            continue
        if step not in (here.get("required") or ()):
            return False
        here = flatten(as_schema(as_schema(here.get("properties")).get(step)), root)
    return True


def parts(value: Any) -> Iterator[Record]:
    """Yield every record inside a record, itself included: the nodes of a contract."""
    if isinstance(value, Record):
        yield value
        for name in type(value).model_fields:
            yield from parts(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from parts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from parts(item)


def arguments_in(value: Any) -> list[tuple[str | int, ...]]:
    """Return the paths of all arguments that a part of a contract reads."""
    return [node.path for node in parts(value) if isinstance(node, Arg)]


def looked_up(case: Case) -> list[tuple[str | int, ...]]:
    """Return the paths of arguments by which a case looks for a row that must be there."""
    finds = [node for node in parts(case.operations) if isinstance(node, Find) and node.missing is not None]
    return [path for find in finds for where in find.where if not where.optional for path in arguments_in(where.value)]


def places_of(case: Case) -> dict[tuple[str | int, ...], list[tuple[str, str]]]:
    """Return for each argument path the tables and columns whose values the case compares it with."""
    found: dict[tuple[str | int, ...], list[tuple[str, str]]] = {}
    for node in parts(case):
        if not isinstance(node, Find | Select | Exists | Aggregate):
            continue
        for where in node.where:
            if where.test in COMPARING and where.column and not where.path:
                for path in arguments_in(where.value):
                    found.setdefault(path, []).append((node.table, where.column))
    return found


def needed(case: Case) -> list[tuple[str | int, ...]]:
    """Return the paths of arguments without which a case refuses the call: looked up by, or guarded to be present.

    Of a guard that asks for one of several, the first is taken.
    """
    found = looked_up(case)
    for step in case.operations:
        if isinstance(step, Guard):
            found += _asked_for(step.condition)
    return list(dict.fromkeys(found))


def _asked_for(condition: Condition) -> list[tuple[str | int, ...]]:
    if isinstance(condition, Present):
        return arguments_in(condition.of)[:1]
    if isinstance(condition, AllOf):
        return [path for part in condition.of for path in _asked_for(part)]
    if isinstance(condition, AnyOf):
        return next((paths for part in condition.of if (paths := _asked_for(part))), [])
    return []


def known_words(case: Case) -> dict[tuple[str | int, ...], list[str]]:
    """Return for each argument path the words that it may name: fields to project, columns to sort by."""
    found: dict[tuple[str | int, ...], list[str]] = {}
    for node in parts(case):
        if isinstance(node, ProjectFields):
            named: tuple[Any, list[str]] = (node.fields, list(node.known))
        elif isinstance(node, Order) and node.by is not None:
            named = (node.by, list(node.columns))
        else:
            continue
        for path in arguments_in(named[0]):
            known = found.setdefault(path, [])
            known += [word for word in named[1] if word not in known]
    return found


def matching_case(contract: Contract, arguments: Any) -> int | None:
    """Return the position of the case that a call runs, or None when none matches."""
    given = arguments if isinstance(arguments, dict) else {}
    return next((place for place, case in enumerate(contract.cases) if selects(given, case.when)), None)
