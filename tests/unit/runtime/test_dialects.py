"""Which dialect a schema is read in, what of it is enforced, and that the lists of keywords tell the truth."""

import socket
from typing import Any

import pytest

from weft.errors import InputError
from weft.runtime.dialects import (
    CURRENT,
    DIALECTS,
    Dialect,
    compile_schema,
    reading_of,
    subschemas,
    unenforced_keywords,
)
from weft.runtime.schemas import schema_problems

# keyword -> a schema in which it alone matters, and a value that breaks it
BREAKING: dict[str, tuple[dict[str, Any], Any]] = {
    "type": ({"type": "string"}, 1),
    "enum": ({"enum": [1]}, 2),
    "multipleOf": ({"multipleOf": 2}, 3),
    "maximum": ({"maximum": 1}, 2),
    "minimum": ({"minimum": 1}, 0),
    "maxLength": ({"maxLength": 1}, "ab"),
    "minLength": ({"minLength": 1}, ""),
    "pattern": ({"pattern": "^a"}, "b"),
    "items": ({"items": {"type": "string"}}, [1]),
    "maxItems": ({"maxItems": 0}, [1]),
    "minItems": ({"minItems": 1}, []),
    "uniqueItems": ({"uniqueItems": True}, [1, 1]),
    "maxProperties": ({"maxProperties": 0}, {"a": 1}),
    "minProperties": ({"minProperties": 1}, {}),
    "required": ({"required": ["a"]}, {}),
    "properties": ({"properties": {"a": {"type": "string"}}}, {"a": 1}),
    "patternProperties": ({"patternProperties": {"a": {"type": "string"}}}, {"a": 1}),
    "additionalProperties": ({"additionalProperties": {"type": "string"}}, {"a": 1}),
    "additionalItems": ({"items": [{}], "additionalItems": False}, [1, 2]),
    "dependencies": ({"dependencies": {"a": ["b"]}}, {"a": 1}),
    "allOf": ({"allOf": [{"type": "string"}]}, 1),
    "anyOf": ({"anyOf": [{"type": "string"}]}, 1),
    "oneOf": ({"oneOf": [{"type": "string"}]}, 1),
    "not": ({"not": {"type": "string"}}, "a"),
    "$ref": ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "string"}}}, 1),
    "const": ({"const": 1}, 2),
    "contains": ({"contains": {"type": "string"}}, [1]),
    "propertyNames": ({"propertyNames": {"maxLength": 1}}, {"ab": 1}),
    "if": ({"if": {"type": "string"}, "then": {"maxLength": 1}}, "ab"),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, {"a": 1}),
    "dependentSchemas": ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}),
    "unevaluatedProperties": ({"unevaluatedProperties": False}, {"a": 1}),
    "unevaluatedItems": ({"unevaluatedItems": False}, [1]),
    "minContains": ({"contains": {"const": 1}, "minContains": 2}, [1]),
    "maxContains": ({"contains": {"const": 1}, "maxContains": 1}, [1, 1]),
    "prefixItems": ({"prefixItems": [{"type": "string"}]}, [1]),
}


def in_dialect(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": dialect.uri, **schema}


@pytest.mark.parametrize("keyword", BREAKING)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_keyword_is_enforced_exactly_where_the_table_says_so(dialect: Dialect, keyword: str) -> None:
    schema, breaking = BREAKING[keyword]
    if keyword == "additionalItems" and dialect is CURRENT:
        schema = {"prefixItems": [{}], "additionalItems": False}  # items as a list is no schema there
    schema = in_dialect(dialect, schema)
    assert compile_schema(schema).is_valid(breaking) is (keyword not in dialect.enforced)
    listed = f"#/{keyword}" in unenforced_keywords(schema)
    assert listed is (keyword not in dialect.enforced)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_schema_is_read_in_the_dialect_that_it_declares(dialect: Dialect) -> None:
    assert reading_of({"$schema": dialect.uri}).dialect is dialect
    assert reading_of({"$schema": dialect.uri.removesuffix("#")}).dialect is dialect


def test_without_a_declaration_the_newest_dialect_holds() -> None:
    assert reading_of({"type": "object"}).dialect is CURRENT


def test_an_older_way_of_writing_is_read_in_its_dialect() -> None:
    tuple_like = {"properties": {"pos": {"items": [{"type": "number"}, {"type": "number"}], "additionalItems": False}}}
    reading = reading_of(tuple_like)
    assert (reading.dialect and reading.dialect.name, reading.guessed_from) == ("draft-07", "#/properties/pos/items")
    check = compile_schema(tuple_like)
    assert check.is_valid({"pos": [1, 2]})
    assert not check.is_valid({"pos": [1, "x"]})
    assert not check.is_valid({"pos": [1, 2, 3]})
    exclusive = {"properties": {"r": {"minimum": 0, "exclusiveMinimum": True}}}
    assert not compile_schema(exclusive).is_valid({"r": 0})
    assert compile_schema(exclusive).is_valid({"r": 0.1})


def test_an_unknown_dialect_compiles_to_nothing() -> None:
    with pytest.raises(InputError, match=r"unknown dialect 'https://example\.org/mine'"):
        compile_schema({"$schema": "https://example.org/mine"})


@pytest.mark.parametrize("reference", ["file:///etc/hostname", "x.json"])
def test_compiling_never_loads_a_file(reference: str) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        compile_schema({"properties": {"a": {"$ref": reference}}})


def test_neither_compiling_nor_looking_for_problems_opens_a_connection() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        schema = {"properties": {"a": {"$ref": f"http://127.0.0.1:{listener.getsockname()[1]}/x.json"}}}
        with pytest.raises(InputError, match="cannot be used"):
            compile_schema(schema)
        assert schema_problems(schema)[0].code == "external_reference"
        with pytest.raises(BlockingIOError):  # nobody called
            listener.accept()


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"properties": {"items": {"type": "string"}, "$ref": {"format": "color"}, "not": True}}
    paths = [part.path for part in subschemas(schema)]
    assert paths == ["#", "#/properties/items", "#/properties/$ref", "#/properties/not"]
    assert unenforced_keywords(schema) == ["#/properties/$ref/format"]


def test_what_is_carried_but_not_enforced_is_listed_by_path() -> None:
    schema = {
        "properties": {
            "data": {"type": "string", "contentEncoding": "base64"},
            "n": {"type": "integer", "format": "int64"},
            "when": {"type": "string", "format": "date-time"},
            "a/b": {"type": "string", "nullable": True},
            "c": {"type": "string", "nullable": False},
            "list": {"type": "array", "prefixItems": [{}], "additionalItems": False},
        }
    }
    assert unenforced_keywords(schema) == [
        "#/properties/data/contentEncoding",
        "#/properties/n/format",
        "#/properties/a~1b/nullable",
        "#/properties/list/additionalItems",
    ]


def test_beside_a_reference_old_dialects_enforce_nothing_and_say_so() -> None:
    schema = {"$ref": "#/definitions/t", "maxLength": 1, "description": "x", "definitions": {"t": {"type": "string"}}}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert compile_schema(old).is_valid("abc")
    assert unenforced_keywords(old) == ["#/maxLength"]
    assert not compile_schema(schema).is_valid("abc")
    assert unenforced_keywords(schema) == []


def test_draft_07_checks_base64_and_json_content() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64"}
    assert not compile_schema(schema).is_valid("!!")
    assert unenforced_keywords(schema) == []
    assert unenforced_keywords({**schema, "contentEncoding": "base32"}) == ["#/contentEncoding"]


def test_an_unknown_dialect_enforces_nothing() -> None:
    assert unenforced_keywords({"$schema": "https://example.org/mine"}) == ["#/$schema"]
