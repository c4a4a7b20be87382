import itertools
import math

import numpy as np
import pytest

from weft.errors import TrainingError
from weft.records.batch import TokenSequence
from weft.records.trace import SamplingSettings
from weft.train.importance import Interval, importance_weights, row_fault


def row(logprobs, *, trainable=(0, 1, 1, 0), **changes):  # noqa: ANN001, ANN003, ANN201
    body = {
        "token_ids": (5, 6, 7, 8),
        "trainable": trainable,
        "logprobs": tuple(logprobs),
        "advantages": (0.0, 1.0, 1.0, 0.0),
        "group": "t/0",
        "sample": 0,
    }
    return TokenSequence(**{**body, **changes})


def test_weights_inside_the_interval_stay_and_others_are_masked_not_clipped() -> None:
    old, rollout = [-1, -2, -0.5, -3], [-1.2, -1, -0.5, -3.9]
    # exp(0.2), exp(-1), exp(0), exp(0.9)
    weights = importance_weights(old, rollout)
    assert weights.kept.tolist() == [True, False, True, False]
    assert weights.values.tolist() == pytest.approx([1.221403, 0, 1, 0], abs=1e-6)


def test_both_ends_belong_to_the_interval() -> None:
    ends = importance_weights(np.log([0.5, 2.0]), [0.0, 0.0])
    assert ends.kept.tolist() == [True, True]
    assert not importance_weights([math.log(2.0001)], [0.0]).kept[0]


def test_a_wider_interval_only_keeps_more() -> None:
    old, rollout = np.linspace(-3, 0, 31), np.full(31, -1.5)
    kept = [importance_weights(old, rollout, Interval(1 / width, width)).kept for width in (1.0, 1.5, 2.0, 8.0)]
    for narrow, wide in itertools.pairwise(kept):
        assert not (narrow & ~wide).any()


def test_an_overflowing_ratio_is_masked() -> None:
    assert importance_weights([0.0], [-1e9]).values.tolist() == [0.0]


def test_what_is_not_finite_never_becomes_a_weight() -> None:
    with pytest.raises(TrainingError, match="valid token 1"):
        importance_weights([-1.0, -1.0], [-1.0, math.nan])
    with pytest.raises(TrainingError, match="one of each"):
        importance_weights([-1.0], [-1.0, -2.0])


@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (1.1, 2), (0.5, 0.9), (0.5, math.inf)])
def test_an_interval_without_one_is_refused(lower: float, upper: float) -> None:
    with pytest.raises(TrainingError, match="must hold 1"):
        Interval(lower, upper)


@pytest.mark.parametrize("logprobs", [(0.0, -1.0, -2.0, 0.0), (math.nan, -1.0, -2.0, None), (-1e9, -1.0, 0.0, 1.0)])
def test_anything_may_stand_at_an_untrained_token(logprobs: tuple[float | None, ...]) -> None:
    assert row_fault(row(logprobs)) == ""


@pytest.mark.parametrize(
    ("logprobs", "reason"),
    [
        ((0.0, math.nan, -2.0, 0.0), "position 1: log-probability nan"),
        ((0.0, None, -2.0, 0.0), "position 1: no log-probability"),
        ((0.0, 0.5, -2.0, 0.0), "position 1: positive log-probability 0.5"),
        ((0.0, -1.0, -math.inf, 0.0), "position 2: log-probability -inf"),
        ((0.0, -1.0, math.inf, 0.0), "position 2: log-probability inf"),
        ((0.0, -1.0, -2.0), "length: 3 logprobs for 4 tokens"),
    ],
)
def test_a_bad_value_at_a_trained_token_refuses_the_row_with_its_position(
    logprobs: tuple[float | None, ...], reason: str
) -> None:
    assert row_fault(row(logprobs)) == reason


@pytest.mark.parametrize(
    ("sampling", "named"),
    [
        (SamplingSettings(top_p=0.9), "top_p 0.9"),
        (SamplingSettings(temperature=0.5), "temperature 0.5"),
        (SamplingSettings(top_k=20), "top_k 20"),
        (SamplingSettings(min_p=0.05), "min_p 0.05"),
        (SamplingSettings(top_p=0.9, reshaped=("logit_bias",)), "top_p 0.9, logit_bias"),
    ],
)
def test_a_row_from_a_reshaped_distribution_is_refused_by_name(sampling: SamplingSettings, named: str) -> None:
    assert named in row_fault(row((0.0, -0.4055, -1.0, 0.0), sampling=sampling))


def test_a_row_must_have_something_to_train_and_something_before_it() -> None:
    assert row_fault(row((0.0,) * 4, trainable=(0, 0, 0, 0))) == "no trainable token"
    assert "position 0" in row_fault(row((-1.0,) * 4, trainable=(1, 0, 0, 0)))
    assert "position 2: advantage" in row_fault(row((0.0, -1.0, -1.0, 0.0), advantages=(0.0, 1.0, math.inf, 0.0)))
