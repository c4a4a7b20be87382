"""Sampling tree of one task: G candidate segments per atomic-task turn from identical states (Weft 3.3.2).

At every turn the sessions are snapshotted and forked G times, so that each candidate starts from the same history in
its own identical state. All candidates are judged and all of them contribute to training; one of those that pass, drawn
uniformly (or one of those that fail if all fail), supplies history and state for the next turn.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from weft.errors import HostError, InputError
from weft.ports import SessionGroup, ToolHost
from weft.records.batch import TurnGroup
from weft.records.trace import Message, Segment, StopReason
from weft.rollouts.harness import Harness
from weft.rollouts.limits import Limits
from weft.rollouts.runner import Episode, PolicyFactory, Stage, set_up
from weft.rollouts.segment import Attempt, attempt, derive_seed
from weft.rollouts.views import Disclosure, View
from weft.train.credit import segment_flags


@dataclass(frozen=True, slots=True)
class Branching:
    """Options of the sampling tree.

    Attributes:
        candidates: G, segments per turn.
        limits: budgets of a segment.
        physical: further tries of a candidate lost to the host or the model endpoint; never of one that merely failed.
        concurrency: candidates that run at the same time.
    """

    candidates: int = 8
    limits: Limits = field(default_factory=Limits)
    physical: int = 3
    concurrency: int = 1

    def __post_init__(self) -> None:
        for name, least in (("candidates", 2), ("physical", 0), ("concurrency", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; give at least {least}")


@dataclass(slots=True)
class Candidate:
    """A candidate with the sessions that it ended in; ``group`` is None when they could not be had."""

    tried: Attempt
    group: SessionGroup | None


def choose(rewards: Sequence[float | None], seed: int) -> int:
    """Return who supplies the next turn: drawn uniformly from those that passed, else from the failed, else -1."""
    passing = [index for index, reward in enumerate(rewards) if reward is not None and reward > 0]
    failing = [index for index, reward in enumerate(rewards) if reward is not None and reward <= 0]
    pool = passing or failing
    return random.Random(seed).choice(pool) if pool else -1


def reward_of(segment: Segment) -> float | None:
    """Return r: 1 on completion, 0 otherwise, None when the verdict is unknown."""
    return None if segment.passed is None else float(segment.passed)


async def branch(
    host: ToolHost,
    harness: Harness,
    episode: Episode,
    policy: PolicyFactory,
    *,
    view: View = "simuser",
    disclosure: Disclosure = "full",
    branching: Branching | None = None,
    seed: int,
) -> list[TurnGroup]:
    """Sample the tree of one task and return its turn groups in turn order.

    The tree ends early after a turn whose rewards are all unknown, since nothing then supplies the next one.

    Raises:
        HostError: sessions could not be opened, snapshotted or forked.
    """
    options = branching or Branching()
    stage = await set_up(host, harness, episode, policy, view=view, disclosure=disclosure, seed=seed)
    tree = _Tree(stage, harness, episode, options, seed)
    try:
        for index in range(len(stage.turns)):
            if not await tree.grow(index):
                break
        return tree.groups
    finally:
        await tree.stem.close()


class _Tree:
    """One task's tree while it grows: the state and history that the next turn starts from, and the groups so far."""

    def __init__(self, stage: Stage, harness: Harness, episode: Episode, options: Branching, seed: int) -> None:
        self.stem = stage.group
        self.groups: list[TurnGroup] = []
        self._stage = stage
        self._harness = harness
        self._episode = episode
        self._options = options
        self._seed = seed
        self._history: list[Message] = list(stage.history)
        self._slots: dict[str, Mapping[str, Any]] = {}

    async def grow(self, index: int) -> bool:
        """Sample one turn's candidates; True if one of them supplies the next turn."""
        turn = self._stage.turns[index]
        candidates = await self._candidates(index)
        rewards = tuple(reward_of(candidate.tried.segment) for candidate in candidates)
        chosen = choose(rewards, derive_seed(self._seed, "choice", index))
        # Sessions of the chosen candidate go on; everyone else's state is dropped, the stem's included.
        kept = candidates[chosen].group if chosen >= 0 else None
        for group in [candidate.group for candidate in candidates]:
            if group is not None and group is not kept:
                await group.close()
        self.groups.append(
            TurnGroup(
                id=f"{self._episode.task.id}/{index}",
                task=self._episode.task.id,
                node=turn.nodes[0] if len(turn.nodes) == 1 else "",
                rewards=rewards,
                chosen=chosen,
                segments=tuple(candidate.tried.segment for candidate in candidates),
            )
        )
        if kept is None:
            return False
        await self.stem.close()
        self.stem = kept
        tried = candidates[chosen].tried
        self._history.extend(tried.segment.messages)
        if tried.segment.passed:
            self._slots[turn.nodes[0]] = tried.slots
        return True

    async def _candidates(self, index: int) -> list[Candidate]:
        snapshot = await self.stem.snapshot()
        forks = await self.stem.fork(snapshot, self._options.candidates)
        found: list[Candidate | None] = [None] * len(forks)
        gate = anyio.Semaphore(self._options.concurrency)

        async def run(number: int, fork: SessionGroup) -> None:
            async with gate:
                found[number] = await self._candidate(index, number, snapshot, fork)

        async with anyio.create_task_group() as tasks:
            for number, fork in enumerate(forks):
                tasks.start_soon(run, number, fork)
        return [candidate for candidate in found if candidate is not None]

    async def _candidate(self, index: int, number: int, snapshot: str, fork: SessionGroup) -> Candidate:
        """Run one candidate; only a loss to the infrastructure is tried again, from a fresh fork."""
        group: SessionGroup | None = fork
        tried = _lost(self._stage.requests[index])
        for physical in range(self._options.physical + 1):
            if group is None:
                break
            try:
                tried = await self._attempt(
                    index, number, group, derive_seed(self._seed, "branch", index, number, physical)
                )
            except HostError:
                tried = _lost(self._stage.requests[index])
            if tried.segment.passed is not None or physical == self._options.physical or not _physical(tried.segment):
                break
            await group.close()
            group = await self._again(snapshot)
        flags = segment_flags(tried.segment)
        return Candidate(Attempt(tried.segment.model_copy(update={"flags": flags}), tried.slots), group)

    async def _attempt(self, index: int, number: int, group: SessionGroup, seed: int) -> Attempt:
        return await attempt(
            self._harness,
            self._stage.policy,
            group,
            self._episode.judge,
            self._history,
            self._stage.turns[index],
            self._stage.requests[index],
            slots=self._slots,
            limits=self._options.limits,
            seed=seed,
            number=number,
        )

    async def _again(self, snapshot: str) -> SessionGroup | None:
        try:
            return (await self.stem.fork(snapshot, 1))[0]
        except HostError:
            return None


def _physical(segment: Segment) -> bool:
    """True if the candidate was lost to the host or the model endpoint; a verifier's error would only come again."""
    return segment.stop in (StopReason.INFRASTRUCTURE, StopReason.MODEL_ERROR) or segment.cause == "infrastructure"


def _lost(request: str) -> Attempt:
    message = Message(role="user", content=request)
    return Attempt(Segment(messages=(message,), stop=StopReason.INFRASTRUCTURE, cause="infrastructure"), {})
