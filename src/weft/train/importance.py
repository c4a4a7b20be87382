"""Token-level truncated importance sampling (Weft B.1, Token alignment and importance sampling). Pure.

The policy that sampled (an inference engine) and the policy that trains (the training backend, before its update) give
slightly different probabilities to the same token. Each token's loss is weighted by their ratio; tokens whose ratio
lies outside the interval are masked, not clipped to its ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.errors import TrainingError
from weft.records.batch import TokenSequence


@dataclass(frozen=True, slots=True)
class Interval:
    """The retained importance weights; both ends belong to it (Weft B.1: [0.5, 2.0])."""

    lower: float = 0.5
    upper: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.lower <= 1 <= self.upper < math.inf:
            raise TrainingError(
                f"importance interval [{self.lower}, {self.upper}] must hold 1, with a positive lower end"
                " and a finite upper one"
            )


@dataclass(frozen=True, slots=True)
class Weights:
    """Importance weights of valid tokens.

    Attributes:
        values: exp(old - rollout) where kept, 0 where masked.
        kept: True where the weight lies in the interval; the KL term takes the same mask.
    """

    values: NDArray[np.float64]
    kept: NDArray[np.bool_]


def importance_weights(
    old_N: Sequence[float] | NDArray[np.float64],
    rollout_N: Sequence[float] | NDArray[np.float64],
    interval: Interval | None = None,
) -> Weights:
    """Return the weights and the mask of N valid tokens.

    Args:
        old_N: log-probabilities by the training backend, before the update.
        rollout_N: log-probabilities by the policy that sampled.
        interval: of retained weights.

    Raises:
        TrainingError: lengths differ, or a value is not finite; :func:`row_fault` says so beforehand, with the
            position.
    """
    interval = interval or Interval()
    old, rollout = np.asarray(old_N, dtype=np.float64), np.asarray(rollout_N, dtype=np.float64)
    if old.shape != rollout.shape or old.ndim != 1:
        raise TrainingError(
            f"{old.shape} trainer against {rollout.shape} rollout log-probabilities; give one of each a token"
        )
    wrong = np.flatnonzero(~(np.isfinite(old) & np.isfinite(rollout)))
    if wrong.size:
        at = int(wrong[0])
        raise TrainingError(
            f"log-probability at valid token {at} is not finite: trainer {old[at]}, rollout {rollout[at]}"
        )
    # exp of a huge difference overflows to inf, which is outside any interval; that is the right answer, not an
    # accident.
    with np.errstate(over="ignore"):
        ratio = np.exp(old - rollout)
    kept = (ratio >= interval.lower) & (ratio <= interval.upper)
    return Weights(values=np.where(kept, ratio, 0.0), kept=kept)


def row_fault(row: TokenSequence) -> str:
    """Return why a row must not be trained, with the position; empty when it may.

    Refused are rows whose parts differ in length, rows without a trainable token, rows drawn from a cut or reshaped
    distribution (their log-probabilities do not compare with the trainer's), and rows with a log-probability that is
    missing, NaN, infinite or positive at a trainable token. Anything may stand at the others: it is never read.
    """
    length = len(row.token_ids)
    for name, part in (("trainable", row.trainable), ("logprobs", row.logprobs), ("advantages", row.advantages)):
        if len(part) != length:
            return f"length: {len(part)} {name} for {length} tokens"
    if not row.sampling.whole:
        drawn = row.sampling.model_dump(exclude_defaults=True)
        told = [f"{name} {value:g}" for name, value in drawn.items() if name != "reshaped"]
        settings = ", ".join([*told, *row.sampling.reshaped])
        return f"sampling: {settings}; sample from the whole distribution"
    valid = [position for position, flag in enumerate(row.trainable) if flag]
    if not valid:
        return "no trainable token"
    if valid[0] == 0:
        return "position 0: a trainable token without anything before it"
    for position in valid:
        value = row.logprobs[position]
        if value is None:
            return f"position {position}: no log-probability"
        if not math.isfinite(value):
            return f"position {position}: log-probability {value}"
        if value > 0:
            return f"position {position}: positive log-probability {value:g}"
        if not math.isfinite(row.advantages[position]):
            return f"position {position}: advantage {row.advantages[position]}"
    return ""
