"""Prefix-preserving rejection sampling on a real (in-memory) host: verified progress stays, failures leave no trace."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from weft.errors import InputError
from weft.ports import ToolHost
from weft.records.trace import Message, Outcome, StopReason, Trajectory
from weft.rollouts.limits import Limits
from weft.rollouts.policies.noisy import Fault, NoisyPolicy
from weft.rollouts.policies.scripted import PlannedNode, ReferencePolicy
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode, rollout
from weft.rollouts.views import Turn
from weft.testing import Fault as HostFault
from weft.testing import FaultyHost, InMemoryToolHost, ScriptedModel
from weft.train.prefix import Sampling, sample
from weft.train.sft import attempts_per_turn, example_of, rejected_of, sft_files

NAMES = {("desk", "find_customer"): "find_customer", ("desk", "create_order"): "create_order"}


class FailsOnce(ReferencePolicy):
    """Orders the wrong product in the first attempt at the second turn."""

    name = "scripted:fails-once"

    def __init__(self, turns: Sequence[Sequence[PlannedNode]]) -> None:
        super().__init__(turns, NAMES)
        self.failed = False

    async def complete(self, messages: Sequence[Message], tools: Any, *, seed: int, temperature: float = 1.0) -> Any:
        sampled = await super().complete(messages, tools, seed=seed)
        calls = sampled.message.tool_calls
        if calls and calls[0].function.name == "create_order" and not self.failed:
            self.failed = True
            arguments = {**json.loads(calls[0].function.arguments), "product": "chair"}
            wrong = calls[0].function.model_copy(update={"arguments": json.dumps(arguments)})
            call = calls[0].model_copy(update={"function": wrong})
            return type(sampled)(sampled.message.model_copy(update={"tool_calls": (call,)}))
        return sampled


def grouped(plan: Sequence[PlannedNode], turns: Sequence[Turn]) -> list[list[PlannedNode]]:
    nodes = {node.id: node for node in plan}
    return [[nodes[name] for name in turn.nodes] for turn in turns]


def run(
    host: ToolHost, episode: Episode, make: Any, *, view: Any = "simuser", retries: int = 3, seed: int = 1
) -> Trajectory:
    async def go() -> Trajectory:
        return await sample(
            host, ReactHarness(), episode, make, view=view, sampling=Sampling(retries=retries), seed=seed
        )

    return anyio.run(go)


def test_the_reference_is_accepted_in_both_views(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    for view, segments in (("simuser", 2), ("agentic", 1)):
        made = run(desk_host, episode, lambda turns, _: ReferencePolicy(grouped(plan, turns), NAMES), view=view)
        assert (made.passed, len(made.segments), made.rejected) == (True, segments, ())


def test_a_failed_turn_alone_is_resampled_from_the_state_before_it(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    made = run(desk_host, episode, lambda turns, _: FailsOnce(grouped(plan, turns)))
    assert made.passed is True
    assert [(segment.node, segment.attempt) for segment in made.segments] == [("n1", 0), ("n2", 1)]
    assert [(segment.node, segment.attempt, segment.passed) for segment in made.rejected] == [("n2", 0, False)]
    # the rejected order is gone: the accepted one has the id that it would have had at first
    (entry,) = made.segments[1].ledger
    assert entry.result == {"order": {"id": 1, "customer": 2, "product": "lamp"}}
    assert attempts_per_turn([made]) == {0: (2, 1), 1: (1, 1)}


def test_without_retries_the_first_failure_ends_the_trajectory(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    made = run(desk_host, episode, lambda turns, _: FailsOnce(grouped(plan, turns)), retries=0)
    assert (made.passed, len(made.segments), len(made.rejected)) == (False, 1, 1)
    assert sft_files([made]).keys() == {"rejected.scripted.jsonl"}


def test_an_accepted_trajectory_holds_no_trace_of_the_rejected_attempt(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    made = run(desk_host, episode, lambda turns, _: FailsOnce(grouped(plan, turns)))
    example = example_of(made)
    text = json.dumps(example.messages)
    assert "chair" not in text
    roles = [message["role"] for message in example.messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"]
    (rejected,) = rejected_of(made)
    assert "chair" in json.dumps(rejected.messages)
    assert [message["role"] for message in rejected.messages][:5] == roles[:5]


def test_an_infrastructure_failure_is_retried_and_is_no_failure_of_the_policy(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    faulty = FaultyHost(desk_host, [HostFault("lost_answer", at=0, tool="create_order")])
    made = run(faulty, episode, lambda turns, _: ReferencePolicy(grouped(plan, turns), NAMES), retries=0)
    assert made.passed is True
    assert [(segment.passed, segment.stop) for segment in made.rejected] == [(None, StopReason.INFRASTRUCTURE)]


def test_a_host_that_stays_down_gives_no_verdict(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    for operation in ("call", "snapshot", "restore"):
        faults = [HostFault("host_error", at=0, times=99, operation=operation)]  # type: ignore[arg-type]
        made = run(FaultyHost(desk_host, faults), episode, lambda turns, _: FailsOnce(grouped(plan, turns)), retries=1)
        assert made.passed is None, operation
        assert sft_files([made]).get("sft.scripted.jsonl") is None


def test_a_verifier_that_breaks_gives_no_verdict(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode], judge: Any
) -> None:
    judge.broken = True
    made = run(desk_host, episode, lambda turns, _: ReferencePolicy(grouped(plan, turns), NAMES))
    assert made.passed is None
    assert {segment.cause for segment in made.rejected} == {"verifier: planned"}


def test_a_wrong_answer_of_a_tool_leads_the_reference_policy_astray(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode]
) -> None:
    """It takes its arguments from what it observed: the corrupted look-up is what it acts on."""
    faulty = FaultyHost(desk_host, [HostFault("corrupt", at=0, times=9, tool="find_customer")])
    made = run(faulty, episode, lambda turns, _: ReferencePolicy(grouped(plan, turns), NAMES), retries=0)
    assert made.passed is False


@pytest.mark.parametrize("seed", range(12))
def test_the_noisy_policy_never_passes_with_a_wrong_state(
    desk_host: InMemoryToolHost, episode: Episode, plan: Sequence[PlannedNode], seed: int
) -> None:
    made = run(desk_host, episode, lambda turns, _: NoisyPolicy(grouped(plan, turns), NAMES, rate=0.8), seed=seed)
    again = run(desk_host, episode, lambda turns, _: NoisyPolicy(grouped(plan, turns), NAMES, rate=0.8), seed=seed)
    assert made == again
    if made.passed:
        orders = [entry for segment in made.segments for entry in segment.ledger if entry.changes.rows]
        assert [entry.result["order"]["product"] for entry in orders] == ["lamp"]


def test_every_fault_of_the_noisy_policy_occurs(plan: Sequence[PlannedNode]) -> None:
    policy = NoisyPolicy([[plan[0]], [plan[1]]], NAMES, rate=1.0)
    faults = {fault[0] for seed in range(200) if (fault := policy.fault([plan[1]], seed))}
    assert faults == set(Fault)


def test_malformed_arguments_and_unknown_tools_come_back_as_errors_that_the_policy_sees(
    desk_host: InMemoryToolHost, episode: Episode
) -> None:
    def call(name: str, text: str) -> Message:
        raw = {"id": f"c-{name}-{len(text)}", "type": "function", "function": {"name": name, "arguments": text}}
        return Message.model_validate({"role": "assistant", "tool_calls": [raw]})

    answers = [
        call("find_customer", '{"name": "Bo"'),
        call("find_customer", "[1]"),
        call("no_such_tool", "{}"),
        call("find_customer", ""),
        Message(role="assistant", content="done"),
    ]

    async def go() -> Trajectory:
        model = ScriptedModel(answers)
        return await rollout(
            desk_host,
            ReactHarness(),
            episode,
            lambda *_: model,
            view="agentic",
            limits=Limits(steps=10),
            seed=1,
        )

    made = anyio.run(go)
    contents = [json.loads(message.content or "") for message in made.segments[0].messages if message.role == "tool"]
    assert [value.get("error", {}).get("code") for value in contents] == [
        "malformed_arguments",
        "malformed_arguments",
        "unknown_tool",
        None,
    ]
    # only the call that could be made is in the ledger; an empty text means no arguments
    assert [(entry.arguments, entry.outcome) for entry in made.segments[0].ledger] == [({}, Outcome.OK)]


def test_a_segment_stops_at_its_budget(desk_host: InMemoryToolHost, episode: Episode) -> None:
    raw = {"id": "c", "type": "function", "function": {"name": "find_customer", "arguments": "{}"}}
    endless = [Message.model_validate({"role": "assistant", "tool_calls": [raw]})] * 9

    async def go() -> Trajectory:
        model = ScriptedModel(endless)
        return await rollout(
            desk_host,
            ReactHarness(),
            episode,
            lambda *_: model,
            view="agentic",
            limits=Limits(calls=2),
            seed=1,
        )

    made = anyio.run(go)
    assert (made.segments[0].stop, len(made.segments[0].ledger), made.passed) == (StopReason.CALL_LIMIT, 4, False)


def test_a_negative_number_of_retries_is_refused() -> None:
    with pytest.raises(InputError, match="retries"):
        Sampling(retries=-1)
