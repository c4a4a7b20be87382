"""The pieces of the main job as functions that run on worker processes: JSON in, JSON out."""

import asyncio
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.errors import IntegrityError
from weft.evolve.attribute import attribute
from weft.evolve.failure import Failure, failures_in
from weft.evolve.probes import EnvironmentProbe
from weft.hosts.local import LocalHost
from weft.records.base import JSON
from weft.records.codec import parse_record
from weft.records.environment import Environment
from weft.records.library import AtomicLibrary
from weft.records.revision import Attribution
from weft.records.rollout import SampledRollout
from weft.records.task import EnvironmentPin
from weft.records.trace import Trajectory
from weft.rollouts.react import ReactHarness
from weft.tasks.atomic import build_atomic
from weft.train.prefix import Sampling, sample
from weft.wiring.episodes import Staged, scripted, stage_composed
from weft.wiring.layout import RunFolder


def atomic_piece(payload: JSON) -> AtomicLibrary:
    """Build the atomic-task library of one environment.

    Args:
        payload: ``{"environment", "seed", "limit"}``.
    """
    environment = parse_record(Environment, payload["environment"], "environment")
    return asyncio.run(
        build_atomic(environment, RulesTaskAuthor(), LocalHost(), seed=payload["seed"], limit=payload["limit"])
    )


def rollout_piece(payload: JSON) -> SampledRollout:
    """Sample one trajectory with prefix-preserving rejection, and attribute what failed.

    Args:
        payload: ``{"out", "task", "view", "disclosure", "seed", "retries", "noise"}``.
    """
    shelf = _shelf(payload["out"])
    task, solution, state = shelf.folder.read_composed(payload["task"])
    environments = {pin.name: shelf.environment(pin) for pin in task.environments}
    staged = stage_composed(task, solution, environments, state.states)
    return asyncio.run(_sample(staged, payload, shelf))


class Shelf:
    """What the rollouts of one run share on a worker: environments read once, backends compiled once."""

    def __init__(self, root: Path) -> None:
        self.folder = RunFolder(root)
        self.host = LocalHost()
        self.probe = EnvironmentProbe()
        self._environments: dict[tuple[str, str], Environment] = {}

    def environment(self, pin: EnvironmentPin) -> Environment:
        """Return a pinned environment.

        Raises:
            IntegrityError: the folder holds another version than the task pins.
        """
        key = (pin.name, pin.hash)
        if key not in self._environments:
            found = self.folder.read_environment(pin.name)
            if found.hash != pin.hash:
                have, want = found.hash[:12], pin.hash[:12]
                raise IntegrityError(f"environment {pin.name!r} is {have}, the task pins {want}; run `weft run` again")
            self._environments[key] = found
        return self._environments[key]


@lru_cache(maxsize=2)
def _shelf(root: str) -> Shelf:
    """Return the worker's shelf for a run; it saves reading and compiling and changes no result."""
    return Shelf(Path(root))


async def _sample(staged: Staged, payload: Mapping[str, JSON], shelf: Shelf) -> SampledRollout:
    trajectory = await sample(
        shelf.host,
        ReactHarness(),
        staged.episode,
        scripted(staged.plan, noise=payload["noise"]),
        view=payload["view"],
        disclosure=payload["disclosure"],
        sampling=Sampling(retries=payload["retries"]),
        seed=payload["seed"],
    )
    failures = failures_of(staged, trajectory)
    attributions = [await attribute(shelf.host, failure, shelf.probe) for failure in failures]
    return SampledRollout(trajectory=trajectory, attributions=tuple(attributions))


def failures_of(staged: Staged, trajectory: Trajectory) -> list[Failure]:
    """Return the failures of a trajectory: the first rejected attempt of each turn."""
    return failures_in(staged.episode, staged.plan, trajectory)


def attribution_counts(rollouts: list[SampledRollout]) -> dict[str, int]:
    """Return how many failures went to each component."""
    counts: dict[str, int] = {}
    flat: list[Attribution] = [item for rollout in rollouts for item in rollout.attributions]
    for item in flat:
        counts[item.component.value] = counts.get(item.component.value, 0) + 1
    return dict(sorted(counts.items()))
