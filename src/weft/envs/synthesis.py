"""Environment synthesis: draft, validate, revise, and certify what holds (Weft 3.1.1).

Structural, mapping and runtime findings go back to the author for a bounded number of rounds. Tools that still fail are
refused with the finding as the reason, and what is left is validated again: nothing ships unproven.
"""

from collections.abc import Sequence

import anyio.lowlevel

from weft.agents.environment import EnvironmentAuthor
from weft.envs.certify import ACCURACY_GATE, blocking, certify, refusal_of
from weft.envs.report import ToolReport
from weft.envs.validation import Validation, validate
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import McpSpec, Refusal, RefusalCode
from weft.records.synthesis import SynthesisResult, SynthesisRound

ROUNDS = 4


class _Synthesis:
    """The synthesis of one environment: its rounds so far and the reports that can be used again."""

    def __init__(self, spec: McpSpec, author: EnvironmentAuthor, seed: int, size: int, accuracy_gate: float) -> None:
        self.spec, self.author, self.seed, self.size, self.gate = spec, author, seed, size, accuracy_gate
        self.known: dict[str, ToolReport] = {}
        self.rounds: list[SynthesisRound] = []
        self.refusals: list[Refusal] = []

    def drafted(self, draft: EnvironmentDraft | None, findings: Sequence[Finding]) -> EnvironmentDraft | None:
        """Return the author's first draft or a revision of ``draft``; None and a refusal when the author fails."""
        try:
            if draft is None:
                return self.author.draft(self.spec, seed=self.seed, size=self.size)
            return self.author.revise(self.spec, draft, findings, seed=self.seed, size=self.size)
        except Exception as error:  # noqa: BLE001 - an author is foreign code: its failure is this spec's, not the run's
            self.refusals.append(author_failed(self.spec.name, error))
            return None

    def validated(self, draft: EnvironmentDraft) -> Validation:
        """Validate a draft and note the round."""
        outcome = validate(self.spec, draft, self.known)
        self.rounds.append(
            SynthesisRound(
                number=len(self.rounds) + 1,
                tools=len(draft.contracts.contracts),
                calls=outcome.calls,
                findings=tuple(outcome.findings),
            )
        )
        return outcome

    def failing(self, outcome: Validation) -> dict[str, Finding]:
        """Return the tools that may not be served, each with the finding that says why."""
        found: dict[str, Finding] = {}
        for name, report in outcome.tools.items():
            reasons = blocking(report, self.gate)
            if reasons:
                found[name] = reasons[0]
        for finding in outcome.findings:
            if finding.tool and finding.tool not in outcome.tools:
                found.setdefault(finding.tool, finding)
        return found

    def without(self, draft: EnvironmentDraft, failing: dict[str, Finding]) -> EnvironmentDraft:
        """Return the draft without the failing tools, and note their refusals."""
        self.refusals += [refusal_of(self.spec.name, finding) for finding in failing.values()]
        kept = tuple(c for c in draft.contracts.contracts if c.tool not in failing)
        contracts = draft.contracts.model_copy(update={"contracts": kept})
        return draft.model_copy(update={"contracts": contracts})

    def result(self, draft: EnvironmentDraft, outcome: Validation) -> SynthesisResult:
        """Certify what is left, or say why there is nothing."""
        refused = list(self.refusals)
        refused = unique([*draft.refused, *refused, *self._forgotten(draft, refused)])
        spec = self.spec.model_copy(update={"refused": tuple(unique([*self.spec.refused, *refused]))})
        outcome.environment = outcome.environment.model_copy(update={"spec": spec})
        environment, certificate = certify(outcome, author=self.author.name, accuracy_gate=self.gate)
        if certificate.kind == "refused":
            refused.append(no_environment(self.spec.name, outcome))
            return SynthesisResult(spec=self.spec.name, refusals=tuple(refused), rounds=tuple(self.rounds))
        return SynthesisResult(
            spec=self.spec.name, environment=environment, refusals=tuple(refused), rounds=tuple(self.rounds)
        )

    def _forgotten(self, draft: EnvironmentDraft, refused: list[Refusal]) -> list[Refusal]:
        """Return refusals of the tools that the author neither served nor refused."""
        served = {contract.tool for contract in draft.contracts.contracts}
        named = {refusal.subject.removeprefix(f"{self.spec.name}/") for refusal in (*draft.refused, *refused)}
        return [
            Refusal(
                code=RefusalCode.VALIDATION_FAILED,
                subject=f"{self.spec.name}/{tool.name}",
                message="the author drafted no contract for this tool and gave no reason",
                remedy="serve the tool or refuse it with a typed reason",
            )
            for tool in self.spec.tools
            if tool.name not in served and not any(n == tool.name or n.startswith(f"{tool.name}/") for n in named)
        ]


async def synthesise(
    spec: McpSpec,
    author: EnvironmentAuthor,
    *,
    seed: int,
    size: int = 12,
    rounds: int = ROUNDS,
    accuracy_gate: float = ACCURACY_GATE,
) -> SynthesisResult:
    """Return the certified environment of a spec, or typed reasons why there is none.

    Never raises for what a spec or an author does wrong: an author that fails is a refusal with code ``internal``.

    Args:
        spec: the server's usable tools.
        author: who drafts and revises.
        seed: of everything random.
        size: wanted rows of a main table.
        rounds: of drafting and revising; at least 1.
        accuracy_gate: share of test calls that a tool must exceed; 1.0 asks for all of them.
    """
    work = _Synthesis(spec, author, seed, size, accuracy_gate)
    draft, outcome = await _author_rounds(work, max(1, rounds))
    if draft is None or outcome is None:
        return SynthesisResult(spec=spec.name, refusals=tuple(work.refusals), rounds=tuple(work.rounds))
    # Each turn takes at least one tool out, so this ends.
    while (failing := work.failing(outcome)) and draft.contracts.contracts:
        await anyio.lowlevel.checkpoint()
        draft = work.without(draft, failing)
        outcome = work.validated(draft)
    return work.result(draft, outcome)


async def _author_rounds(work: _Synthesis, rounds: int) -> tuple[EnvironmentDraft | None, Validation | None]:
    """Draft, validate and revise until nothing is found, nothing changes, or the rounds are used up.

    An author that fails at the first draft leaves nothing; one that fails at a revision leaves the last draft.
    """
    draft = work.drafted(None, ())
    if draft is None:
        return None, None
    outcome = work.validated(draft)
    for _ in range(rounds - 1):
        if not outcome.findings:
            break
        await anyio.lowlevel.checkpoint()
        revised = work.drafted(draft, outcome.findings)
        if revised is None or revised == draft:
            break
        draft = revised
        outcome = work.validated(draft)
    return draft, outcome


def author_failed(server: str, error: Exception) -> Refusal:
    """Return the refusal of a server on which its author failed."""
    return Refusal(
        code=RefusalCode.INTERNAL,
        subject=server,
        message=f"the environment author failed: {type(error).__name__}: {str(error)[:300]}",
        remedy="report this with the spec; the other servers are not affected",
    )


def no_environment(server: str, outcome: Validation) -> Refusal:
    """Return the refusal of a server of which nothing could be certified."""
    failed = [check for check in outcome.checks if not check.passed]
    if failed and outcome.environment.contracts.contracts:
        message = f"{failed[0].name}: {failed[0].detail}"
        return Refusal(
            code=RefusalCode.VALIDATION_FAILED,
            subject=server,
            message=message,
            remedy="revise the schema or the seed rows that the message names",
        )
    served = len(outcome.environment.contracts.contracts)
    message = "no tool that reads could be certified" if served else "no tool could be certified"
    return Refusal(
        code=RefusalCode.NO_GOOD_TOOL,
        subject=server,
        message=message,
        remedy="see the refusals of its tools; a server needs a tool whose result comes from its state",
    )


def unique(refusals: list[Refusal]) -> list[Refusal]:
    """Return the refusals with one per subject, the first."""
    found: dict[str, Refusal] = {}
    for refusal in refusals:
        found.setdefault(refusal.subject, refusal)
    return list(found.values())
