"""The schemas of one tool: what its arguments must be, and what it says that it returns.

An argument schema that cannot be enforced refuses the tool. A return schema that cannot be read is left out with a
remark, because the contract then declares one.
"""

from dataclasses import dataclass, replace
from typing import Any

from weft.records.spec import RefusalCode
from weft.runtime.schemas import SchemaProblem, schema_problems, schema_warnings

EMPTY_OBJECT = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class Remark:
    """One thing that is wrong or was mended: the fields of a refusal but its subject.

    ``path`` points into ``inputSchema`` (``#/properties/x``), or after ``outputSchema#`` into that.
    """

    code: RefusalCode
    path: str
    value: Any
    message: str
    remedy: str


@dataclass(frozen=True)
class Reading:
    """What became of a declared schema: ``value`` is None when there is none to use."""

    value: dict[str, Any] | None
    problems: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()


def argument_schema(declared: dict[str, Any]) -> Reading:
    """Read ``inputSchema`` of a declaration into an object schema.

    Nothing is taken out of what was declared: ``type: object`` is added where it is missing, since arguments are always
    an object (MCP, Tools). A missing, null or boolean schema is a tool without parameters.
    """
    schema = declared.get("inputSchema")
    if schema is None or isinstance(schema, bool):
        given = "missing" if "inputSchema" not in declared else {None: "null", True: "true", False: "false"}[schema]
        note = Remark(
            RefusalCode.BAD_SCHEMA,
            "#",
            "" if given == "missing" else given,
            f"inputSchema is {given}: taken as a tool without parameters",
            'declare {"type": "object", "properties": {}}',
        )
        return Reading(dict(EMPTY_OBJECT), warnings=(note,))
    if not isinstance(schema, dict):
        problem = Remark(
            RefusalCode.BAD_SCHEMA,
            "#",
            schema,
            f"inputSchema is {_kind(schema)} where an object is wanted",
            "declare a JSON Schema object",
        )
        return Reading(None, problems=(problem,))
    if not schema:
        return Reading(dict(EMPTY_OBJECT))
    if problems := _remarks(schema_problems(schema)):
        return Reading(None, problems=problems)
    reading = _as_object_schema(schema)
    return replace(reading, warnings=(*_remarks(schema_warnings(schema)), *reading.warnings))


def return_schema(declared: dict[str, Any]) -> Reading:
    """Read ``outputSchema`` of a declaration; its root may be of any type."""
    schema = declared.get("outputSchema")
    if schema is None:
        return Reading(None)
    if not isinstance(schema, dict):
        note = Remark(
            RefusalCode.RETURN_SCHEMA,
            "outputSchema#",
            schema,
            f"outputSchema is {_kind(schema)} where an object is wanted: left out",
            "declare a JSON Schema object or leave it out",
        )
        return Reading(None, warnings=(note,))
    problems = _remarks(schema_problems(schema), "outputSchema")
    notes = tuple(Remark(p.code, p.path, p.value, f"{p.message}; outputSchema is left out", p.remedy) for p in problems)
    return Reading(None, warnings=notes) if notes else Reading(schema)


def _remarks(problems: list[SchemaProblem], prefix: str = "") -> tuple[Remark, ...]:
    return tuple(Remark(each.code, f"{prefix}{each.path}", each.value, each.message, each.remedy) for each in problems)


def _as_object_schema(schema: dict[str, Any]) -> Reading:
    kind = schema.get("type")
    if kind == "object":
        return Reading(schema)
    if kind is None:
        return Reading({"type": "object", **schema})
    if isinstance(kind, list) and "object" in kind:
        note = Remark(
            RefusalCode.BAD_SCHEMA,
            "#/type",
            kind,
            "the type lists more than object; arguments are always an object, so the others are dropped",
            'declare "type": "object"',
        )
        return Reading({**schema, "type": "object"}, warnings=(note,))
    problem = Remark(
        RefusalCode.BAD_SCHEMA,
        "#/type",
        kind,
        f"the root type is {kind!r}, but the arguments of a call are always an object",
        'declare "type": "object" and put the value into a property',
    )
    return Reading(None, problems=(problem,))


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "null")
