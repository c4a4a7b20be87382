"""One atomic-task turn from a given history and state: an attempt and its verdict (Weft 3.1.3, 3.3.1)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import HostError, VerifierError
from weft.ports import ModelClient, SessionGroup, TaskJudge
from weft.records.trace import Message, Outcome, Segment, StopReason
from weft.rollouts.harness import Harness
from weft.rollouts.limits import Limits
from weft.rollouts.views import Turn


@dataclass(frozen=True, slots=True)
class Attempt:
    """A judged segment. ``slots`` are the verdict's slot values, empty when it did not pass."""

    segment: Segment
    slots: Mapping[str, Any]


def derive_seed(seed: int, *labels: object) -> int:
    """Return a 63-bit seed that depends on ``seed`` and the labels only."""
    text = "/".join(str(label) for label in (seed, *labels))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def session_seed(seed: int) -> int:
    """Return the seed of a rollout's generated ids: its replay and its attribution open their sessions with it too."""
    return derive_seed(seed, "ids") % (1 << 31)


def final_reply(segment: Segment) -> str | None:
    """Return the reply that ended the segment, or None when it ended otherwise."""
    return segment.messages[-1].content if segment.stop is StopReason.REPLY else None


async def attempt(
    harness: Harness,
    policy: ModelClient,
    group: SessionGroup,
    judge: TaskJudge,
    history: Sequence[Message],
    turn: Turn,
    request: str,
    *,
    slots: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    seed: int,
    number: int,
) -> Attempt:
    """Run one attempt at a turn and judge it from the evidence that it left.

    A failure of the host or of the verifier gives a segment whose ``passed`` is None and whose ``cause`` says which:
    it is neither a success nor a failure of the policy.

    Args:
        harness: the agent loop.
        policy: the model.
        group: sessions in the state before the turn.
        judge: verifies the turn's nodes.
        history: conversation before the turn, system prompt first.
        turn: the nodes that the request asks for.
        request: what the user says.
        slots: slot values of upstream nodes.
        limits: budgets.
        seed: of this attempt.
        number: 0 for the first attempt.
    """
    node = turn.nodes[0] if len(turn.nodes) == 1 else ""
    earlier = await group.ledger()
    try:
        segment = await harness.run(policy, group, history, request, limits=limits.over(len(turn.nodes)), seed=seed)
    except HostError as error:
        message = Message(role="user", content=request)
        lost = Segment(node=node, attempt=number, messages=(message,), stop=StopReason.INFRASTRUCTURE)
        return Attempt(lost.model_copy(update={"cause": f"infrastructure: {error}"}), {})
    if (
        any(entry.outcome is Outcome.INFRASTRUCTURE for entry in segment.ledger)
        or segment.stop is StopReason.MODEL_ERROR
    ):
        cause = "model" if segment.stop is StopReason.MODEL_ERROR else "infrastructure"
        return Attempt(segment.model_copy(update={"node": node, "attempt": number, "cause": cause}), {})
    try:
        verdict = judge.judge(
            turn.nodes, ledger=segment.ledger, earlier=earlier, reply=final_reply(segment), slots=slots
        )
    except VerifierError as error:
        return Attempt(segment.model_copy(update={"node": node, "attempt": number, "cause": f"verifier: {error}"}), {})
    judged = {
        "node": node,
        "attempt": number,
        "passed": verdict.passed,
        "checks": {check.name: check.passed for check in verdict.checks},
        "cause": "" if verdict.passed else "failed",
    }
    return Attempt(segment.model_copy(update=judged), dict(verdict.slots) if verdict.passed else {})
