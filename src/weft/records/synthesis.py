"""What became of one spec: the certified environment, or why there is none (Weft 3.1.1)."""

from pydantic import Field

from weft.records.base import Record
from weft.records.draft import Finding
from weft.records.environment import Environment
from weft.records.spec import Refusal


class SynthesisRound(Record):
    """One round of drafting and validating.

    Attributes:
        number: from 1; the rounds after the author's are those in which failing tools were taken out.
        tools: contracts that were validated.
        calls: tool calls that were run.
        findings: the failed checks.
    """

    number: int
    tools: int
    calls: int = 0
    findings: tuple[Finding, ...] = ()


class SynthesisResult(Record):
    """What became of one spec.

    Attributes:
        spec: name of the server.
        environment: with its certificate, or None when nothing could be certified.
        refusals: the tools that are not served, and the server itself when there is no environment.
        rounds: what happened, in order.
    """

    spec: str
    environment: Environment | None = None
    refusals: tuple[Refusal, ...] = ()
    rounds: tuple[SynthesisRound, ...] = Field(default_factory=tuple)

    @property
    def findings(self) -> tuple[tuple[Finding, ...], ...]:
        """The failed checks of each round."""
        return tuple(one.findings for one in self.rounds)
