import math

import pytest

from weft.errors import TrainingError
from weft.records.batch import TurnGroup
from weft.train.advantage import Scaling, group_advantages, leaf_outcomes, trajectory_advantages

EXACT = {"sample": Scaling(1, 0.0), "population": Scaling(0, 0.0), "mean": Scaling(None)}


@pytest.mark.parametrize(
    ("scaling", "passing", "failing"),
    [("sample", 1.5, -0.5), ("population", math.sqrt(3), -1 / math.sqrt(3)), ("mean", 0.75, -0.25)],
)
def test_one_of_four_passing_gives_the_hand_worked_advantages(scaling: str, passing: float, failing: float) -> None:
    scored = group_advantages([1, 0, 0, 0], EXACT[scaling])
    assert scored.values == pytest.approx([passing, failing, failing, failing], abs=1e-12)
    assert scored.discarded == ""


def test_the_default_epsilon_is_added_to_the_sample_deviation() -> None:
    # mean 1/2, deviation sqrt(4 * 0.25 / 3) = 0.577350, so 0.5 / (0.577350 + 1e-6)
    assert group_advantages([1, 1, 0, 0]).values[0] == pytest.approx(0.866024, abs=1e-6)
    assert group_advantages([1] + [0] * 15).values == pytest.approx([3.749985] + [-0.249999] * 15, abs=1e-6)


def test_advantages_of_a_group_add_up_to_nothing_and_follow_their_candidates() -> None:
    one, other = group_advantages([1, 0, 1, 0, 0]).values, group_advantages([0, 0, 1, 0, 1]).values
    assert sum(one) == pytest.approx(0, abs=1e-12)
    assert sorted(one) == sorted(other)
    assert one[0] == other[4]


@pytest.mark.parametrize("rewards", [[1, 1, 1, 1], [0, 0], [0.1, 0.1, 0.1, 0.10000000000000002]])
def test_a_constant_group_is_discarded_and_noise_is_not_blown_up(rewards: list[float]) -> None:
    assert group_advantages(rewards).discarded == "constant"
    assert group_advantages(rewards).values == ()


def test_a_group_with_an_unknown_reward_is_incomplete_whatever_the_others_are() -> None:
    assert group_advantages([1, None, 0, 0]).discarded == "incomplete"
    assert group_advantages([None, None]).discarded == "incomplete"


@pytest.mark.parametrize("rewards", [[1], [None], []])
def test_a_lone_candidate_is_an_error_and_never_its_own_advantage(rewards: list[float | None]) -> None:
    with pytest.raises(TrainingError, match="at least 2"):
        group_advantages(rewards, group="t/0")


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_reward_that_is_no_number_is_a_fault_with_its_place(wrong: float) -> None:
    with pytest.raises(TrainingError, match="'t/0': reward 1 is"):
        group_advantages([1, wrong, None, 0], group="t/0")


def test_the_trajectory_baseline_scores_mean_checkpoint_outcomes() -> None:
    # means 1, 1/2, 1/2, 0: centred 0.5, 0, 0, -0.5
    outcomes = [(1, 1), (1, 0), (0, 1), (0, 0)]
    assert trajectory_advantages(outcomes, EXACT["mean"]).values == pytest.approx([0.5, 0, 0, -0.5])
    assert trajectory_advantages([(1, None), (0, 0)]).discarded == "incomplete"
    with pytest.raises(TrainingError, match="without checkpoints"):
        trajectory_advantages([(), (1,)])


def test_paths_are_rebuilt_from_the_last_layer_through_the_chosen_candidates() -> None:
    groups = [
        TurnGroup(id="t/0", task="t", node="n1", rewards=(0, 1), chosen=1),
        TurnGroup(id="t/1", task="t", node="n2", rewards=(0, 0), chosen=0),
        TurnGroup(id="t/2", task="t", node="n3", rewards=(1, 0), chosen=0),
    ]
    assert leaf_outcomes(groups) == [(1, 0, 1), (1, 0, 0)]
    with pytest.raises(TrainingError, match="chose no candidate"):
        leaf_outcomes([groups[0].model_copy(update={"chosen": -1}), groups[1]])
