"""File results: the declared result of a file tool from the entries and texts that its operations leave."""

from weft.agents.rules.environment.fields import Schema
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import Outcome, resolver_of
from weft.agents.rules.environment.rows import argument
from weft.agents.rules.environment.words import tokens
from weft.records.expression import Expr, Length, MapOver, ObjectOf, const, var
from weft.records.spec import RefusalCode

_ENTRY = {
    "path": "path",
    "name": "name",
    "file": "path",
    "kind": "type",
    "type": "type",
    "size": "size",
    "bytes": "size",
}
_LISTINGS = ("list", "grep", "search", "read_many")


def file_result(part: Part, outcome: Outcome) -> Expr:
    """The result of a file tool in its declared form.

    Raises:
        Refused: when the schema requires what a workspace of texts does not give.
    """
    declared = part.tool.output_schema or {}
    resolver = resolver_of(declared)
    plain = resolver.plain(declared)
    properties = resolver.properties(plain)
    assert outcome.value is not None
    if not properties:
        return outcome.value
    fields: dict[str, Expr] = {}
    for name, schema in properties:
        value = _property(name, schema, part, outcome)
        if value is not None:
            fields[name] = value
        elif name in (plain.get("required") or []):
            message = f"the declared result needs {name!r}, which a workspace of texts does not give"
            raise Refused(RefusalCode.RETURN_SCHEMA, message, "bind the real server", path=f"#/outputSchema/{name}")
    return ObjectOf(op="object", fields=fields)


def _property(name: str, schema: Schema, part: Part, outcome: Outcome) -> Expr | None:
    operation, kind, words = part.options["file"], schema.get("type"), tokens(name)
    if kind == "boolean":
        return const(True) if part.intent.writes else None
    if kind == "array":
        return _listing(schema, operation, outcome) if operation in _LISTINGS else None
    for use in part.uses:
        same = use.field.words == words and use.field.schema.get("type") == kind
        if same and use.options.get("part") in ("path", "target", "pattern"):
            return argument(use.field)
    if kind == "integer" and words[-1] in ("total", "count") and operation in ("list", "grep", "search"):
        return Length(op="length", of=var("found"))
    if kind == "integer" and words[0].startswith("replace") and operation == "edit":
        return var("done", "replaced")
    entry = "found" if operation == "stat" else "entry" if "entry" in outcome.extra else ""
    if entry and words[0] in _ENTRY and kind in ("string", "integer"):
        return var(entry, _ENTRY[words[0]])
    return outcome.extra["text"] if kind == "string" and not schema.get("enum") else None


def _listing(schema: Schema, operation: str, outcome: Outcome) -> Expr | None:
    """The entries of a listing, each property by its words; None when one has no counterpart."""
    assert isinstance(outcome.value, ObjectOf)
    rows = next(iter(outcome.value.fields.values()))
    items = schema.get("items")
    properties = items.get("properties") if isinstance(items, dict) else None
    if not properties:
        return rows
    fields: dict[str, Expr] = {}
    for name, value in properties.items():
        first = tokens(name)[0]
        if operation == "grep":
            found = "line" if value.get("type") == "integer" else "path" if first in ("path", "file") else "text"
        elif operation == "read_many":
            found = "path" if first in ("path", "file", "name") else "content"
        else:
            found = _ENTRY.get(first, "")
        if not found:
            return None
        fields[name] = var("item", found)
    return MapOver(op="map", over=rows, name="item", value=ObjectOf(op="object", fields=fields))
