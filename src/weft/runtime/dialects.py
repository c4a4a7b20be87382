"""JSON Schema dialects: which one a schema is read in, what it enforces, and where its subschemas are.

The dialect is the one that ``$schema`` names, 2020-12 without it. A schema without ``$schema`` that is plainly older
(``items`` as a list, ``exclusiveMinimum: true``) is read in the dialect that it was written for, with a warning.

``format`` is enforced, as RFC 3339 and its neighbours spell the formats, for every format that the dialect knows, and
for ``date-time``, ``date``, ``time``, ``email``, ``uri`` and ``uuid`` in every dialect. What a schema says and nobody
enforces is listed by :func:`unenforced_keywords`. Nothing is ever loaded from a network or a file.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from weft.errors import InputError
from weft.records.base import JSON

MAX_DEPTH: Final = 100
"""Levels of objects and arrays that arguments and schemas may have."""

_EVERY_DIALECT: Final = frozenset(
    [
        "$ref",
        "type",
        "enum",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "items",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "properties",
        "patternProperties",
        "additionalProperties",
        "dependencies",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
    ]
)
_SINCE_06: Final = _EVERY_DIALECT | {"const", "contains", "propertyNames"}
_SINCE_07: Final = _SINCE_06 | {"if", "then", "else"}
_SINCE_2019: Final = _SINCE_07 | frozenset(
    ["dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "minContains", "maxContains"]
)
_KEYWORDS: Final = _SINCE_2019 | {"additionalItems", "prefixItems", "$recursiveRef", "$dynamicRef"}
_OPENAPI_WORDS: Final = frozenset({"nullable", "discriminator"})
_CONTENT: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})


@dataclass(frozen=True)
class Dialect:
    """One edition of JSON Schema.

    Attributes:
        name: as people say it.
        uri: its meta-schema's address (a name; it is never fetched).
        validator: compiles schemas of this dialect.
        enforced: assertion and applicator keywords that it enforces.
        checks_content: ``contentEncoding: base64`` and ``contentMediaType: application/json`` are checked too.
    """

    name: str
    uri: str
    validator: type[jsonschema_rs.Validator]
    enforced: frozenset[str]
    checks_content: bool = False

    @property
    def ignores_beside_ref(self) -> bool:
        """Up to draft-07, keywords beside ``$ref`` count for nothing."""
        return self.name.startswith("draft")


DIALECTS: Final = (
    Dialect(
        "draft-04", "http://json-schema.org/draft-04/schema#", jsonschema_rs.Draft4Validator,
        _EVERY_DIALECT | {"additionalItems"},
    ),
    Dialect(
        "draft-06", "http://json-schema.org/draft-06/schema#", jsonschema_rs.Draft6Validator,
        _SINCE_06 | {"additionalItems"}, checks_content=True,
    ),
    Dialect(
        "draft-07", "http://json-schema.org/draft-07/schema#", jsonschema_rs.Draft7Validator,
        _SINCE_07 | {"additionalItems"}, checks_content=True,
    ),
    Dialect(
        "2019-09", "https://json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator,
        _SINCE_2019 | {"additionalItems", "$recursiveRef"},
    ),
    Dialect(
        "2020-12", "https://json-schema.org/draft/2020-12/schema", jsonschema_rs.Draft202012Validator,
        _SINCE_2019 | {"prefixItems", "$dynamicRef"},
    ),
)  # fmt: skip
DRAFT_04, _, DRAFT_07, _, CURRENT = DIALECTS

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


_OWN_FORMATS: Final[dict[str, Callable[..., bool]]] = {"uuid": _is_uuid}
"""Formats that older dialects do not name although schemas written in them use them all the time."""


@dataclass(frozen=True)
class Subschema:
    """A schema inside a schema.

    Attributes:
        path: JSON path of it, ``#`` for the root.
        schema: an object or a boolean.
        in_place: it applies to the same value as its parent (``allOf``, ``if`` ...), not to a part of it.
        parent: path of the schema that holds it, ``""`` for the root.
    """

    path: str
    schema: Any
    in_place: bool = False
    parent: str = ""


_ONE_IN_PLACE: Final = ("not", "if", "then", "else")
_LIST_IN_PLACE: Final = ("allOf", "anyOf", "oneOf")
_MAP_IN_PLACE: Final = ("dependentSchemas", "dependencies")
_ONE: Final = (
    "additionalProperties", "additionalItems", "items", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_LIST: Final = ("prefixItems", "items")
_MAP: Final = ("properties", "patternProperties", "$defs", "definitions")


def escape(step: str | int) -> str:
    """Return one step of a JSON pointer."""
    return str(step).replace("~", "~0").replace("/", "~1")


def pointer(steps: list[str | int]) -> str:
    """Return the JSON path ``#/a/b`` of some steps."""
    return "/".join(["#", *map(escape, steps)])


def subschemas(schema: Any, path: str = "#") -> Iterator[Subschema]:
    """Yield ``schema`` and every schema inside it, parents first, in document order; malformed parts are left out."""
    stack = [Subschema(path, schema)]
    while stack:
        here = stack.pop()
        yield here
        if isinstance(here.schema, dict):
            stack.extend(reversed(list(_children(here.schema, here.path))))


def _children(schema: dict[str, Any], path: str) -> Iterator[Subschema]:
    for keyword, value in schema.items():
        place = f"{path}/{escape(keyword)}"
        in_place = keyword in _ONE_IN_PLACE or keyword in _LIST_IN_PLACE or keyword in _MAP_IN_PLACE
        if isinstance(value, (dict, bool)) and (keyword in _ONE or keyword in _ONE_IN_PLACE):
            yield Subschema(place, value, in_place, path)
        elif isinstance(value, list) and (keyword in _LIST or keyword in _LIST_IN_PLACE):
            for index, item in enumerate(value):
                if isinstance(item, (dict, bool)):
                    yield Subschema(f"{place}/{index}", item, in_place, path)
        elif isinstance(value, dict) and (keyword in _MAP or keyword in _MAP_IN_PLACE):
            for name, item in value.items():
                if isinstance(item, (dict, bool)):
                    yield Subschema(f"{place}/{escape(name)}", item, in_place, path)


@dataclass(frozen=True)
class Reading:
    """The dialect that a schema is read in, and the path and keyword that gave it away when it was not declared."""

    dialect: Dialect | None
    guessed_from: str = ""


def reading_of(schema: Any) -> Reading:
    """Choose the dialect of a schema; None when ``$schema`` names none that is known."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is not None:
        return Reading(next((dialect for dialect in DIALECTS if _same_uri(declared, dialect.uri)), None))
    guess, place = CURRENT, ""
    for part in subschemas(schema):
        if not isinstance(part.schema, dict):
            continue
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if isinstance(part.schema.get(keyword), bool):
                return Reading(DRAFT_04, f"{part.path}/{keyword}")
        if guess is CURRENT and isinstance(part.schema.get("items"), list):
            guess, place = DRAFT_07, f"{part.path}/items"
    return Reading(guess, place)


def _same_uri(declared: Any, uri: str) -> bool:
    if not isinstance(declared, str):
        return False
    return declared.removesuffix("#").partition("://")[2] == uri.removesuffix("#").partition("://")[2]


def compile_schema(schema: JSON) -> jsonschema_rs.Validator:
    """Compile a schema in its dialect, with formats enforced and every remote or file reference refused.

    Raises:
        InputError: naming what is wrong; :func:`weft.runtime.schemas.schema_problems` says it in full.
    """
    dialect = reading_of(schema).dialect
    if dialect is None:
        known = ", ".join(known.uri for known in DIALECTS)
        raise InputError(f"unknown dialect {schema['$schema']!r}; use one of {known} or leave $schema out")
    formats = _OWN_FORMATS if dialect.ignores_beside_ref else None
    try:
        return dialect.validator(schema, formats=formats, validate_formats=True, offline=True)
    except (ValueError, UnicodeError) as error:  # a ValidationError of the library is a ValueError
        message = getattr(error, "message", str(error))
        raise InputError(f"schema cannot be used: {message}; mend the schema") from error


def enforces_format(dialect: Dialect, name: str) -> bool:
    """True if values are checked against the format ``name``."""
    if dialect.ignores_beside_ref and name in _OWN_FORMATS:
        return True
    try:
        dialect.validator({"format": name}, validate_formats=True, ignore_unknown_formats=False, offline=True)
    except ValueError:
        return False
    return True


def unenforced_keywords(schema: JSON) -> list[str]:
    """Return the JSON paths of what a schema says but nobody enforces, in document order (certificate, fidelity block).

    These are formats that the dialect does not know, keywords of other dialects and of OpenAPI, content annotations,
    and up to draft-07 what stands beside ``$ref``.
    """
    dialect = reading_of(schema).dialect
    if dialect is None:
        return ["#/$schema"]
    return [
        f"{part.path}/{escape(keyword)}"
        for part in subschemas(schema)
        if isinstance(part.schema, dict)
        for keyword, value in part.schema.items()
        if _is_unenforced(dialect, part.schema, keyword, value)
    ]


def _is_unenforced(dialect: Dialect, schema: dict[str, Any], keyword: str, value: Any) -> bool:
    asserts = keyword in _KEYWORDS or keyword in _CONTENT or keyword == "format"
    if dialect.ignores_beside_ref and asserts and keyword != "$ref" and isinstance(schema.get("$ref"), str):
        return True
    if keyword == "format":
        return isinstance(value, str) and not enforces_format(dialect, value)
    if keyword in _CONTENT:
        return not (
            dialect.checks_content
            and ((keyword, value) in {("contentEncoding", "base64"), ("contentMediaType", "application/json")})
        )
    if keyword in _OPENAPI_WORDS:
        return value is not False
    return keyword in _KEYWORDS and keyword not in dialect.enforced
