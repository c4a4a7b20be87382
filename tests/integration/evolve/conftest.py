"""A small real system: two example environments, their atomic tasks, and composed tasks over both."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from weft.agents.rules.composition.author import RulesCompositionAuthor
from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.catalog.domains import labelled
from weft.catalog.dumps import read_specs
from weft.envs.synthesis import synthesise
from weft.evolve.experiment import Scene
from weft.evolve.revise import Workshop
from weft.evolve.rounds import Resample
from weft.evolve.system import AtomicEntry, System
from weft.hosts.local import LocalHost
from weft.records.environment import Environment
from weft.records.library import AtomicLibrary
from weft.records.trace import Trajectory
from weft.rollouts.react import ReactHarness
from weft.tasks.atomic import build_atomic
from weft.tasks.compose import compose
from weft.train.prefix import Sampling, sample
from weft.wiring.episodes import scripted
from weft.wiring.evolving import stage

CATALOG = Path(__file__).resolve().parents[3] / "examples" / "catalog"
SEED = 7
LIMIT = 12


def build(name: str) -> tuple[Environment, AtomicLibrary]:
    """Build one example environment and its library, as a run does."""
    (spec,), _ = read_specs([CATALOG / f"{name}.json"])

    async def made() -> tuple[Environment, AtomicLibrary]:
        environment = (await synthesise(labelled(spec), RulesEnvironmentAuthor(), seed=SEED)).environment
        assert environment is not None
        return environment, await build_atomic(environment, RulesTaskAuthor(), LocalHost(), seed=SEED, limit=LIMIT)

    return asyncio.run(made())


@pytest.fixture(scope="session")
def built() -> dict[str, tuple[Environment, AtomicLibrary]]:
    return {name: build(name) for name in ("notebook", "calendar")}


@pytest.fixture(scope="session")
def system(built: dict[str, tuple[Environment, AtomicLibrary]]) -> System:
    environments = {name: environment for name, (environment, _) in built.items()}
    libraries = {name: library for name, (_, library) in built.items()}
    result = asyncio.run(
        compose(
            libraries, list(environments.values()), LocalHost(), RulesCompositionAuthor(), count=2, seed=SEED, quota=0
        )
    )
    assert result.compositions, result.refusals
    atomic = {
        task.id: AtomicEntry(task, solution)
        for library in libraries.values()
        for task, solution in zip(library.tasks, library.solutions, strict=True)
    }
    return System(environments, atomic, {item.task.id: item for item in result.compositions})


@pytest.fixture(scope="session")
def scenes(system: System) -> list[Scene]:
    return [
        Scene(entry, system.environments[entry.task.server], system.environments[entry.task.server].seed)
        for entry in system.atomic.values()
    ]


@pytest.fixture(scope="session")
def few(scenes: list[Scene]) -> list[Scene]:
    """One task of each kind of each environment: enough for every kind of fault to show."""
    found = {(scene.environment.name, scene.entry.task.kind): scene for scene in scenes}
    return list(found.values())


@pytest.fixture
def shop() -> Workshop:
    return Workshop(LocalHost(), RulesEnvironmentAuthor(), RulesTaskAuthor(), seed=SEED, limit=LIMIT)


Roll = Callable[..., Awaitable[Trajectory]]


@pytest.fixture
def roll() -> Roll:
    """Rolls one task of a system out as a run does, with prefix-preserving rejection."""
    return _roll


@pytest.fixture
def again() -> Resample:
    """Rolls changed tasks out again with the settings of their earlier rollouts."""
    return _again


async def _roll(system: System, task: str, *, view: str = "simuser", noise: float | None = None) -> Trajectory:
    staged = stage(system, task)
    assert staged is not None
    return await sample(
        LocalHost(),
        ReactHarness(),
        staged.episode,
        scripted(staged.plan, noise=noise),
        view=view,  # type: ignore[arg-type]
        sampling=Sampling(retries=1),
        seed=SEED,
    )


async def _again(system: System, earlier: Sequence[Trajectory]) -> list[Trajectory]:
    return [
        await _roll(system, item.task, view=item.view, noise=0.3 if item.policy == "scripted:noisy" else None)
        for item in earlier
    ]
