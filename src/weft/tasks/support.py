"""What an answer rests on: the observed objects behind a reply part, as witnesses and as required returns (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.agents.reference import opened, resolve
from weft.records.base import JSON
from weft.records.state import ColumnRole, DatabaseSchema
from weft.records.task import BuildList, BuildObject, FromStep, FromSteps, ReplyPart, Source
from weft.records.verdict import Witness
from weft.runtime.values import json_equal
from weft.verify.evidence import objects

Fragment = dict[str, Any]

MOST_ROWS = 40
"""Most rows that a witness lists; an answer over more needs the tool's own total."""

TOTALS = ("total", "count", "total_count", "totalcount", "total_results", "size", "value", "matches")


@dataclass(frozen=True, slots=True)
class Support:
    """What one source rests on.

    Attributes:
        step: the step that showed it.
        required: fragments that must be shown word for word, for comparison in full; empty when only the very same call
            shows the answer (a bare total).
        strict: alternatives that name the rows themselves.
        lenient: further alternatives: other field names, totals instead of rows.
    """

    step: str
    required: tuple[Fragment, ...]
    strict: tuple[tuple[Fragment, ...], ...]
    lenient: tuple[tuple[Fragment, ...], ...] = ()


def identifying(schema: DatabaseSchema) -> frozenset[str]:
    """Return the field names by which rows are told apart: ids, natural keys and names."""
    roles = (ColumnRole.ID, ColumnRole.KEY, ColumnRole.NAME)
    return frozenset(column.field for table in schema.tables for column in table.columns if column.role in roles)


def supports(
    source: Source, inputs: Mapping[str, JSON], results: Mapping[str, JSON], identity: frozenset[str]
) -> Iterator[Support]:
    """Yield what a source rests on, one support for each step that it looks at."""
    if isinstance(source, BuildObject):
        for item in source.fields.values():
            yield from supports(item, inputs, results, identity)
    elif isinstance(source, BuildList):
        for item in source.items:
            yield from supports(item, inputs, results, identity)
    elif isinstance(source, FromStep):
        found = next(_matching(source, inputs, results), None)
        if found is not None:
            yield _one(source, found, results[source.step], identity)
    elif isinstance(source, FromSteps):
        many = list(_matching(source, inputs, results))
        yield _fold(source, many, results[source.step], identity)


def _matching(
    source: FromStep | FromSteps, inputs: Mapping[str, JSON], results: Mapping[str, JSON]
) -> Iterator[Fragment]:
    wanted = {name: resolve(item, inputs, results) for name, item in source.match.items()}
    for seen in objects(results.get(source.step)):
        if source.field in seen and all(name in seen and json_equal(seen[name], item) for name, item in wanted.items()):
            yield seen


def _scalar(value: JSON) -> bool:
    return not isinstance(value, (dict, list))


def _fragment(seen: Fragment, fields: Sequence[str], identity: frozenset[str]) -> Fragment:
    names = [name for name in seen if name in identity and _scalar(seen[name]) and seen[name] is not None][:2]
    return {name: seen[name] for name in dict.fromkeys([*names, *fields])}


def _loose(fragment: Fragment) -> Fragment:
    return {f"*{name}": value for name, value in fragment.items() if _scalar(value)}


def _otherwise(rows: tuple[Fragment, ...]) -> tuple[tuple[Fragment, ...], ...]:
    """Return the alternative in which another tool names the fields otherwise, where two values tell the row."""
    loose = tuple(_loose(row) for row in rows)
    usable = bool(loose) and all(len({repr(value) for value in row.values()}) >= 2 for row in loose)
    return (loose,) if usable else ()


def _one(source: FromStep, seen: Fragment, result: JSON, identity: frozenset[str]) -> Support:
    value = seen[source.field]
    if not source.match and source.field.casefold() in TOTALS and type(value) is int:
        # Whoever saw every row may count them instead of reading the tool's total.
        rows = _rows_of(result, value, identity)
        total = ({name: seen[name] for name in (*source.match, source.field)},)
        if rows:
            return Support(source.step, rows, (rows,), (*_otherwise(rows), total))
        return Support(source.step, (), (total,), _named(value))
    row = _fragment(seen, [*source.match, source.field], identity)
    return Support(source.step, (row,), ((row,),), _otherwise((row,)))


def _named(number: int) -> tuple[tuple[Fragment, ...], ...]:
    """Return a number under the names that tools which count give it."""
    return tuple(({name: number},) for name in ("total", "count", "value"))


def _rows_of(result: JSON, count: int, identity: frozenset[str]) -> tuple[Fragment, ...]:
    if not 0 < count <= MOST_ROWS:
        return ()
    for items in _lists(result):
        rows = [item for item in items if isinstance(item, dict)]
        if len(rows) == count == len(items):
            found = tuple(_fragment(row, [], identity) or dict(list(row.items())[:2]) for row in rows)
            return found if all(found) else ()
    return ()


def _lists(value: JSON) -> Iterator[list[JSON]]:
    value = opened(value)
    if isinstance(value, list):
        yield value
        for item in value:
            yield from _lists(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _lists(item)


def _fold(source: FromSteps, many: Sequence[Fragment], result: JSON, identity: frozenset[str]) -> Support:
    fields = [*source.match] if source.fn == "count" else [*source.match, source.field]
    rows = tuple(_fragment(seen, fields, identity) for seen in many[:MOST_ROWS])
    if not rows or len(many) > MOST_ROWS:
        return Support(source.step, (), ())
    lenient = _otherwise(rows)
    if source.fn == "count":
        names = [name for seen in objects(result) for name in seen if name.casefold() in TOTALS]
        lenient = (*lenient, *_named(len(many)), *(({name: len(many)},) for name in names))
    return Support(source.step, rows, (rows,), lenient)


def witnesses(
    reply: Sequence[ReplyPart],
    servers: Mapping[str, str],
    inputs: Mapping[str, JSON],
    results: Mapping[str, JSON],
    identity: frozenset[str],
    *,
    strict: bool = False,
) -> tuple[Witness, ...]:
    """Return a witness for each part of a reply that was observed.

    Args:
        reply: parts with their sources.
        servers: step id -> environment.
        inputs: what the user knows.
        results: observed in the reference.
        identity: field names by which rows are told apart.
        strict: the rows themselves must be shown under their own field names.
    """
    found = []
    for part in reply:
        for number, support in enumerate(supports(part.source, inputs, results, identity)):
            alternatives = support.strict if strict else (*support.strict, *support.lenient)
            if alternatives:
                name = part.name if not number else f"{part.name} {number + 1}"
                found.append(Witness(name=name, server=servers[support.step], alternatives=alternatives))
    return tuple(found)
