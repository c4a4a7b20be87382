"""Dynamic sampling (Weft B.1): discard incomplete and constant groups, replenish until the batch is full.

Physical failures and groups that cannot teach are counted apart, so that a run shows whether it lacks luck or machines.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weft.errors import HostError, InputError
from weft.records.batch import TurnGroup
from weft.rollouts.runner import Episode
from weft.train.advantage import Scaling, group_advantages

INCOMPLETE, CONSTANT, LOST = "incomplete", "constant", "lost"

Sampler = Callable[[Episode, int], Awaitable[list[TurnGroup]]]
"""Samples the tree of one task; the number counts the trees of this batch from 0, for the seed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Turn groups for one optimiser step.

    Attributes:
        kept: groups with advantages.
        sampled: every group sampled, the discarded ones too, without advantages.
        tasks: sampling trees started.
        discarded: groups by reason (``incomplete``, ``constant``), and tasks ``lost`` to the host.
        full: the wanted number of groups was reached.
    """

    kept: tuple[TurnGroup, ...]
    sampled: tuple[TurnGroup, ...]
    tasks: int
    discarded: dict[str, int] = field(default_factory=dict)
    full: bool = True

    @property
    def mean_reward(self) -> float | None:
        """Mean of the known rewards over all candidates sampled, kept or not."""
        known = [reward for group in self.sampled for reward in group.rewards if reward is not None]
        return sum(known) / len(known) if known else None


def keep(groups: Sequence[TurnGroup], scaling: Scaling | None = None) -> tuple[list[TurnGroup], Counter[str]]:
    """Return the groups that can teach, with their advantages, and how many were discarded by reason."""
    kept: list[TurnGroup] = []
    discarded: Counter[str] = Counter()
    for group in groups:
        scored = group_advantages(group.rewards, scaling, group=group.id)
        if scored.discarded:
            discarded[scored.discarded] += 1
        else:
            kept.append(group.model_copy(update={"advantages": scored.values}))
    return kept, discarded


async def fill(
    episodes: Iterable[Episode], sample: Sampler, *, wanted: int, budget: int, scaling: Scaling | None = None
) -> Batch:
    """Sample tasks until ``wanted`` groups can teach, the budget of trees is spent or the tasks run out.

    The groups of the last tree all stay, so a full batch may hold some more than wanted.

    Args:
        episodes: tasks in the order in which they are sampled.
        sample: of one task.
        wanted: groups of a full batch.
        budget: most trees to sample.
        scaling: of the advantages.
    """
    if wanted < 1 or budget < 1:
        raise InputError(f"a batch of {wanted} groups from {budget} tasks is empty; give at least 1 of each")
    kept: list[TurnGroup] = []
    sampled: list[TurnGroup] = []
    discarded: Counter[str] = Counter()
    tasks = 0
    source = iter(episodes)
    while len(kept) < wanted and tasks < budget:
        episode = next(source, None)
        if episode is None:
            break
        tasks += 1
        try:
            groups = await sample(episode, tasks - 1)
        except HostError:
            discarded[LOST] += 1
            continue
        teaching, dropped = keep(groups, scaling)
        kept += teaching
        sampled += groups
        discarded += dropped
    return Batch(tuple(kept), tuple(sampled), tasks, dict(sorted(discarded.items())), len(kept) >= wanted)
