"""Certificates: the machine-checked proof that ships with an environment or a task (DESIGN section 5)."""

from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.spec import Refusal


class CheckRecord(Record):
    """One check that was run: its name, how many cases, and the first counter-example if it failed."""

    name: str
    passed: bool
    cases: int = 0
    detail: str = ""


class ArgumentFidelity(Record):
    """The fidelity of one argument; ``shown`` is the pair of calls that differ only in it, if it has an effect."""

    path: str
    provenance: Literal["declared", "inferred", "invented", "inert"]
    evidence: str = ""
    effect_shown: bool = False
    shown: dict[str, Any] = Field(default_factory=dict)


class ToolCertificate(Record):
    """Soundness and fidelity of one tool.

    Attributes:
        tool: declared name.
        certified: every soundness check passed and fidelity allows it.
        effect: read or write, as proven.
        soundness: the checks.
        arguments: the fidelity of each argument.
        not_enforced: schema keywords carried but not enforced, with their JSON path, and rules that the description
            states and the contract does not keep, as ``description: <sentence>``.
        accuracy: share of its test calls that passed (Agent-World's Acc).
    """

    tool: str
    certified: bool
    effect: Literal["read", "write"]
    soundness: tuple[CheckRecord, ...]
    arguments: tuple[ArgumentFidelity, ...] = ()
    not_enforced: tuple[str, ...] = ()
    accuracy: float = 0.0


class EnvironmentCertificate(Record):
    """The proof of an environment.

    Attributes:
        name: environment.
        environment: content hash of spec, contracts, seed and workspace that this certifies.
        kind: stateful, read_only, bound or refused.
        soundness: environment-wide checks.
        tools: per served tool.
        refused: tools that are not served, with reasons.
        fidelity: counts by provenance over arguments, columns and returns, and of ``rules`` that descriptions state:
            ``enforced`` and ``unenforced``.
        author: rules or model.
        weft: version of the rules that proved it.
    """

    version: Literal[1] = 1
    name: str
    environment: str
    kind: Literal["stateful", "read_only", "bound", "refused"]
    soundness: tuple[CheckRecord, ...]
    tools: tuple[ToolCertificate, ...]
    refused: tuple[Refusal, ...] = ()
    fidelity: dict[str, dict[str, int]] = Field(default_factory=dict)
    author: str = "rules"
    weft: str = ""


class MutantResult(Record):
    """One mutant of the reference and what became of it.

    Attributes:
        kind: dropped_write, wrong_entity, wrong_value, extra_write, no_witness, altered_answer, do_nothing,
            empty_reply, undone ...
        detail: what was changed.
        outcome: killed (verifier fails it), equivalent (same state, reply and required returns by full comparison),
            survived.
    """

    kind: str
    detail: str = ""
    outcome: Literal["killed", "equivalent", "survived"]


class TaskCertificate(Record):
    """The proof of a task: reference passes from independent states, doing nothing fails, every mutant dies.

    Attributes:
        environments: environment name -> content hash.
        verifier: content hash of the verifier that this certifies.
        checks: soundness checks in order.
        mutants: what was tried.
        runs: number of independent executions of the reference.
    """

    version: Literal[1] = 1
    environments: dict[str, str]
    verifier: str
    checks: tuple[CheckRecord, ...]
    mutants: tuple[MutantResult, ...]
    runs: int

    @property
    def valid(self) -> bool:
        """True if every check passed and no mutant survived."""
        return all(check.passed for check in self.checks) and all(m.outcome != "survived" for m in self.mutants)
