"""Selective credit masking (Weft 3.3.2 and B.1). Pure.

Deterministic checks flag assistant turns that repeat tool interactions without progress, that are malformed as a tool
call or as reasoning, that break a tool's interface, or that repeat text or calls to excess. A flagged turn keeps its
blame and loses its praise: min(A, 0) on all of its sampled tokens, in passing segments too. Everything else keeps its
advantage, later recovery included; rewards, masks, KL, entropy and denominators are untouched.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import FormatError
from weft.records.codec import canonical
from weft.records.trace import LedgerEntry, Message, Segment, ToolCall
from weft.rollouts.react import parse_arguments

NO_PROGRESS = "no_progress"
MALFORMED_CALL = "malformed_call"
MALFORMED_REASONING = "malformed_reasoning"
INTERFACE = "interface"
REPEATED_TEXT = "repeated_text"
REPEATED_CALL = "repeated_call"

REFUSED_BY_INTERFACE = frozenset({"unknown_tool", "invalid_argument"})
"""Error codes that say the call itself was wrong, whatever the state. ``malformed_arguments`` counts as malformed."""

_CALL_MARKS = ("<tool_call>", "</tool_call>")
_THINK_MARKS = ("<think>", "</think>")
# One CJK character, one word, or one other visible sign: what counts as a unit of text.
_UNITS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|[^\w\s]")
# A short stretch inside one long word, over and over.
_STUTTER = re.compile(r"(.{1,20}?)\1{9,}")
LONGEST_PERIOD = 40
REPEATS = 5
LEAST_UNITS = 20
LEAST_LINE = 4
CALL_REPEATS = 5


@dataclass(frozen=True, slots=True)
class MadeCall:
    """One tool call of a segment with what came of it.

    Attributes:
        message: index of the assistant message.
        key: name and canonical arguments; the text itself when it is not a JSON object.
        malformed: its arguments are not a JSON object.
        result: what the policy was shown, None if nothing.
        code: of the error it was answered with, empty otherwise.
        changed: it changed rows or files.
    """

    message: int
    key: str
    malformed: bool
    result: str | None
    code: str
    changed: bool


def segment_flags(segment: Segment) -> tuple[str, ...]:
    """Return the flags of a segment as ``name:message-index``, in order of messages, each once."""
    found: set[tuple[int, str]] = set()
    for index, message in enumerate(segment.messages):
        if message.role == "assistant":
            found |= {(index, name) for name in _structure(message)}
    found |= set(_interactions(made_calls(segment)))
    return tuple(f"{name}:{index}" for index, name in sorted(found))


def flagged_messages(flags: Sequence[str]) -> frozenset[int]:
    """Return the message indices that flags name.

    Raises:
        FormatError: a flag is not ``name:message-index``.
    """
    indices = set()
    for flag in flags:
        name, _, index = flag.rpartition(":")
        if not name or not index.isdigit():
            raise FormatError(f"flag {flag!r} is not name:message-index")
        indices.add(int(index))
    return frozenset(indices)


def masked_credit(advantage: float, flagged: bool) -> float:
    """Return min(A, 0) for a token of a flagged assistant turn, else A (Weft 3.3.2)."""
    return min(advantage, 0.0) if flagged else advantage


def made_calls(segment: Segment) -> list[MadeCall]:
    """Return the segment's tool calls in order, each with its shown result and what the ledger says of it."""
    entries = list(segment.ledger)
    made: list[MadeCall] = []
    for index, message in enumerate(segment.messages):
        answers = _answers(segment.messages, index)
        for call in message.tool_calls:
            entry = entries.pop(0) if entries and _is_entry_of(entries[0], call) else None
            made.append(_made(index, call, next(answers, None), entry))
    return made


def _answers(messages: Sequence[Message], index: int) -> Iterator[str | None]:
    """Yield the tool messages that directly follow an assistant message: they answer its calls in order."""
    for message in messages[index + 1 :]:
        if message.role != "tool":
            return
        yield message.content


def _is_entry_of(entry: LedgerEntry, call: ToolCall) -> bool:
    return entry.call_id == call.id and call.function.name in (entry.tool, f"{entry.server}__{entry.tool}")


def _made(index: int, call: ToolCall, result: str | None, entry: LedgerEntry | None) -> MadeCall:
    try:
        key = canonical(parse_arguments(call.function.arguments)).decode()
        malformed = False
    except FormatError:
        key, malformed = call.function.arguments, True
    return MadeCall(
        message=index,
        key=f"{call.function.name} {key}",
        malformed=malformed,
        result=result,
        code=_code(entry.result if entry is not None else _shown(result)),
        changed=entry is not None and bool(entry.changes.rows or entry.changes.files),
    )


def _shown(result: str | None) -> Any:
    try:
        return json.loads(result or "null")
    except ValueError:
        return None


def _code(value: Any) -> str:
    error = value.get("error") if isinstance(value, dict) else None
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def _interactions(made: Sequence[MadeCall]) -> Iterator[tuple[int, str]]:
    """Flag interface errors and repetition; after a change of state a repeated call is a fresh look."""
    seen: set[tuple[str, str | None]] = set()
    idle: Counter[str] = Counter()
    for call in made:
        if call.malformed:
            yield call.message, MALFORMED_CALL
        elif call.code in REFUSED_BY_INTERFACE:
            yield call.message, INTERFACE
        if call.changed:
            seen.clear()
            idle.clear()
        idle[call.key] += 1
        if (call.key, call.result) in seen:
            yield call.message, NO_PROGRESS
        if idle[call.key] >= CALL_REPEATS:
            yield call.message, REPEATED_CALL
        seen.add((call.key, call.result))


def _structure(message: Message) -> Iterator[str]:
    """Flag what is left of a tool-call or reasoning protocol in the text, an empty turn, and repetitious text."""
    content, reasoning = message.content or "", message.reasoning_content or ""
    if any(mark in content for mark in _CALL_MARKS) or not (content.strip() or message.tool_calls):
        yield MALFORMED_CALL
    if any(mark in content for mark in _THINK_MARKS) or "<think>" in reasoning:
        yield MALFORMED_REASONING
    if repetitious(content) or repetitious(reasoning):
        yield REPEATED_TEXT


def repetitious(text: str) -> bool:
    """True if a text repeats itself to excess.

    That is: a stretch of up to 40 units (words; characters where words are not spaced) said at least 5 times in a row
    and 20 units long in all; or the same line of at least 4 units standing at least 5 times; or a long word that
    stutters. Rules, table borders and lists with the same labels but different values do not count.
    """
    units = [unit.casefold() for unit in _UNITS.findall(text)]
    if any(len(unit) >= LEAST_UNITS and not unit.isdecimal() and _STUTTER.search(unit) for unit in units):
        return True
    lines = Counter(line.strip() for line in text.splitlines())
    if any(count >= REPEATS and len(_words(line)) >= LEAST_LINE for line, count in lines.items()):
        return True
    return any(_loops(units, period) for period in range(1, min(LONGEST_PERIOD, len(units) // REPEATS) + 1))


def _words(line: str) -> list[str]:
    return [unit for unit in _UNITS.findall(line) if unit.isalnum()]


def _loops(units: Sequence[str], period: int) -> bool:
    run = 0
    for at in range(period, len(units)):
        run = run + 1 if units[at] == units[at - period] else 0
        total = run + period
        if total >= max(REPEATS * period, LEAST_UNITS) and any(u.isalnum() for u in units[at - period + 1 : at + 1]):
            return True
    return False
