"""Incremental construction of an environment's atomic-task library (Weft A.1, Algorithm 1).

Each round the author proposes drafts for what is uncovered; those that pass accumulate in V and are never made
again, failures
accumulate in F and go back to the author; chains that are identical or contained are pruned; coverage is measured on
what is
retained. Construction stops at the target coverage, at the end of the round budget, or when nothing new is proposed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from weft.agents.tasks import TaskAuthor
from weft.ports import ToolHost
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, AtomicLibrary, RoundReport, TaskFeedback, TaskFinding
from weft.records.spec import Refusal, RefusalCode
from weft.tasks.certify import Certified, certify_atomic
from weft.tasks.chains import Coverage, case_names, containing, coverage, maximal
from weft.tasks.trials import Trials, open_trials

Stop = Literal["coverage", "rounds", "no_candidates", "limit"]


@dataclass(slots=True)
class _Construction:
    """What accumulates over the rounds."""

    environment: Environment
    passed: list[Certified] = field(default_factory=list)
    findings: list[TaskFinding] = field(default_factory=list)
    rounds: list[RoundReport] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)

    def retained(self) -> list[Certified]:
        """Return the validated tasks whose chains no other contains."""
        return [self.passed[index] for index in maximal([item.solution.chain for item in self.passed])]

    def coverage(self) -> Coverage:
        """Return the coverage of the retained chains."""
        return coverage([item.solution.chain for item in self.retained()], self.environment.contracts)

    def next_id(self, kind: str) -> str:
        """Return the next id of a kind; ids of failed drafts are used again."""
        return f"{self.environment.name}-{kind.replace('_', '-')}-{self.counts.get(kind, 0) + 1}"


async def build_atomic(
    environment: Environment,
    author: TaskAuthor,
    host: ToolHost,
    *,
    seed: int,
    target: float = 0.9,
    rounds: int = 3,
    limit: int | None = None,
) -> AtomicLibrary:
    """Build the library of one certified environment.

    Args:
        environment: certified, with a backend that the host can run.
        author: of the drafts.
        host: that executes them.
        seed: of drafts, generated ids and mutants.
        target: coverage at which construction stops (the paper's eta).
        rounds: round budget, the first included (the paper's R).
        limit: most retained tasks; two for each case of a tool, and 24 at least, when None.

    Returns:
        Retained tasks with their solutions, attained coverage, and a report of every round.
    """
    work = _Construction(environment)
    limit = max(24, 2 * len(case_names(environment.contracts))) if limit is None else limit
    main = await open_trials(environment, host, seed=seed)
    stopped: Stop = "rounds"
    last: tuple[TaskFinding, ...] = ()
    try:
        for number in range(rounds):
            kept = work.retained()
            feedback = TaskFeedback(
                round=number,
                wanted=work.coverage().uncovered,
                retained=tuple(item.solution.chain for item in kept),
                findings=last,
            )
            drafts = author.propose(environment, feedback, seed=seed, limit=limit)
            fresh = _fresh(work, drafts, limit)
            if not fresh:
                stopped = "no_candidates"
                break
            last = await _round(work, fresh, main, host, number, seed)
            if work.coverage().tools >= target and not _poor(work, limit):
                stopped = "coverage"
                break
            if len(work.retained()) >= limit:
                stopped = "limit"
                break
    finally:
        await main.close()
    return _library(work, stopped, limit)


def _poor(work: _Construction, limit: int) -> bool:
    """Return whether tools of several cases leave cases uncovered; the paper's coverage does not see them."""
    return work.coverage().cases < 0.9 and len(work.retained()) < limit


def _fresh(work: _Construction, drafts: Sequence[AtomicDraft], limit: int) -> list[AtomicDraft]:
    """Return drafts that were not tried before."""
    fresh = []
    for draft in drafts:
        key = content_hash({"chain": draft.chain, "kind": draft.kind, "inputs": draft.inputs, "steps": draft.reference})
        if key not in work.tried:
            work.tried.add(key)
            fresh.append(draft)
    return fresh[: 4 * limit]


async def _round(
    work: _Construction, drafts: Sequence[AtomicDraft], main: Trials, host: ToolHost, number: int, seed: int
) -> tuple[TaskFinding, ...]:
    """Execute, judge and file one round's drafts; return what failed."""
    failures: list[TaskFinding] = []
    redundant = passed = 0
    for draft in drafts:
        kept = [item.solution.chain for item in work.passed]
        other = containing(draft.chain, kept)
        if other is not None:
            redundant += 1
            work.findings.append(_redundant(work.environment, draft, other))
            continue
        outcome = await _certify_one(draft, work, main, host, seed)
        if isinstance(outcome, TaskFinding):
            failures.append(outcome)
            work.findings.append(outcome)
            continue
        passed += 1
        work.counts[draft.kind] = work.counts.get(draft.kind, 0) + 1
        work.passed.append(outcome)
    work.rounds.append(
        RoundReport(
            round=number,
            proposed=len(drafts),
            passed=passed,
            failed=len(failures),
            redundant=redundant,
            retained=len(work.retained()),
            coverage=round(work.coverage().tools, 4),
        )
    )
    return tuple(failures)


async def _certify_one(
    draft: AtomicDraft, work: _Construction, main: Trials, host: ToolHost, seed: int
) -> Certified | TaskFinding:
    task_id = work.next_id(draft.kind)
    if draft.state is None:
        return await certify_atomic(draft, main, task_id=task_id, seed=seed)
    own = await open_trials(work.environment, host, seed=seed, state=draft.state)
    try:
        return await certify_atomic(draft, own, task_id=task_id, seed=seed)
    finally:
        await own.close()


def _redundant(environment: Environment, draft: AtomicDraft, other: Sequence[str]) -> TaskFinding:
    refusal = Refusal(
        code=RefusalCode.REDUNDANT,
        subject=f"{environment.name}/{draft.kind}/{'+'.join(draft.chain)}",
        message=f"the chain is contained in {' -> '.join(other)}",
        remedy="use another tool or another order",
    )
    return TaskFinding(chain=draft.chain, kind=draft.kind, refusal=refusal)


def _library(work: _Construction, stopped: Stop, limit: int) -> AtomicLibrary:
    kept = work.retained()[:limit]
    reached = coverage([item.solution.chain for item in kept], work.environment.contracts)
    return AtomicLibrary(
        environment=work.environment.name,
        environment_hash=work.environment.hash,
        tasks=tuple(item.task for item in kept),
        solutions=tuple(item.solution for item in kept),
        coverage=round(reached.tools, 4),
        cases=round(reached.cases, 4),
        uncovered=reached.uncovered,
        findings=tuple(work.findings),
        rounds=tuple(work.rounds),
        stopped=stopped,
    )
