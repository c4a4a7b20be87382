"""One round over a small real system: what is broken is mended, what rests on it proven again, the rest untouched."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from weft.evolve.planting import Planted, plant_in_environment
from weft.evolve.revise import Workshop
from weft.evolve.rounds import Resample, Round, evolve_round
from weft.evolve.system import System
from weft.records.revision import Component
from weft.records.trace import Trajectory
from weft.records.verdict import Verifier
from weft.wiring.evolving import staging

Roll = Callable[..., Awaitable[Trajectory]]
TASK = "task-1"


def one_round(system: System, trajectories: list[Trajectory], shop: Workshop, again: Resample) -> Round:
    return asyncio.run(evolve_round(system, trajectories, shop, staging, again))


def test_failures_of_the_policy_alone_leave_everything_as_it_is(
    system: System, roll: Roll, shop: Workshop, again: Resample
) -> None:
    trajectories = [asyncio.run(roll(system, task, noise=0.9)) for task in system.composed]
    found = one_round(system, trajectories, shop, again)
    assert set(found.report.counts) == {"policy"}
    assert found.system == system
    assert found.report.selected == found.report.revisions == ()
    assert list(found.trajectories) == trajectories
    assert found.report.before == found.report.after


def test_a_broken_environment_is_made_again_and_nothing_else_changes(
    system: System, roll: Roll, shop: Workshop, again: Resample
) -> None:
    item = system.composed[TASK]
    step = item.solution.nodes[item.solution.graph.order[0]].reference[-1]
    broken = plant_in_environment(
        system.environments[step.server], step.tool, Planted.RAISED_FAULT, random.Random("plant")
    )
    assert broken is not None
    bad = system.with_environment(step.server, broken)
    trajectories = [asyncio.run(roll(bad, TASK))]
    assert trajectories[0].passed is False
    found = one_round(bad, trajectories, shop, again)
    assert found.report.counts.keys() == {"environment"}
    (made,) = found.report.revisions
    assert (made.component, made.subject, made.action, made.passed) == (
        Component.ENVIRONMENT,
        step.server,
        "rebuilt",
        True,
    )
    # What its author makes from the same spec and seed is what every task pins, so no certificate lapses.
    assert found.system == system


def test_a_broken_verifier_is_generated_again_from_the_reference_and_fresh_rollouts_pass(
    system: System, roll: Roll, shop: Workshop, again: Resample
) -> None:
    item = system.composed[TASK]
    node = next(name for name in item.solution.graph.order if item.solution.nodes[name].verifier.changes)
    private = item.solution.nodes[node]
    strict = Verifier(frame=private.verifier.frame, answer=private.verifier.answer)
    nodes = {**item.solution.nodes, node: private.model_copy(update={"verifier": strict})}
    bad = system.with_composed(
        TASK, item.model_copy(update={"solution": item.solution.model_copy(update={"nodes": nodes})})
    )
    trajectories = [
        asyncio.run(roll(bad, TASK)),
        *(asyncio.run(roll(bad, task)) for task in system.composed if task != TASK),
    ]
    found = one_round(bad, trajectories, shop, again)
    assert [(one.component, one.subject) for one in found.report.selected] == [(Component.VERIFIER, TASK)]
    (made,) = found.report.revisions
    assert (made.subject, made.action, made.passed) == (TASK, "rebuilt", True)
    mended = found.system.composed[TASK]
    assert mended.task == item.task
    assert mended.state == item.state
    assert mended.solution.nodes[node].reference == private.reference
    assert mended.solution.nodes[node].certificate is not None
    assert {name: entry for name, entry in found.system.composed.items() if name != TASK} == {
        name: entry for name, entry in system.composed.items() if name != TASK
    }
    assert found.system.atomic == system.atomic
    assert [item.task for item in found.fresh] == [TASK]
    assert found.fresh[0].passed
    assert found.report.unresolved == {}
    assert found.report.after.accepted == found.report.before.accepted + 1


def test_a_state_that_lost_a_row_is_instantiated_again(
    system: System, roll: Roll, shop: Workshop, again: Resample
) -> None:
    item = system.composed[TASK]
    server = item.solution.graph.nodes[0].server
    states = item.state.states
    emptied = states[server].model_copy(update={"rows": {}})
    bad = system.with_composed(
        TASK, item.model_copy(update={"state": item.state.model_copy(update={"states": {**states, server: emptied}})})
    )
    trajectories = [asyncio.run(roll(bad, TASK))]
    found = one_round(bad, trajectories, shop, again)
    assert found.report.counts.get("task", 0) >= 1
    assert found.report.selected[0].component is Component.TASK
    # The same seed grounds the same state, and everything that is proven on it is the same again.
    assert found.system == system


def test_an_environment_that_cannot_be_made_again_takes_its_tasks_with_it(
    system: System, roll: Roll, shop: Workshop, again: Resample
) -> None:
    name, environment = next(iter(system.environments.items()))
    nothing = environment.model_copy(
        update={
            "spec": environment.spec.model_copy(update={"tools": ()}),
            "contracts": environment.contracts.model_copy(update={"contracts": ()}),
        }
    )
    bad = system.with_environment(name, nothing)
    using = [task for task, item in system.composed.items() if name in [pin.name for pin in item.task.environments]]
    trajectories = [asyncio.run(roll(system, task, noise=0.9)) for task in using]
    found = one_round(bad, trajectories, shop, again)
    assert name not in found.system.environments
    assert all(entry.task.server != name for entry in found.system.atomic.values())
    assert not set(using) & set(found.system.composed)
    retired = {one.subject: one for one in found.report.revisions if one.action == "retired"}
    assert {name, *using} <= set(retired)
    assert all(one.after == "" and one.reason for one in retired.values())
    assert retired[using[0]].cause == "dependent"
    assert [item.task for item in found.trajectories] == []
