"""Neutral values: the smallest value of a schema, for what the state holds nothing of."""

from weft.agents.rules.environment.fields import Schema
from weft.runtime.patterns import matching_text

_FORMATS = {
    "date-time": "1970-01-01T00:00:00Z",
    "date": "1970-01-01",
    "time": "00:00:00Z",
    "email": "nobody@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
}


_KINDS = {"string": str, "integer": int}


def neutral_value(schema: object) -> object:
    """The smallest value of a schema, for a required result property of which the state holds nothing."""
    if not isinstance(schema, dict):
        return None
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        return enum[0]
    if "const" in schema:
        return schema["const"]
    if schema.get("default") is not None:
        return schema["default"]
    for example in schema.get("examples") or ():
        if isinstance(example, str | int | float) and _KINDS.get(str(schema.get("type"))) in (None, type(example)):
            return example
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return neutral_value(schema[union][0])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties") or {}
        return {name: neutral_value(properties.get(name) or {}) for name in schema.get("required") or []}
    if kind == "string":
        return _text(schema)
    if kind in ("integer", "number"):
        return _number(schema)
    if kind == "array":
        items = schema.get("items")
        if isinstance(items, list):
            return [neutral_value(item) for item in items]
        return [neutral_value(items or {}) for _ in range(int(schema.get("minItems") or 0))]
    return False if kind == "boolean" else None


def _text(schema: Schema) -> str:
    if isinstance(schema.get("pattern"), str):
        found = matching_text(schema["pattern"], lambda _: 0)
        if found is not None:
            return found
    known = _FORMATS.get(str(schema.get("format")))
    if known is not None:
        return known
    return "-" * int(schema.get("minLength") or 0)


def _number(schema: Schema) -> int | float:
    low = schema.get("minimum", 0)
    above = schema.get("exclusiveMinimum")
    if isinstance(above, int | float) and not isinstance(above, bool):
        low = above + 1
    high = schema.get("maximum")
    value = max(0, low) if isinstance(low, int | float) else 0
    return min(value, high) if isinstance(high, int | float) else value
