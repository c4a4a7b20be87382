"""How a tool is listed in each protocol era, and how its result is shown to match.

A declared output schema whose root is not ``type: object`` is legal since 2026-07-28. Clients of older revisions refuse
the whole list because of it, so they are shown the schema, and the value, wrapped as ``{"result": ...}``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.records.spec import ToolSpec

WRAPPED = "result"

# Keywords whose values are data, and those whose keys are names: a `$ref` in there is no reference.
_DATA = frozenset({"const", "enum", "default", "examples", "example"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


@dataclass(frozen=True)
class ListedTool:
    """One tool in the form of each era.

    Attributes:
        spec: the declared tool.
        legacy: for 2025-11-25 and older.
        modern: for 2026-07-28.
        wraps: legacy results are wrapped.
    """

    spec: ToolSpec
    legacy: dict[str, Any]
    modern: dict[str, Any]
    wraps: bool


def list_tool(spec: ToolSpec) -> ListedTool:
    """Return how a tool is listed: name and schemas as declared, and nothing that this server does not serve."""
    body: dict[str, Any] = {"name": spec.name}
    title = spec.declared.get("title")
    if isinstance(title, str):
        body["title"] = title
    if spec.description:
        body["description"] = spec.description
    body["inputSchema"] = spec.input_schema
    if spec.annotations:
        body["annotations"] = spec.annotations
    if spec.output_schema is None:
        return ListedTool(spec, body, body, wraps=False)
    modern = {**body, "outputSchema": spec.output_schema}
    if spec.output_schema.get("type") == "object":
        return ListedTool(spec, modern, modern, wraps=False)
    return ListedTool(spec, {**body, "outputSchema": wrap_schema(spec.output_schema)}, modern, wraps=True)


def wrap_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object schema with the given one under ``result``; its local references still resolve."""
    inner = _moved(dict(schema), f"#/properties/{WRAPPED}") if "$id" not in schema else dict(schema)
    dialect = {"$schema": inner.pop("$schema")} if "$schema" in inner and "$id" not in inner else {}
    return {**dialect, "type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]}


def show_value(tool: ListedTool, value: Any, *, modern: bool) -> Any:
    """Return ``structuredContent`` for a result: as it is, or wrapped where an object is wanted."""
    if modern or (isinstance(value, dict) and not tool.wraps):
        return value
    return {WRAPPED: value}


def _moved(node: Any, base: str) -> Any:
    """Copy a schema with its root-relative references pointed below ``base``."""
    if isinstance(node, list):
        return [_moved(item, base) for item in node]
    if not isinstance(node, dict):
        return node
    moved: dict[str, Any] = {}
    for key, value in node.items():
        if key in _DATA:
            moved[key] = value
        elif key in _NAMED and isinstance(value, dict):
            moved[key] = {name: _moved(item, base) for name, item in value.items()}
        elif key in ("$ref", "$dynamicRef") and isinstance(value, str) and (value == "#" or value.startswith("#/")):
            moved[key] = base + value[1:]
        else:
            moved[key] = _moved(value, base)
    return moved
