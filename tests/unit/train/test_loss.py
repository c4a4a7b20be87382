import math

import pytest

from weft.errors import TrainingError
from weft.train.importance import importance_weights
from weft.train.loss import LossParts, Objective, row_loss

pytestmark = pytest.mark.train
torch = pytest.importorskip("torch", reason="needs torch: scripts/install train")

# Four tokens: importance ratios exp(0.2), exp(-1), 1, exp(0.9), so tokens 1 and 3 are masked.
NEW = [-1.0, -2.0, -0.5, -3.0]
ROLLOUT = [-1.2, -1.0, -0.5, -3.9]
REFERENCE = [-1.1, -2.2, -0.4, -3.3]
ADVANTAGE = 0.866024


def loss_of(
    new: list[float] | None = None,
    *,
    old: list[float] | None = None,
    rollout: list[float] | None = None,
    reference: list[float] | None = None,
    advantages: list[float] | None = None,
    total: int | None = None,
    objective: Objective | None = None,
    entropy: list[float] | None = None,
) -> tuple[LossParts, "torch.Tensor"]:
    values = torch.tensor(NEW if new is None else new, dtype=torch.float64, requires_grad=True)
    before = torch.tensor(NEW if old is None else old, dtype=torch.float64)
    weights = importance_weights(before.tolist(), ROLLOUT if rollout is None else rollout)
    parts = row_loss(
        values,
        before,
        torch.tensor(REFERENCE if reference is None else reference, dtype=torch.float64),
        torch.tensor([ADVANTAGE] * len(values) if advantages is None else advantages, dtype=torch.float64),
        torch.tensor(weights.values.tolist(), dtype=torch.float64),
        torch.tensor(weights.kept.tolist()),
        total=len(values) if total is None else total,
        objective=objective or Objective(beta=0.01),
        entropy=None if entropy is None else torch.tensor(entropy, dtype=torch.float64),
    )
    return parts, values


def test_the_mask_covers_policy_and_kl_and_the_denominator_stays() -> None:
    # kept tokens 0 and 2: policy -(0.866024 * 1.221403 + 0.866024), k3 0.004837 and 0.005171, over 4 tokens.
    # Each neighbouring rule gives another number: unmasked KL -0.480773, kept tokens as denominator -0.961844,
    # weights clipped at 2 instead of masked -0.993433.
    parts, _ = loss_of()
    assert float(parts.loss.detach()) == pytest.approx(-0.480922, abs=1e-6)
    assert parts.kept == 2
    assert parts.kl == pytest.approx(0.004837 + 0.005171, abs=1e-6)


def test_the_gradient_at_kept_tokens_is_the_hand_worked_one_and_nothing_at_masked_ones() -> None:
    parts, new = loss_of()
    parts.loss.backward()
    # d/dnew: -A w r / 4 with r = 1, plus beta (1 - exp(ref - new)) / 4
    first = (-ADVANTAGE * math.exp(0.2) + 0.01 * (1 - math.exp(-0.1))) / 4
    third = (-ADVANTAGE + 0.01 * (1 - math.exp(0.1))) / 4
    assert new.grad is not None
    assert new.grad.tolist() == pytest.approx([first, 0.0, third, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    ("advantage", "ratio", "expected", "clipped"),
    [
        (1.0, 1.5, -1.28, 1),  # praise stops at 1 + 0.28
        (1.0, 0.5, -0.5, 0),  # but not on the way back
        (-1.0, 0.5, 0.8, 1),  # blame stops at 1 - 0.2
        (-1.0, 1.5, 1.5, 0),
    ],
)
def test_the_ratio_is_clipped_only_where_it_has_gone_far_enough(
    advantage: float, ratio: float, expected: float, clipped: int
) -> None:
    parts, new = loss_of(
        [-1.0 + math.log(ratio)], old=[-1.0], rollout=[-1.0], reference=[-1.0], advantages=[advantage],
        objective=Objective(beta=0.0),
    )  # fmt: skip
    parts.loss.backward()
    assert float(parts.loss.detach()) == pytest.approx(expected)
    assert parts.clipped == clipped
    assert new.grad is not None
    assert (float(new.grad[0]) == 0.0) == bool(clipped)


def test_k3_is_zero_at_the_reference_and_positive_off_it() -> None:
    quiet = Objective(beta=1.0)
    same, _ = loss_of([-1.0], old=[-1.0], rollout=[-1.0], reference=[-1.0], advantages=[0.0], objective=quiet)
    assert (same.kl, float(same.loss.detach())) == (0.0, 0.0)
    away, _ = loss_of([-1.0], old=[-1.0], rollout=[-1.0], reference=[-2.0], advantages=[0.0], objective=quiet)
    assert away.kl == pytest.approx(math.exp(-1))  # exp(-1) + 1 - 1


def test_nothing_to_learn_gives_no_gradient() -> None:
    parts, new = loss_of(advantages=[0.0] * 4, objective=Objective(beta=0.0))
    parts.loss.backward()
    assert new.grad is not None
    assert new.grad.tolist() == [0.0] * 4


def test_rows_add_up_to_the_loss_of_the_whole_step() -> None:
    whole, _ = loss_of()
    halves = [
        loss_of(NEW[a:b], old=NEW[a:b], rollout=ROLLOUT[a:b], reference=REFERENCE[a:b], total=4)[0]
        for a, b in ((0, 2), (2, 4))
    ]
    assert sum(float(half.loss.detach()) for half in halves) == pytest.approx(float(whole.loss.detach()), abs=1e-12)


def test_a_row_that_is_masked_whole_contributes_nothing_and_breaks_nothing() -> None:
    parts, new = loss_of(rollout=[-9.0] * 4)
    parts.loss.backward()
    assert (float(parts.loss.detach()), parts.kept, parts.clipped) == (0.0, 0, 0)
    assert new.grad is not None
    assert new.grad.tolist() == [0.0] * 4


def test_the_entropy_bonus_takes_the_same_mask() -> None:
    parts, _ = loss_of(advantages=[0.0] * 4, objective=Objective(beta=0.0, entropy=0.5), entropy=[1.0, 9.0, 3.0, 9.0])
    assert float(parts.loss.detach()) == pytest.approx(-0.5 * (1.0 + 3.0) / 4)
    assert parts.entropy == pytest.approx(4.0)
    with pytest.raises(TrainingError, match="entropies"):
        loss_of(objective=Objective(entropy=0.5))


def test_autograd_agrees_with_finite_differences() -> None:
    weights = importance_weights(NEW, ROLLOUT)
    fixed = [torch.tensor(values, dtype=torch.float64) for values in (NEW, REFERENCE, [0.7, -0.3, -1.1, 2.0])]
    kept = torch.tensor(weights.kept.tolist())
    scale = torch.tensor(weights.values.tolist(), dtype=torch.float64)

    def loss(new: "torch.Tensor") -> "torch.Tensor":
        old, reference, advantages = fixed
        return row_loss(new, old, reference, advantages, scale, kept, total=4, objective=Objective(beta=0.3)).loss

    point = torch.tensor([-1.05, -2.1, -0.45, -2.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (point,))


@pytest.mark.parametrize("wrong", [{"beta": -1.0}, {"clip_low": 1.0}, {"entropy": math.nan}, {"clip_high": math.inf}])
def test_impossible_coefficients_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(TrainingError):
        Objective(**wrong)


def test_a_step_without_valid_tokens_and_shapes_that_differ_are_refused() -> None:
    with pytest.raises(TrainingError, match="0 valid tokens"):
        loss_of(total=0)
    with pytest.raises(TrainingError, match="differ in shape"):
        loss_of(reference=[-1.0])
