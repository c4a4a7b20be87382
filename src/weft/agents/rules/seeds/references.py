"""JSON Schema references: resolving local ones, closing a fragment over what it refers to, and flattening."""

from typing import Any
from urllib.parse import unquote

Schema = dict[str, Any]

LIMITS_UP = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
LIMITS_DOWN = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def as_schema(value: Any) -> Schema:
    """Return a schema as an object: ``true`` and what is not a schema give ``{}``, ``false`` gives ``{"not": {}}``."""
    if value is False:
        return {"not": {}}
    return value if isinstance(value, dict) else {}


def resolve(reference: str, root: Schema) -> Schema:
    """Return the schema that a local reference names; ``{}`` (anything) when it is not there or not local."""
    if reference in ("#", ""):
        return root
    if not reference.startswith("#"):
        return {}
    if not reference.startswith("#/"):
        return _anchor(reference[1:], root)
    here: Any = root
    for step in reference[2:].split("/"):
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and key in here:
            here = here[key]
        elif isinstance(here, list) and key.isdigit() and int(key) < len(here):
            here = here[int(key)]
        else:
            return {}
    return as_schema(here)


def _anchor(name: str, root: Schema) -> Schema:
    for group in ("$defs", "definitions"):
        for schema in as_schema(root.get(group)).values():
            if isinstance(schema, dict) and name in (schema.get("$anchor"), schema.get("$dynamicAnchor")):
                return schema
    return {}


def closed(fragment: Schema, root: Schema) -> Schema:
    """Return the fragment as a schema of its own: everything it refers to in ``root`` is copied under ``$defs``."""
    names: dict[str, str] = {}
    definitions: Schema = {}

    def copy(value: Any) -> Any:
        if isinstance(value, list):
            return [copy(item) for item in value]
        if not isinstance(value, dict):
            return value
        body = {
            k: copy(v)
            for k, v in value.items()
            if k not in ("$ref", "$defs", "definitions", "$id", "$schema", "$anchor")
        }
        reference = value.get("$ref")
        if isinstance(reference, str):
            fresh = reference not in names
            name = names.setdefault(reference, f"d{len(names)}")
            if fresh:
                definitions[name] = {}
                definitions[name] = copy(resolve(reference, root))
            body["$ref"] = f"#/$defs/{name}"
        return body

    body: Schema = copy(fragment)
    dialect = root.get("$schema")
    if definitions:
        body["$defs"] = dict(definitions)
    if isinstance(dialect, str):
        body["$schema"] = dialect
        if "draft-07" in dialect or "draft-06" in dialect or "draft-04" in dialect:
            return _siblings_in_all_of(body)
    return body


def _siblings_in_all_of(body: Schema) -> Schema:
    """In the older dialects a reference hides its siblings; keep a closed fragment's meaning by nesting it."""
    if "$ref" not in body:
        return body
    inner = {key: value for key, value in body.items() if key not in ("$defs", "$schema")}
    return {**{k: v for k, v in body.items() if k in ("$defs", "$schema")}, "allOf": [inner]}


def flatten(schema: Schema, root: Schema, depth: int = 0) -> Schema:
    """Return the schema with references resolved and ``allOf`` merged at its top level."""
    if "$ref" not in schema and "allOf" not in schema and "$dynamicRef" not in schema:
        return schema
    if depth > 12:
        return {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
    merged = {key: value for key, value in schema.items() if key not in ("$ref", "$dynamicRef", "allOf")}
    reference = schema.get("$ref", schema.get("$dynamicRef"))
    if isinstance(reference, str):
        merged = merge(flatten(resolve(reference, root), root, depth + 1), merged)
    for part in schema.get("allOf") or ():
        merged = merge(merged, flatten(as_schema(part), root, depth + 1))
    return merged


def merge(left: Schema, right: Schema) -> Schema:
    """Return the conjunction of two flat schemas as far as keywords can be merged; validation decides in the end."""
    out = dict(left)
    for key, value in right.items():
        if key not in out:
            out[key] = value
        elif key == "properties":
            both = dict(out[key])
            for name, schema in value.items():
                both[name] = {"allOf": [both[name], schema]} if name in both and both[name] != schema else schema
            out[key] = both
        elif key == "required":
            out[key] = list(dict.fromkeys([*out[key], *value]))
        elif key == "enum":
            out[key] = [item for item in out[key] if item in value]
        elif key == "type":
            out[key] = _common_types(out[key], value)
        elif key in LIMITS_UP and _numbers(out[key], value):
            out[key] = max(out[key], value)
        elif key in LIMITS_DOWN and _numbers(out[key], value):
            out[key] = min(out[key], value)
        elif key in ("anyOf", "oneOf") and out[key] != value:
            out[key] = [{"allOf": [one, {key: value}]} for one in out[key]]
        else:
            out[key] = value
    return out


def _numbers(*values: Any) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _common_types(left: Any, right: Any) -> Any:
    a = [left] if isinstance(left, str) else list(left)
    b = [right] if isinstance(right, str) else list(right)
    both = [t for t in a if t in b or (t == "integer" and "number" in b)]
    both += [t for t in b if t == "integer" and "number" in a and t not in both]
    return both[0] if len(both) == 1 else both or a


def types_of(flat: Schema) -> tuple[str, ...]:
    """Return the JSON types that a flat schema allows, in its own order; () means any."""
    declared = flat.get("type")
    if isinstance(declared, str):
        return (declared,)
    if isinstance(declared, list):
        return tuple(t for t in declared if isinstance(t, str))
    known = [v for v in flat.get("enum", [flat["const"]] if "const" in flat else []) if v is not None]
    if known:
        return tuple(dict.fromkeys(type_of(v) for v in known))
    if "properties" in flat or "additionalProperties" in flat:
        return ("object",)
    if "items" in flat or "prefixItems" in flat:
        return ("array",)
    if "pattern" in flat or "minLength" in flat or "maxLength" in flat or "format" in flat:
        return ("string",)
    return ("number",) if "minimum" in flat or "maximum" in flat else ()


def type_of(value: Any) -> str:
    """Return the JSON type name of a value."""
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (dict, "object"),
        (list, "array"),
    ):
        if isinstance(value, kind):
            return name
    return "null"
