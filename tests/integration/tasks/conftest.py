"""Two hand-written environments that share people, and hand-written atomic tasks over them."""

from collections.abc import Mapping
from typing import Any

import pytest

from weft.hosts.local import LocalHost
from weft.records.codec import content_hash
from weft.records.contract import ArgumentUse, Case, Contract, ContractSet, Find, Insert, Page, Update
from weft.records.environment import Environment
from weft.records.expression import Expr, MapOver, arg, eq, obj, var
from weft.records.library import AtomicLibrary
from weft.records.spec import McpSpec, Provenance, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, IdStyle, InitialState, Table
from weft.records.task import (
    AtomicSolution,
    AtomicTask,
    EnvironmentPin,
    FromInput,
    FromStep,
    ReferenceStep,
    ReplyPart,
    TaskInput,
    TaskOutput,
    Texts,
)
from weft.records.verdict import Verifier

TEXT = {"type": "string"}


def column(name: str, role: ColumnRole = ColumnRole.ATTRIBUTE, **more: Any) -> Column:
    kind = ColumnType.INTEGER if role is ColumnRole.ID else ColumnType.TEXT
    return Column(name=name, field=name, type=more.pop("type", kind), role=role, nullable=False, **more)


def table(name: str, entity: str, *columns: Column) -> Table:
    return Table(name=name, entity=entity, columns=columns, key=(columns[0].name,), id_style=IdStyle.INTEGER)


def tool(name: str, required: tuple[str, ...], properties: Mapping[str, Any]) -> ToolSpec:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return ToolSpec(name=name, description=name, input_schema=schema, declared={"name": name, "inputSchema": schema})


def use(path: str, role: Any, table_: str, column_: str, *, required: bool = False) -> ArgumentUse:
    return ArgumentUse(
        path=path, role=role, table=table_, column=column_, provenance=Provenance.DECLARED, required=required
    )


def shown(row: str, columns: tuple[str, ...]) -> Expr:
    return obj(**{name: var(row, name) for name in columns})


def listing(name: str, table_: str, filters: tuple[str, ...], columns: tuple[str, ...]) -> Contract:
    where = tuple(eq(one, arg(one), optional=True) for one in filters)
    return Contract(
        tool=name,
        function=name,
        effect="read",
        cases=(
            Case(
                intent="list",
                table=table_,
                operations=(
                    Find(op="find", into="rows", table=table_, where=where, many=True),
                    Page(op="page", into="page", over="rows"),
                ),
                returns=obj(
                    **{
                        table_: MapOver(op="map", over=var("page", "items"), name="row", value=shown("row", columns)),
                        "total": var("page", "total"),
                    }
                ),
                reads=(table_,),
            ),
        ),
        arguments=tuple(use(one, "filter", table_, one) for one in filters),
        returns_schema={"type": "object"},
    )


def adding(name: str, table_: str, columns: tuple[str, ...]) -> Contract:
    key = "id"
    return Contract(
        tool=name,
        function=name,
        effect="write",
        cases=(
            Case(
                intent="create",
                table=table_,
                operations=(Insert(op="insert", into="row", table=table_, values={one: arg(one) for one in columns}),),
                returns=shown("row", (key, *columns)),
                writes=(table_,),
            ),
        ),
        arguments=tuple(use(one, "attribute", table_, one, required=True) for one in columns),
        returns_schema={"type": "object"},
    )


def setting(name: str, table_: str, column_: str) -> Contract:
    missing: Any = {"code": "not_found", "message": "no such one"}
    return Contract(
        tool=name,
        function=name,
        effect="write",
        cases=(
            Case(
                intent="update",
                table=table_,
                operations=(
                    Find(op="find", into="row", table=table_, where=(eq("id", arg("id")),), missing=missing),
                    Update(op="update", into="row", table=table_, rows="row", values={column_: arg(column_)}),
                ),
                returns=shown("row", ("id", column_)),
                reads=(table_,),
                writes=(f"{table_}.{column_}",),
            ),
        ),
        arguments=(
            use("id", "identifier", table_, "id", required=True),
            use(column_, "attribute", table_, column_, required=True),
        ),
        returns_schema={"type": "object"},
        errors=("not_found",),
    )


def environment(
    name: str,
    domain: str,
    tables: tuple[Table, ...],
    tools: tuple[ToolSpec, ...],
    contracts: tuple[Contract, ...],
    rows: Any,
) -> Environment:
    return Environment(
        spec=McpSpec(name=name, title=name.title(), domain=domain, tools=tools, declared_tools=len(tools)),
        contracts=ContractSet(schema=DatabaseSchema(tables=tables), contracts=contracts),
        seed=InitialState(rows=rows),
    )


def contacts() -> Environment:
    people = ("id", "name", "email", "company")
    return environment(
        "contacts",
        "Business",
        (
            table(
                "people",
                "contact",
                column("id", ColumnRole.ID),
                column("name", ColumnRole.NAME),
                column("email", ColumnRole.KEY, unique=True),
                column("company"),
            ),
        ),
        (
            tool("find_people", (), {"name": TEXT, "company": TEXT}),
            tool("add_person", ("name", "email", "company"), {"name": TEXT, "email": TEXT, "company": TEXT}),
            tool("set_company", ("id", "company"), {"id": {"type": "integer"}, "company": TEXT}),
        ),
        (
            listing("find_people", "people", ("name", "company"), people),
            adding("add_person", "people", ("name", "email", "company")),
            setting("set_company", "people", "company"),
        ),
        {
            "people": [
                {"id": 11, "name": "Ana Lima", "email": "ana@north.example", "company": "North"},
                {"id": 12, "name": "Bo Chen", "email": "bo@south.example", "company": "South"},
                {"id": 15, "name": "Cy Dunn", "email": "cy@north.example", "company": "North"},
            ]
        },
    )


def billing() -> Environment:
    return environment(
        "billing",
        "Finance",
        (
            table(
                "customers",
                "customer",
                column("id", ColumnRole.ID),
                column("email", ColumnRole.KEY, unique=True),
                column("plan"),
            ),
            table("notices", "notice", column("id", ColumnRole.ID), column("to"), column("body")),
        ),
        (
            tool("find_customers", (), {"email": TEXT, "plan": TEXT}),
            tool("set_plan", ("id", "plan"), {"id": {"type": "integer"}, "plan": TEXT}),
            tool("send_notice", ("to", "body"), {"to": TEXT, "body": TEXT}),
            tool("find_notices", (), {"to": TEXT}),
        ),
        (
            listing("find_customers", "customers", ("email", "plan"), ("id", "email", "plan")),
            setting("set_plan", "customers", "plan"),
            adding("send_notice", "notices", ("to", "body")),
            listing("find_notices", "notices", ("to",), ("id", "to", "body")),
        ),
        {
            "customers": [
                {"id": 70, "email": "dee@west.example", "plan": "basic"},
                {"id": 71, "email": "eli@west.example", "plan": "gold"},
            ],
            "notices": [{"id": 5, "to": "dee@west.example", "body": "Welcome."}],
        },
    )


def given(name: str) -> FromInput:
    return FromInput(kind="input", name=name)


def seen(number: str, field: str, /, **match: str) -> FromStep:
    return FromStep(kind="step", step=number, field=field, match={name: given(one) for name, one in match.items()})


def task(
    where: Environment,
    number: int,
    kind: str,
    intent: str,
    text: str,
    inputs: tuple[TaskInput, ...],
    steps: tuple[ReferenceStep, ...],
    *,
    reply: tuple[ReplyPart, ...] = (),
    reply_text: str = "Done.",
    outputs: tuple[TaskOutput, ...] = (),
) -> tuple[AtomicTask, AtomicSolution]:
    name = f"{where.name}-{kind}-{number}"
    public = AtomicTask(
        id=name,
        server=where.name,
        kind=kind,
        intent=intent,
        inputs=inputs,
        environment=EnvironmentPin(name=where.name, hash=where.hash, state=content_hash(where.seed)),
        texts=Texts(vague=text, partial=text, full=text),
    )
    private = AtomicSolution(
        task=name,
        chain=tuple(step.tool for step in steps),
        reference=steps,
        reply=reply,
        reply_text=reply_text,
        outputs=outputs,
        verifier=Verifier(),
    )
    return public, private


def library(where: Environment, *tasks: tuple[AtomicTask, AtomicSolution]) -> AtomicLibrary:
    return AtomicLibrary(
        environment=where.name,
        environment_hash=where.hash,
        tasks=tuple(public for public, _ in tasks),
        solutions=tuple(private for _, private in tasks),
    )


def step(number: str, server: str, tool_: str, /, **arguments: Any) -> ReferenceStep:
    return ReferenceStep(id=number, server=server, tool=tool_, arguments=arguments)


def contact_tasks(where: Environment) -> AtomicLibrary:
    name = TaskInput(name="name", value="Ana Lima", semantic="person", keyed="people.name")
    other = TaskInput(name="name", value="Bo Chen", semantic="person", keyed="people.name")
    found = step("s1", "contacts", "find_people", name=given("name"))
    return library(
        where,
        task(
            where, 1, "read", "Find the email address of Ana Lima.", "What is the email address of Ana Lima?",
            (name,), (found,),
            reply=(ReplyPart(name="email", source=seen("s1", "email", name="name")),),
            reply_text="The email address is {email}.",
            outputs=(TaskOutput(name="email", source=seen("s1", "email", name="name"), semantic="email"),),
        ),
        task(
            where, 1, "lookup", "Move Bo Chen to the company East.", "Bo Chen now works for East, please note it.",
            (other, TaskInput(name="company", value="East")),
            (
                found,
                step("s2", "contacts", "set_company", id=seen("s1", "id", name="name"), company=given("company")),
            ),
        ),
        task(
            where, 1, "create", "Add a contact.", "Please add Fay Gold of West with the address fay@west.example.",
            (
                TaskInput(name="name", value="Fay Gold", semantic="person"),
                TaskInput(name="email", value="fay@west.example", semantic="email"),
                TaskInput(name="company", value="West"),
            ),
            (step("s1", "contacts", "add_person", **{one: given(one) for one in ("name", "email", "company")}),),
            outputs=(TaskOutput(name="contact", source=seen("s1", "id"), semantic="id:people", generated=True),),
        ),
        task(
            where, 1, "update", "Move contact 15 to the company South.", "Contact 15 has moved to South, update that.",
            (
                TaskInput(name="id", value=15, words="15", semantic="id:people", keyed="people.id"),
                TaskInput(name="company", value="South"),
            ),
            (step("s1", "contacts", "set_company", id=given("id"), company=given("company")),),
        ),
    )  # fmt: skip


def billing_tasks(where: Environment) -> AtomicLibrary:
    email = TaskInput(name="email", value="dee@west.example", semantic="email", keyed="customers.email")
    return library(
        where,
        task(
            where, 1, "lookup", "Put a customer on the gold plan.",
            "Put the customer with the email address dee@west.example on the gold plan.",
            (email, TaskInput(name="plan", value="gold")),
            (
                step("s1", "billing", "find_customers", email=given("email")),
                step("s2", "billing", "set_plan", id=seen("s1", "id", email="email"), plan=given("plan")),
            ),
        ),
        task(
            where, 1, "create", "Send a notice.", 'Send a notice to gus@west.example that says "See you soon".',
            (
                TaskInput(name="to", value="gus@west.example", semantic="email"),
                TaskInput(name="body", value="See you soon"),
            ),
            (step("s1", "billing", "send_notice", to=given("to"), body=given("body")),),
            outputs=(TaskOutput(name="notice", source=seen("s1", "id"), semantic="id:notices", generated=True),),
        ),
        task(
            where, 1, "read", "Find the plan of a customer.", "Which plan is eli@west.example on?",
            (TaskInput(name="email", value="eli@west.example", semantic="email", keyed="customers.email"),),
            (step("s1", "billing", "find_customers", email=given("email")),),
            reply=(ReplyPart(name="plan", source=seen("s1", "plan", email="email")),),
            reply_text="It is the {plan} plan.",
        ),
    )  # fmt: skip


@pytest.fixture
def host() -> LocalHost:
    return LocalHost()


@pytest.fixture(scope="session")
def environments() -> tuple[Environment, ...]:
    return contacts(), billing()


@pytest.fixture(scope="session")
def libraries(environments: tuple[Environment, ...]) -> dict[str, AtomicLibrary]:
    return {"contacts": contact_tasks(environments[0]), "billing": billing_tasks(environments[1])}
