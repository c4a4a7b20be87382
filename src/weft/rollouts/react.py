"""The ReAct harness: reason, call tools, observe, until a reply without tool calls (Weft 3.1.3)."""

import json
from collections.abc import Sequence
from typing import Any

from weft.errors import FormatError, ModelError
from weft.ports import ModelClient, OfferedTool, SessionGroup
from weft.records.base import JSON
from weft.records.codec import parse_json
from weft.records.trace import Message, Segment, StopReason, TokenSpan, ToolCall
from weft.rollouts.harness import openai_tool
from weft.rollouts.limits import Limits

SYSTEM = (
    "You are an assistant who gets things done with the tools you are given. Look things up before you act on them, "
    "change only what was asked for, and when the request is done answer it in plain words without calling a tool. "
    "If something cannot be done, change nothing and say why."
)


def shown(value: JSON, limit: int) -> str:
    """Return a tool result as the policy sees it: compact JSON, cut after ``limit`` characters with a mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= limit else f"{text[:limit]}... [{len(text) - limit} more characters]"


def parse_arguments(text: str) -> JSON:
    """Return the arguments of a sampled call; an empty text means no arguments.

    Raises:
        FormatError: not JSON, or not an object.
    """
    if not text.strip():
        return {}
    value = parse_json(text, "arguments")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FormatError(f"arguments: a JSON object is wanted, not {type(value).__name__}")
    return value


class ReactHarness:
    """The built-in harness; serves both views."""

    name = "react"

    def system(self, tools: Sequence[OfferedTool]) -> str:
        """The system prompt; the tools go with each request, not into the prompt."""
        return SYSTEM

    async def run(
        self,
        policy: ModelClient,
        group: SessionGroup,
        history: Sequence[Message],
        request: str,
        *,
        limits: Limits,
        seed: int,
    ) -> Segment:
        """See :class:`weft.rollouts.harness.Harness`."""
        offered = {tool.name: tool for tool in group.tools()}
        tools = [openai_tool(tool) for tool in offered.values()]
        start = len(await group.ledger())
        messages: list[Message] = [Message(role="user", content=request)]
        tokens: list[TokenSpan] = []
        steps = calls = 0
        stop: StopReason | None = None
        while stop is None:
            stop = limits.spent(steps, calls)
            if stop is not None:
                break
            try:
                completion = await policy.complete([*history, *messages], tools, seed=seed)
            except ModelError:
                stop = StopReason.MODEL_ERROR
                break
            steps += 1
            if completion.tokens is not None:
                tokens.append(completion.tokens.model_copy(update={"message": len(messages)}))
            messages.append(completion.message)
            if completion.truncated:
                stop = StopReason.TOKEN_LIMIT
            elif not completion.message.tool_calls:
                stop = StopReason.REPLY
            else:
                for call in completion.message.tool_calls:
                    calls += 1
                    messages.append(await self._answer(call, offered, group, limits))
        return Segment(
            messages=tuple(messages), stop=stop, ledger=tuple(await group.ledger(start)), tokens=tuple(tokens)
        )

    async def _answer(
        self, call: ToolCall, offered: dict[str, OfferedTool], group: SessionGroup, limits: Limits
    ) -> Message:
        tool = offered.get(call.function.name)
        value: Any
        if tool is None:
            value = {"error": {"code": "unknown_tool", "message": f"there is no tool {call.function.name!r}"}}
        else:
            try:
                arguments = parse_arguments(call.function.arguments)
            except FormatError as error:
                value = {"error": {"code": "malformed_arguments", "message": str(error)}}
            else:
                value = (await group.call(tool.server, tool.spec.name, arguments, call_id=call.id)).value
        return Message(
            role="tool",
            tool_call_id=call.id,
            name=call.function.name,
            content=shown(value, limits.result_chars),
        )
