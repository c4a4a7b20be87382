"""Fitting: whether what a column holds can be shown as a declared result property."""

from weft.agents.rules.environment.blueprint import ColumnPlan
from weft.agents.rules.environment.fields import Field, Schema
from weft.records.state import ColumnType


def fits(column: ColumnPlan, field: Field) -> bool:
    """True if what the column holds can be shown as the declared property."""
    if column.type != ColumnType.JSON:
        if field.is_array or field.schema.get("type") == "boolean" or column.type == ColumnType.BOOLEAN:
            return field.type == column.type
        if field.type in (ColumnType.INTEGER, ColumnType.NUMBER):
            return column.type in (ColumnType.INTEGER, ColumnType.NUMBER)
        return True
    wanted, held = field.schema, column.schema
    if not wanted.get("type") and not wanted.get("anyOf") and not wanted.get("oneOf"):
        return True
    if wanted == held:
        return True
    if wanted.get("type") != held.get("type"):
        return False
    inner, own = _items(wanted), _items(held)
    if field.is_array:
        if not inner.get("type") and not inner.get("anyOf") and not inner.get("oneOf"):
            return True
        strings = own.get("type") == "string" and bool(inner.get("properties"))
        return strings or (inner.get("type") == own.get("type") and _covers(own, inner))
    return _covers(held, wanted)


def _covers(held: Schema, wanted: Schema) -> bool:
    """True if objects that satisfy ``held`` have what ``wanted`` requires."""
    return set(wanted.get("required") or []) <= set(held.get("required") or []) and not (
        wanted.get("properties") and not held.get("properties")
    )


def stricter(field: Field, column: ColumnPlan) -> bool:
    """True if the property's schema asks for all that the column's does."""
    return column.schema.get("type") in (None, field.schema.get("type"))


def _items(schema: Schema) -> Schema:
    items = schema.get("items")
    return items if isinstance(items, dict) else {}
