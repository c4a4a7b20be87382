"""What training consumes: turn groups and token sequences (Weft 3.3.2, B.1)."""

from typing import Any

from pydantic import Field

from weft.records.base import Record
from weft.records.trace import SamplingSettings, Segment


class TokenSequence(Record):
    """One trainable token sequence.

    Attributes:
        token_ids: prompt, observations and sampled tokens as the policy saw them, length T.
        trainable: 1 where the policy sampled the token, else 0, length T.
        logprobs: rollout log-probabilities, length T; None where the token was not sampled.
        advantages: per token, length T; 0 where not trainable.
        group: id of the turn group.
        sample: index in the group.
        sampling: how the trainable tokens were drawn.
    """

    token_ids: tuple[int, ...]
    trainable: tuple[int, ...]
    logprobs: tuple[float | None, ...]
    advantages: tuple[float, ...]
    group: str
    sample: int
    sampling: SamplingSettings = SamplingSettings()


class TurnGroup(Record):
    """G candidate segments of one atomic-task turn from the same history and identical states.

    Attributes:
        id: ``<task>/<turn>``.
        task: task id.
        node: node id.
        rewards: r_t^(i), 1 on completion and 0 otherwise; None where it is unknown (the group is then incomplete).
        advantages: group-relative advantages, empty until computed.
        chosen: index of the segment that supplies history and state for the next turn; -1 when there is none.
        segments: the candidates, in the order of ``rewards``.
    """

    id: str
    task: str
    node: str
    rewards: tuple[float | None, ...]
    advantages: tuple[float, ...] = ()
    chosen: int = -1
    segments: tuple[Segment, ...] = ()


class SftExample(Record):
    """One line of the SFT file: OpenAI ``messages`` and ``tools`` and what is needed to replay and verify it.

    Attributes:
        messages: OpenAI form; ``arguments`` verbatim.
        tools: OpenAI form.
        weft: task, environments, initial state hashes, seed, policy, view, harness, verdict.
    """

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    weft: dict[str, Any] = Field(default_factory=dict)


class WarmStartReport(Record):
    """What supervised warm-up did (Weft 3.3.1 before 3.3.2).

    Attributes:
        examples: retained segments trained on.
        steps: optimiser steps.
        tokens: trained tokens per pass over the examples.
        loss_first: mean negative log-likelihood per trained token before the first step, in nats.
        loss_last: the same before the last step.
    """

    examples: int
    steps: int
    tokens: int
    loss_first: float
    loss_last: float


class UpdateReport(Record):
    """What one atomic-turn GRPO update did (Weft 3.3.2, B.1).

    Attributes:
        groups: turn groups sampled.
        kept: groups trained on.
        constant: groups discarded because every reward is the same.
        incomplete: groups discarded because a reward is unknown.
        lost: tasks whose sampling the host ended.
        rows: token sequences trained on.
        refused: token sequences refused, by reason.
        tokens: valid (sampled) tokens of the trained rows: the loss denominator.
        masked: of these, tokens outside the importance interval.
        flagged: assistant turns flagged, by kind of flag.
        reward: mean known reward over all candidates.
        loss: of the update, in the units of the advantage.
        kl: mean k3 estimate to the reference policy per valid token, in nats.
        entropy: mean entropy per unmasked token, in nats; None when there was none.
        clipped: share of unmasked tokens whose ratio the objective clipped.
        gradient: norm of the gradient before clipping.
        skipped: why there was no step, empty when there was one.
    """

    groups: int
    kept: int
    constant: int
    incomplete: int
    lost: int = 0
    rows: int
    refused: dict[str, int] = Field(default_factory=dict)
    tokens: int
    masked: int
    flagged: dict[str, int] = Field(default_factory=dict)
    reward: float | None
    loss: float
    kl: float
    entropy: float | None = None
    clipped: float
    gradient: float
    skipped: str = ""
