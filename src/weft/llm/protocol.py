"""The text protocol of Qwen3-shaped models: ``<tool_call>{json}</tool_call>`` beside ``<think>``. Pure.

Only calls outside reasoning count, since a call that was merely considered must not run. The JSON of a call is read
to its own end, so tags inside its strings mean nothing. What does not parse stays in the content as it was sampled,
where a reader, and the credit check, can see it.
"""

import json
import re
from dataclasses import dataclass

MALFORMED_CALL = "malformed_call"
MALFORMED_REASONING = "malformed_reasoning"

_MARKS = re.compile(r"</?(?:think|tool_call)>")
_SPACE = re.compile(r"\s*")
_CLOSED = re.compile(r"\s*</tool_call>")


@dataclass(frozen=True, slots=True)
class SpokenCall:
    """A call as spoken; ``arguments`` is their JSON text verbatim, empty when there was none."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A parsed assistant text.

    Attributes:
        content: what stands outside of reasoning and well-formed calls, without white space around it.
        reasoning: what was thought, None when nothing was.
        calls: in order.
        faults: what was malformed, each kind once, in order.
    """

    content: str
    reasoning: str | None = None
    calls: tuple[SpokenCall, ...] = ()
    faults: tuple[str, ...] = ()


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def parse_spoken(text: str) -> Spoken:
    """Parse a whole assistant text (without its end token).

    A ``</think>`` without its opening closes reasoning that the prompt opened. Reasoning that is never closed has no
    calls after or before it: the whole text is content.
    """
    content: list[str] = []
    thoughts: list[str] = []
    calls: list[SpokenCall] = []
    faults: list[str] = []
    at = 0
    while mark := _MARKS.search(text, at):
        content.append(text[at : mark.start()])
        at = mark.end()
        tag = mark.group()
        if tag == "<tool_call>" and (read := _call(text, at)):
            calls.append(read[0])
            at = read[1]
        elif tag == "<think>":
            end = text.find("</think>", at)
            if end < 0:
                return Spoken(text.strip(), faults=(*dict.fromkeys(faults), MALFORMED_REASONING))
            thoughts.append(text[at:end])
            at = end + len("</think>")
        elif tag == "</think>" and not thoughts:
            thoughts.append(text[: mark.start()])
            content, calls, faults = [], [], []
        else:
            faults.append(MALFORMED_REASONING if tag == "</think>" else MALFORMED_CALL)
            content.append(tag)
    content.append(text[at:])
    thought = "\n".join(part.strip() for part in thoughts if part.strip())
    return Spoken("".join(content).strip(), thought or None, tuple(calls), tuple(dict.fromkeys(faults)))


def _call(text: str, start: int) -> tuple[SpokenCall, int] | None:
    """Read a call from behind its opening tag to behind its closing one; None when it is malformed."""
    try:
        members, end = _members(text, start)
        closed = _CLOSED.match(text, end)
        name = json.loads(members.get("name", "null"))
    except (ValueError, RecursionError):
        return None
    if closed is None or not isinstance(name, str) or not name or not members.keys() <= {"name", "arguments"}:
        return None
    return SpokenCall(name, members.get("arguments", "")), closed.end()


def _members(text: str, start: int) -> tuple[dict[str, str], int]:
    """Return the JSON text of each value of an object by key, and the position behind its brace.

    Raises:
        ValueError: not a non-empty object, or a key stands twice.
    """
    members: dict[str, str] = {}
    at = _expect(text, start, "{")
    while True:
        key, at = _DECODER.raw_decode(text, at)
        if not isinstance(key, str) or key in members:
            raise ValueError(f"{key!r} is no key, or stands twice")
        at = _expect(text, at, ":")
        _, end = _DECODER.raw_decode(text, at)
        members[key] = text[at:end]
        at = _skip(text, end)
        if text[at : at + 1] == "}":
            return members, at + 1
        at = _expect(text, at, ",")


def _skip(text: str, start: int) -> int:
    """Return the position behind white space."""
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _expect(text: str, start: int, sign: str) -> int:
    """Return the position behind ``sign`` and the white space around it.

    Raises:
        ValueError: it is not there.
    """
    at = _skip(text, start)
    if text[at : at + 1] != sign:
        raise ValueError(f"{sign!r} is missing at {at}")
    return _skip(text, at + 1)
