"""Rows as results: the JSON object of a row, its schema, and what arguments add to it or leave out."""

from typing import Any

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field, Schema, union_kinds
from weft.agents.rules.environment.lexicon import MINIMAL
from weft.agents.rules.environment.plan import Part, Use
from weft.records.expression import (
    Absent,
    Arg,
    Cast,
    Choose,
    Coalesce,
    Compare,
    Concat,
    Condition,
    Expr,
    MapOver,
    Not,
    ObjectOf,
    Present,
    ProjectFields,
    Select,
    Truthy,
    Var,
    Where,
    const,
    var,
)
from weft.records.state import ColumnRole, ColumnType

_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.INTEGER: "integer",
    ColumnType.NUMBER: "number",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.DATETIME: "string",
    ColumnType.DATE: "string",
    ColumnType.TIME: "string",
}
ABSENT = Absent(op="absent")


ELEMENT = "[]"
"""First step of the path of a field inside the elements of a bulk argument."""


def argument(field: Field) -> Arg | Var:
    """The argument's value; inside a bulk argument, that of the current element."""
    if field.path[0] == ELEMENT:
        return var("element", *field.path[1:])
    return Arg(op="arg", path=field.path)


def fitted(value: Expr, field: Field, column: ColumnPlan) -> Expr:
    """A value of an argument as the column's type."""
    if column.type == ColumnType.TEXT and union_kinds(field.schema) and not field.is_array and field.is_text:
        return Cast(op="cast", of=value, to="text")
    if column.type == ColumnType.TEXT and not field.is_text and not field.is_array and field.type != ColumnType.BOOLEAN:
        return Cast(op="cast", of=value, to="text")
    if (
        column.type == ColumnType.INTEGER
        and field.type in (ColumnType.TEXT, ColumnType.JSON, ColumnType.NUMBER)
        and not field.is_array
    ):
        return Cast(op="cast", of=value, to="integer")
    if column.type == ColumnType.NUMBER and field.type == ColumnType.TEXT:
        return Cast(op="cast", of=value, to="number")
    return value


def use_value(use: Use) -> Expr:
    """The argument's value as its column's type."""
    value: Expr = argument(use.field)
    return fitted(value, use.field, use.column) if use.column is not None else value


def is_true(field: Field) -> Condition:
    """True if a boolean argument is true, its declared default counted."""
    value: Expr = argument(field)
    if field.schema.get("default") is True:
        value = Coalesce(op="coalesce", items=(value, const(True)))
    return Truthy(op="truthy", of=value)


def column_schema(column: ColumnPlan) -> Schema:
    """The JSON Schema of a column's value in a result."""
    kind = _TYPES.get(column.type)
    if kind is None:
        declared = column.schema.get("type")
        if declared not in ("array", "object"):
            return {}
        kind = str(declared)
    nullable = column.nullable and column.role != ColumnRole.ID
    return {"type": [kind, "null"] if nullable else kind}


class RowView:
    """How one part shows the rows of a table.

    Attributes:
        table: the table.
        part: the part whose arguments change what is shown.
    """

    def __init__(self, table: TablePlan, part: Part, blueprint: Blueprint) -> None:
        self.table = table
        self.part = part
        self._blueprint = blueprint

    def value(self, name: str) -> Expr:
        """The object of the row in variable ``name``."""
        full = ObjectOf(op="object", fields=self._fields(name))
        level = self.part.one("level")
        shown: Expr = full
        if level is not None and level.table is self.table:
            small = ObjectOf(op="object", fields={c.field: var(name, c.name) for c in self.minimal()})
            shown = Choose(op="choose", condition=_small(level.field), then=small, otherwise=full)
        projection = self.part.one("projection")
        if projection is not None and projection.table is self.table:
            known = tuple(self._fields(name))
            shown = ProjectFields(
                op="project",
                of=shown,
                fields=argument(projection.field),
                known=known,
                always=(self.table.column(self.table.id).field,),
            )
        return shown

    def minimal(self) -> list[ColumnPlan]:
        """The columns that identify a row to people."""
        roles = (ColumnRole.ID, ColumnRole.NAME, ColumnRole.KEY)
        return [column for column in self.table.columns if column.role in roles]

    def schema(self) -> Schema:
        """The schema of :meth:`value`."""
        properties: dict[str, Any] = {c.field: column_schema(c) for c in self.table.columns if not c.hidden}
        properties |= {relation.field: {"type": "array"} for relation in self.table.relations}
        optional: list[str] = []
        for use in self.part.role("include"):
            for name, _ in self._included(use, "row"):
                properties[name] = {}
                optional.append(name)
        required = [name for name in properties if name not in optional]
        if self.part.one("projection") is not None:
            required = [self.table.column(self.table.id).field]
        elif self.part.one("level") is not None:
            required = [column.field for column in self.minimal()]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _fields(self, name: str) -> dict[str, Expr]:
        fields: dict[str, Expr] = {c.field: var(name, c.name) for c in self.table.columns if not c.hidden}
        for relation in self.table.relations:
            fields[relation.field] = self.linked(relation.table, relation.near, relation.far, var(name, self.table.id))
        for use in self.part.role("include"):
            for label, value in self._included(use, name):
                shown = self._asked(use, label)
                if use.options.get("hide"):
                    shown = Not(op="not", of=shown)
                fields[label] = Choose(op="choose", condition=shown, then=value, otherwise=ABSENT)
        return fields

    def linked(self, table: str, near: str, far: str, key: Expr) -> Expr:
        """The far values of a relation table for one near key."""
        rows = Select(op="select", table=table, where=(Where(test="eq", column=near, value=key),))
        return MapOver(op="map", over=rows, name="link", value=var("link", far))

    def _asked(self, use: Use, label: str) -> Condition:
        if use.options.get("list"):
            value: Expr = argument(use.field)
            if not use.field.is_array:
                return Compare(
                    op="compare", test="eq", left=value, right=const(use.options["labels"].get(label, label))
                )
            return Compare(
                op="compare",
                test="in",
                left=const(use.options["labels"].get(label, label)),
                right=Coalesce(op="coalesce", items=(value, const([]))),
            )
        return is_true(use.field)

    def _included(self, use: Use, name: str) -> list[tuple[str, Expr]]:
        """The result fields that an include argument switches: children of the row, or an attribute."""
        found: list[tuple[str, Expr]] = []
        for label, target in use.options.get("targets", {}).items():
            if isinstance(target, ColumnPlan):
                found.append((label, var(name, target.name)))
            else:
                child, column = target
                rows = Select(
                    op="select",
                    table=child.name,
                    where=(Where(test="eq", column=column.name, value=var(name, self.table.id)),),
                )
                fields: dict[str, Expr] = {c.field: var("child", c.name) for c in child.columns if not c.hidden}
                found.append(
                    (label, MapOver(op="map", over=rows, name="child", value=ObjectOf(op="object", fields=fields)))
                )
        return found


def _small(field: Field) -> Condition:
    """True if a level argument asks for the short form."""
    if field.type == ColumnType.BOOLEAN:
        short = set(field.words) & (MINIMAL | {"only"})
        asked = is_true(field)
        return asked if short else Not(op="not", of=asked)
    values = [value for value in field.enum if str(value).lower() in MINIMAL]
    value: Expr = argument(field)
    if "default" in field.schema:
        value = Coalesce(op="coalesce", items=(value, const(field.schema["default"])))
    return Compare(op="compare", test="in", left=value, right=const(values))


def said(text: str, *parts: Expr) -> Expr:
    """A short message of fixed text and values."""
    return Concat(op="concat", items=(const(text), *parts), separator=" ")


def present(value: Expr) -> Condition:
    """True if a value is there and not null."""
    return Present(op="present", of=value)
