"""Traces: tool calls, ledger entries, segments and trajectories."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.state import Changeset


class Outcome(StrEnum):
    """How a tool call ended. ERROR is the caller's to act on; FAULT is the environment's; INFRASTRUCTURE the host's."""

    OK = "ok"
    ERROR = "error"
    FAULT = "fault"
    INFRASTRUCTURE = "infrastructure"


class ToolResult(Record):
    """What a tool call gave.

    Attributes:
        outcome: see :class:`Outcome`.
        value: the JSON result, or for ERROR and FAULT ``{"error": {"code", "message", "details"?}}``.
    """

    outcome: Outcome
    value: Any

    @property
    def is_error(self) -> bool:
        """True unless the outcome is OK (MCP's ``isError``)."""
        return self.outcome is not Outcome.OK


class LedgerEntry(Record):
    """One tool call in a session group's ledger. Durations are kept apart (``timings.json``), not here.

    Attributes:
        index: position in the branch's ledger, from 0.
        call_id: the caller's id, recorded and never used as a key.
        server: environment name.
        tool: declared tool name.
        arguments: as received (any JSON value, also a wrong one).
        outcome: how it ended.
        result: the value returned.
        changes: row and file changes that it made.
    """

    index: int
    call_id: str = ""
    server: str
    tool: str
    arguments: Any = None
    outcome: Outcome
    result: Any = None
    changes: Changeset = Changeset()


class FunctionCall(Record):
    """Function part of a tool call in OpenAI form; ``arguments`` is the text exactly as sampled."""

    name: str
    arguments: str


class ToolCall(Record):
    """A tool call in OpenAI form."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class Message(Record):
    """A chat message in OpenAI form; use :meth:`openai` for the wire."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    def openai(self) -> dict[str, Any]:
        """Return the OpenAI JSON form: no empty fields, ``content`` always there."""
        body: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning_content is not None:
            body["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            body["tool_calls"] = [call.model_dump(mode="json") for call in self.tool_calls]
        if self.tool_call_id is not None:
            body["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            body["name"] = self.name
        return body


class StopReason(StrEnum):
    """Why a segment ended."""

    REPLY = "reply"  # a reply without tool calls: the regular end of an atomic-task turn
    CALL_LIMIT = "call_limit"
    STEP_LIMIT = "step_limit"
    TOKEN_LIMIT = "token_limit"
    MODEL_ERROR = "model_error"
    INFRASTRUCTURE = "infrastructure"


class SamplingSettings(Record):
    """How tokens were drawn. The defaults draw from the whole distribution of the model, which is what training needs.

    Attributes:
        temperature: divisor of the logits.
        top_p: kept probability mass; 1 keeps everything.
        top_k: kept tokens; 0 keeps all.
        min_p: least probability relative to the likeliest token; 0 keeps all.
        reshaped: names of further settings that change the distribution (penalties, biases, constrained decoding).
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    reshaped: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """True if nothing was cut off and the temperature is 1: log-probabilities then compare with the trainer's."""
        return self == SamplingSettings()


class TokenSpan(Record):
    """The sampled tokens of one assistant message (for policies that give them).

    Attributes:
        message: index of the message in the segment.
        prompt_ids: the token ids of everything before it, as the policy saw them.
        token_ids: the sampled ids, end token included.
        logprobs: full-precision log-probabilities of ``token_ids`` under the sampling distribution.
        sampling: how they were drawn.
    """

    message: int
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    sampling: SamplingSettings = SamplingSettings()


class Segment(Record):
    """One attempt at an atomic-task turn: from the user's request to a reply without tool calls.

    Attributes:
        node: id of the task-graph node (or of the atomic task), ``""`` for an Agentic turn over the whole graph.
        attempt: 0 for the first attempt.
        messages: the turn's messages, the user's request first.
        stop: why it ended.
        ledger: the calls it made.
        tokens: sampled tokens where the policy gave them.
        passed: the verdict of the node's verifier; None when it is unknown (infrastructure, verifier error).
        checks: name -> passed of the verifier's checks.
        cause: typed cause when ``passed`` is not True, e.g. ``policy``, ``infrastructure``, ``verifier_error``.
        flags: deterministic flags for selective credit masking, as ``name:message-index``.
    """

    node: str = ""
    attempt: int = 0
    messages: tuple[Message, ...]
    stop: StopReason
    ledger: tuple[LedgerEntry, ...] = ()
    tokens: tuple[TokenSpan, ...] = ()
    passed: bool | None = None
    checks: dict[str, bool] = Field(default_factory=dict)
    cause: str = ""
    flags: tuple[str, ...] = ()


class Trajectory(Record):
    """A whole rollout: the accepted segments in order, and the rejected attempts apart.

    Attributes:
        task: task id.
        task_hash: content hash of the public task.
        view: ``agentic`` or ``simuser``.
        disclosure: ``vague``, ``partial`` or ``full``.
        harness: ``react`` ...
        policy: name of the policy; ``scripted:`` prefix for scripted ones.
        seed: of the rollout.
        system: the system prompt.
        tools: offered tools in OpenAI form.
        segments: accepted segments, in execution order.
        rejected: rejected attempts (their ``node`` and ``attempt`` say where).
        passed: every node passed and the whole verifier too; None when unknown.
        initial_state: content hash of each server's initial state.
    """

    task: str
    task_hash: str
    view: Literal["agentic", "simuser"]
    disclosure: Literal["vague", "partial", "full"]
    harness: str
    policy: str
    seed: int
    system: str
    tools: tuple[dict[str, Any], ...]
    segments: tuple[Segment, ...]
    rejected: tuple[Segment, ...] = ()
    passed: bool | None = None
    initial_state: dict[str, str] = Field(default_factory=dict)
