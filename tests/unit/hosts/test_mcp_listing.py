from typing import Any

import pytest
from jsonschema import Draft202012Validator

from weft.hosts.mcp_listing import list_tool, show_value, wrap_schema
from weft.records.spec import ToolSpec

TREE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "array",
    "items": {"$ref": "#/$defs/node"},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"kids": {"$ref": "#"}, "$ref": {"type": "string"}, "kind": {"const": {"$ref": "#/data"}}},
            "required": ["kids"],
        }
    },
}


def tool(schema: dict[str, Any] | None) -> ToolSpec:
    return ToolSpec(name="t", input_schema={"type": "object"}, output_schema=schema, declared={"name": "t"})


@pytest.mark.parametrize(
    ("value", "fits"),
    [([{"kids": []}], True), ([{"kids": [{"kids": []}]}], True), ([{"kids": [{}]}], False), ([{}], False), ({}, False)],
)
def test_a_wrapped_schema_judges_wrapped_values_as_the_schema_did(value: Any, fits: bool) -> None:
    wrapped = wrap_schema(TREE)
    Draft202012Validator.check_schema(wrapped)
    assert Draft202012Validator(TREE).is_valid(value) == fits
    assert Draft202012Validator(wrapped).is_valid({"result": value}) == fits


def test_what_only_looks_like_a_reference_is_left_alone() -> None:
    node = wrap_schema(TREE)["properties"]["result"]["$defs"]["node"]["properties"]
    assert node["$ref"] == {"type": "string"}
    assert node["kind"] == {"const": {"$ref": "#/data"}}
    assert node["kids"] == {"$ref": "#/properties/result"}


def test_an_object_schema_is_listed_alike_in_both_eras() -> None:
    listed = list_tool(tool({"type": "object", "properties": {}}))
    assert listed.legacy == listed.modern
    assert not listed.wraps


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"type": ["string", "null"]}, {"oneOf": [{}]}, {}])
def test_any_other_root_is_wrapped_for_older_clients(schema: dict[str, Any]) -> None:
    listed = list_tool(tool(schema))
    assert listed.modern["outputSchema"] == schema
    assert listed.legacy["outputSchema"]["type"] == "object"
    assert show_value(listed, {"a": 1}, modern=False) == {"result": {"a": 1}}
    assert show_value(listed, {"a": 1}, modern=True) == {"a": 1}


def test_without_a_schema_only_what_is_no_object_is_wrapped() -> None:
    listed = list_tool(tool(None))
    assert "outputSchema" not in listed.modern
    assert show_value(listed, {"a": 1}, modern=False) == {"a": 1}
    assert show_value(listed, None, modern=False) == {"result": None}
