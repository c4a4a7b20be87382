"""An environment as one record: what the folder of DESIGN section 4 holds."""

from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.certificate import EnvironmentCertificate
from weft.records.codec import content_hash
from weft.records.contract import ContractSet
from weft.records.spec import McpSpec
from weft.records.state import InitialState


class TestCall(Record):
    """A normal or boundary call with its expected outcome, run in order on one fresh session per list.

    Attributes:
        name: a sentence.
        kind: normal or boundary.
        tool: declared tool name.
        arguments: of the call.
        outcome: ok or error.
        code: expected error code, for errors.
        changes: tables (and ``files``) that the call must change; empty means it must change nothing.
    """

    __test__ = False

    name: str
    kind: Literal["normal", "boundary"]
    tool: str
    arguments: Any
    outcome: Literal["ok", "error"]
    code: str = ""
    changes: tuple[str, ...] = ()


class Environment(Record):
    """Everything of one environment.

    Attributes:
        spec: what is served; refused tools are listed in it and not in ``contracts``.
        contracts: schema and contracts of the served tools.
        seed: initial rows, files and clock.
        tests: calls with expected outcomes.
        certificate: the proof, None while it is being made.
    """

    spec: McpSpec
    contracts: ContractSet
    seed: InitialState
    tests: tuple[TestCall, ...] = Field(default_factory=tuple)
    certificate: EnvironmentCertificate | None = None

    @property
    def name(self) -> str:
        """The environment's name."""
        return self.spec.name

    @property
    def hash(self) -> str:
        """Content hash of everything but tests and certificate: what a task pins and a certificate certifies."""
        return content_hash({"spec": self.spec, "contracts": self.contracts, "seed": self.seed})

    def served(self) -> list[str]:
        """Names of the served tools, in declared order."""
        return [contract.tool for contract in self.contracts.contracts]
