from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from weft.errors import HostError, InputError
from weft.ports import SessionGroup, ToolHost
from weft.records.batch import TurnGroup
from weft.records.trace import StopReason
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode
from weft.testing import Fault, FaultyHost, InMemoryToolHost
from weft.train.branching import Branching, branch, choose


def grow(host: ToolHost, till: Episode, policy: Any, *, seed: int = 1, **options: Any) -> list[TurnGroup]:
    async def go() -> list[TurnGroup]:
        made = Branching(**{"candidates": 4, **options})
        return await branch(host, ReactHarness(), till, lambda _turns, _group: policy, branching=made, seed=seed)

    return anyio.run(go)


def by_seed(right: dict[int, int]) -> Callable[[int, int], int]:
    """Right for odd seeds, 100 too much for even ones."""
    return lambda turn, seed: right[turn] + (0 if seed % 2 else 100)


def test_each_candidate_starts_from_the_same_history_in_its_own_identical_state(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    policy = till_policy(by_seed({1: 5, 2: 7}))
    first, second = grow(till_host, till, policy, candidates=6)
    # Every candidate of turn 1 starts from an empty till: nobody sees what a sibling added.
    assert {entry.result["total"] for segment in first.segments for entry in segment.ledger} <= {5, 105}
    assert {entry.result["total"] for segment in second.segments for entry in segment.ledger} <= {12, 112}
    assert len(set(policy.histories[:6])) == len(set(policy.histories[6:])) == 1
    assert (first.id, first.node, second.id, second.node) == ("task-1/0", "n1", "task-1/1", "n2")
    assert first.rewards == tuple(float(segment.ledger[0].result["total"] == 5) for segment in first.segments)
    assert set(first.rewards) == {0.0, 1.0}


def test_the_chosen_segment_passed_and_supplies_history_and_state(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    policy = till_policy(by_seed({1: 5, 2: 7}))
    for seed in range(6):
        policy.histories.clear()
        first, second = grow(till_host, till, policy, seed=seed)
        if any(first.rewards):
            assert first.rewards[first.chosen] == 1.0
        went_on = policy.histories[4]
        assert went_on[1 : 1 + len(first.segments[first.chosen].messages)] == first.segments[first.chosen].messages
        left = first.segments[first.chosen].ledger[-1].result["total"]
        assert all(segment.ledger[0].result["total"] in (left + 7, left + 107) for segment in second.segments)


def test_when_all_fail_one_of_them_still_supplies_the_next_turn(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    first, second = grow(till_host, till, till_policy(lambda _turn, _seed: 1))
    assert (first.rewards, second.rewards) == ((0.0,) * 4, (0.0,) * 4)
    assert first.chosen in range(4)
    assert second.segments[0].ledger[0].result["total"] == 2


def test_the_choice_is_uniform_among_those_that_passed() -> None:
    drawn = Counter(choose((1.0, 0.0, None, 1.0), seed) for seed in range(2000))
    assert drawn.keys() == {0, 3}
    assert abs(drawn[0] - 1000) < 100  # five deviations of a fair coin are 112
    assert {choose((0.0, None, 0.0), seed) for seed in range(50)} == {0, 2}
    assert choose((None, None), 1) == -1


def test_the_same_seed_gives_the_same_tree_whatever_runs_at_once(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    trees = [
        grow(till_host, till, till_policy(by_seed({1: 5, 2: 7})), seed=seed, concurrency=concurrency)
        for seed, concurrency in ((3, 1), (3, 4), (4, 1))
    ]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_a_candidate_lost_to_the_host_is_sampled_again_from_a_fresh_fork(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    for kind in ("infrastructure", "host_error", "lost_answer"):
        host = FaultyHost(till_host, [Fault(kind, at=1)])
        first, _ = grow(host, till, till_policy(lambda _turn, _seed: 5))
        assert first.rewards == (1.0,) * 4
        assert first.segments[1].ledger[0].result["total"] == 5


def test_what_stays_lost_is_unknown_and_never_a_zero(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    host = FaultyHost(till_host, [Fault("infrastructure", at=1, times=3)])
    first, _ = grow(host, till, till_policy(lambda _turn, _seed: 5), physical=2)
    assert first.rewards == (1.0, None, 1.0, 1.0)
    assert first.chosen != 1


def test_a_model_that_fails_for_good_leaves_its_candidate_unknown_and_a_low_reward_is_never_retried(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    asked: list[int] = []

    def refuse(seed: int) -> bool:
        asked.append(seed)
        return True

    groups = grow(till_host, till, till_policy(lambda _turn, _seed: 5, refuse), physical=1)
    assert [group.rewards for group in groups] == [(None,) * 4]
    assert groups[0].chosen == -1
    assert {segment.stop for segment in groups[0].segments} == {StopReason.MODEL_ERROR}
    assert len(asked) == len(set(asked)) == 8
    policy = till_policy(lambda _turn, _seed: 1)
    grow(till_host, till, policy)
    assert len(policy.histories) == 8


def test_a_verifier_that_breaks_is_not_asked_again_with_another_segment(
    till_host: InMemoryToolHost, till: Episode, till_judge: Any, till_policy: Any
) -> None:
    till_judge.broken = True
    policy = till_policy(lambda _turn, _seed: 5)
    (group,) = grow(till_host, till, policy)
    assert group.rewards == (None,) * 4
    assert len(policy.histories) == 4


def test_every_session_but_the_last_is_closed_and_then_that_one_too(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    opened: list[Any] = []

    class Watched:
        async def open(self, environments: Any, *, seed: int, states: Any = None) -> SessionGroup:
            group = await till_host.open(environments, seed=seed, states=states)
            return watch(group)

    def watch(group: Any) -> Any:
        opened.append(group)
        forked = group.fork

        async def fork(snapshot: str, count: int) -> Any:
            return [watch(one) for one in await forked(snapshot, count)]

        group.fork = fork
        return group

    grow(Watched(), till, till_policy(lambda _turn, _seed: 5))
    assert len(opened) == 1 + 4 + 4
    assert all(group._closed for group in opened)


def test_a_host_that_cannot_snapshot_ends_the_tree_with_its_own_error(
    till_host: InMemoryToolHost, till: Episode, till_policy: Any
) -> None:
    host = FaultyHost(till_host, [Fault("host_error", operation="snapshot")])
    with pytest.raises(HostError):
        grow(host, till, till_policy(lambda _turn, _seed: 5))


def test_segments_carry_their_flags(till_host: InMemoryToolHost, till: Episode, till_policy: Any) -> None:
    class Twice(till_policy):  # type: ignore[misc,valid-type]
        async def complete(self, messages: Any, tools: Any, *, seed: int, temperature: float = 1.0) -> Any:
            if messages[-1].role == "tool" and messages[-2].content is None and messages[-3].role == "user":
                return await super().complete(messages[:-2], tools, seed=seed)
            return await super().complete(messages, tools, seed=seed)

    first, _ = grow(till_host, till, Twice(lambda _turn, _seed: 0))
    assert {segment.flags for segment in first.segments} == {("no_progress:3",)}


@pytest.mark.parametrize("wrong", [{"candidates": 1}, {"physical": -1}, {"concurrency": 0}])
def test_impossible_options_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        Branching(**wrong)  # type: ignore[arg-type]
