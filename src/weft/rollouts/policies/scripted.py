"""The scripted reference policy: follows a task's reference, with every argument taken from what it observed.

It is a :class:`~weft.ports.ModelClient`, so it stands where a model would. It reads the conversation and nothing else
of the
environment: a tool that answers wrongly leads it astray, and a restored or forked conversation continues where it is.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from weft.agents.reference import Unresolved, reply_of, resolve
from weft.errors import ModelError
from weft.records.base import JSON
from weft.records.task import AtomicSolution, ReferenceStep
from weft.records.trace import FunctionCall, Message, TokenSpan, ToolCall


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """One node as the policy knows it.

    Attributes:
        id: node id, unique in the task.
        solution: reference and reply.
        inputs: values that the request states.
        bound: input name -> (upstream node id, output name) for values to be taken from upstream results.
    """

    id: str
    solution: AtomicSolution
    inputs: Mapping[str, JSON]
    bound: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A completion without tokens."""

    message: Message
    tokens: TokenSpan | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class NextCall:
    """The next call of the reference, with its arguments resolved."""

    node: PlannedNode
    step: ReferenceStep
    arguments: dict[str, JSON]


def call_id(node: str, step: str, repeat: int = 0) -> str:
    """Return the id that the policy gives to the call of a step."""
    return f"call_{node}_{step}" + (f"_again{repeat}" if repeat else "")


class Observed:
    """What the conversation shows: the results of the policy's own calls by node and step."""

    def __init__(self, plan: Sequence[PlannedNode], messages: Sequence[Message]) -> None:
        steps = {call_id(node.id, step.id): (node.id, step.id) for node in plan for step in node.solution.reference}
        self.called: set[str] = {call.id for message in messages for call in message.tool_calls}
        self.results: dict[str, dict[str, JSON]] = {node.id: {} for node in plan}
        for message in messages:
            if message.role == "tool" and message.tool_call_id in steps:
                node, step = steps[message.tool_call_id]
                try:
                    self.results[node][step] = json.loads(message.content or "null")
                except ValueError:
                    self.results[node][step] = None

    def inputs(self, node: PlannedNode, plan: Mapping[str, PlannedNode]) -> dict[str, JSON]:
        """Return a node's inputs: what was stated, and what upstream results show.

        Raises:
            Unresolved: an upstream output was not observed.
        """
        known = dict(node.inputs)
        for name, (upstream, output) in node.bound.items():
            source = plan[upstream]
            outputs = {item.name: item for item in source.solution.outputs}
            known[name] = resolve(outputs[output].source, self.inputs(source, plan), self.results[upstream])
        return known


class ReferencePolicy:
    """Follows the reference of the nodes of each turn.

    Args:
        turns: the planned nodes of each user request, in order.
        names: (server, declared tool) -> offered tool name.
    """

    name = "scripted:reference"

    def __init__(self, turns: Sequence[Sequence[PlannedNode]], names: Mapping[tuple[str, str], str]) -> None:
        self._turns = tuple(tuple(turn) for turn in turns)
        self._plan = {node.id: node for turn in self._turns for node in turn}
        self._names = dict(names)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> Sampled:
        """See :class:`weft.ports.ModelClient`; seed and temperature change nothing here."""
        turn = self.turn(messages)
        try:
            following = self.following(turn, messages)
        except Unresolved as error:
            return self.say(f"I could not finish this: {error}.")
        if isinstance(following, str):
            return self.say(following)
        return self.call(following)

    def turn(self, messages: Sequence[Message]) -> tuple[PlannedNode, ...]:
        """Return the nodes of the present turn.

        Raises:
            ModelError: there are more requests than turns.
        """
        asked = sum(message.role == "user" for message in messages)
        if not 1 <= asked <= len(self._turns):
            raise ModelError(f"{self.name}: request {asked} of a task with {len(self._turns)} turns")
        return self._turns[asked - 1]

    def following(
        self, turn: Sequence[PlannedNode], messages: Sequence[Message], skip: Set[str] = frozenset()
    ) -> NextCall | str:
        """Return the next call of the turn, or its final reply.

        Args:
            turn: nodes of the present turn.
            messages: the conversation.
            skip: call ids to pass over as if they had been made.

        Raises:
            Unresolved: what comes next rests on something that was not observed.
        """
        seen = Observed(tuple(self._plan.values()), messages)
        for node in turn:
            for step in node.solution.reference:
                made = call_id(node.id, step.id)
                if made in seen.called or made in skip:
                    continue
                inputs = seen.inputs(node, self._plan)
                results = seen.results[node.id]
                return NextCall(
                    node,
                    step,
                    {name: resolve(item, inputs, results) for name, item in step.arguments.items()},
                )
        return " ".join(reply_of(node.solution, seen.inputs(node, self._plan), seen.results[node.id]) for node in turn)

    def say(self, text: str) -> Sampled:
        """Return a reply without tool calls."""
        return Sampled(Message(role="assistant", content=text))

    def call(self, following: NextCall, *, text: str | None = None, repeat: int = 0) -> Sampled:
        """Return an assistant message with one call; ``text`` replaces the arguments' JSON text."""
        step = following.step
        try:
            name = self._names[step.server, step.tool]
        except KeyError as error:
            raise ModelError(f"{self.name}: tool {step.tool!r} of {step.server!r} is not offered") from error
        function = FunctionCall(
            name=name,
            arguments=text if text is not None else json.dumps(following.arguments, ensure_ascii=False),
        )
        made = ToolCall(id=call_id(following.node.id, step.id, repeat), type="function", function=function)
        return Sampled(Message(role="assistant", content=None, tool_calls=(made,)))
