"""From a server's raw declaration to a spec: every rule about what is accepted, with what remark, and what is not.

One bad tool never costs the others: it is refused with its name, the JSON path, the value and the way out, and the
rest of the server goes on (Weft 3.1.1: environments are synthesised from heterogeneous MCP specifications).
"""

import re
from dataclasses import dataclass, field
from typing import Any

from weft.catalog.listing import Listing
from weft.catalog.schemas import argument_schema, return_schema
from weft.errors import FormatError
from weft.records.base import JSON
from weft.records.codec import canonical
from weft.records.spec import McpSpec, Refusal, RefusalCode, ToolSpec

MAX_DEPTH = 100
SHOWN = 200
# What MCP asks of a tool name; others are kept and get an alias where a model's endpoint needs one.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def shorten(value: Any, limit: int = SHOWN) -> str:
    """Return a value as one display line of at most ``limit`` characters; says how long it was when cut."""
    text = value if isinstance(value, str) else repr(value)
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= limit:
        return text
    tail = f"... ({len(text)} characters)"
    return text[: limit - len(tail)] + tail


@dataclass
class _Verdict:
    """What has been found about one server so far."""

    server: str
    tools: list[ToolSpec] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    warnings: list[Refusal] = field(default_factory=list)

    def refuse(self, code: RefusalCode, tool: str, message: str, remedy: str, path: str = "", value: Any = "") -> None:
        self.refused.append(self._reason(code, tool, message, remedy, path, value))

    def warn(self, code: RefusalCode, tool: str, message: str, remedy: str, path: str = "", value: Any = "") -> None:
        self.warnings.append(self._reason(code, tool, message, remedy, path, value))

    def _reason(self, code: RefusalCode, tool: str, message: str, remedy: str, path: str, value: Any) -> Refusal:
        subject = f"{self.server}/{tool}" if tool else self.server
        return Refusal(
            code=code,
            subject=subject,
            message=message,
            remedy=remedy,
            path=path,
            value=shorten(value) if value != "" else "",
        )


def spec_from_tools(
    name: str,
    raw_tools: JSON,
    *,
    title: str = "",
    description: str = "",
    version: str = "",
    licence: str = "",
    source: str = "",
    domain: str = "",
) -> McpSpec:
    """Normalise what a server declares.

    Args:
        name: slug of the server (see :mod:`weft.catalog.names`).
        raw_tools: the ``tools`` value as it came, of any JSON type.
        title: the server's own name; ``name`` when empty.
        description: what the service is.
        version: of the server.
        licence: SPDX words.
        source: where it was read from, relative.
        domain: domain label, if it is known.

    Returns:
        The spec. Without a single usable tool its ``tools`` are empty and ``refused`` says why; nothing raises.
    """
    verdict = _Verdict(name)
    entries = raw_tools if isinstance(raw_tools, list) else []
    if not isinstance(raw_tools, list):
        verdict.refuse(
            RefusalCode.NOT_A_SPEC, "", "'tools' is not a list", "give the list of tools", "#/tools", raw_tools
        )
    elif not entries:
        verdict.refuse(
            RefusalCode.NO_TOOLS, "", "the server declares no tools", "declare at least one tool", "#/tools", "[]"
        )
    for index, raw in enumerate(entries):
        _take_tool(verdict, index, raw)
    return McpSpec(
        name=name,
        title=title or name,
        description=description,
        version=version,
        licence=licence,
        source=source,
        domain=domain,
        tools=tuple(verdict.tools),
        refused=tuple(verdict.refused),
        warnings=tuple(verdict.warnings),
        declared_tools=len(entries),
    )


def spec_from_listing(name: str, listing: Listing) -> McpSpec:
    """Normalise a listing under the slug ``name``; the listing's own warnings come first."""
    spec = spec_from_tools(
        name,
        listing.tools,
        title=listing.title or listing.name,
        description=listing.description,
        version=listing.version,
        licence=listing.licence,
        source=listing.source,
        domain=listing.domain,
    )
    return spec.model_copy(update={"warnings": (*listing.warnings, *spec.warnings)})


def _take_tool(verdict: _Verdict, index: int, raw: Any) -> None:
    place = f"#/tools/{index}"
    declared = _declaration(verdict, place, raw)
    if declared is None:
        return
    name = declared["name"]
    if any(tool.name == name for tool in verdict.tools):
        message = f"the name {name!r} is declared more than once; the first declaration is kept"
        remedy = "give each tool a name of its own"
        verdict.refuse(RefusalCode.DUPLICATE_NAME, name, message, remedy, f"{place}/name", name)
        verdict.warn(RefusalCode.DUPLICATE_NAME, name, message, remedy, f"{place}/name", name)
        return
    if not _PLAIN_NAME.fullmatch(name):
        verdict.warn(
            RefusalCode.BAD_NAME,
            name,
            "the name holds characters or a length outside MCP's advice; it is kept as it is",
            "use 1 to 128 of A-Z a-z 0-9 _ - . /",
            f"{place}/name",
            name,
        )
    schema = argument_schema(declared)
    returns = return_schema(declared)
    for remark in (*schema.warnings, *returns.warnings):
        verdict.warn(remark.code, name, remark.message, remark.remedy, remark.path, remark.value)
    for problem in schema.problems:
        verdict.refuse(problem.code, name, problem.message, problem.remedy, problem.path, problem.value)
    if schema.value is None:
        return
    verdict.tools.append(
        ToolSpec(
            name=name,
            description=_description(verdict, name, declared),
            input_schema=schema.value,
            output_schema=returns.value,
            annotations=_annotations(verdict, name, declared),
            declared=raw,
        )
    )


def _declaration(verdict: _Verdict, place: str, raw: Any) -> dict[str, Any] | None:
    """Return the declaration in MCP's form with a usable name, or refuse it and return None."""
    label = f"tool {place.rsplit('/', 1)[1]}"
    if not isinstance(raw, dict):
        verdict.refuse(
            RefusalCode.NOT_A_SPEC, label, "the entry is not an object", "give each tool as an object", place, raw
        )
        return None
    declared = as_mcp(raw)
    name = declared.get("name")
    if not isinstance(name, str) or not name.strip():
        given = "missing" if "name" not in declared else "not a text" if not isinstance(name, str) else "empty"
        verdict.refuse(
            RefusalCode.BAD_NAME,
            label,
            f"the name is {given}",
            "give the tool a name that is not empty",
            f"{place}/name",
            name if "name" in declared else "",
        )
        return None
    if too_deep(raw, MAX_DEPTH):
        verdict.refuse(
            RefusalCode.TOO_LARGE,
            shorten(name),
            f"the declaration is nested deeper than {MAX_DEPTH} levels",
            "flatten it, or put the repeated part under $defs and refer to it",
            place,
        )
        return None
    try:
        canonical(raw)
    except FormatError as error:
        verdict.refuse(RefusalCode.BAD_SCHEMA, shorten(name), str(error), "declare valid JSON", place)
        return None
    return declared


def as_mcp(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a tool in MCP's form: an OpenAI function definition becomes one, anything else stays as it is."""
    body = raw.get("function") if raw.get("type") == "function" and "inputSchema" not in raw else None
    if body is None and raw.get("type") == "function" and "parameters" in raw:
        body = raw
    if not isinstance(body, dict):
        return raw
    mcp = {key: body[key] for key in ("name", "description") if key in body}
    # A function without parameters is written without the key.
    return {**mcp, "inputSchema": body.get("parameters", {"type": "object", "properties": {}})}


def reads_as_declared(tool: ToolSpec) -> bool:
    """Say whether a tool's schemas are what its declaration is read as; what was not declared may be anything."""
    declared = as_mcp(tool.declared)
    arguments = argument_schema(declared).value if "inputSchema" in declared else tool.input_schema
    returns = return_schema(declared).value if "outputSchema" in declared else tool.output_schema
    return (arguments, returns) == (tool.input_schema, tool.output_schema)


def too_deep(value: Any, limit: int) -> bool:
    """Say whether JSON data is nested deeper than ``limit`` levels, without recursion."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _description(verdict: _Verdict, name: str, declared: dict[str, Any]) -> str:
    text = declared.get("description", "")
    if isinstance(text, str):
        return text
    if text is not None:
        verdict.warn(
            RefusalCode.NOT_A_SPEC,
            name,
            "the description is not a text and is left out",
            "give a text",
            "#/description",
            text,
        )
    return ""


def _annotations(verdict: _Verdict, name: str, declared: dict[str, Any]) -> dict[str, Any]:
    """Return the hints that a client can read: one of a wrong type would cost it the whole list."""
    hints = declared.get("annotations")
    if hints is None:
        return {}
    if not isinstance(hints, dict):
        verdict.warn(
            RefusalCode.NOT_A_SPEC,
            name,
            "the annotations are not an object and are left out",
            "give an object",
            "#/annotations",
            hints,
        )
        return {}
    kept = {}
    for key, value in hints.items():
        fits = isinstance(value, bool) if key in _HINTS else isinstance(value, str) if key == "title" else True
        if fits:
            kept[key] = value
        elif value is not None:
            wanted = "true or false" if key in _HINTS else "a text"
            verdict.warn(
                RefusalCode.NOT_A_SPEC,
                name,
                f"the annotation {key} is not {wanted} and is left out",
                f"give {wanted}",
                f"#/annotations/{key}",
                value,
            )
    return kept
