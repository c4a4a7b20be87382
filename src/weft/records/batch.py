"""What training consumes: turn groups and token sequences (Weft 3.3.2, B.1)."""

from typing import Any

from pydantic import Field

from weft.records.base import Record


class TokenSequence(Record):
    """One trainable token sequence.

    Attributes:
        token_ids: prompt, observations and sampled tokens as the policy saw them, length T.
        trainable: 1 where the policy sampled the token, else 0, length T.
        logprobs: rollout log-probabilities, length T; None where the token was not sampled.
        advantages: per token, length T; 0 where not trainable.
        group: id of the turn group.
        sample: index in the group.
    """

    token_ids: tuple[int, ...]
    trainable: tuple[int, ...]
    logprobs: tuple[float | None, ...]
    advantages: tuple[float, ...]
    group: str
    sample: int


class TurnGroup(Record):
    """G candidate segments of one atomic-task turn from the same history and identical states.

    Attributes:
        id: ``<task>/<turn>``.
        task: task id.
        node: node id.
        rewards: r_t^(i), 1 on completion and 0 otherwise; None where it is unknown (the group is then incomplete).
        advantages: group-relative advantages, empty until computed.
        chosen: index of the segment that supplies history and state for the next turn.
    """

    id: str
    task: str
    node: str
    rewards: tuple[float | None, ...]
    advantages: tuple[float, ...] = ()
    chosen: int = -1


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
