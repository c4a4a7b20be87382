"""Planted faults: what a certificate sees is attributed rightly, and a policy is blamed for its own alone."""

import asyncio

import pytest

from weft.evolve.experiment import Mode, Scene, Trial, try_planted, try_policy
from weft.evolve.planting import IN_ENVIRONMENT, IN_TASK, IN_VERIFIER, Planted
from weft.evolve.probes import EnvironmentProbe
from weft.hosts.local import LocalHost
from weft.records.revision import Component

SEED = 7


def tried(scenes: list[Scene], kinds: tuple[Planted, ...], modes: tuple[Mode, ...]) -> list[Trial]:
    async def run() -> list[Trial]:
        host, probe = LocalHost(), EnvironmentProbe()
        ways = [(scene, kind, mode) for scene in scenes for kind in kinds for mode in modes]
        found = [await try_planted(host, scene, kind, mode, probe, seed=SEED) for scene, kind, mode in ways]
        return [trial for trial in found if trial is not None]

    return asyncio.run(run())


def wrong(trials: list[Trial]) -> list[str]:
    return [
        f"{trial.mode.value} {trial.kind} in {trial.task}: {trial.attribution.component.value}"
        for trial in trials
        if trial.attribution is not None and not trial.right
    ]


def shown(trials: list[Trial]) -> set[str]:
    return {trial.kind for trial in trials if trial.attribution is not None}


def test_faults_of_an_environment_that_a_certificate_sees_are_attributed_to_it(few: list[Scene]) -> None:
    trials = tried(few, IN_ENVIRONMENT, (Mode.STALE, Mode.RESTAMPED))
    seen = [trial for trial in trials if trial.seen]
    assert wrong(seen) == []
    assert shown(seen) >= {Planted.DROPPED_COLUMN, Planted.IGNORED_FILTER, Planted.RAISED_FAULT, Planted.WRONG_FIELD}


def test_faults_of_states_and_references_are_attributed_to_the_task(few: list[Scene]) -> None:
    trials = tried(few, IN_TASK, (Mode.STALE, Mode.RESTAMPED))
    assert wrong(trials) == []
    assert shown(trials) >= {Planted.ROW_DELETED, Planted.MISSING_ROW}


def test_faults_of_verifiers_are_attributed_to_them_even_when_they_only_let_everything_pass(
    few: list[Scene],
) -> None:
    trials = tried(few, IN_VERIFIER, (Mode.STALE, Mode.RESTAMPED))
    assert wrong(trials) == []
    assert shown(trials) == {kind.value for kind in IN_VERIFIER}
    assert all(trial.attribution is not None for trial in trials if trial.kind == Planted.ACCEPTS_ANYTHING.value)


def test_what_a_policy_does_wrong_is_never_put_down_to_a_component(scenes: list[Scene]) -> None:
    async def run() -> list[Trial]:
        host, probe = LocalHost(), EnvironmentProbe()
        found = [await try_policy(host, scene, probe, seed=SEED + more) for scene in scenes for more in range(3)]
        return [trial for trial in found if trial is not None]

    trials = asyncio.run(run())
    assert wrong(trials) == []
    assert len({trial.kind for trial in trials}) >= 4, "most kinds of policy faults have made something fail"
    assert {trial.truth for trial in trials} == {Component.POLICY}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_on_every_task_all_faults_that_a_certificate_sees_are_attributed_rightly(scenes: list[Scene]) -> None:
    trials = tried(scenes, tuple(Planted), (Mode.STALE, Mode.RESTAMPED))
    assert wrong([trial for trial in trials if trial.seen]) == []
    assert shown(trials) == {kind.value for kind in Planted}, "every kind of fault has shown somewhere"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_fault_that_construction_certified_shows_on_tasks_that_were_certified_before(scenes: list[Scene]) -> None:
    trials = tried(scenes, IN_ENVIRONMENT, (Mode.RECERTIFIED,))
    assert all(not trial.seen for trial in trials)
    assert wrong(trials) == []
