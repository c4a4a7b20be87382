"""The noisy policy: the reference policy with seeded faults.

It exercises rejection sampling, verifiers and attribution. Each turn draws from its seed whether it is faulty and
how. The five faults are those that real policies show: a dropped
call, the wrong entity, malformed arguments, stopping early, and repetition.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from weft.agents.reference import Unresolved, objects
from weft.errors import InputError
from weft.records.base import JSON
from weft.records.task import FromStep
from weft.records.trace import Message
from weft.rollouts.policies.scripted import NextCall, Observed, PlannedNode, ReferencePolicy, Sampled, call_id


class Fault(StrEnum):
    """What goes wrong in a turn."""

    DROPPED_CALL = "dropped_call"
    WRONG_ENTITY = "wrong_entity"
    MALFORMED_ARGUMENTS = "malformed_arguments"
    EARLY_STOP = "early_stop"
    REPETITION = "repetition"


def draw(seed: int, label: str) -> float:
    """Return a number in [0, 1) that depends on seed and label only."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{label}".encode()).digest()[:7], "big") / float(1 << 56)


class NoisyPolicy(ReferencePolicy):
    """The reference policy with faults.

    Args:
        turns: see :class:`ReferencePolicy`.
        names: see :class:`ReferencePolicy`.
        rate: probability that a turn is faulty, 0 to 1.
        repeats: how many times a repetition repeats a call.
    """

    name = "scripted:noisy"

    def __init__(
        self,
        turns: Sequence[Sequence[PlannedNode]],
        names: Mapping[tuple[str, str], str],
        *,
        rate: float = 0.3,
        repeats: int = 3,
    ) -> None:
        super().__init__(turns, names)
        if not 0.0 <= rate <= 1.0:
            raise InputError(f"fault rate is {rate}; give a probability from 0 to 1")
        self._rate = rate
        self._repeats = repeats

    def fault(self, turn: Sequence[PlannedNode], seed: int) -> tuple[Fault, str] | None:
        """Return the turn's fault and the id of the call that it strikes, or None."""
        label = turn[0].id
        if draw(seed, f"{label}/faulty") >= self._rate:
            return None
        steps = [call_id(node.id, step.id) for node in turn for step in node.solution.reference]
        kinds = tuple(Fault)
        kind = kinds[int(draw(seed, f"{label}/kind") * len(kinds))]
        return kind, steps[int(draw(seed, f"{label}/step") * len(steps))] if steps else ""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> Sampled:
        """See :class:`weft.ports.ModelClient`; the seed decides the fault of the turn."""
        turn = self.turn(messages)
        fault = self.fault(turn, seed)
        if fault is None:
            return await super().complete(messages, tools, seed=seed)
        kind, struck = fault
        skip = frozenset({struck}) if kind is Fault.DROPPED_CALL else frozenset[str]()
        try:
            following = self.following(turn, messages, skip)
        except Unresolved as error:
            return self.say(f"I could not finish this: {error}.")
        if isinstance(following, str):
            return self.say(following)
        if kind is Fault.REPETITION:
            return self._repeated(following, struck, messages)
        if call_id(following.node.id, following.step.id) != struck:
            return self.call(following)
        if kind is Fault.EARLY_STOP:
            return self.say("That is all done.")
        if kind is Fault.MALFORMED_ARGUMENTS:
            return self.call(following, text=json.dumps(following.arguments, ensure_ascii=False)[:-1] + ',"')
        if kind is Fault.WRONG_ENTITY:
            return self.call(self._mistaken(following, messages))
        return self.call(following)

    def _repeated(self, following: NextCall, struck: str, messages: Sequence[Message]) -> Sampled:
        """Make the struck call again and again before going on."""
        made = {call.id for message in messages for call in message.tool_calls}
        if call_id(following.node.id, following.step.id) != struck:
            return self.call(following)
        for repeat in range(1, self._repeats + 1):
            if f"{struck}_again{repeat}" not in made:
                return self.call(following, repeat=repeat)
        return self.call(following)

    def _mistaken(self, following: NextCall, messages: Sequence[Message]) -> NextCall:
        """Swap one observed argument for the same field of another object, or spoil the first argument."""
        seen = Observed(tuple(self._plan.values()), messages)
        for name, source in following.step.arguments.items():
            if isinstance(source, FromStep):
                rivals = [
                    item[source.field]
                    for item in objects(seen.results[following.node.id].get(source.step))
                    if source.field in item and item[source.field] != following.arguments[name]
                ]
                if rivals:
                    return NextCall(following.node, following.step, {**following.arguments, name: rivals[0]})
        for name, value in following.arguments.items():
            return NextCall(following.node, following.step, {**following.arguments, name: spoiled(value)})
        return following


def spoiled(value: JSON) -> JSON:
    """Return another value of the same JSON type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + " x"
    if isinstance(value, list):
        return value[:-1]
    return value
