"""The pieces of the main job as functions that run on worker processes: JSON in, JSON out."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from weft.agents.rules.tasks.author import RulesTaskAuthor
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
    folder = RunFolder(Path(payload["out"]))
    task, solution, state = folder.read_composed(payload["task"])
    environments = {pin.name: folder.read_environment(pin.name) for pin in task.environments}
    staged = stage_composed(task, solution, environments, state.states)
    return asyncio.run(_sample(staged, payload))


async def _sample(staged: Staged, payload: Mapping[str, JSON]) -> SampledRollout:
    host = LocalHost()
    trajectory = await sample(
        host,
        ReactHarness(),
        staged.episode,
        scripted(staged.plan, noise=payload["noise"]),
        view=payload["view"],
        disclosure=payload["disclosure"],
        sampling=Sampling(retries=payload["retries"]),
        seed=payload["seed"],
    )
    probe = EnvironmentProbe()
    attributions = [await attribute(host, failure, probe) for failure in failures_of(staged, trajectory)]
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
