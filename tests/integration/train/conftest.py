"""A small environment of contracts, two atomic tasks over it with real verifiers, and demonstrations of them."""

from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from weft.hosts.local import LocalHost
from weft.ports import SessionGroup
from weft.records.batch import SftExample
from weft.records.codec import content_hash
from weft.records.contract import ArgumentUse, Case, Contract, ContractSet, Find, Update
from weft.records.environment import Environment
from weft.records.expression import arg, eq, obj, var
from weft.records.spec import McpSpec, Provenance, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, IdStyle, InitialState, Table
from weft.records.task import AtomicSolution, AtomicTask, EnvironmentPin, FromInput, ReferenceStep, TaskInput, Texts
from weft.records.verdict import ExpectedChange, ValueMatch, Verifier
from weft.rollouts.policies.scripted import PlannedNode, ReferencePolicy
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode, rollout
from weft.tasks.judge import judge_atomic
from weft.train.sft import example_of

NAME = "desk"
PEOPLE = Table(
    name="people",
    entity="contact",
    key=("id",),
    id_style=IdStyle.INTEGER,
    columns=(
        Column(name="id", field="id", type=ColumnType.INTEGER, role=ColumnRole.ID, nullable=False),
        Column(name="company", field="company", type=ColumnType.TEXT, role=ColumnRole.ATTRIBUTE, nullable=False),
    ),
)
SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "company": {"type": "string"}},
    "required": ["id", "company"],
}


def set_company() -> Contract:
    def use(path: str, role: Any) -> ArgumentUse:
        return ArgumentUse(
            path=path, role=role, table="people", column=path, provenance=Provenance.DECLARED, required=True
        )

    missing: Any = {"code": "not_found", "message": "no such contact"}
    return Contract(
        tool="set_company",
        function="set_company",
        effect="write",
        cases=(
            Case(
                intent="update",
                table="people",
                operations=(
                    Find(op="find", into="row", table="people", where=(eq("id", arg("id")),), missing=missing),
                    Update(op="update", into="row", table="people", rows="row", values={"company": arg("company")}),
                ),
                returns=obj(id=var("row", "id"), company=var("row", "company")),
                reads=("people",),
                writes=("people.company",),
            ),
        ),
        arguments=(use("id", "identifier"), use("company", "attribute")),
        returns_schema={"type": "object"},
        errors=("not_found",),
    )


@dataclass(frozen=True)
class Move:
    """A task: move a contact to a company."""

    episode: Episode
    plan: tuple[PlannedNode, ...]


def move(desk: Environment, number: int, person: int, company: str) -> Move:
    name = f"desk-update-{number}"
    request = f"Contact {person} has moved to {company}, update that."
    task = AtomicTask(
        id=name,
        server=NAME,
        kind="update",
        intent=f"Move contact {person} to {company}.",
        inputs=(TaskInput(name="id", value=person), TaskInput(name="company", value=company)),
        environment=EnvironmentPin(name=NAME, hash=desk.hash, state=content_hash(desk.seed)),
        texts=Texts(vague=request, partial=request, full=request),
    )
    moved = ExpectedChange(
        name="update people",
        server=NAME,
        table="people",
        op="update",
        key={"id": ValueMatch(kind="equals", value=person)},
        after={"company": ValueMatch(kind="equals", value=company)},
    )
    given = {one: FromInput(kind="input", name=one) for one in ("id", "company")}
    solution = AtomicSolution(
        task=name,
        chain=("set_company",),
        reference=(ReferenceStep(id="s1", server=NAME, tool="set_company", arguments=given),),
        reply_text="Done.",
        verifier=Verifier(changes=(moved,)),
    )
    episode = Episode(task, (name,), (desk,), {NAME: desk.seed}, judge_atomic(solution, (desk,)))
    return Move(episode, (PlannedNode(name, solution, {"id": person, "company": company}, {}),))


@pytest.fixture(scope="session")
def moves() -> tuple[Move, ...]:
    """Two tasks over one environment."""
    tool = ToolSpec(name="set_company", description="Move a contact.", input_schema=SCHEMA, declared={})
    desk = Environment(
        spec=McpSpec(name=NAME, title="Desk", tools=(tool,), declared_tools=1),
        contracts=ContractSet(schema=DatabaseSchema(tables=(PEOPLE,)), contracts=(set_company(),)),
        seed=InitialState(rows={"people": [{"id": 11, "company": "North"}, {"id": 15, "company": "West"}]}),
    )
    return move(desk, 1, 15, "South"), move(desk, 2, 11, "East")


@pytest.fixture(scope="session")
def demonstrations(moves: tuple[Move, ...]) -> tuple[SftExample, ...]:
    """What the reference policy did on each task, as SFT examples."""

    async def go() -> tuple[SftExample, ...]:
        examples = []
        for one in moves:

            def make(_turns: Any, group: SessionGroup, plan: Any = one.plan) -> ReferencePolicy:
                return ReferencePolicy([plan], {(tool.server, tool.spec.name): tool.name for tool in group.tools()})

            sampled = await rollout(LocalHost(), ReactHarness(), one.episode, make, view="agentic", seed=1)
            assert sampled.passed, [segment.checks for segment in sampled.segments]
            examples.append(example_of(sampled))
        return tuple(examples)

    return anyio.run(go)
