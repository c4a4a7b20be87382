"""Handing a broken environment back to its author, and taking back as little as mends it (Weft 3.2.2).

The author drafts again from the spec with the seed of construction. If that is what was once certified, it is taken
whole. Otherwise only the contracts on which something was found are replaced by the author's, so that seed rows, and
every task that rests on them, stay; only where that does not certify is the whole taken. An author that makes the
broken one again is shown the findings.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from weft.agents.environment import EnvironmentAuthor
from weft.envs.synthesis import synthesise
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.environment import Environment
from weft.records.spec import McpSpec


@dataclass(frozen=True, slots=True)
class _Told:
    """An author whose first draft already answers findings that only execution has shown."""

    author: EnvironmentAuthor
    findings: tuple[Finding, ...]

    @property
    def name(self) -> str:
        return self.author.name

    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        first = self.author.draft(spec, seed=seed, size=size)
        return self.author.revise(spec, first, self.findings, seed=seed, size=size)

    def revise(
        self, spec: McpSpec, draft: EnvironmentDraft, findings: Sequence[Finding], *, seed: int, size: int
    ) -> EnvironmentDraft:
        return self.author.revise(spec, draft, findings, seed=seed, size=size)


@dataclass(frozen=True, slots=True)
class _Targeted:
    """An author that changes nothing but the contracts of some tools. What does not hold then is taken out."""

    author: EnvironmentAuthor
    environment: Environment
    tools: frozenset[str]

    @property
    def name(self) -> str:
        return self.author.name

    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        fresh = self.author.draft(spec, seed=seed, size=size)
        theirs = {contract.tool: contract for contract in fresh.contracts.contracts}
        kept = tuple(
            theirs.get(contract.tool, contract) if contract.tool in self.tools else contract
            for contract in self.environment.contracts.contracts
        )
        served = {contract.tool for contract in kept}
        refused = tuple(
            one for one in self.environment.spec.refused if one.subject.removeprefix(f"{spec.name}/") not in served
        )
        contracts = self.environment.contracts.model_copy(update={"contracts": kept})
        return EnvironmentDraft(contracts=contracts, seed=self.environment.seed, refused=refused)

    def revise(
        self, spec: McpSpec, draft: EnvironmentDraft, findings: Sequence[Finding], *, seed: int, size: int
    ) -> EnvironmentDraft:
        return draft


async def resynthesise(
    broken: Environment,
    author: EnvironmentAuthor,
    findings: tuple[Finding, ...],
    proven: AbstractSet[str],
    *,
    seed: int,
    size: int,
) -> tuple[Environment | None, str]:
    """Have a broken environment made again.

    Args:
        broken: as it is.
        author: of environments.
        findings: on single tools; empty when the whole is in doubt.
        proven: hashes that this environment had when it, or a task on it, was certified.
        seed: of construction.
        size: of construction.

    Returns:
        The environment with its certificate, None when nothing could be certified; and what was done, in words.
    """
    whole = (await synthesise(broken.spec, author, seed=seed, size=size)).environment
    if whole is not None and whole.hash in proven:
        return whole, "its author made it again from its spec, and it is what was certified"
    if whole is not None and whole.hash == broken.hash:
        if not findings:
            return whole, "its author makes the same again, and every check of construction passes"
        told = (await synthesise(broken.spec, _Told(author, findings), seed=seed, size=size)).environment
        return told, f"its author makes the same again, and revised {_named(findings)} as executions have shown"
    if findings:
        tools = frozenset(finding.tool for finding in findings)
        target = _Targeted(author, broken, tools)
        mended = (await synthesise(broken.spec, target, seed=seed, size=size, rounds=1)).environment
        if mended is not None and set(broken.served()) - tools <= set(mended.served()):
            return mended, f"its author made the contracts of {_named(findings)} again; the rest stayed"
    if whole is None:
        return None, "its author cannot make it so that it certifies"
    return whole, "its author made it again from its spec, with other rows; every check of construction passes"


def _named(findings: Sequence[Finding]) -> str:
    return ", ".join(finding.tool for finding in findings)
