"""Group-relative advantages (Weft 3.3.2, and C.1 for the trajectory-level baseline). Pure.

Groups that cannot teach are told apart from groups that can: one with an unknown reward is incomplete, one whose
rewards are all the same is constant. Both are discarded whole, their KL term included, and counted by the caller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weft.errors import TrainingError
from weft.records.batch import TurnGroup

EPSILON = 1e-6
"""Added to the deviation, in units of the reward."""

CONSTANT = 1e-9
"""Rewards closer together than this, relative to their size, are the same: noise is not blown up by a tiny
deviation."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """How the difference to the group's mean is scaled.

    Attributes:
        ddof: 1 divides by the sample deviation, 0 by the population's, None by nothing (mean only).
        epsilon: added to the deviation.
    """

    ddof: Literal[0, 1] | None = 1
    epsilon: float = EPSILON

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not math.isfinite(self.epsilon):
            raise TrainingError(f"epsilon of the advantage is {self.epsilon}; give a finite number of at least 0")


@dataclass(frozen=True, slots=True)
class Advantages:
    """The advantages of a group, or why it has none.

    Attributes:
        values: one per candidate; empty when discarded.
        discarded: ``incomplete``, ``constant``, or empty.
    """

    values: tuple[float, ...] = ()
    discarded: Literal["", "incomplete", "constant"] = ""


def group_advantages(
    rewards_G: Sequence[float | None], scaling: Scaling | None = None, *, group: str = ""
) -> Advantages:
    """Return A^(i) = (r^(i) - mean) / (deviation + epsilon) over a group (Weft 3.3.2).

    Args:
        rewards_G: reward per candidate; None where it is unknown.
        scaling: of the differences; the sample deviation by default.
        group: name for errors.

    Raises:
        TrainingError: fewer than two candidates (a lone reward has nothing to be compared with), or a reward that is
            NaN or
            infinite: an unknown reward is None, so such a number is a fault of whoever scored it.
    """
    scaling = scaling or Scaling()
    name = f"group {group!r}: " if group else ""
    if len(rewards_G) < 2:
        raise TrainingError(f"{name}{len(rewards_G)} candidate(s); compare at least 2, raise the group size")
    for index, reward in enumerate(rewards_G):
        if reward is not None and not math.isfinite(reward):
            raise TrainingError(f"{name}reward {index} is {reward}; give a finite number, or None when it is unknown")
    known = [float(reward) for reward in rewards_G if reward is not None]
    if len(known) < len(rewards_G):
        return Advantages(discarded="incomplete")
    rewards = np.asarray(known, dtype=np.float64)
    if np.ptp(rewards) <= CONSTANT * max(1.0, float(np.abs(rewards).max())):
        return Advantages(discarded="constant")
    centred = rewards - rewards.mean()
    if scaling.ddof is not None:
        centred = centred / (rewards.std(ddof=scaling.ddof) + scaling.epsilon)
    return Advantages(values=tuple(float(value) for value in centred))


def trajectory_advantages(
    outcomes_GT: Sequence[Sequence[float | None]], scaling: Scaling | None = None, *, group: str = ""
) -> Advantages:
    """Return one advantage per trajectory from its mean checkpoint reward: the trajectory-level baseline (Weft C.1).

    The same advantage is meant for every turn of its trajectory. This is not Weft's method; it is here to compare with.

    Args:
        outcomes_GT: binary outcome of each checkpoint of each trajectory; a trajectory with an unknown one is unknown.
        scaling: of the differences.
        group: name for errors.

    Raises:
        TrainingError: see :func:`group_advantages`; also for a trajectory without checkpoints.
    """
    return group_advantages([mean_outcome(outcomes) for outcomes in outcomes_GT], scaling, group=group)


def mean_outcome(outcomes_T: Sequence[float | None]) -> float | None:
    """Return the mean of a trajectory's checkpoint outcomes (Weft C.2), None when one is unknown.

    Raises:
        TrainingError: there are none.
    """
    if not outcomes_T:
        raise TrainingError("a trajectory without checkpoints has no reward; drop it before scoring")
    known = [outcome for outcome in outcomes_T if outcome is not None]
    return sum(known) / len(known) if len(known) == len(outcomes_T) else None


def leaf_outcomes(groups: Sequence[TurnGroup]) -> list[tuple[float | None, ...]]:
    """Return the checkpoint outcomes of every root-to-leaf trajectory of one sampling tree (Weft C.2).

    Each leaf is a candidate of the last turn; its ancestors are the chosen candidates of the turns before. For
    reporting
    only: training compares candidates of one turn.

    Args:
        groups: the turn groups of one task, in turn order.

    Raises:
        TrainingError: a turn before the last chose no candidate.
    """
    if not groups:
        return []
    for group in groups[:-1]:
        if group.chosen < 0:
            raise TrainingError(f"group {group.id!r} chose no candidate but is followed by another turn")
    path = tuple(group.rewards[group.chosen] for group in groups[:-1])
    return [(*path, reward) for reward in groups[-1].rewards]
