"""What an answer rests on: the observed objects behind a reply part, as witnesses and as required returns (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.agents.reference import resolve
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
        objects: the whole objects, for comparison in full.
        alternatives: fragments that show as much, any one list of which suffices.
    """

    step: str
    objects: tuple[Fragment, ...]
    alternatives: tuple[tuple[Fragment, ...], ...]


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


def _with_loose(rows: tuple[Fragment, ...]) -> tuple[tuple[Fragment, ...], ...]:
    """Add the alternative in which another tool names the fields otherwise, where two values or more tell the row."""
    loose = tuple(_loose(row) for row in rows)
    usable = bool(loose) and all(len({repr(value) for value in row.values()}) >= 2 for row in loose)
    return (rows, loose) if usable else (rows,)


def _one(source: FromStep, seen: Fragment, result: JSON, identity: frozenset[str]) -> Support:
    value = seen[source.field]
    total = source.field.casefold() in TOTALS and isinstance(value, int) and not isinstance(value, bool)
    row = _fragment(seen, [*source.match, source.field], identity if not total else frozenset())
    alternatives = _with_loose((row,))
    if total:
        alternatives = ((row,),)
        # Whoever saw every row may count them instead of reading the tool's total.
        counted = _rows_of(result, int(value), identity)
        if counted:
            alternatives = (*alternatives, *_with_loose(counted))
    return Support(source.step, (seen,), alternatives)


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
    alternatives: tuple[tuple[Fragment, ...], ...] = _with_loose(rows) if rows and len(many) <= MOST_ROWS else ()
    if source.fn == "count" and many:
        # A tool that counts shows the number alone; the usual names of such a field stand for it.
        names = [name for name in result if name.casefold() in TOTALS] if isinstance(result, dict) else []
        for name in dict.fromkeys([*names, "total", "count", "value"]):
            alternatives = (*alternatives, ({name: len(many)},))
    return Support(source.step, tuple(many), alternatives)


def witnesses(
    reply: Sequence[ReplyPart],
    servers: Mapping[str, str],
    inputs: Mapping[str, JSON],
    results: Mapping[str, JSON],
    identity: frozenset[str],
) -> tuple[Witness, ...]:
    """Return a witness for each part of a reply that was observed.

    Args:
        reply: parts with their sources.
        servers: step id -> environment.
        inputs: what the user knows.
        results: observed in the reference.
        identity: field names by which rows are told apart.
    """
    found = []
    for part in reply:
        for number, support in enumerate(supports(part.source, inputs, results, identity)):
            if support.alternatives:
                name = part.name if not number else f"{part.name} {number + 1}"
                found.append(Witness(name=name, server=servers[support.step], alternatives=support.alternatives))
    return tuple(found)
