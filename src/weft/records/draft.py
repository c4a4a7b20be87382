"""What an environment author drafts, and what validation finds wrong with it (Weft 3.1.1)."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from weft.records.base import Record
from weft.records.contract import ContractSet
from weft.records.spec import Refusal
from weft.records.state import InitialState


class EnvironmentDraft(Record):
    """An author's draft of an environment. It proves nothing until it has been validated by running.

    Attributes:
        contracts: the shared schema and a contract for each tool that the author would serve.
        seed: initial rows, files and clock.
        refused: the tools that it would not serve, each with its typed reason.
        readings: the author's own notes for its next revision: which of the readings of an argument or tool it took,
            the first ones left out.
    """

    contracts: ContractSet
    seed: InitialState
    refused: tuple[Refusal, ...] = ()
    readings: dict[str, int] = Field(default_factory=dict)


class FindingKind(StrEnum):
    """Where a finding is mended: structural in the schema, mapping in the contract, runtime in the operations."""

    STRUCTURAL = "structural"
    MAPPING = "mapping"
    RUNTIME = "runtime"


class Finding(Record):
    """One failed check of a draft, handed back to its author.

    Attributes:
        kind: what has to be revised.
        check: name of the failed soundness or fidelity check (``argument_effect``, ``returns_schema``,
            ``writes_declared``,
            ``read_writes_nothing``, ``agreement``, ``determinism``, ``normal_call``, ``boundary_call``,
            ``seed_schema`` ...).
        tool: declared tool name, or "" for the schema.
        argument: argument path, or "".
        message: what happened.
        call: the call that showed it, if any.
    """

    kind: FindingKind
    check: str
    tool: str = ""
    argument: str = ""
    message: str
    call: dict[str, Any] = Field(default_factory=dict)
