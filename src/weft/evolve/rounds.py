"""One round of execution-driven self-evolution (Weft 3.2.2).

Attribute what failed, route it to components, hand those back to their authors, revalidate what rests on them, and roll
out afresh what changed. Alternating rollouts and rounds is the paper's iterative refinement; a round's report says what
the fresh rollouts still blame.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.evolve.attribute import attribute
from weft.evolve.audit import audit
from weft.evolve.failure import failures_in
from weft.evolve.probes import EnvironmentProbe
from weft.evolve.revalidate import revalidate_atomic, revalidate_composed
from weft.evolve.revise import Workshop, revise
from weft.evolve.routing import route
from weft.evolve.system import System
from weft.ports import ToolHost
from weft.records.evolution import EvolutionReport, RolloutCounts, Selected, ToolErrors
from weft.records.revision import Attribution, Component, Revision
from weft.records.trace import Outcome, Segment, Trajectory
from weft.rollouts.policies.scripted import PlannedNode
from weft.rollouts.runner import Episode

Staging = Callable[[System, str], tuple[Episode, tuple[PlannedNode, ...]] | None]
"""Sets a task of a system up for rollouts; None when the system has no such task any more."""

Resample = Callable[[System, Sequence[Trajectory]], Awaitable[Sequence[Trajectory]]]
"""Rolls the tasks of earlier trajectories out again on another version of the system, each with the same settings."""

Told = Callable[[str, int, int], None]
"""Progress: stage, finished pieces, all pieces."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a round leaves.

    Attributes:
        system: the next version.
        trajectories: rollouts on it: unchanged tasks keep theirs, changed ones have fresh ones.
        fresh: the fresh ones alone.
        report: what was found and done.
    """

    system: System
    trajectories: tuple[Trajectory, ...]
    fresh: tuple[Trajectory, ...]
    report: EvolutionReport


def silent(stage: str, done: int, total: int) -> None:
    """Show nothing."""
    del stage, done, total


async def attribute_all(
    host: ToolHost,
    system: System,
    trajectories: Sequence[Trajectory],
    stage: Staging,
    probe: EnvironmentProbe,
    told: Told = silent,
) -> list[Attribution]:
    """Attribute every failed turn of stored rollouts, each turn of a rollout by its first failed attempt."""
    accepted: dict[str, set[str]] = {}
    for trajectory in trajectories:
        accepted.setdefault(trajectory.task, set()).update(segment.node for segment in trajectory.segments)
    found: list[Attribution] = []
    for number, trajectory in enumerate(trajectories, 1):
        staged = stage(system, trajectory.task) if trajectory.rejected else None
        if staged is not None:
            episode, plan = staged
            known = frozenset(accepted[trajectory.task])
            for failure in failures_in(episode, plan, trajectory, known):
                found.append(await attribute(host, failure, probe))  # noqa: PERF401 - each is awaited in turn
        told("attribution", number, len(trajectories))
    return found


async def evolve_round(
    system: System,
    trajectories: Sequence[Trajectory],
    shop: Workshop,
    stage: Staging,
    resample: Resample,
    *,
    known: Sequence[Attribution] = (),
    told: Told = silent,
) -> Round:
    """Run one round.

    Args:
        system: the version that the rollouts were made on.
        trajectories: its rollouts.
        shop: who revises, and with which seed and options.
        stage: sets tasks up.
        resample: rolls changed tasks out again.
        known: attributions that were made elsewhere, e.g. when the system was read.
        told: called with progress.
    """
    probe = EnvironmentProbe()
    failed = await attribute_all(shop.host, system, trajectories, stage, probe, told)
    audited = [item for item in audit(system, probe) if not _covered(item, [*known, *failed])]
    attributions = [*known, *failed, *audited]
    selected, deferred = route(attributions, system.needs())
    after, revisions = await revise_all(system, selected, shop, told)
    changed = set(after.changed(system))
    again = [item for item in trajectories if item.task in changed]
    fresh = tuple(await resample(after, again))
    left = [item for item in trajectories if item.task not in changed and _there(item, system, after)]
    unresolved = await attribute_all(shop.host, after, fresh, stage, EnvironmentProbe())
    report = EvolutionReport(
        seed=shop.seed,
        counts=component_counts(attributions),
        attributions=tuple(attributions),
        selected=selected,
        deferred=deferred,
        revisions=tuple(revisions),
        before=rollout_counts(trajectories),
        after=rollout_counts([*left, *fresh]),
        fresh=rollout_counts(fresh),
        unresolved=component_counts(unresolved),
    )
    return Round(after, tuple(_in_order(trajectories, left, fresh)), fresh, report)


async def revise_all(
    system: System, selected: Sequence[Selected], shop: Workshop, told: Told = silent
) -> tuple[System, list[Revision]]:
    """Revise the selected components and revalidate what rests on them: environments, atomic tasks, composed tasks."""
    before = system
    chosen = frozenset(item.subject for item in selected if item.component is not Component.ENVIRONMENT)
    made: list[Revision] = []
    done = 0

    async def apply(items: Iterable[Selected]) -> None:
        nonlocal system, done
        for item in items:
            system, record = await revise(system, item, shop)
            made.append(record)
            done += 1
            told("revision", done, len(selected))

    await apply(item for item in selected if item.component is Component.ENVIRONMENT)
    system, records = await revalidate_atomic(system, shop, chosen)
    made += records
    await apply(item for item in selected if item.subject in before.atomic and item.subject in chosen)
    system, records = await revalidate_composed(system, before, shop, chosen)
    made += records
    rest = [item for item in selected if item.subject in chosen and item.subject not in before.atomic]
    await apply(rest)
    # Mending a composed task may have changed an atomic task that others use.
    system, records = await revalidate_composed(system, before, shop, chosen | {item.subject for item in made})
    return system, [*made, *records]


def component_counts(attributions: Iterable[Attribution]) -> dict[str, int]:
    """Return how many attributions went to each component."""
    counts = Counter(item.component.value for item in attributions)
    return dict(sorted(counts.items()))


def rollout_counts(trajectories: Sequence[Trajectory]) -> RolloutCounts:
    """Return how rollouts went, and the tool errors of their accepted segments."""
    return RolloutCounts(
        rollouts=len(trajectories),
        accepted=sum(item.passed is True for item in trajectories),
        attempts=sum(len(item.segments) + len(item.rejected) for item in trajectories),
        tool_errors=tool_errors(segment for item in trajectories for segment in item.segments),
    )


def tool_errors(segments: Iterable[Segment]) -> ToolErrors:
    """Return the share of tool calls in accepted segments that returned errors, recovered ones included.

    A call that the harness answered itself, because its arguments were no JSON or its tool is not there, counts too.
    """
    calls = good = 0
    for segment in segments:
        calls += sum(len(message.tool_calls) for message in segment.messages)
        good += sum(entry.outcome is Outcome.OK for entry in segment.ledger)
    errors = max(0, calls - good)
    return ToolErrors(calls=calls, errors=errors, rate=round(errors / calls, 6) if calls else 0.0)


def _covered(item: Attribution, others: Sequence[Attribution]) -> bool:
    """Return whether a failure has shown already what the audit found."""
    return any(
        (other.component, other.subject) == (item.component, item.subject)
        and (not item.node or other.node == item.node)
        and set(item.evidence) <= set(other.evidence)
        for other in others
    )


def _there(trajectory: Trajectory, before: System, after: System) -> bool:
    """Return whether a rollout's task is still part of the system, or never was and is none of its concern."""
    return after.kind_of(trajectory.task) is not None or before.kind_of(trajectory.task) is None


def _in_order(
    before: Sequence[Trajectory], left: Sequence[Trajectory], fresh: Sequence[Trajectory]
) -> list[Trajectory]:
    """Return the rollouts of a round in the order of the earlier ones, fresh ones in the places of theirs."""
    kept = {(item.task, item.view, item.disclosure, item.seed): item for item in (*left, *fresh)}
    places = [(item.task, item.view, item.disclosure, item.seed) for item in before]
    return [kept[place] for place in dict.fromkeys(places) if place in kept]
