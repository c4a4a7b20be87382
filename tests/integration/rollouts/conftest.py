"""A desk with customers and orders as plain functions, a task of two nodes over it, and its judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from weft.errors import ToolRejection, VerifierError
from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import (
    AtomicSolution,
    ComposedTask,
    EnvironmentPin,
    FromInput,
    FromStep,
    ReferenceStep,
    ReplyPart,
    TaskOutput,
    Texts,
)
from weft.records.trace import LedgerEntry
from weft.records.verdict import CheckResult, Verdict, Verifier
from weft.rollouts.policies.scripted import PlannedNode
from weft.rollouts.runner import Episode
from weft.testing import InMemoryToolHost


def find_customer(rows: dict[str, list[dict[str, Any]]], arguments: dict[str, Any]) -> Any:
    return {"customers": [row for row in rows["customers"] if arguments.get("name", "") in row["name"]]}


def create_order(rows: dict[str, list[dict[str, Any]]], arguments: dict[str, Any]) -> Any:
    known = {row["id"] for row in rows["customers"]}
    if arguments.get("customer") not in known:
        raise ToolRejection("not_found", f"no customer {arguments.get('customer')!r}")
    row = {"id": len(rows["orders"]) + 1, "customer": arguments["customer"], "product": arguments.get("product")}
    rows["orders"].append(row)
    return {"order": row}


def tool(name: str) -> ToolSpec:
    return ToolSpec(name=name, description=name, input_schema={"type": "object"}, declared={"name": name})


@dataclass
class DeskJudge:
    """Node n1 wants the look-up and the number in the reply; n2 wants one order of the right product and customer."""

    broken: bool = False

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
        inserted = [change.after for entry in ledger for change in entry.changes.rows]
        seen = any(entry.tool == "find_customer" for entry in [*earlier, *ledger])
        checks = []
        if "n1" in nodes:
            checks.append(CheckResult(name="looked", passed=seen and "2" in (reply or "")))
        if nodes == ("n1",):
            checks.append(CheckResult(name="frame", passed=not inserted))
        if "n2" in nodes:
            right = [{"id": 1, "customer": 2, "product": "lamp"}]
            checks.append(CheckResult(name="order", passed=inserted == right and reply is not None))
        passed = all(check.passed for check in checks)
        return Verdict(passed=passed, checks=tuple(checks), slots={"customer": 2} if passed else {})


def solution(task: str, steps: tuple[ReferenceStep, ...], text: str, **more: Any) -> AtomicSolution:
    return AtomicSolution(
        task=task,
        chain=tuple(step.tool for step in steps),
        reference=steps,
        reply_text=text,
        verifier=Verifier(),
        **more,
    )


BY_NAME = FromStep(kind="step", step="s1", field="id", match={"name": FromInput(kind="input", name="name")})
LOOK = ReferenceStep(
    id="s1", server="desk", tool="find_customer", arguments={"name": FromInput(kind="input", name="name")}
)
ORDER = ReferenceStep(
    id="s1",
    server="desk",
    tool="create_order",
    arguments={
        "customer": FromInput(kind="input", name="customer"),
        "product": FromInput(kind="input", name="product"),
    },
)
PLAN = (
    PlannedNode(
        "n1",
        solution(
            "desk-read-1",
            (LOOK,),
            "The number is {number}.",
            reply=(ReplyPart(name="number", source=BY_NAME, kind="number"),),
            outputs=(TaskOutput(name="customer", source=BY_NAME, semantic="id:customers"),),
        ),
        {"name": "Bo"},
        {},
    ),
    PlannedNode(
        "n2",
        solution("desk-create-1", (ORDER,), "It is ordered."),
        {"product": "lamp"},
        {"customer": ("n1", "customer")},
    ),
)


def texts(text: str) -> Texts:
    return Texts(vague=text, partial=text, full=text)


STATE = InitialState(
    rows={"customers": [{"id": 1, "name": "Ana"}, {"id": 2, "name": "Bo"}, {"id": 3, "name": "Bob"}], "orders": []}
)


@pytest.fixture
def desk_host() -> InMemoryToolHost:
    """The host of the desk."""
    return InMemoryToolHost({("desk", "find_customer"): find_customer, ("desk", "create_order"): create_order})


@pytest.fixture
def judge() -> DeskJudge:
    """The judge of the task."""
    return DeskJudge()


@pytest.fixture
def episode(judge: DeskJudge) -> Episode:
    """Look a customer up, then order a lamp for them."""
    spec = McpSpec(name="desk", title="Desk", tools=(tool("find_customer"), tool("create_order")))
    environment = Environment(spec=spec, contracts=ContractSet(schema=DatabaseSchema(), contracts=()), seed=STATE)
    task = ComposedTask(
        id="task-1",
        profile="Simple",
        objective="order a lamp for Bo",
        environments=(EnvironmentPin(name="desk", hash="", state=""),),
        brief=texts("Find Bo's number and order a lamp for him."),
        requests=(texts("What is Bo's number?"), texts("Order a lamp for him.")),
    )
    return Episode(task, ("n1", "n2"), (environment,), {"desk": STATE}, judge)


@pytest.fixture
def plan() -> tuple[PlannedNode, ...]:
    """What scripted policies follow."""
    return PLAN
