"""Token-in token-out sequences (Weft B.1, Token alignment). Pure.

A segment's sampled tokens become trainable sequences without any re-tokenisation: prompts and observations are taken
as the policy saw them and masked, sampled ids and log-probabilities as they came back. One segment gives one sequence
as long as each later prompt extends what came before it; where a template rewrote history, a new sequence starts
instead of a repair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.records.batch import TokenSequence, TurnGroup
from weft.records.tokens import span_fault
from weft.records.trace import Segment, TokenSpan
from weft.train.credit import flagged_messages, masked_credit
from weft.train.importance import row_fault

Decode = Callable[[Sequence[int]], str]
"""Turns ids into the sampled text, special tokens included. Raises ``LookupError`` for an id outside the vocabulary."""


@dataclass(frozen=True, slots=True)
class Unaligned:
    """A candidate that cannot be trained, with the reason."""

    group: str
    sample: int
    reason: str


def covered(segment: Segment) -> str:
    """Return why a segment's assistant messages are not all covered by spans in order; empty when they are."""
    spoken = [index for index, message in enumerate(segment.messages) if message.role == "assistant"]
    spans = [span.message for span in segment.tokens]
    if not spoken:
        return "no assistant message"
    missing = [index for index in spoken if index not in spans]
    if missing:
        return f"message {missing[0]}: no token ids"
    if spans != spoken:
        return f"spans {spans} do not stand for assistant messages {spoken}, one each in order"
    return ""


def sequences_of(segment: Segment, *, group: str, sample: int, advantage: float) -> list[TokenSequence]:
    """Return the trainable sequences of a segment whose spans cover it.

    Args:
        segment: with spans and, from :func:`weft.train.credit.segment_flags`, flags.
        group: id of its turn group.
        sample: index in the group.
        advantage: of the segment; tokens of flagged assistant turns get min(A, 0).
    """
    flagged = flagged_messages(segment.flags)
    found: list[TokenSequence] = []
    opened: list[TokenSpan] = []
    for span in segment.tokens:
        if opened and not _extends(opened[-1], span):
            found.append(_joined(opened, flagged, group, sample, advantage))
            opened = []
        opened.append(span)
    if opened:
        found.append(_joined(opened, flagged, group, sample, advantage))
    return found


def _extends(before: TokenSpan, after: TokenSpan) -> bool:
    prefix = before.prompt_ids + before.token_ids
    return before.sampling == after.sampling and after.prompt_ids[: len(prefix)] == prefix


def _joined(
    spans: Sequence[TokenSpan], flagged: frozenset[int], group: str, sample: int, advantage: float
) -> TokenSequence:
    ids: list[int] = []
    trainable: list[int] = []
    logprobs: list[float | None] = []
    advantages: list[float] = []
    for span in spans:
        seen = span.prompt_ids[len(ids) :]
        drawn = span.token_ids
        ids += [*seen, *drawn]
        trainable += [0] * len(seen) + [1] * len(drawn)
        logprobs += [*([None] * len(seen)), *span.logprobs]
        advantages += [0.0] * len(seen) + [masked_credit(advantage, span.message in flagged)] * len(drawn)
    return TokenSequence(
        token_ids=tuple(ids),
        trainable=tuple(trainable),
        logprobs=tuple(logprobs),
        advantages=tuple(advantages),
        group=group,
        sample=sample,
        sampling=spans[0].sampling,
    )


def rows_of(group: TurnGroup, decode: Decode | None = None) -> tuple[list[TokenSequence], list[Unaligned]]:
    """Return the trainable rows of a kept group, and its candidates that cannot be trained with their reasons.

    The advantages stand as they were computed from all rewards: a refused row takes no part in training and changes
    nothing for its siblings.

    Args:
        group: with segments and advantages.
        decode: of the policy's tokenizer; with it, ids outside the vocabulary are found.
    """
    rows: list[TokenSequence] = []
    refused: list[Unaligned] = []
    for sample, (segment, advantage) in enumerate(zip(group.segments, group.advantages, strict=True)):
        reason = covered(segment) or _spans_fault(segment, decode)
        made = [] if reason else sequences_of(segment, group=group.id, sample=sample, advantage=advantage)
        reason = reason or next((fault for fault in map(row_fault, made) if fault), "")
        if reason:
            refused.append(Unaligned(group.id, sample, reason))
        else:
            rows += made
    return rows, refused


def _spans_fault(segment: Segment, decode: Decode | None) -> str:
    for span in segment.tokens:
        fault = span_fault(span.prompt_ids, span.token_ids, span.logprobs, decode=decode)
        if fault:
            return f"message {span.message}: {fault}"
    return ""
