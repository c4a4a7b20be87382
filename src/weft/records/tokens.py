"""Whether sampled tokens may stand for the text that was sampled (Weft B.1, token-in token-out). Pure.

An engine with a tool parser, a stream, or another log-probability mode can hand back a part of what it sampled. Such
tokens look like any others; trained, they teach a text that nobody said.
"""

import math
from collections.abc import Callable, Sequence

NO_PROMPT = "no prompt ids"
NO_IDS = "no token ids"
LENGTHS = "lengths differ"
NOT_FINITE = "log-probability missing or not finite"
UNKNOWN_ID = "id outside the vocabulary"
NOT_COVERED = "ids do not cover the text"


def span_fault(
    prompt_ids: Sequence[int] | None,
    token_ids: Sequence[int] | None,
    logprobs: Sequence[float | None] | None,
    *,
    text: str | None = None,
    count: int | None = None,
    decode: Callable[[Sequence[int]], str] | None = None,
) -> str:
    """Return why sampled tokens must not be trained, or an empty text.

    Args:
        prompt_ids: ids of everything before the sampled ones.
        token_ids: the sampled ids.
        logprobs: one for each sampled id.
        text: the whole sampled text with its special tokens, where it is known.
        count: how many tokens the engine says it sampled, where it says so.
        decode: ids to text, special tokens included; raises ``LookupError`` for an id that it does not know.
    """
    if not prompt_ids:
        return NO_PROMPT
    if not token_ids:
        return NO_IDS
    if logprobs is None or len(logprobs) != len(token_ids):
        return f"{LENGTHS}: {len(token_ids)} ids, {len(logprobs or ())} log-probabilities"
    for position, value in enumerate(logprobs):
        if value is None or not math.isfinite(value):
            return f"{NOT_FINITE}: {value} at sampled token {position}"
    if count is not None and count != len(token_ids):
        return f"{NOT_COVERED}: {len(token_ids)} ids for {count} sampled tokens"
    if decode is None:
        return ""
    try:
        said = decode(token_ids)
    except LookupError as error:
        return f"{UNKNOWN_ID}: {error}"
    if text is not None and said != text:
        return f"{NOT_COVERED}: they say {said[:80]!r}"
    return ""
