"""The atomic-turn GRPO loss over valid tokens (Weft 3.3.2, B.1). Pure; the tensors bring PyTorch with them.

Only valid (sampled) tokens get here: they are gathered before anything is exponentiated, so what stands at prompts,
observations and padding cannot reach the loss or its gradient. Tokens that the importance mask drops are left out of
the policy term, of the KL term and of the entropy term, while the denominator stays the count of valid tokens before
masking, over all rows of the optimiser step.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.errors import TrainingError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Objective:
    """Coefficients of the loss.

    Attributes:
        clip_low: the ratio new/old is clipped below 1 - clip_low where the advantage is negative.
        clip_high: and above 1 + clip_high where it is positive.
        beta: of the k3 estimate of the KL divergence to the reference policy.
        entropy: bonus per nat of entropy.
    """

    clip_low: float = 0.2
    clip_high: float = 0.28
    beta: float = 0.01
    entropy: float = 0.0

    def __post_init__(self) -> None:
        for name in ("clip_low", "clip_high", "beta", "entropy"):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0:
                raise TrainingError(f"{name} is {value}; give a finite number of at least 0")
        if self.clip_low >= 1:
            raise TrainingError(f"clip_low is {self.clip_low}; give less than 1")


@dataclass(frozen=True, slots=True)
class LossParts:
    """Sums over the kept tokens of one row, and the row's share of the loss.

    Attributes:
        loss: scalar tensor, already divided by the step's valid-token count; rows add up.
        kl: sum of k3 over kept tokens, nats.
        entropy: sum of entropy over kept tokens, nats; None when it was not given.
        clipped: kept tokens whose ratio the clip decides.
        kept: kept tokens.
    """

    loss: "Tensor"
    kl: float
    entropy: float | None
    clipped: int
    kept: int


def row_loss(
    new: "Tensor",
    old: "Tensor",
    reference: "Tensor",
    advantages: "Tensor",
    weights: "Tensor",
    kept: "Tensor",
    *,
    total: int,
    objective: Objective,
    entropy: "Tensor | None" = None,
) -> LossParts:
    """Return the loss of one row's N valid tokens.

    With r = exp(new - old), w the importance weight and m its mask: the policy term is
    -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A) w m, the KL term k3 m with k3 = exp(ref - new) - (ref - new) - 1.

    Args:
        new: log-probabilities under the policy in training, with gradient.
        old: under the training backend before the update.
        reference: under the frozen reference policy.
        advantages: per token, credit mask applied.
        weights: exp(old - rollout) where kept.
        kept: boolean, True where the weight lies in the interval.
        total: valid tokens of the whole optimiser step, before masking.
        objective: coefficients.
        entropy: of the policy in training per token, with gradient; needed when the objective has an entropy bonus.

    Raises:
        TrainingError: shapes differ, there is nothing to divide by, or the entropy is needed and absent.
    """
    if total < 1:
        raise TrainingError(f"the step has {total} valid tokens; drop the batch instead of dividing by it")
    if any(part.shape != new.shape for part in (old, reference, advantages, weights, kept)):
        raise TrainingError(f"inputs of the loss differ in shape from {tuple(new.shape)}; gather valid tokens first")
    if objective.entropy and entropy is None:
        raise TrainingError("the objective has an entropy bonus; give the entropies of the tokens")
    new, old, reference, advantages, weights = (part[kept] for part in (new, old, reference, advantages, weights))
    ratio = (new - old).exp()
    bounded = ratio.clamp(1.0 - objective.clip_low, 1.0 + objective.clip_high)
    free, held = ratio * advantages, bounded * advantages
    policy = -(free.minimum(held) * weights).sum()
    away = reference - new
    kl = (away.exp() - away - 1.0).sum()
    loss = policy + objective.beta * kl
    spread = entropy[kept].sum() if entropy is not None else None
    if spread is not None and objective.entropy:
        loss = loss - objective.entropy * spread
    return LossParts(
        loss=loss / total,
        kl=float(kl.detach()),
        entropy=None if spread is None else float(spread.detach()),
        clipped=int((held < free).sum()),
        kept=int(kept.sum()),
    )
