"""A till whose one tool adds an amount, a task of two turns over it, and a policy that errs by its seed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from weft.errors import ModelError, VerifierError
from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import ComposedTask, EnvironmentPin, Texts
from weft.records.trace import FunctionCall, LedgerEntry, Message, ToolCall
from weft.records.verdict import CheckResult, Verdict
from weft.rollouts.runner import Episode
from weft.testing import InMemoryToolHost, ScriptedCompletion


def add(rows: dict[str, list[dict[str, Any]]], arguments: dict[str, Any]) -> Any:
    till = rows["till"][0]
    till["total"] += arguments["amount"]
    return {"total": till["total"]}


@dataclass
class TillJudge:
    """Turn n1 wants 5 in the till, turn n2 wants 12: each adds to what the turn before it left."""

    wanted: Mapping[str, int] = field(default_factory=lambda: {"n1": 5, "n2": 12})
    broken: bool = False
    seen: list[tuple[str, int]] = field(default_factory=list)

    def judge(
        self,
        nodes: Sequence[str],
        *,
        ledger: Sequence[LedgerEntry],
        earlier: Sequence[LedgerEntry],
        reply: str | None,
        slots: Mapping[str, Mapping[str, Any]],
    ) -> Verdict:
        if self.broken:
            raise VerifierError("planned")
        total = [*earlier, *ledger][-1].result["total"]
        self.seen.append((nodes[0], total))
        passed = total == self.wanted[nodes[0]] and reply is not None
        return Verdict(passed=passed, checks=(CheckResult(name="total", passed=passed),), slots={"total": total})


@dataclass
class TillPolicy:
    """Adds ``right(seed)`` in each turn and then says so; ``refuse(seed)`` fails the request instead."""

    amounts: Callable[[int, int], int]
    refuse: Callable[[int], bool] = lambda _seed: False
    name: str = "scripted:till"
    histories: list[tuple[Message, ...]] = field(default_factory=list)

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int, temperature: float = 1.0
    ) -> ScriptedCompletion:
        if self.refuse(seed):
            raise ModelError("planned")
        if messages[-1].role == "tool":
            return ScriptedCompletion(Message(role="assistant", content=f"Now {messages[-1].content}."))
        self.histories.append(tuple(messages))
        turn = sum(message.role == "user" for message in messages)
        arguments = f'{{"amount": {self.amounts(turn, seed)}}}'
        call = ToolCall(id="c", type="function", function=FunctionCall(name="add", arguments=arguments))
        return ScriptedCompletion(Message(role="assistant", tool_calls=(call,)))


def texts(text: str) -> Texts:
    return Texts(vague=text, partial=text, full=text)


@pytest.fixture
def till_host() -> InMemoryToolHost:
    """The host of the till."""
    return InMemoryToolHost({("till", "add"): add})


@pytest.fixture
def till_judge() -> TillJudge:
    """The judge of the task."""
    return TillJudge()


@pytest.fixture
def till_policy() -> type[TillPolicy]:
    """The policy, to be made with its amounts."""
    return TillPolicy


@pytest.fixture
def till(till_judge: TillJudge) -> Episode:
    """Bring the till to 5, then to 12."""
    tool = ToolSpec(name="add", description="add", input_schema={"type": "object"}, declared={"name": "add"})
    state = InitialState(rows={"till": [{"id": 1, "total": 0}]})
    spec = McpSpec(name="till", title="Till", tools=(tool,))
    environment = Environment(spec=spec, contracts=ContractSet(schema=DatabaseSchema(), contracts=()), seed=state)
    task = ComposedTask(
        id="task-1",
        profile="Simple",
        objective="fill the till",
        environments=(EnvironmentPin(name="till", hash="", state=""),),
        brief=texts("Bring the till to 5 and then to 12."),
        requests=(texts("Bring the till to 5."), texts("Bring the till to 12.")),
    )
    return Episode(task, ("n1", "n2"), (environment,), {"till": state}, till_judge)
