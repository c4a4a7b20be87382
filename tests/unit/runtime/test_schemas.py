"""Each thing that is wrong with a schema has a code, a place, a value and a way out; a good schema has none."""

import json
from pathlib import Path
from typing import Any

import pytest

from weft.records.spec import RefusalCode, ToolSpec
from weft.runtime.arguments import ArgumentChecker, schema_problems, schema_warnings, unenforced_keywords


def only(schema: Any) -> tuple[str, str, Any]:
    problems = schema_problems(schema)
    assert len(problems) == 1, problems
    assert problems[0].message
    assert problems[0].remedy
    return problems[0].code.value, problems[0].path, problems[0].value


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}, "required": []},
        {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
        {"properties": {"anything": True, "nothing": False}},
        {"properties": {"type": {"type": "string"}, "required": {"type": "boolean"}, "$ref": {"type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": [{}, {}]}}},
        {"$defs": {"a": {"properties": {"next": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"},
        {
            "$id": "https://example.org/s",
            "properties": {"a": {"$ref": "https://example.org/s#/$defs/b"}},
            "$defs": {"b": {}},
        },
        {"properties": {"a": {"$ref": "item"}}, "$defs": {"b": {"$id": "item", "type": "integer"}}},
        {"properties": {"a": {"$ref": "#node"}}, "$defs": {"b": {"$anchor": "node"}}},
        {"properties": {"a": {"$ref": "#/components/b"}}, "components": {"b": {"type": "integer"}}},
        {"properties": {"a": {"$ref": "#/$defs/b~1c%20d"}}, "$defs": {"b/c d": {}}},
        {"$id": "urn:example:s", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
        {"properties": {"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}},
    ],
)
def test_legal_schemas_have_no_problem_and_compile(schema: dict[str, Any]) -> None:
    assert schema_problems(schema) == []
    ArgumentChecker(ToolSpec(name="t", input_schema=schema, declared={}))


@pytest.mark.parametrize(
    ("schema", "path", "value"),
    [
        ({"properties": {"a": {"type": "Map<String>"}}}, "#/properties/a/type", "Map<String>"),
        ({"properties": {"a": {"type": "strng"}}}, "#/properties/a/type", "strng"),
        ({"properties": {"a": {"type": None}}}, "#/properties/a/type", None),
        ({"required": "name"}, "#/required", "name"),
        ({"properties": {"a": {"required": True}}}, "#/properties/a/required", True),
        ({"properties": []}, "#/properties", []),
        ({"properties": {"type": 3}}, "#/properties/type", 3),
        ({"properties": {"a/b": {"minLength": -1}}}, "#/properties/a~1b/minLength", -1),
        ({"properties": {"a": {"pattern": "(?<a"}}}, "#/properties/a/pattern", "(?<a"),
        ({"anyOf": []}, "#/anyOf", []),
        ({"properties": {"a": {"$ref": "#/$defs/missing"}}}, "#/properties/a/$ref", "#/$defs/missing"),
        (
            {"properties": {"a": {"$ref": "#/properties/b/enum"}, "b": {"enum": [1]}}},
            "#/properties/a/$ref",
            "#/properties/b/enum",
        ),
        ("text", "#", "text"),
        ([], "#", []),
        (False, "#", False),
    ],
)
def test_malformed_keywords_are_named_with_place_and_value(schema: Any, path: str, value: Any) -> None:
    assert only(schema) == ("bad_schema", path, value)


def test_a_property_called_like_a_keyword_is_told_from_the_keyword() -> None:
    assert "a schema of 2020-12 is wanted here" in schema_problems({"properties": {"type": 3}})[0].message


def test_all_malformed_keywords_are_reported_at_once() -> None:
    schema = {"required": "a", "properties": {"a": {"type": "strng"}, "b": {"maximum": "1"}}}
    assert [problem.path for problem in schema_problems(schema)] == [
        "#/properties/a/type",
        "#/properties/b/maximum",
        "#/required",
    ]


@pytest.mark.parametrize(
    ("reference", "base", "leads_to"),
    [
        ("http://127.0.0.1:8765/name.json", None, "http://127.0.0.1:8765/name.json"),
        ("file:///etc/hostname", None, "file:///etc/hostname"),
        ("name.json", "http://127.0.0.1:8765/schema/", "http://127.0.0.1:8765/schema/name.json"),
        ("name.json", None, "name.json"),
    ],
)
def test_a_reference_that_leads_outside_is_refused(reference: str, base: str | None, leads_to: str) -> None:
    schema: dict[str, Any] = {"properties": {"name": {"$ref": reference}}}
    if base:
        schema["$id"] = base
    assert only(schema) == ("external_reference", "#/properties/name/$ref", reference)
    assert leads_to in schema_problems(schema)[0].message


@pytest.mark.parametrize(
    ("schema", "start"),
    [
        (
            {
                "properties": {"x": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            },
            "#/$defs/a",
        ),
        ({"$defs": {"a": {"$ref": "#/$defs/a"}}}, "#/$defs/a"),
        ({"allOf": [{"$ref": "#"}]}, "#"),
        ({"$defs": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}}}, "#/$defs/a"),
    ],
)
def test_references_that_go_round_without_content_are_a_cycle(schema: dict[str, Any], start: str) -> None:
    code, path, _ = only(schema)
    assert (code, path) == ("reference_cycle", start)


def test_an_unknown_dialect_is_refused_by_name_also_inside() -> None:
    assert only({"$schema": "https://example.org/mine"}) == (
        "unsupported_dialect",
        "#/$schema",
        "https://example.org/mine",
    )
    assert only({"properties": {"a": {"$schema": 3}}})[:2] == ("unsupported_dialect", "#/properties/a/$schema")


def test_very_deep_and_unstorable_schemas_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"properties": {"a": deep}}
    assert only(deep)[:2] == ("bad_schema", "#")
    assert only({"description": "half \ud83d"})[:2] == ("bad_schema", "#")


def test_old_ways_of_writing_are_warned_about() -> None:
    warnings = schema_warnings({"properties": {"pos": {"items": [{}]}}})
    assert [(warning.code, warning.path) for warning in warnings] == [
        (RefusalCode.UNSUPPORTED_DIALECT, "#/properties/pos/items")
    ]
    assert "draft-07" in warnings[0].message
    assert schema_warnings({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}) == []


@pytest.mark.parametrize("schema", [None, True])
def test_no_schema_is_accepted_with_a_warning(schema: Any) -> None:
    assert schema_problems(schema) == []
    assert [warning.path for warning in schema_warnings(schema)] == ["#"]


def test_the_schemas_of_real_servers_are_all_usable(real_specs: Path) -> None:
    seen = 0
    for path in sorted(real_specs.glob("*.json")):
        for tool in json.loads(path.read_bytes())["tools"]:
            schema = tool.get("inputSchema")
            assert schema_problems(schema) == [], (path.name, tool["name"])
            assert all(place.endswith(("/format", "/nullable")) for place in unenforced_keywords(schema))
            seen += 1
    assert seen > 1000
