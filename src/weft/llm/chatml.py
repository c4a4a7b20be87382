"""The ChatML rendering of conversations with tools, in the shape of Qwen3's. Pure.

A rendering is a list of pieces. Markup may hold special tokens; everything that came from outside (requests, tool
results, tool declarations) is plain text in which ``<|im_end|>`` is ten ordinary characters. Pieces of assistant
messages that a model is to learn are marked, their end token included, the line break after it not.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

START, END, STOP = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
SPECIAL = (STOP, START, END)
TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")

_TOOLS_BEFORE = "# Tools\n\nEach line between <tools> and </tools> declares one tool that you can call:\n<tools>"
_TOOLS_AFTER = (
    "\n</tools>\n\nA call is one JSON object with the tool's name and its arguments, inside tags:\n"
    '<tool_call>\n{"name": NAME, "arguments": {...}}\n</tool_call>'
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a rendering.

    Attributes:
        text: of it.
        markup: special tokens in the text are special.
        trained: an assistant message's own text.
    """

    text: str
    markup: bool = False
    trained: bool = False


def _mark(text: str, *, trained: bool = False) -> Piece:
    return Piece(text, markup=True, trained=trained)


def render(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, answer: bool) -> list[Piece]:
    """Return the pieces of a whole conversation.

    Args:
        messages: OpenAI form.
        tools: OpenAI form; declared in the system message.
        answer: open an assistant message at the end.
    """
    rest = list(messages)
    system = rest.pop(0).get("content") or "" if rest and rest[0]["role"] == "system" else None
    pieces: list[Piece] = []
    if system is not None or tools:
        pieces += [_mark(f"{START}system\n"), *_system(system or "", tools), _mark(f"{END}\n")]
    return pieces + turns(rest, answer=answer)


def turns(messages: Sequence[Mapping[str, Any]], *, answer: bool) -> list[Piece]:
    """Return the pieces of messages that follow others. Tool messages in a row share one user turn."""
    pieces: list[Piece] = []
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            opens = index == 0 or messages[index - 1]["role"] != "tool"
            closes = index + 1 == len(messages) or messages[index + 1]["role"] != "tool"
            pieces.append(_mark(f"{START}user\n<tool_response>\n" if opens else "\n<tool_response>\n"))
            pieces.append(Piece(message.get("content") or ""))
            pieces.append(_mark(f"\n</tool_response>{END}\n" if closes else "\n</tool_response>"))
        elif role == "assistant":
            pieces += [_mark(f"{START}assistant\n"), *_spoken(message), _mark(END, trained=True), _mark("\n")]
        else:
            pieces += [_mark(f"{START}{role}\n"), Piece(message.get("content") or ""), _mark(f"{END}\n")]
    if answer:
        pieces.append(_mark(f"{START}assistant\n"))
    return pieces


def after(messages: Sequence[Mapping[str, Any]], *, ended: bool) -> list[Piece]:
    """Return the pieces that follow a sampled assistant message, up to the opening of the next one.

    Args:
        messages: since the sampled one.
        ended: the sampled tokens hold the end token; if they were cut, it is put in.
    """
    return [_mark("\n" if ended else f"{END}\n"), *turns(messages, answer=True)]


def _system(text: str, tools: Sequence[Mapping[str, Any]]) -> list[Piece]:
    pieces = [Piece(text)] if text else []
    if tools:
        pieces.append(_mark(f"\n\n{_TOOLS_BEFORE}" if text else _TOOLS_BEFORE))
        for tool in tools:
            declared = json.dumps(tool, ensure_ascii=False)
            pieces += [_mark("\n"), Piece(declared)]
        pieces.append(_mark(_TOOLS_AFTER))
    return pieces


def _spoken(message: Mapping[str, Any]) -> list[Piece]:
    """Return an assistant message as a model says it; the arguments' text stays as it is."""
    pieces: list[Piece] = []
    if message.get("reasoning_content"):
        pieces.append(_mark("<think>\n", trained=True))
        pieces.append(Piece(message["reasoning_content"], trained=True))
        pieces.append(_mark("\n</think>\n\n", trained=True))
    if message.get("content"):
        pieces.append(Piece(message["content"], trained=True))
    for number, call in enumerate(message.get("tool_calls") or ()):
        lead = "\n" if number or message.get("content") else ""
        name = json.dumps(call["function"]["name"], ensure_ascii=False)
        arguments = call["function"]["arguments"] or "{}"
        pieces.append(_mark(f"{lead}<tool_call>\n", trained=True))
        pieces.append(Piece(f'{{"name": {name}, "arguments": {arguments}}}', trained=True))
        pieces.append(_mark("\n</tool_call>", trained=True))
    return pieces
