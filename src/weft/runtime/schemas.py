"""What is wrong with a declared JSON Schema: each problem with its place, its value and the way out (Weft 3.1.1).

Pure: it reads the schema and nothing else. A reference that leads outside is a problem, never a request.
"""

from typing import Any, Final, NamedTuple

import jsonschema_rs

from weft.errors import InputError
from weft.records.spec import RefusalCode
from weft.runtime.dialects import DIALECTS, MAX_DEPTH, Dialect, compile_schema, pointer, reading_of, subschemas
from weft.runtime.references import SchemaMap, in_place_cycle, is_meta_schema
from weft.runtime.values import shown, type_name, unstorable

_TYPES: Final = "array, boolean, integer, null, number, object or string"

_WANTED: Final = {
    "type": f"one of {_TYPES}, or a list of different ones",
    "required": "a list of different property names",
    "properties": "an object of property name to schema",
    "patternProperties": "an object of regular expression to schema",
    "$defs": "an object of name to schema",
    "definitions": "an object of name to schema",
    "items": "a schema",
    "prefixItems": "a non-empty list of schemas",
    "additionalProperties": "true, false or a schema",
    "additionalItems": "true, false or a schema",
    "enum": "a list of values",
    "pattern": "a regular expression",
    "format": "the name of a format",
    "anyOf": "a non-empty list of schemas",
    "allOf": "a non-empty list of schemas",
    "oneOf": "a non-empty list of schemas",
    "multipleOf": "a number above 0",
    "minimum": "a number",
    "maximum": "a number",
    "exclusiveMinimum": "a number",
    "exclusiveMaximum": "a number",
    "uniqueItems": "true or false",
    "description": "a text",
    "title": "a text",
    "$ref": "the address of a schema, e.g. #/$defs/name",
    "dependentRequired": "an object of property name to list of property names",
}
_COUNTS: Final = frozenset(
    ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"]
)

_MAPS: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
_SINGLES: Final = frozenset(
    (
        "additionalProperties", "additionalItems", "items", "contains", "propertyNames", "not", "if", "then", "else",
        "unevaluatedItems", "unevaluatedProperties", "contentSchema",
    )
)  # fmt: skip

# The meta-schemas ship inside the library; compiling one costs about a millisecond.
_META: Final = {
    dialect.name: dialect.validator({"$schema": dialect.uri, "$ref": dialect.uri}, offline=True) for dialect in DIALECTS
}


class SchemaProblem(NamedTuple):
    """One thing that is wrong with a schema, with the fields of a :class:`~weft.records.spec.Refusal`.

    ``path`` is a JSON path into the schema, ``value`` what stands there.
    """

    code: RefusalCode
    path: str
    value: Any
    message: str
    remedy: str


def schema_problems(schema: Any) -> list[SchemaProblem]:
    """Return why a schema cannot be enforced; empty when it can.

    Looked for, in this order: not a schema at all, an unknown dialect, malformed keywords, references out of the schema
    or to nothing, cycles of references without content, and what else keeps the schema from being compiled.
    """
    if schema is None or schema is True:
        return []
    if schema is False:
        return [_bad("#", False, "the schema false allows no call at all", "declare an object schema")]
    if not isinstance(schema, dict):
        return [_bad("#", schema, f"a schema is an object, this is {type_name(schema)}", "declare an object schema")]
    if _deeper_than(schema, MAX_DEPTH):
        remedy = "give the inner parts names in $defs and refer to them"
        return [_bad("#", "", f"the schema is nested more than {MAX_DEPTH} levels deep", remedy)]
    if reason := unstorable(schema):
        return [_bad("#", "", f"the schema holds {reason}", "write it as plain JSON")]
    if problems := _dialect_problems(schema):
        return problems
    dialect = reading_of(schema).dialect
    assert dialect is not None
    if problems := _keyword_problems(schema, dialect):
        return problems
    return _reference_problems(schema, dialect) or _compile_problems(schema)


def schema_warnings(schema: Any) -> list[SchemaProblem]:
    """Return what was accepted with a remark: no schema, or an older dialect that ``$schema`` does not declare."""
    if schema is None or schema is True:
        message = f"the input schema is {'null' if schema is None else 'true'}: read as an object without properties"
        return [_bad("#", schema, message, 'declare {"type": "object"}')]
    reading = reading_of(schema)
    if not reading.guessed_from or reading.dialect is None:
        return []
    keyword = reading.guessed_from.rpartition("/")[2]
    message = (
        f"{keyword} is written as in {reading.dialect.name} and $schema is not declared: read as {reading.dialect.name}"
    )
    remedy = f'declare "$schema": "{reading.dialect.uri}", or write {keyword} as in 2020-12'
    return [SchemaProblem(RefusalCode.UNSUPPORTED_DIALECT, reading.guessed_from, "", message, remedy)]


def _bad(path: str, value: Any, message: str, remedy: str) -> SchemaProblem:
    return SchemaProblem(RefusalCode.BAD_SCHEMA, path, value, message, remedy)


def _deeper_than(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            item
            for holder in layer
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, (dict, list)) and item
        ]
        if not layer:
            return False
    return True


def _dialect_problems(schema: dict[str, Any]) -> list[SchemaProblem]:
    known = "; ".join(dialect.uri for dialect in DIALECTS)
    found = []
    for part in subschemas(schema):
        if isinstance(part.schema, dict) and "$schema" in part.schema and reading_of(part.schema).dialect is None:
            declared = part.schema["$schema"]
            message = f"$schema names no dialect that is known: {shown(declared)}"
            remedy = f"use one of {known}, or leave $schema out for 2020-12"
            found.append(
                SchemaProblem(RefusalCode.UNSUPPORTED_DIALECT, f"{part.path}/$schema", declared, message, remedy)
            )
    return found


def _keyword_problems(schema: dict[str, Any], dialect: Dialect) -> list[SchemaProblem]:
    errors = sorted(
        _META[dialect.name].iter_errors(schema), key=lambda error: [str(step) for step in error.instance_path]
    )
    found: dict[str, SchemaProblem] = {}
    for error in errors:
        path = pointer(error.instance_path)
        if path not in found:
            found[path] = _keyword_problem(path, error, dialect)
    return list(found.values())


def _keyword_problem(path: str, error: jsonschema_rs.ValidationError, dialect: Dialect) -> SchemaProblem:
    keyword = _keyword_at(error.instance_path)
    if keyword is None:
        message = f"a schema of {dialect.name} is wanted here, this is {shown(error.instance)}"
        return _bad(path, error.instance, message, "write a schema here: an object, or true for anything")
    wanted = _WANTED.get(keyword, "a whole number from 0" if keyword in _COUNTS else f"as {dialect.name} has it")
    if keyword == "required" and dialect.name == "draft-04":
        wanted = "a non-empty list of different property names"
    message = f"{keyword} must be {wanted}, this is {shown(error.instance)}"
    return _bad(path, error.instance, message, f"write {keyword} as {wanted}, or leave it out")


def _keyword_at(steps: list[str | int]) -> str | None:
    """Return the keyword whose value is at a path; None where a whole schema is. A property may be called ``type``."""
    keyword: str | None = None
    inside_map = False
    for step in steps:
        if keyword is None and not inside_map:
            keyword = str(step)
            inside_map = keyword in _MAPS
        elif inside_map:
            keyword, inside_map = None, False
        elif isinstance(step, int) and keyword in _LISTS:
            keyword = None
        elif keyword in _SINGLES:
            keyword = str(step)
            inside_map = keyword in _MAPS
    return keyword


def _reference_problems(schema: dict[str, Any], dialect: Dialect) -> list[SchemaProblem]:
    found = SchemaMap(schema, dialect)
    problems = []
    for reference in found.references:
        if reference.external:
            out = shown(reference.external, 200)
            message = f"the reference {shown(reference.text, 200)} leads out of the schema, to {out}"
            remedy = "put the referenced schema under $defs and refer to #/$defs/name; nothing is ever loaded"
            problems.append(
                SchemaProblem(RefusalCode.EXTERNAL_REFERENCE, reference.path, reference.text, message, remedy)
            )
        elif reference.target is None and not is_meta_schema(reference):
            message = f"the reference {shown(reference.text, 200)} leads to no schema"
            problems.append(
                _bad(reference.path, reference.text, message, "add the schema it names, or mend the reference")
            )
    if not problems and (cycle := in_place_cycle(found)):
        message = f"a cycle of references without any content: {' -> '.join(cycle[:6])}"
        remedy = "let one of them describe a value (a type, properties or items)"
        problems.append(SchemaProblem(RefusalCode.REFERENCE_CYCLE, cycle[0], cycle[-1], message, remedy))
    return problems


def _compile_problems(schema: dict[str, Any]) -> list[SchemaProblem]:
    try:
        compile_schema(schema)
    except InputError as error:
        cause = error.__cause__
        path = pointer(cause.instance_path) if isinstance(cause, jsonschema_rs.ValidationError) else "#"
        kind = getattr(cause, "kind", None)
        external = isinstance(kind, jsonschema_rs.ValidationErrorKind.Referencing)
        code = RefusalCode.EXTERNAL_REFERENCE if external else RefusalCode.BAD_SCHEMA
        value = getattr(cause, "instance", "")
        return [SchemaProblem(code, path, value, str(error)[:300], "write what the message names in another way")]
    return []
