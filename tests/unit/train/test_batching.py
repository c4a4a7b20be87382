from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from weft.errors import HostError, InputError
from weft.records.batch import TurnGroup
from weft.train.batching import Batch, fill, keep


def group(name: str, *rewards: float | None) -> TurnGroup:
    return TurnGroup(id=name, task="t", node="n1", rewards=rewards)


GOOD, FLAT, LOST = (1.0, 0.0), (0.0, 0.0), (1.0, None)


def test_groups_that_can_teach_get_advantages_and_others_are_counted_by_reason() -> None:
    kept, discarded = keep([group("a", *GOOD), group("b", *FLAT), group("c", *LOST), group("d", 1.0, 1.0)])
    assert [one.id for one in kept] == ["a"]
    assert kept[0].advantages == pytest.approx((0.707106, -0.707106), abs=1e-5)
    assert dict(discarded) == {"constant": 2, "incomplete": 1}


def filled(trees: Sequence[Any], *, wanted: int, budget: int = 99) -> tuple[Batch, list[int]]:
    asked: list[int] = []

    async def sample(episode: Any, number: int) -> list[TurnGroup]:
        asked.append(number)
        if isinstance(episode, Exception):
            raise episode
        return list(episode)

    async def go() -> Batch:
        return await fill(trees, sample, wanted=wanted, budget=budget)

    return anyio.run(go), asked


def test_discarded_groups_are_replenished_from_the_next_tasks() -> None:
    batch, asked = filled(
        [[group("a", *FLAT)], [group("b", *GOOD), group("c", *LOST)], [group("d", *GOOD)], [group("e", *GOOD)]],
        wanted=2,
    )
    assert ([one.id for one in batch.kept], batch.full, batch.tasks, asked) == (["b", "d"], True, 3, [0, 1, 2])
    assert batch.discarded == {"constant": 1, "incomplete": 1}
    assert [one.id for one in batch.sampled] == ["a", "b", "c", "d"]
    assert batch.mean_reward == pytest.approx(3 / 7)


def test_the_budget_and_the_end_of_the_tasks_leave_a_batch_that_says_it_is_not_full() -> None:
    flat = [[group(str(number), *FLAT)] for number in range(9)]
    batch, asked = filled(flat, wanted=1, budget=4)
    assert (batch.kept, batch.full, len(asked)) == ((), False, 4)
    assert not filled([[group("a", *GOOD)]], wanted=2)[0].full
    assert filled([], wanted=1)[0].mean_reward is None


def test_a_task_lost_to_the_host_is_counted_and_the_next_one_is_taken() -> None:
    batch, _ = filled([HostError("planned"), [group("a", *GOOD)]], wanted=1)
    assert (batch.full, batch.discarded) == (True, {"lost": 1})


def test_an_error_of_ours_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        filled([ZeroDivisionError()], wanted=1)


@pytest.mark.parametrize(("wanted", "budget"), [(0, 1), (1, 0)])
def test_an_empty_batch_is_refused(wanted: int, budget: int) -> None:
    with pytest.raises(InputError):
        filled([], wanted=wanted, budget=budget)
