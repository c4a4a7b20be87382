"""The harness port: an agent loop that turns a request into a segment (Weft 3.1.3)."""

from collections.abc import Sequence
from typing import Any, Protocol

from weft.ports import ModelClient, OfferedTool, SessionGroup
from weft.records.trace import Message, Segment
from weft.rollouts.limits import Limits


class Harness(Protocol):
    """An agent loop with its own prompts, tool-call protocol and error recovery."""

    @property
    def name(self) -> str:
        """``react`` ..."""

    def system(self, tools: Sequence[OfferedTool]) -> str:
        """The system prompt."""

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
        """Run one turn from ``history`` (system prompt first) to a reply without tool calls.

        Raises:
            HostError: the host failed; the segment is not data.
        """


def openai_tool(tool: OfferedTool) -> dict[str, Any]:
    """Return a tool in OpenAI form. A tool without parameters shows an empty object schema."""
    schema = dict(tool.spec.input_schema)
    schema.setdefault("type", "object")
    if schema["type"] == "object":
        schema.setdefault("properties", {})
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.spec.description, "parameters": schema},
    }
