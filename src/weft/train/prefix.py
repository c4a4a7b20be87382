"""Prefix-preserving rejection sampling (Weft 3.3.1).

Atomic-task turns are the rejection units. Each is checked by its verifier. A passing turn's messages and state are
kept for
what follows; a failing attempt is discarded, history and state go back to before the turn, and only that task is
resampled,
with up to ``retries`` additional attempts. Once all turns pass, the retained segments form a complete trajectory for
SFT.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.errors import HostError, InputError
from weft.ports import ToolHost
from weft.records.trace import Segment, Trajectory
from weft.rollouts.harness import Harness
from weft.rollouts.limits import Limits
from weft.rollouts.runner import Episode, PolicyFactory, Stage, set_up, trajectory_of
from weft.rollouts.segment import Attempt, attempt, derive_seed
from weft.rollouts.views import Disclosure, View

PHYSICAL_RETRIES = 3
"""Attempts that the host or the model endpoint may lose. They do not count against ``retries``."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Options of the sampler.

    Attributes:
        retries: k, additional attempts per turn; the paper uses 3 (four attempts in all).
        limits: budgets of a segment.
    """

    retries: int = 3
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise InputError(f"retries is {self.retries}; give 0 or more additional attempts")


async def sample(
    host: ToolHost,
    harness: Harness,
    episode: Episode,
    policy: PolicyFactory,
    *,
    view: View,
    disclosure: Disclosure = "full",
    sampling: Sampling | None = None,
    seed: int,
) -> Trajectory:
    """Sample one trajectory with prefix-preserving rejection.

    Returns:
        The accepted segments, in order up to the first turn that exhausted its attempts, and every rejected attempt.
        ``passed`` is True only if every turn was accepted; None if the host or a verifier failed for good.
    """
    options = sampling or Sampling()
    stage = await set_up(host, harness, episode, policy, view=view, disclosure=disclosure, seed=seed)
    accepted: list[Segment] = []
    rejected: list[Segment] = []
    try:
        passed = await _turns(stage, harness, episode, options, seed, accepted, rejected)
        return trajectory_of(
            episode,
            stage,
            harness,
            accepted,
            rejected,
            view=view,
            disclosure=disclosure,
            seed=seed,
            passed=passed,
        )
    finally:
        await stage.group.close()


async def _turns(
    stage: Stage,
    harness: Harness,
    episode: Episode,
    options: Sampling,
    seed: int,
    accepted: list[Segment],
    rejected: list[Segment],
) -> bool | None:
    """Fill ``accepted`` and ``rejected``; return True, False, or None when the host failed for good."""
    slots: dict[str, Mapping[str, Any]] = {}
    history = list(stage.history)
    for index in range(len(stage.turns)):
        try:
            kept, lost = await _turn(stage, harness, episode, options, index, history, slots, seed)
        except HostError:
            return None
        rejected.extend(lost)
        if kept is None:
            return None if lost and lost[-1].passed is None else False
        accepted.append(kept.segment)
        history.extend(kept.segment.messages)
        slots[stage.turns[index].nodes[0]] = kept.slots
    return True


async def _turn(
    stage: Stage,
    harness: Harness,
    episode: Episode,
    options: Sampling,
    index: int,
    history: list[Any],
    slots: Mapping[str, Mapping[str, Any]],
    seed: int,
) -> tuple[Attempt | None, list[Segment]]:
    """Return the accepted attempt at a turn (None when all failed) and the rejected ones.

    Raises:
        HostError: the state before the turn could not be kept or brought back.
    """
    before = await stage.group.snapshot()
    lost: list[Segment] = []
    counted = physical = 0
    while counted <= options.retries and physical <= PHYSICAL_RETRIES:
        number = counted + physical
        tried = await attempt(
            harness, stage.policy, stage.group, episode.judge, history, stage.turns[index], stage.requests[index],
            slots=slots, limits=options.limits, seed=derive_seed(seed, "turn", index, number), number=number,
        )  # fmt: skip
        if tried.segment.passed:
            return tried, lost
        lost.append(tried.segment)
        if tried.segment.passed is None:
            physical += 1
        else:
            counted += 1
        await stage.group.restore(before)
    return None, lost
