"""Bulk arguments: arrays of objects of which each element is one row."""

from dataclasses import replace

from weft.agents.rules.environment.fields import Field, Resolver, make_field
from weft.agents.rules.environment.identifiers import id_parts
from weft.agents.rules.environment.intents import noun
from weft.agents.rules.environment.lexicon import WRAPPERS
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.rows import ELEMENT
from weft.agents.rules.environment.words import is_plural, listed

_NAMES = frozenset(listed("item, record, row, entry, element, object, update, change, operation, data, edit "))


def bulk_field(part: Part) -> Field | None:
    """The required array of objects whose elements are rows of the part's table."""
    table = part.main()
    arrays = [field for field in part.fields if field.is_array and field.required and _element_properties(field)]
    for field in arrays:
        base = noun(field.words)
        plural_noun = is_plural(field.words[-1])
        if plural_noun and (
            base == table.phrase
            or base == table.phrase[-1:]
            or (base[-1] in _NAMES and (part.intent.bulk or part.intent.plural))
            or table.phrase[-len(base) :] == base
        ):
            return field
    return None


def _element_properties(field: Field) -> bool:
    items = field.schema.get("items")
    return isinstance(items, dict) and (bool(items.get("properties")) or "$ref" in items)


def element_fields(part: Part, field: Field) -> list[Field]:
    """The fields of one element; objects inside it that only wrap attributes are opened."""
    resolver = Resolver(part.tool.input_schema)
    items = resolver.plain(field.schema.get("items"))
    needed = items.get("required") or []
    found: list[Field] = []
    for name, value in resolver.properties(items):
        inner = make_field(name, (ELEMENT, name), value, name in needed)
        if value.get("properties") and inner.words and inner.words[-1] in WRAPPERS:
            inside = value.get("required") or []
            found += [
                make_field(key, (ELEMENT, name, key), sub, name in needed and key in inside)
                for key, sub in resolver.properties(value)
            ]
        else:
            found.append(inner)
    return found


def usable(part: Part, fields: list[Field]) -> bool:
    """True if the elements of a bulk update say which row each of them changes."""
    if part.intent.kind not in ("update", "set"):
        return True
    return any(field.required and id_parts(field)[1] for field in fields)


def relabel(field: Field, parent: Field) -> str:
    """The dotted path of an element's field, with ``[]`` for the elements."""
    return ".".join([f"{parent.dotted}[]", *[str(step) for step in field.path[1:]]])


__all__ = ["bulk_field", "element_fields", "relabel", "replace", "usable"]
