"""The values of one column over the rows of its table."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from weft.agents.rules.seeds.constraints import Constraints
from weft.agents.rules.seeds.draw import letters, spread, uuid_text
from weft.agents.rules.seeds.facts import RowFacts, iso, words_of
from weft.agents.rules.seeds.meaning import guess, is_moment, moment
from weft.agents.rules.seeds.references import Schema, type_of
from weft.agents.rules.seeds.values import Unsatisfiable, ValueSchema
from weft.records.state import Column, ColumnRole, ColumnType, IdStyle, Table

JSON_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "integer",
    ColumnType.NUMBER: "number",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.DATETIME: "string",
    ColumnType.DATE: "string",
    ColumnType.TIME: "string",
}
HEX = "0123456789abcdef"
NULL_SHARE = 0.25
NEVER_NULL = frozenset({
    ColumnRole.ID, ColumnRole.KEY, ColumnRole.NAME, ColumnRole.CREATED, ColumnRole.UPDATED, ColumnRole.STATUS,
})  # fmt: skip
ATTEMPTS = 8
RARE_TRUTHS = frozenset({
    "deleted", "archived", "disabled", "hidden", "locked", "blocked", "draft", "closed", "cancelled", "spam", "private",
    "revoked", "expired", "muted", "pinned", "starred",
})  # fmt: skip


@dataclass(frozen=True)
class ColumnJob:
    """What is needed to fill one column.

    Attributes:
        table: its table.
        column: the column.
        constraints: what its values must satisfy.
        facts: of every row.
        rng: the column's own stream.
    """

    table: Table
    column: Column
    constraints: Constraints
    facts: Sequence[RowFacts]
    rng: random.Random

    @cached_property
    def schemas(self) -> list[ValueSchema]:
        """The schemas to draw values from; made once, since each is compiled."""
        return _typed_schemas(self)

    @property
    def unique(self) -> bool:
        """True if no two rows may share a value."""
        return self.column.unique or self.table.key == (self.column.name,) or self.column.role is ColumnRole.ID

    @property
    def may_be_null(self) -> bool:
        """True if some seed rows leave the column empty."""
        column = self.column
        fixed = (
            ColumnRole.ID,
            ColumnRole.KEY,
            ColumnRole.NAME,
            ColumnRole.CREATED,
            ColumnRole.UPDATED,
            ColumnRole.STATUS,
        )
        if not column.nullable or column.name in self.table.key or column.role in fixed:
            return False
        declared = self.constraints.declared
        return self.constraints.null_fits and (declared is None or not declared.schema or _allows_null(declared))


def _allows_null(schema: ValueSchema) -> bool:
    """A declared schema need not name null: a column that is nullable is an optional field."""
    return schema.valid(None) or "const" not in schema.flat


TEXT_OR_WHOLE = (ColumnType.TEXT, ColumnType.INTEGER)


def fill(job: ColumnJob) -> list[Any]:
    """Return one value per row."""
    column, count = job.column, len(job.facts)
    if column.role in (ColumnRole.CREATED, ColumnRole.UPDATED):
        return [_clocked(job, facts) for facts in job.facts]
    allowed = listed(job)
    scope = column.role is ColumnRole.KEY or (job.constraints.scopes and column.type in TEXT_OR_WHOLE)
    if scope and not job.unique and not allowed:
        values = _shared(job, count)
    elif allowed:
        values = _distinct(job, allowed, count) if job.unique else spread(job.rng, allowed, count)
    elif column.type is ColumnType.BOOLEAN:
        words = set(words_of(column.field))
        first = not words & RARE_TRUTHS
        values = spread(job.rng, [first, not first], count)
    else:
        values = [value_for(job, facts) for facts in job.facts]
        values = _made_distinct(job, values) if job.unique else _varied(job, values)
    return _with_nulls(job, values)


def _shared(job: ColumnJob, count: int) -> list[Any]:
    """Return few values for a part of a key: most rows share the first, and rows that share one share all of them."""
    places = [0 if i * 2 < count else 1 if i * 6 < count * 5 else 2 for i in range(count)]
    values = _made_distinct(job, [value_for(job, facts) for facts in job.facts[: max(places, default=0) + 1]])
    return [values[place] for place in places]


def listed(job: ColumnJob) -> list[Any]:
    """Return the listed values of a column that every constraint allows; [] when its values are free."""
    declared = job.constraints.declared
    values: Sequence[Any] = job.column.enum or (declared.enum if declared else ())
    if not values:
        for schema in (*job.constraints.results, *job.constraints.arguments):
            if schema.enum:
                values = schema.enum
                break
    wanted = JSON_TYPES.get(job.column.type)
    fitting = [v for v in values if v is not None and (wanted is None or _is_type(v, wanted))]
    # What an argument may be is often less than what a row may hold: a row can be in a state that no tool sets.
    for level in (1, 2) if job.column.enum else (0, 1, 2):
        chosen = [v for v in fitting if job.constraints.met(v, level)]
        if chosen:
            return chosen
    return fitting if job.column.enum else []


def _is_type(value: Any, wanted: str) -> bool:
    kind = type_of(value)
    return kind == wanted or (wanted == "number" and kind == "integer")


def _clocked(job: ColumnJob, facts: RowFacts) -> Any:
    when = facts.created if job.column.role is ColumnRole.CREATED else facts.updated
    return as_moment(job, when)


def as_moment(job: ColumnJob, when: datetime) -> Any:
    """Return a moment in the column's type and in the first form that its constraints allow."""
    kind = job.column.type
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        seconds = int(when.timestamp())
        return next((v for v in (seconds, seconds * 1000) if job.constraints.met(v)), seconds)
    text = iso(when)
    forms = {
        ColumnType.DATE: (text[:10],),
        ColumnType.TIME: (text[11:19], text[11:16], text[11:]),
    }.get(
        kind,
        (
            text,
            text[:19],
            text[:16],
            text[:10],
            text[:19] + "+00:00",
            text[:19] + ".000Z",
            text[:10] + " " + text[11:19],
        ),
    )
    for level in (0, 1, 2):
        for form in forms:
            if job.constraints.met(form, level):
                return form
    return forms[0]


def value_for(job: ColumnJob, facts: RowFacts) -> Any:
    """Return a value for one row: of the column's meaning where that fits, else drawn from its schemas.

    The strictest level of the constraints that a value is found for holds; the column's own schema always does when
    any value of the column's type fits it.
    """
    column, words = job.column, words_of(job.column.field)
    if column.role is ColumnRole.ID or job.table.key == (column.name,):
        identity = identity_value(job, facts)
        if identity is not None and job.constraints.met(identity):
            return identity
    if column.role is ColumnRole.NAME and column.type is ColumnType.TEXT and job.constraints.met(facts.name):
        return facts.name
    if column.type in (ColumnType.DATETIME, ColumnType.DATE, ColumnType.TIME):
        text = as_moment(job, moment(words, facts, job.rng))
        if job.constraints.met(text):
            return text
    schemas = job.schemas
    for level in (0, 1, 2):
        for schema in schemas:
            for _ in range(ATTEMPTS if level == 0 else 3):
                try:
                    value = schema.draw(job.rng, column.field, facts, full=column.type is ColumnType.JSON)
                except Unsatisfiable:
                    break
                if job.constraints.met(value, level) and (value is not None or column.nullable):
                    return value
    return _fallback(job, facts)


def _typed_schemas(job: ColumnJob) -> list[ValueSchema]:
    """The schemas to draw from, each narrowed to the column's type; one of the type alone when there is none."""
    wanted = JSON_TYPES.get(job.column.type)
    typed: Schema = {"type": wanted} if wanted else {}
    if wanted == "string" and job.column.type is not ColumnType.TEXT:
        typed["format"] = {"datetime": "date-time"}.get(job.column.type.value, job.column.type.value)
    schemas = [
        ValueSchema({"allOf": [schema.schema, typed]}, schema.root) for schema in job.constraints.all if schema.schema
    ]
    if schemas:
        return schemas
    if wanted is None:
        return [ValueSchema(invented_json(job.column))]
    return [ValueSchema(typed)]


def invented_json(column: Column) -> Schema:
    """Return a schema for a JSON column that declares none: a list of texts for a plural, else a small object."""
    words = words_of(column.field)
    if words and words[-1].endswith("s") and words[-1] not in ("address", "status", "properties", "settings", "params"):
        return {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}
    text: Schema = {"type": "string"}
    return {"type": "object", "properties": {"label": text, "value": text}, "required": ["label", "value"]}


def _fallback(job: ColumnJob, facts: RowFacts) -> Any:
    kind = JSON_TYPES.get(job.column.type)
    if kind is None:
        return guess(job.column.field, "string", facts, job.rng) or facts.title
    if kind in ("integer", "number"):
        return facts.index + 1
    if kind == "boolean":
        return facts.index % 2 == 0
    if is_moment(words_of(job.column.field)) or job.column.type is not ColumnType.TEXT:
        return as_moment(job, facts.created)
    return facts.title


def identity_value(job: ColumnJob, facts: RowFacts) -> Any:
    """Return an id in the table's style, or None when the caller gives them (natural keys)."""
    column, table, rng = job.column, job.table, job.rng
    if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
        return facts.index + 1
    if column.type is not ColumnType.TEXT or column.role is not ColumnRole.ID:
        return None
    if table.id_style is IdStyle.INTEGER:
        return f"{table.id_prefix}{facts.index + 1}"
    if table.id_style is IdStyle.UUID:
        return uuid_text(rng)
    if table.id_style is IdStyle.HEX:
        return letters(rng, 24, HEX)
    if table.id_style is IdStyle.PREFIXED:
        return f"{table.id_prefix}{letters(rng, 7)}{rng.choice('abcdefgh')}"
    return None


def _distinct(job: ColumnJob, allowed: Sequence[Any], count: int) -> list[Any]:
    order = list(allowed)
    job.rng.shuffle(order)
    return order[:count]


def _made_distinct(job: ColumnJob, values: list[Any]) -> list[Any]:
    """Return the values with repeats changed: numbered texts, next numbers, or drawn again."""
    seen: list[Any] = []
    taken: set[str] = set()
    for place, value in enumerate(values):
        for attempt in range(1, 40):
            if repr(value) not in taken and value is not None:
                break
            value = _another(job, values[place], job.facts[place], attempt)
        taken.add(repr(value))
        seen.append(value)
    return seen


def _another(job: ColumnJob, value: Any, facts: RowFacts, attempt: int) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return value + attempt
    if isinstance(value, str):
        stem, dot, extension = value.rpartition(".")
        if "@" in value:
            numbered = value.replace("@", f"{attempt + 1}@", 1)
        elif dot and extension.isalpha() and len(extension) < 5 and "/" not in extension and " " not in value:
            numbered = f"{stem}-{attempt + 1}.{extension}"
        else:
            numbered = f"{value} {attempt + 1}" if " " in value else f"{value}-{attempt + 1}"
        if job.constraints.met(numbered):
            return numbered
    return value_for(job, facts)


def _varied(job: ColumnJob, values: list[Any]) -> list[Any]:
    """Return the values, with some drawn again when all rows have the same, so that a filter can tell rows apart."""
    if len(values) < 2 or any(repr(v) != repr(values[0]) for v in values[1:]):
        return values
    for place in range(1, len(values), 2):
        for attempt in range(1, 6):
            value = _another(job, values[place], job.facts[place], attempt)
            if repr(value) != repr(values[0]) and job.constraints.met(value):
                values[place] = value
                break
    return values


def _with_nulls(job: ColumnJob, values: list[Any]) -> list[Any]:
    if not job.may_be_null or len(values) < 4:
        return values
    empty = max(1, int(len(values) * NULL_SHARE))
    chosen = frozenset(job.rng.sample(range(1, len(values)), min(empty, len(values) - 2)))
    return [None if place in chosen else value for place, value in enumerate(values)]
