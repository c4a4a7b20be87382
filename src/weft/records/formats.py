"""JSON Schemas of the formats that files and endpoints carry, generated from the records (DESIGN section 4)."""

from typing import Any

from weft.records.base import Record
from weft.records.batch import SftExample, TokenSequence, TurnGroup
from weft.records.certificate import EnvironmentCertificate, TaskCertificate
from weft.records.contract import ContractSet
from weft.records.environment import TestCall
from weft.records.library import AtomicLibrary
from weft.records.revision import Attribution, Revision
from weft.records.run import RunSummary
from weft.records.spec import McpSpec
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask, ComposedSolution, ComposedTask, TaskState
from weft.records.trace import LedgerEntry, Trajectory
from weft.records.verdict import Verifier

FORMATS: dict[str, type[Record]] = {
    "spec": McpSpec,
    "contracts": ContractSet,
    "seed": InitialState,
    "test-call": TestCall,
    "environment-certificate": EnvironmentCertificate,
    "atomic-task": AtomicTask,
    "atomic-solution": AtomicSolution,
    "atomic-library": AtomicLibrary,
    "composed-task": ComposedTask,
    "composed-solution": ComposedSolution,
    "task-state": TaskState,
    "task-certificate": TaskCertificate,
    "verifier": Verifier,
    "ledger-entry": LedgerEntry,
    "trajectory": Trajectory,
    "sft-example": SftExample,
    "turn-group": TurnGroup,
    "token-sequence": TokenSequence,
    "attribution": Attribution,
    "revision": Revision,
    "run-summary": RunSummary,
}
"""Format name -> record. ``docs/formats/<name>.json`` holds the schema."""


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a format."""
    schema = FORMATS[name].model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"weft:{name}", **schema}
