"""Arguments are checked by the declared schema alone, and what is wrong is said so that a caller can mend it."""

import math
from typing import Any

import pytest

from weft.errors import InputError, ToolRejection
from weft.records.spec import ToolSpec
from weft.runtime.arguments import ArgumentChecker


def checker(schema: dict[str, Any]) -> ArgumentChecker:
    return ArgumentChecker(ToolSpec(name="tool", input_schema=schema, declared={}))


def properties(*required: str, **schemas: Any) -> ArgumentChecker:
    return checker({"type": "object", "properties": schemas, "required": list(required)})


def refusal(check: ArgumentChecker, arguments: Any) -> ToolRejection:
    with pytest.raises(ToolRejection) as caught:
        check.check(arguments)
    assert caught.value.code == "invalid_argument"
    return caught.value


NOTE = properties(
    "title",
    title={"type": "string"},
    body={"type": ["string", "null"]},
    priority={"type": "integer", "minimum": 0, "maximum": 5},
    tags={"type": "array", "items": {"type": "string"}},
)


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_no_arguments_in_any_spelling_are_an_empty_object(nothing: Any) -> None:
    assert properties(x={"type": "string"}).check(nothing) == {}


def test_leaving_the_arguments_out_is_an_empty_object() -> None:
    assert properties().check() == {}


@pytest.mark.parametrize("wrong", [[], "{}", 3, True])
def test_arguments_that_are_no_object_are_refused_by_their_type(wrong: Any) -> None:
    assert "arguments must be an object, got" in str(refusal(properties(), wrong))


@pytest.mark.parametrize("text", ["null", "", "007", "true", '{"a": 1}', " padded ", "NaN", "2026-01-02"])
def test_texts_are_plain_values_whatever_they_look_like(text: str) -> None:
    assert NOTE.check({"title": text}) == {"title": text}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"title": "t", "priority": "3"}, 'priority must be integer, got string "3"'),
        ({"title": "t", "priority": True}, "priority must be integer, got boolean true"),
        ({"title": "t", "priority": 2.5}, "priority must be integer, got number 2.5"),
        ({"title": 5}, "title must be string, got integer 5"),
        ({"title": "t", "tags": '["a"]'}, 'tags must be array, got string "[\\"a\\"]"'),
        ({"title": "t", "tags": ["a", 3]}, "tags[1] must be string, got integer 3"),
        ({"title": "t", "priority": 6}, "priority must be at most 5, got integer 6"),
        ({}, "title is required"),
        ({"title": None}, "title is required and must not be null"),
    ],
)
def test_nothing_is_coerced_and_the_message_names_path_sent_and_wanted(arguments: Any, message: str) -> None:
    error = refusal(NOTE, arguments)
    assert str(error) == message
    assert error.details["problems"] == [message]


def test_a_whole_number_spelled_with_a_point_is_an_integer() -> None:
    assert NOTE.check({"title": "t", "priority": 1.0})["priority"] == 1.0


def test_null_under_an_optional_property_that_does_not_allow_it_counts_as_left_out() -> None:
    given = {"title": "t", "priority": None, "tags": None, "body": None}
    assert NOTE.check(given) == {"title": "t", "body": None}
    assert given["priority"] is None, "the caller's own object stays as it was"


def test_null_is_dropped_inside_nested_objects_and_behind_references_too() -> None:
    query = {
        "type": "object",
        "properties": {"text": {"type": "string", "default": None}, "limit": {"type": "integer"}},
    }
    check = checker(
        {
            "type": "object",
            "$defs": {"Query": query},
            "properties": {"query": {"$ref": "#/$defs/Query"}, "maybe": {"anyOf": [query, {"type": "null"}]}},
            "required": ["query"],
        }
    )
    assert check.check({"query": {"text": None, "limit": 2}}) == {"query": {"limit": 2}}
    assert check.check({"query": {}, "maybe": {"text": None, "limit": 1}}) == {"query": {}, "maybe": {"limit": 1}}
    assert check.check({"query": {}, "maybe": None}) == {"query": {}, "maybe": None}
    assert str(refusal(check, {"query": {"text": None, "limit": "many"}})) == (
        'query.limit must be integer, got string "many"'
    )


def test_null_inside_an_array_is_refused() -> None:
    assert str(refusal(NOTE, {"title": "t", "tags": ["a", None]})) == "tags[1] must be string, got null"


def test_null_does_not_make_a_forbidden_property_welcome() -> None:
    check = properties(gone=False)
    assert "gone must not be given" in str(refusal(check, {"gone": None}))


def test_declared_defaults_are_not_filled_in() -> None:
    assert properties(limit={"type": "integer", "default": 20}).check({}) == {}


def test_types_given_as_a_list_keep_the_type_that_was_sent() -> None:
    check = properties(value={"type": ["string", "number", "boolean"]})
    for value in ("5", 5, True):
        assert check.check({"value": value})["value"] is value
    assert str(refusal(check, {"value": []})) == "value must be boolean, number or string, got array []"


def test_multiples_of_a_hundredth_are_decimal_and_not_binary() -> None:
    check = properties(price={"type": "number", "multipleOf": 0.01})
    for price in (19.99, 4.35, 0.07, 1):
        assert check.check({"price": price})["price"] == price
    assert str(refusal(check, {"price": 1.005})) == "price must be a multiple of 0.01, got number 1.005"


def test_an_enum_is_checked_whole_and_shown_short() -> None:
    values = [f"{kind}_{number}" for kind in ("abbey", "museum", "zoo") for number in range(1345)]
    check = properties(category={"enum": values})
    for value in (values[0], values[2000], values[-1]):
        assert check.check({"category": value})
    message = str(refusal(check, {"category": "zoo_99999"}))
    assert "(4035 values)" in message
    assert "zoo_" in message
    assert len(message) < 250


def test_unknown_arguments_are_named_with_the_known_ones() -> None:
    check = checker({"type": "object", "properties": {"title": {}, "body": {}}, "additionalProperties": False})
    assert str(refusal(check, {"titel": 1})) == 'unknown argument: "titel"; known are "title", "body"'


def test_a_tool_without_arguments_refuses_one() -> None:
    assert "takes no properties" in str(refusal(checker({"type": "object", "additionalProperties": False}), {"x": 1}))


def test_alternatives_that_differ_in_type_are_told_in_one_sentence() -> None:
    check = properties(id={"anyOf": [{"type": "integer"}, {"type": "string"}]})
    assert str(refusal(check, {"id": 1.5})) == "id must be integer or string, got number 1.5"


def test_of_several_forms_the_nearest_is_explained() -> None:
    circle = {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]}
    square = {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}
    check = properties(shape={"type": "object", "oneOf": [circle, square]})
    assert check.check({"shape": {"kind": "circle", "radius": 1}})
    message = str(refusal(check, {"shape": {"kind": "circle", "radius": "1"}}))
    assert 'shape.radius must be number, got string "1"' in message
    assert "1 other forms" in message


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "gift"},
        {"kind": "sale"},
        {"kind": "sale", "price": 1, "card": "4"},
        {"kind": "sale", "price": 1, "codes": ["A"]},
        {"kind": "sale", "price": 1, "codes": ["MAIN", "MAIN"]},
        {"kind": "sale", "price": 1, "labels": {"y": "1"}},
        {"kind": "sale", "price": 1, "labels": {}},
        {"kind": "sale", "price": 1, "note": "forbidden"},
        {"kind": "sale", "price": 1, "names": {"long name": 1}},
    ],
)
def test_every_keyword_that_is_not_listed_as_unenforced_is_enforced(broken: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["gift", "sale"]},
            "codes": {"type": "array", "uniqueItems": True, "contains": {"const": "MAIN"}},
            "labels": {"patternProperties": {"^x-": {}}, "additionalProperties": False, "minProperties": 1},
            "note": {"type": "string", "not": {"const": "forbidden"}},
            "names": {"propertyNames": {"pattern": "^[a-z]+$"}},
        },
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "gift"}}},
        "then": {"required": ["message"]},
        "else": {"required": ["price"]},
        "dependentRequired": {"card": ["cvv"]},
    }
    check = checker(schema)
    assert check.check({"kind": "gift", "message": "hi"})
    assert check.check({"kind": "sale", "price": 1, "codes": ["MAIN"], "labels": {"x-a": 1}, "card": "4", "cvv": "1"})
    refusal(check, broken)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2026-03-02T09:00:00+01:00", "2026-03-02"),
        ("date", "2026-03-02", "2026-02-30"),
        ("time", "09:00:00Z", "9 o'clock"),
        ("email", "ada@example.org", "ada"),
        ("uri", "https://example.org/a", "not a uri"),
        ("uuid", "3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b", "3f2b8c1e"),
    ],
)
@pytest.mark.parametrize(
    "dialect", [None, "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#"]
)
def test_formats_are_enforced_in_every_dialect(name: str, good: str, bad: str, dialect: str | None) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string", "format": name}}}
    if dialect:
        schema["$schema"] = dialect
    check = checker(schema)
    assert check.check({"x": good}) == {"x": good}
    assert str(refusal(check, {"x": bad})).startswith("x must be a")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (math.nan, "non-finite number"),
        (math.inf, "non-finite number"),
        (2**63, "beyond 64 bits"),
        (-(2**63) - 1, "beyond 64 bits"),
        ("half \ud83d", "lone surrogate"),
        ({"a\udc00": 1}, "lone surrogate"),
        ({1: 2}, "not text"),
        ({"deep": [b"x"]}, "bytes"),
    ],
)
def test_what_no_json_can_hold_is_refused_by_path(value: Any, why: str) -> None:
    message = str(refusal(properties(), {"x": [value]}))
    assert message.startswith("x[0]")
    assert why in message


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), "🍸 café", "a\x00b", 1e300])
def test_what_json_can_hold_passes(value: Any) -> None:
    assert properties().check({"x": value}) == {"x": value}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"leaf": 1}
    for _ in range(levels):
        value = {"child": value}
    return value


def test_a_recursive_schema_is_enforced_at_any_reasonable_depth() -> None:
    check = checker({"type": "object", "properties": {"child": {"$ref": "#"}, "leaf": {"type": "integer"}}})
    assert check.check(nested(90))
    wrong: dict[str, Any] = {"child": {"child": {"leaf": "x"}}}
    assert str(refusal(check, wrong)) == 'child.child.leaf must be integer, got string "x"'


@pytest.mark.parametrize("levels", [101, 5000])
def test_very_deep_values_are_refused_and_crash_nothing(levels: int) -> None:
    assert "nested more than 100 levels" in str(refusal(properties(), nested(levels)))


def test_a_schema_that_cannot_be_enforced_is_no_checker() -> None:
    with pytest.raises(InputError, match="not of type"):
        checker({"type": "object", "properties": ["page"]})


def test_long_values_are_shortened_in_messages_and_many_problems_counted() -> None:
    check = checker({"type": "object", "additionalProperties": {"type": "integer"}})
    error = refusal(check, {f"a{number}": "x" * 500 for number in range(9)})
    assert str(error).endswith("6 more")
    assert len(str(error)) < 400
