"""What a tool server declares: the spec, as MCP has it, and why something in it was refused."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from weft.records.base import JSON, Record


class RefusalCode(StrEnum):
    """Why a server, tool or argument was refused. Each has a page in ``docs/refusals.md``."""

    NOT_JSON = "not_json"
    NOT_A_SPEC = "not_a_spec"
    NO_TOOLS = "no_tools"
    TOO_LARGE = "too_large"
    DUPLICATE_NAME = "duplicate_name"
    BAD_NAME = "bad_name"
    BAD_SCHEMA = "bad_schema"
    UNSUPPORTED_DIALECT = "unsupported_dialect"
    EXTERNAL_REFERENCE = "external_reference"
    REFERENCE_CYCLE = "reference_cycle"
    NOTHING_TO_WRITE = "nothing_to_write"
    NO_ENTITY = "no_entity"
    INVENTED_ARGUMENT = "invented_argument"
    INERT_ARGUMENT = "inert_argument"
    NO_EFFECT = "no_effect"
    STATELESS = "stateless"
    EXTERNAL_WORLD = "external_world"
    QUERY_LANGUAGE = "query_language"
    FREE_CODE = "free_code"
    ANNOTATION_CONFLICT = "annotation_conflict"
    RETURN_SCHEMA = "return_schema"
    VALIDATION_FAILED = "validation_failed"
    NO_GOOD_TOOL = "no_good_tool"
    UNREACHABLE = "unreachable"
    NO_TASK = "no_task"
    INFEASIBLE = "infeasible"
    NOT_DISCRIMINATING = "not_discriminating"
    REDUNDANT = "redundant"
    INTERNAL = "internal"


class Refusal(Record):
    """A typed reason: what, which value, and what to do.

    Attributes:
        code: the kind.
        subject: the server, tool or argument, e.g. ``notes/create_note/title``.
        path: JSON path inside the subject's declaration, where there is one (``#/properties/x``).
        value: the offending value, shortened to 200 characters.
        message: what is wrong.
        remedy: what its author can do.
    """

    code: RefusalCode
    subject: str
    message: str
    remedy: str
    path: str = ""
    value: str = ""


class ToolSpec(Record):
    """One tool exactly as MCP declares it.

    ``declared`` is the untouched declaration; the other fields are read from it by the catalog and
    are what the rest of Weft uses.

    Attributes:
        name: the declared name, unique in its server.
        description: the declared description, or ``""``.
        input_schema: an object schema that resolves inside itself (2020-12 unless it says otherwise).
        output_schema: the declared output schema or None.
        annotations: MCP hints (``readOnlyHint`` ...), possibly empty.
        declared: the whole declaration as the server sent it.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = Field(default_factory=dict)
    declared: dict[str, Any]


class McpSpec(Record):
    """A server's spec: what was declared, what of it is usable, what was refused and why.

    Attributes:
        name: slug of the server, usable as a folder name: ``[a-z0-9][a-z0-9._-]*``.
        title: the name as the server gives it.
        description: what the service is, or ``""``.
        version: of the server's package or ``""``.
        licence: SPDX words or ``""``.
        source: where it was read from, relative; never a machine path.
        domain: first-level domain label or ``""`` (filled by the catalog's taxonomy).
        tools: the usable tools in declared order.
        refused: why the others are not there.
        warnings: what was accepted with a remark.
        declared_tools: how many tools the source declared.
    """

    name: str
    title: str
    description: str = ""
    version: str = ""
    licence: str = ""
    source: str = ""
    domain: str = ""
    tools: tuple[ToolSpec, ...]
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[Refusal, ...] = ()
    declared_tools: int = 0


class Provenance(StrEnum):
    """How much of a meaning was declared (the fidelity block of a certificate, DESIGN section 5)."""

    DECLARED = "declared"
    INFERRED = "inferred"
    INVENTED = "invented"
    INERT = "inert"


__all__ = ["JSON", "McpSpec", "Provenance", "Refusal", "RefusalCode", "ToolSpec"]
