"""Returns: the result of a part, shaped to the declared output schema or given a schema of its own."""

import re
from dataclasses import dataclass, field
from typing import Any

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field, Resolver, Schema, make_field
from weft.agents.rules.environment.intents import noun
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.rows import RowView
from weft.agents.rules.environment.words import plural
from weft.records.contract import Operation
from weft.records.expression import Cast, Expr, Length, ListOf, MapOver, ObjectOf, const, var


@dataclass
class Outcome:
    """What the operations of a part leave behind for its result.

    Attributes:
        operations: run in order.
        kind: ``row``, ``rows``, ``deleted``, ``number``, ``value``.
        row: variable of the row, for ``row`` (and the row deleted, for ``deleted``).
        rows: variable of the list, for ``rows``.
        page: variable of the page, when the list is cut.
        value: the whole result, for ``value`` and ``number``.
        schema: its schema.
        extra: more fields of the result.
        extra_schema: their schemas.
        reads: tables read.
        writes: columns and tables written.
        errors: codes a caller can meet.
        done: past participle for messages (``created``).
        table: the table whose rows come back, when it is not the part's.
    """

    operations: list[Operation]
    kind: str
    row: str = "row"
    rows: str = "rows"
    page: str = ""
    value: Expr | None = None
    schema: Schema = field(default_factory=dict)
    extra: dict[str, Expr] = field(default_factory=dict)
    extra_schema: dict[str, Any] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    done: str = ""
    table: TablePlan | None = None


def own_result(part: Part, outcome: Outcome, blueprint: Blueprint) -> tuple[Expr, Schema]:
    """The result and its schema when the spec declares none."""
    table = outcome.table or part.main()
    view = RowView(table, part, blueprint)
    if outcome.kind in ("value", "number") and outcome.value is not None:
        return outcome.value, outcome.schema
    if outcome.kind == "row":
        return _with_extra(view.value(outcome.row), view.schema(), outcome)
    if outcome.kind == "rows":
        return _list_result(view, outcome, table)
    key = table.column(table.id)
    fields: dict[str, Expr] = {"deleted": const(True)}
    properties: Schema = {"deleted": {"type": "boolean"}}
    if outcome.row:
        fields[key.field] = var(outcome.row, key.name)
        properties[key.field] = {"type": "integer" if key.type.value == "integer" else "string"}
    fields, properties = {**fields, **outcome.extra}, {**properties, **outcome.extra_schema}
    return ObjectOf(op="object", fields=fields), _closed(properties)


def _closed(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _with_extra(value: Expr, schema: Schema, outcome: Outcome) -> tuple[Expr, Schema]:
    if not outcome.extra or not isinstance(value, ObjectOf):
        return value, schema
    merged = ObjectOf(op="object", fields={**value.fields, **outcome.extra})
    return merged, {
        **schema,
        "properties": {**schema["properties"], **outcome.extra_schema},
        "required": [*schema["required"], *outcome.extra],
    }


def list_label(table: TablePlan) -> str:
    """The field of a list result that holds the rows: the entity in the plural."""
    return "_".join((*table.phrase[:-1], plural(table.phrase[-1]))) if table.phrase else "items"


def _list_result(view: RowView, outcome: Outcome, table: TablePlan) -> tuple[Expr, Schema]:
    label = list_label(table)
    fields: dict[str, Expr] = {label: mapped(view, outcome)}
    properties: Schema = {label: {"type": "array", "items": view.schema()}}
    if outcome.page:
        fields["total"] = var(outcome.page, "total")
        properties["total"] = {"type": "integer"}
        for name, kind in page_fields(view.part):
            fields[name] = var(outcome.page, name)
            properties[name] = {"type": kind}
    else:
        fields["count"] = Length(op="length", of=var(outcome.rows))
        properties["count"] = {"type": "integer"}
    return ObjectOf(op="object", fields={**fields, **outcome.extra}), _closed({**properties, **outcome.extra_schema})


def page_fields(part: Part) -> list[tuple[str, Any]]:
    """The fields of a page that belong in a result, by the paging arguments that the tool has."""
    found: list[tuple[str, Any]] = []
    if part.one("cursor"):
        found.append(("next_cursor", ["string", "null"]))
    if part.one("page"):
        found.append(("next_page", ["integer", "null"]))
    if part.one("offset"):
        found.append(("next_offset", ["integer", "null"]))
    return [*found, ("has_more", "boolean")] if found else found


def mapped(view: RowView, outcome: Outcome) -> Expr:
    """The rows of a list outcome as result objects."""
    over = var(outcome.page, "items") if outcome.page else var(outcome.rows)
    return MapOver(op="map", over=over, name="item", value=view.value("item"))


def as_text(value: Expr) -> Expr:
    """A result as one JSON text."""
    return Cast(op="cast", of=value, to="text")


def empty_list() -> Expr:
    """An array without elements."""
    return ListOf(op="list", items=())


def result_field(name: str, schema: Schema, required: bool) -> Field:
    """A property of a declared result as a field."""
    return make_field(name, (name,), schema, required)


def resolver_of(schema: Schema) -> Resolver:
    """The resolver of a declared result."""
    return Resolver(schema)


def is_free(schema: Schema) -> bool:
    """True if the schema says nothing about an object's properties."""
    return (
        not schema.get("properties")
        and schema.get("type") in (None, "object")
        and not isinstance(schema.get("additionalProperties"), dict)
        and not schema.get("anyOf")
        and not schema.get("oneOf")
        and schema.get("additionalProperties") is not False
    )


def entity_label(name: str, table: TablePlan) -> bool:
    """True if a property is called as the entity."""
    words = noun(tuple(re.findall(r"[A-Za-z][a-z]*|\d+", name.lower().replace("_", " "))))
    return words == table.phrase or words == table.phrase[-1:]


def scalar_column(column: ColumnPlan) -> bool:
    """True if the column holds one text, number or boolean."""
    return column.type.value != "json"
