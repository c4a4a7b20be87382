from typing import Any

import pytest

from weft.catalog.normalise import reads_as_declared, shorten, spec_from_tools, too_deep
from weft.records.codec import canonical
from weft.records.spec import McpSpec, RefusalCode

GOOD = {"name": "create_note", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}}}


def with_schema(schema: Any, name: str = "tool") -> dict[str, Any]:
    return {"name": name, "description": "Does.", "inputSchema": schema}


def codes(spec: McpSpec) -> list[tuple[str, str, str]]:
    return [(each.code.value, each.subject, each.path) for each in spec.refused]


def test_a_sound_tool_is_kept_as_it_was_declared() -> None:
    raw = {**GOOD, "title": "Create", "_meta": {"x": 1}, "annotations": {"readOnlyHint": False}}
    spec = spec_from_tools("notes", [raw], title="Notes")
    (tool,) = spec.tools
    assert tool.declared == raw
    assert tool.input_schema == GOOD["inputSchema"]
    assert tool.annotations == {"readOnlyHint": False}
    assert (spec.refused, spec.warnings, spec.declared_tools) == ((), (), 1)


def test_one_bad_tool_costs_no_other() -> None:
    raw = [
        GOOD,
        with_schema({"type": "object", "properties": {"page": {"type": "Map<String, Any>"}}}, "bad_type"),
        with_schema({"type": "object", "properties": {}, "required": "page"}, "bad_required"),
        with_schema({"type": "object", "properties": ["page"]}, "bad_props"),
        with_schema({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, "root_oneof"),
        with_schema({"properties": {"page": {"type": "integer"}}}, "no_type"),
    ]
    spec = spec_from_tools("mixed", raw)
    assert [tool.name for tool in spec.tools] == ["create_note", "root_oneof", "no_type"]
    assert codes(spec) == [
        ("bad_schema", "mixed/bad_type", "#/properties/page/type"),
        ("bad_schema", "mixed/bad_required", "#/required"),
        ("bad_schema", "mixed/bad_props", "#/properties"),
    ]
    assert all(each.message and each.remedy and each.value for each in spec.refused)
    assert all(tool.input_schema["type"] == "object" for tool in spec.tools)


@pytest.mark.parametrize("schema", [None, True, False])
def test_no_schema_is_a_tool_without_parameters_with_a_warning(schema: Any) -> None:
    spec = spec_from_tools("clock", [with_schema(schema)])
    assert spec.tools[0].input_schema == {"type": "object", "properties": {}}
    assert "without parameters" in spec.warnings[0].message


def test_a_missing_schema_is_a_tool_without_parameters() -> None:
    spec = spec_from_tools("clock", [{"name": "tick"}])
    assert spec.tools[0].input_schema == {"type": "object", "properties": {}}
    assert "missing" in spec.warnings[0].message


def test_an_empty_schema_needs_no_warning() -> None:
    spec = spec_from_tools("clock", [with_schema({})])
    assert spec.tools[0].input_schema == {"type": "object", "properties": {}}
    assert spec.warnings == ()


@pytest.mark.parametrize("schema", ["object", 5, ["object"], {"type": "string"}, {"type": ["array", "null"]}])
def test_arguments_that_are_no_object_are_refused(schema: Any) -> None:
    spec = spec_from_tools("odd", [with_schema(schema), GOOD])
    assert [tool.name for tool in spec.tools] == ["create_note"]
    assert spec.refused[0].code is RefusalCode.BAD_SCHEMA


def test_a_root_that_may_be_null_is_read_as_an_object() -> None:
    spec = spec_from_tools("odd", [with_schema({"type": ["object", "null"], "properties": {}})])
    assert spec.tools[0].input_schema["type"] == "object"
    assert spec.warnings[0].path == "#/type"


def test_the_later_of_two_equal_names_is_refused_and_the_first_kept() -> None:
    first, second = {**GOOD, "description": "first"}, {**GOOD, "description": "second"}
    spec = spec_from_tools("files", [first, second])
    assert [tool.description for tool in spec.tools] == ["first"]
    assert codes(spec) == [("duplicate_name", "files/create_note", "#/tools/1/name")]
    assert spec.warnings[0].code is RefusalCode.DUPLICATE_NAME


def test_names_that_differ_only_in_punctuation_or_case_stay_apart() -> None:
    names = ["read-file", "read_file", "read.file", "Read_File", "read file", "läs"]
    spec = spec_from_tools("files", [{**GOOD, "name": name} for name in names])
    assert [tool.name for tool in spec.tools] == names
    assert [each.value for each in spec.warnings] == ["read file", "läs"]


@pytest.mark.parametrize("name", ["", "   ", None, 5, ["a"]])
def test_a_name_that_is_no_name_is_refused(name: Any) -> None:
    spec = spec_from_tools("odd", [{"name": name, "inputSchema": {}}, GOOD])
    assert codes(spec) == [("bad_name", "odd/tool 0", "#/tools/0/name")]
    assert len(spec.tools) == 1


def test_entries_that_are_no_objects_are_refused() -> None:
    spec = spec_from_tools("odd", ["create_note", None, GOOD])
    assert [code for code, _, _ in codes(spec)] == ["not_a_spec", "not_a_spec"]


@pytest.mark.parametrize(("tools", "code"), [([], "no_tools"), (None, "not_a_spec"), ({"a": 1}, "not_a_spec")])
def test_a_server_without_tools_says_so(tools: Any, code: str) -> None:
    spec = spec_from_tools("empty", tools)
    assert spec.tools == ()
    assert codes(spec)[0][0] == code


def test_hundreds_of_tools_and_a_description_of_a_megabyte_are_ordinary() -> None:
    raw = [{**GOOD, "name": f"tool_{number}", "description": "x" * 1_000_000} for number in range(3)]
    raw += [{**GOOD, "name": f"more_{number}"} for number in range(400)]
    spec = spec_from_tools("large", raw)
    assert len(spec.tools) == 403
    assert len(spec.tools[0].description) == 1_000_000


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/name.json", "file:///etc/hostname", "name.json", "#/$defs/absent"]
)
def test_references_that_lead_nowhere_inside_are_refused(reference: str) -> None:
    spec = spec_from_tools("remote", [with_schema({"type": "object", "properties": {"name": {"$ref": reference}}})])
    assert spec.tools == ()
    assert spec.refused[0].path == "#/properties/name/$ref"


def test_recursion_with_content_is_kept_and_without_content_is_refused() -> None:
    tree = {"type": "object", "$defs": {"t": {"properties": {"kids": {"items": {"$ref": "#/$defs/t"}}}}}}
    loop = {"type": "object", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    spec = spec_from_tools("loops", [with_schema(tree, "tree"), with_schema(loop, "loop")])
    assert [tool.name for tool in spec.tools] == ["tree"]
    assert codes(spec) == [("reference_cycle", "loops/loop", "#/$defs/a")]


def test_awkward_property_names_and_mixed_enums_are_kept() -> None:
    names = ["class", "from", "self", "$filter", "2fa", "Name", "name", "naïve", "a/b~c"]
    schema = {"type": "object", "properties": {name: {"enum": [1, "1", None, True, [1], {"a": 1}]} for name in names}}
    schema["properties"]["list"] = {"type": "array"}
    assert spec_from_tools("odd", [with_schema(schema)]).tools[0].input_schema == schema


def test_a_tuple_in_the_older_style_is_read_with_a_warning() -> None:
    schema = {"type": "object", "properties": {"pos": {"type": "array", "items": [{"type": "number"}]}}}
    spec = spec_from_tools("geo", [with_schema(schema)])
    assert spec.tools[0].input_schema == schema
    assert spec.warnings[0].path == "#/properties/pos/items"


def test_an_unknown_dialect_is_refused() -> None:
    spec = spec_from_tools("geo", [with_schema({"$schema": "https://example.org/mine", "type": "object"})])
    assert codes(spec)[0][0] == "unsupported_dialect"


def test_a_return_schema_that_cannot_be_read_is_left_out_with_a_warning() -> None:
    spec = spec_from_tools("odd", [{**GOOD, "outputSchema": {"type": "nope"}}, {"name": "b", "outputSchema": 5}])
    assert [tool.output_schema for tool in spec.tools] == [None, None]
    assert next(each.path for each in spec.warnings) == "outputSchema#/type"


def test_a_return_schema_may_have_any_root() -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    assert spec_from_tools("odd", [{**GOOD, "outputSchema": schema}]).tools[0].output_schema == schema


def test_hints_of_the_wrong_type_are_left_out() -> None:
    hints = {"readOnlyHint": "yes", "idempotentHint": True, "title": 5, "x-other": [1]}
    spec = spec_from_tools("odd", [{**GOOD, "annotations": hints}, {"name": "b", "annotations": "none"}])
    assert spec.tools[0].annotations == {"idempotentHint": True, "x-other": [1]}
    assert spec.tools[1].annotations == {}
    assert len(spec.warnings) == 4  # two hints, the annotations of b, and its missing schema


def test_what_json_cannot_carry_is_refused() -> None:
    spec = spec_from_tools("odd", [{**GOOD, "description": "half \ud83d"}, {**GOOD, "name": "b", "x": float("nan")}])
    assert spec.tools == ()
    assert [code for code, _, _ in codes(spec)] == ["bad_schema", "bad_schema"]


def test_a_declaration_without_end_of_nesting_is_refused() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"a": schema}}
    spec = spec_from_tools("deep", [with_schema(schema), GOOD])
    assert codes(spec)[0][0] == "too_large"
    assert len(spec.tools) == 1


def test_every_refusal_can_be_written_down() -> None:
    raw = [{"name": "half \ud83d", "inputSchema": {}}, {"name": 1}, "x", with_schema({"type": "\ud83d"})]
    assert canonical(spec_from_tools("odd", raw))


def test_depth_is_counted_without_recursion() -> None:
    assert not too_deep({"a": [1]}, 3)
    assert too_deep({"a": [[1]]}, 2)


def test_shortened_text_says_how_long_it_was() -> None:
    assert shorten("abc") == "abc"
    assert shorten("x" * 500).endswith("... (500 characters)")
    assert len(shorten("x" * 500)) == 200


@pytest.mark.parametrize("schema", [{}, None, {"properties": {}}, {"type": ["object", "null"]}, {"type": "object"}])
def test_a_tool_that_was_read_can_be_told_from_one_that_was_changed(schema: Any) -> None:
    (tool,) = spec_from_tools("notes", [with_schema(schema)]).tools
    assert reads_as_declared(tool)
    changed = {**tool.input_schema, "properties": {"more": {}}}
    assert not reads_as_declared(tool.model_copy(update={"input_schema": changed}))
    assert not reads_as_declared(tool.model_copy(update={"output_schema": {}, "declared": {"outputSchema": {"a": 1}}}))
