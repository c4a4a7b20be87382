"""A streamed answer put back together (pure), for endpoints that stream whether asked to or not.

Fragments of tool calls are joined by id where there is one and by index otherwise; where neither says which call a
fragment continues, the stream is refused: a guess would hand a harness arguments that nobody sampled.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from weft.errors import FormatError, ModelError
from weft.records.codec import parse_json

_LINE = re.compile(r"\r\n|\n|\r")
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


@dataclass(slots=True)
class _Call:
    """A call as far as it has come."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True if its arguments are whole JSON, so that nothing can follow them."""
        try:
            json.loads("".join(self.arguments))
        except ValueError:
            return False
        return True


def events(text: str) -> Iterator[str]:
    """Yield the data of each server-sent event. Comments, other fields and events without data are passed over."""
    data: list[str] = []
    for line in [*_LINE.split(text), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line:
            joined = "\n".join(data)
            if joined.strip():
                yield joined
            data = []


def join_stream(text: str, *, model: str) -> dict[str, Any]:
    """Return the chat completion that a stream of chunks amounts to, with whatever tokens it has.

    Args:
        text: the whole body.
        model: name for errors.

    Raises:
        ModelError: an event is no chunk or reports an error, the stream ends early, or a fragment fits no one call.
    """
    said: dict[str, list[str]] = {}
    calls: list[_Call] = []
    choice: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    for chunk in _chunks(text, model):
        answer.update({name: chunk[name] for name in ("usage", "prompt_token_ids") if chunk.get(name) is not None})
        part = _first(chunk)
        delta = part.get("delta") or {}
        for name in _TEXTS:
            if isinstance(delta.get(name), str):
                said.setdefault(name, []).append(delta[name])
        for fragment in delta.get("tool_calls") or ():
            _take(calls, fragment, model)
        _gather(choice, part)
    if choice.get("finish_reason") is None:
        raise ModelError(f"{model}: the stream ended before the answer did; ask again")
    message: dict[str, Any] = {name: "".join(parts) for name, parts in said.items()}
    if calls:
        message["tool_calls"] = [_whole(call) for call in calls]
    return {**answer, "choices": [{**choice, "message": message}]}


def _chunks(text: str, model: str) -> Iterator[dict[str, Any]]:
    for data in events(text):
        if data.strip() == "[DONE]":
            return
        try:
            chunk = parse_json(data, "event")
        except FormatError as error:
            raise ModelError(f"{model}: an event of the stream is not JSON: {data[:120]!r}") from error
        if not isinstance(chunk, dict) or "error" in chunk:
            raise ModelError(f"{model}: the stream reports {str(chunk)[:200]!r}")
        yield chunk


def _first(chunk: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the first choice; a chunk may have none (usage comes so)."""
    for part in chunk.get("choices") or ():
        if isinstance(part, dict) and part.get("index", 0) == 0:
            return part
    return {}


def _gather(choice: dict[str, Any], part: dict[str, Any]) -> None:
    """Add what a chunk says beside its delta: the reason of the end, token ids, log-probabilities."""
    if part.get("finish_reason") is not None:
        choice["finish_reason"] = part["finish_reason"]
    if isinstance(part.get("token_ids"), list):
        choice.setdefault("token_ids", []).extend(part["token_ids"])
    listed = part.get("logprobs")
    if isinstance(listed, dict) and isinstance(listed.get("content"), list):
        choice.setdefault("logprobs", {"content": []})["content"].extend(listed["content"])


def _take(calls: list[_Call], fragment: Any, model: str) -> None:
    if not isinstance(fragment, dict):
        raise ModelError(f"{model}: a tool call fragment is {fragment!r}")
    function = fragment.get("function") or {}
    index, identity = fragment.get("index"), fragment.get("id") or ""
    name, arguments = function.get("name") or "", function.get("arguments") or ""
    if not isinstance(arguments, str):
        raise ModelError(f"{model}: arguments of {name!r} come as a {type(arguments).__name__}, not as their JSON text")
    call = _continued(calls, index, identity, name, model)
    if call is None:
        if not name:
            raise ModelError(f"{model}: a tool call begins without a name: {str(fragment)[:120]!r}")
        call = _Call(index, identity, name)
        calls.append(call)
    call.id = call.id or identity
    call.arguments.append(arguments)


def _continued(calls: list[_Call], index: Any, identity: str, name: str, model: str) -> _Call | None:
    """Return the call that a fragment continues, None when it opens a new one."""
    if identity:
        known = [call for call in calls if call.id == identity]
        return known[0] if known else None
    open_ = [call for call in calls if (index is None or call.index == index) and not call.complete]
    if len(open_) == 1 and name in ("", open_[0].name):
        return open_[0]
    if name and not open_ and (index is None or all(call.index != index for call in calls)):
        return None
    if not name and not open_ and calls:
        # Only white space or nothing at all can still come for a call whose arguments are whole.
        last = [call for call in calls if index is None or call.index == index]
        if last:
            return last[-1]
    fits = f"{len(open_)} of {len(calls)} calls"
    raise ModelError(f"{model}: a tool call fragment (index {index}, name {name!r}) could continue {fits}")


def _whole(call: _Call) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": "".join(call.arguments)},
    }
