"""Warm start and one atomic-turn GRPO update on a causal language model (Weft 3.3, B.1; the ``train`` extra).

A small loop in plain PyTorch: rows go through the model one by one and their gradients add up, so neither padding nor
the split into micro-batches can change the result. It is the reference that larger trainers are compared with.
"""

import copy
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from weft.errors import MissingExtra, TrainingError
from weft.records.batch import SftExample, TokenSequence, UpdateReport, WarmStartReport
from weft.train.alignment import Decode, rows_of
from weft.train.batching import CONSTANT, INCOMPLETE, LOST, Batch
from weft.train.importance import Interval, importance_weights, row_fault
from weft.train.loss import LossParts, Objective, row_loss


class TrainablePolicy(Protocol):
    """What training needs of a policy."""

    @property
    def module(self) -> Any:
        """A causal language model of ``transformers``."""

    def encode_example(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> tuple[list[int], list[int]]:
        """Return ids, and 1 at each token that an assistant said, its end token included."""


@dataclass(frozen=True, slots=True)
class Update:
    """Options of an update.

    Attributes:
        objective: coefficients of the loss.
        interval: of retained importance weights.
        learning_rate: of AdamW, without weight decay.
        passes: optimiser steps on one batch; the old log-probabilities stay those from before the first.
        norm: largest norm of the gradient.
    """

    objective: Objective = field(default_factory=Objective)
    interval: Interval = field(default_factory=Interval)
    learning_rate: float = 1e-4
    passes: int = 1
    norm: float = 1.0

    def __post_init__(self) -> None:
        if self.learning_rate <= 0 or self.norm <= 0 or self.passes < 1:
            raise TrainingError(
                f"learning rate {self.learning_rate}, norm {self.norm}, passes {self.passes}: all must be positive"
            )


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Options of the warm start.

    Attributes:
        steps: most optimiser steps.
        batch: examples per step.
        learning_rate: of AdamW, without weight decay.
        enough: stop when the examples of a step cost at most this many nats each on average; 0 never stops early.
    """

    steps: int = 200
    batch: int = 8
    learning_rate: float = 3e-3
    enough: float = 0.0

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1 or self.learning_rate <= 0 or self.enough < 0:
            raise TrainingError(
                f"{self}: give at least 1 step and example, a positive learning rate, enough of at least 0"
            )


@contextmanager
def exact() -> Iterator[None]:
    """Compute the same bytes each time on a CPU: deterministic algorithms and one thread, put back afterwards.

    Raises:
        MissingExtra: the packages are not installed.
    """
    torch = _torch()
    before = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        torch.set_num_threads(before[1])


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch is not installed: run scripts/install train") from error
    return torch


def valid_logprobs(module: Any, token_ids: Sequence[int], valid: Sequence[int]) -> tuple[Any, Any]:
    """Return the log-probability of each valid token, length N, and the distributions they are from, N by vocabulary.

    Only the predictions of valid tokens are computed, so nothing that stands elsewhere can reach what follows.

    Args:
        module: the model.
        token_ids: of the row.
        valid: positions of the valid tokens, all above 0.
    """
    torch = _torch()
    ids = torch.tensor([list(token_ids)], dtype=torch.long)
    before = torch.tensor([position - 1 for position in valid], dtype=torch.long)
    spread = module(input_ids=ids, use_cache=False, logits_to_keep=before).logits[0].log_softmax(dim=-1)
    drawn = ids[0, before + 1]
    return spread.gather(1, drawn[:, None])[:, 0], spread


def entropies(spread: Any, *, gradient: bool) -> Any:
    """Return the entropy of each distribution in nats; without a gradient it costs no memory for the way back."""
    spread = spread if gradient else spread.detach()
    return -(spread.exp() * spread).sum(dim=-1)


def row_logprob(module: Any, row: TokenSequence) -> float:
    """Return the log-probability of everything that was sampled in a row, in nats."""
    torch = _torch()
    with torch.no_grad():
        return float(valid_logprobs(module, row.token_ids, valid_of(row))[0].double().sum())


def valid_of(row: TokenSequence) -> list[int]:
    """Return the positions of a row's valid tokens."""
    return [position for position, flag in enumerate(row.trainable) if flag]


def warm_start(
    policy: TrainablePolicy, examples: Sequence[SftExample], options: WarmStart | None = None, *, seed: int
) -> WarmStartReport:
    """Train on retained segments by maximum likelihood: the SFT that precedes RL (Weft 3.3.1).

    Args:
        policy: to train in place.
        examples: whole conversations; every assistant message in them is learnt, end token included.
        options: of the training.
        seed: of the order of examples.

    Raises:
        TrainingError: an example has nothing to learn, or the loss is not finite.
        MissingExtra: the packages are not installed.
    """
    options = options or WarmStart()
    torch = _torch()
    encoded = [_example(policy, example, number) for number, example in enumerate(examples)]
    if not encoded:
        raise TrainingError("no examples for the warm start; sample passing trajectories first")
    parameters = list(policy.module.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=options.learning_rate, weight_decay=0.0)
    order = random.Random(seed)
    losses: list[float] = []
    while len(losses) < options.steps:
        chosen = order.sample(encoded, min(options.batch, len(encoded)))
        tokens = sum(len(valid) for _, valid in chosen)
        optimizer.zero_grad(set_to_none=True)
        nats = 0.0
        for ids, valid in chosen:
            cost = -valid_logprobs(policy.module, ids, valid)[0].sum()
            (cost / tokens).backward()
            nats += float(cost.detach())
        _finite(nats, f"warm start step {len(losses)}")
        losses.append(nats / tokens)
        if nats / len(chosen) <= options.enough:
            break
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return WarmStartReport(
        examples=len(encoded),
        steps=len(losses),
        tokens=sum(len(valid) for _, valid in encoded),
        loss_first=losses[0],
        loss_last=losses[-1],
    )


def _example(policy: TrainablePolicy, example: SftExample, number: int) -> tuple[list[int], list[int]]:
    ids, trained = policy.encode_example(example.messages, example.tools)
    valid = [position for position, flag in enumerate(trained) if flag and position]
    if not valid:
        raise TrainingError(f"example {number} has no assistant token to learn; leave it out")
    return ids, valid


def _finite(value: float, where: str) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise TrainingError(f"{where}: the loss is {value}; lower the learning rate or look at the rows of this batch")


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with what stays fixed during its update, as tensors over its valid tokens."""

    ids: tuple[int, ...]
    valid: list[int]
    old: Any
    reference: Any
    advantages: Any
    weights: Any
    kept: Any


@dataclass(frozen=True, slots=True)
class Figures:
    """What a step of the optimiser saw, in its last pass.

    Attributes:
        tokens: valid tokens, the loss denominator.
        kept: of these, tokens inside the importance interval.
        loss: before the step.
        kl: k3 per valid token, nats.
        entropy: per kept token, nats; None when none was kept.
        clipped: share of kept tokens whose ratio the clip decides.
        gradient: norm before it was limited.
    """

    tokens: int = 0
    kept: int = 0
    loss: float = 0.0
    kl: float = 0.0
    entropy: float | None = None
    clipped: float = 0.0
    gradient: float = 0.0


class Trainer:
    """Atomic-turn GRPO on a policy in place; the reference is the policy as it is when the trainer is made.

    Args:
        policy: to train.
        options: of every update.
        decode: of the policy's tokenizer; rows with ids outside its vocabulary are then refused.

    Raises:
        MissingExtra: the packages are not installed.
    """

    def __init__(self, policy: TrainablePolicy, options: Update | None = None, *, decode: Decode | None = None) -> None:
        torch = _torch()
        self.options = options or Update()
        self._module = policy.module
        self._decode = decode
        self._reference = copy.deepcopy(policy.module).eval().requires_grad_(False)
        self._parameters = [parameter for parameter in policy.module.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.AdamW(self._parameters, lr=self.options.learning_rate, weight_decay=0.0)

    def step(self, batch: Batch) -> UpdateReport:
        """Update the policy on a batch and say what came of it.

        A batch without a row to learn from changes nothing; ``skipped`` of the report then says why.

        Raises:
            TrainingError: the loss or the gradient is not finite.
        """
        rows: list[TokenSequence] = []
        refused: Counter[str] = Counter()
        for group in batch.kept:
            aligned, unaligned = rows_of(group, self._decode)
            rows += aligned
            refused.update(one.reason for one in unaligned)
        figures = self.train(rows) if rows else Figures()
        flags = Counter(flag.partition(":")[0] for group in batch.sampled for s in group.segments for flag in s.flags)
        return UpdateReport(
            groups=len(batch.sampled),
            kept=len(batch.kept),
            constant=batch.discarded.get(CONSTANT, 0),
            incomplete=batch.discarded.get(INCOMPLETE, 0),
            lost=batch.discarded.get(LOST, 0),
            rows=len(rows),
            refused=dict(sorted(refused.items())),
            tokens=figures.tokens,
            masked=figures.tokens - figures.kept,
            flagged=dict(sorted(flags.items())),
            reward=batch.mean_reward,
            loss=figures.loss,
            kl=figures.kl,
            entropy=figures.entropy,
            clipped=figures.clipped,
            gradient=figures.gradient,
            skipped="" if rows else "no group with differing rewards and trainable tokens",
        )

    def train(self, rows: Sequence[TokenSequence]) -> Figures:
        """Update the policy on rows; the denominator is their count of valid tokens.

        Raises:
            TrainingError: there is no row, one must not be trained, or the loss or gradient is not finite.
        """
        if not rows:
            raise TrainingError("no rows to train on; sample more tasks")
        for number, row in enumerate(rows):
            if fault := row_fault(row):
                raise TrainingError(f"row {number} (group {row.group!r}, sample {row.sample}): {fault}")
        prepared = [self._prepared(row) for row in rows]
        total = sum(len(row.valid) for row in prepared)
        parts: list[LossParts] = []
        gradient = 0.0
        for number in range(self.options.passes):
            parts, gradient = self._pass(prepared, total, f"pass {number}")
        kept = sum(part.kept for part in parts)
        return Figures(
            tokens=total,
            kept=kept,
            loss=sum(float(part.loss.detach()) for part in parts),
            kl=sum(part.kl for part in parts) / total,
            entropy=sum(part.entropy or 0.0 for part in parts) / kept if kept else None,
            clipped=sum(part.clipped for part in parts) / kept if kept else 0.0,
            gradient=gradient,
        )

    def _prepared(self, row: TokenSequence) -> _Row:
        """Recompute the old log-probabilities by the training backend, and weigh them against the rollout's."""
        torch = _torch()
        valid = valid_of(row)
        with torch.no_grad():
            old = valid_logprobs(self._module, row.token_ids, valid)[0]
            reference = valid_logprobs(self._reference, row.token_ids, valid)[0]
        drawn = [value for value in (row.logprobs[position] for position in valid) if value is not None]
        weights = importance_weights(old.double().tolist(), drawn, self.options.interval)
        return _Row(
            ids=row.token_ids,
            valid=valid,
            old=old,
            reference=reference,
            advantages=torch.tensor([row.advantages[position] for position in valid], dtype=old.dtype),
            weights=torch.tensor(weights.values.tolist(), dtype=old.dtype),
            kept=torch.tensor(weights.kept.tolist()),
        )

    def _pass(self, rows: Sequence[_Row], total: int, where: str) -> tuple[list[LossParts], float]:
        torch = _torch()
        self._optimizer.zero_grad(set_to_none=True)
        parts = []
        for number, row in enumerate(rows):
            new, spread = valid_logprobs(self._module, row.ids, row.valid)
            entropy = entropies(spread, gradient=self.options.objective.entropy > 0)
            part = row_loss(
                new, row.old, row.reference, row.advantages, row.weights, row.kept,
                total=total, objective=self.options.objective, entropy=entropy,
            )  # fmt: skip
            _finite(float(part.loss.detach()), f"{where}, row {number}")
            part.loss.backward()
            parts.append(part)
        gradient = float(torch.nn.utils.clip_grad_norm_(self._parameters, self.options.norm))
        _finite(gradient, f"gradient of {where}")
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return parts, gradient
