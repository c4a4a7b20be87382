"""Attribution of failures on composed tasks, and of what was lost or broken on the way."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from weft.evolve.attribute import attribute
from weft.evolve.failure import Failure, failure_at, failures_in
from weft.evolve.system import System
from weft.hosts.local import LocalHost
from weft.records.revision import Attribution, Component
from weft.records.trace import Outcome, StopReason, Trajectory
from weft.records.verdict import Verifier
from weft.wiring.evolving import stage

Roll = Callable[..., Awaitable[Trajectory]]
TASK = "task-1"


def blamed(failure: Failure) -> Attribution:
    return asyncio.run(attribute(LocalHost(), failure))


def probes(found: Attribution) -> list[str]:
    return [item.probe for item in found.evidence]


def failed(system: System, trajectory: Trajectory) -> list[Failure]:
    staged = stage(system, trajectory.task)
    assert staged is not None
    return failures_in(staged.episode, staged.plan, trajectory)


@pytest.fixture
def passing(system: System, roll: Roll) -> tuple[Failure, Trajectory]:
    """The first turn of a passing rollout, as if it had failed."""
    trajectory = asyncio.run(roll(system, TASK))
    staged = stage(system, TASK)
    assert staged is not None
    assert trajectory.passed
    segment = trajectory.segments[0].model_copy(update={"passed": False, "checks": {"answer": False}})
    failure = failure_at(staged.episode, staged.plan, trajectory, segment, segment.node, frozenset())
    return failure, trajectory


@pytest.mark.parametrize("view", ["simuser", "agentic"])
def test_a_noisy_policy_is_blamed_at_the_turn_or_checkpoint_that_it_failed_first(
    system: System, roll: Roll, view: str
) -> None:
    trajectory = asyncio.run(roll(system, TASK, view=view, noise=1.0))
    (failure, *_) = failed(system, trajectory)
    found = blamed(failure)
    assert found.component is Component.POLICY
    assert probes(found) == ["reference_replay", "failed_checks"]
    checks = trajectory.rejected[0].checks
    if view == "agentic" and any(name.startswith("checkpoint") and not passed for name, passed in checks.items()):
        first = next(node.id for node in failure.nodes if checks.get(f"checkpoint {node.id}") is False)
        assert found.node == first


def test_an_attempt_that_did_all_that_the_reference_does_was_rejected_by_a_wrong_verifier(
    passing: tuple[Failure, Trajectory],
) -> None:
    found = blamed(passing[0])
    assert found.component is Component.VERIFIER
    assert "same_outcome" in probes(found)


def test_what_the_host_lost_is_nobodys_fault(passing: tuple[Failure, Trajectory]) -> None:
    failure = passing[0]
    entry = failure.segment.ledger[0].model_copy(update={"outcome": Outcome.INFRASTRUCTURE})
    for lost in (
        failure.segment.model_copy(update={"ledger": (entry,), "passed": None, "cause": "infrastructure"}),
        failure.segment.model_copy(update={"stop": StopReason.INFRASTRUCTURE, "passed": None}),
        failure.segment.model_copy(update={"stop": StopReason.MODEL_ERROR, "passed": None}),
    ):
        found = blamed(replace(failure, segment=lost))
        assert found.component is Component.INFRASTRUCTURE


def test_a_fault_in_the_ledger_is_its_environments_and_the_evidence_says_whether_it_comes_again(
    passing: tuple[Failure, Trajectory],
) -> None:
    failure = passing[0]
    entry = failure.segment.ledger[0].model_copy(
        update={"outcome": Outcome.FAULT, "result": {"error": {"code": "fault"}}}
    )
    segment = failure.segment.model_copy(update={"ledger": (entry, *failure.segment.ledger[1:])})
    found = blamed(replace(failure, segment=segment))
    assert (found.component, found.subject) == (Component.ENVIRONMENT, entry.server)
    assert "does not fault again" in found.evidence[-1].finding
    assert found.evidence[0].tool == entry.tool


def test_an_attempt_that_could_not_be_judged_is_never_the_policys(passing: tuple[Failure, Trajectory]) -> None:
    failure = passing[0]
    segment = failure.segment.model_copy(
        update={"passed": None, "cause": "verifier: a slot has no value", "checks": {}}
    )
    assert blamed(replace(failure, segment=segment)).component is Component.VERIFIER


def test_a_wrong_verifier_of_the_whole_is_found_by_the_reference_although_every_node_passes(
    system: System, roll: Roll
) -> None:
    item = system.composed[TASK]
    strict = Verifier(frame=item.solution.verifier.frame, answer=item.solution.verifier.answer)
    broken = item.model_copy(update={"solution": item.solution.model_copy(update={"verifier": strict})})
    changed = system.with_composed(TASK, broken)
    trajectory = asyncio.run(roll(changed, TASK, view="agentic"))
    assert trajectory.passed is False
    found = blamed(failed(changed, trajectory)[0])
    assert (found.component, found.node) == (Component.VERIFIER, "")


def test_a_reference_that_is_rejected_where_another_attempt_was_accepted_is_the_tasks(
    system: System, passing: tuple[Failure, Trajectory]
) -> None:
    failure, trajectory = passing
    staged = stage(system, TASK)
    assert staged is not None
    node = next(node for node in staged.plan if node.solution.verifier.changes)
    part = node.solution.model_copy(update={"reply_text": "Nothing.", "reply": (), "reference": ()})
    idle = type(node)(node.id, part, node.inputs, node.bound)
    plan = tuple(idle if one.id == node.id else one for one in staged.plan)
    segment = failure.segment.model_copy(update={"node": node.id, "checks": {"x": False}})
    wrong = failure_at(staged.episode, plan, trajectory, segment, node.id, frozenset({node.id}))
    found = blamed(wrong)
    assert found.component is Component.TASK
    assert "accepted_attempt" in probes(found)


def test_a_row_that_is_not_there_any_more_is_the_tasks_and_the_evidence_names_the_state(
    system: System, passing: tuple[Failure, Trajectory]
) -> None:
    failure, trajectory = passing
    staged = stage(system, TASK)
    assert staged is not None
    node = next(node for node in staged.plan if any(change.op != "insert" for change in node.solution.verifier.changes))
    segment = failure.segment.model_copy(update={"node": node.id, "passed": False, "checks": {"x": False}})
    wrong = failure_at(staged.episode, staged.plan, trajectory, segment, node.id, frozenset())
    server = node.solution.reference[0].server
    empty = failure.states[server].model_copy(update={"rows": {}})
    found = blamed(replace(wrong, states={**failure.states, server: empty}))
    assert found.component is Component.TASK
    assert "state_hash" in probes(found)
