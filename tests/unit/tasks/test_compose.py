from collections.abc import Mapping

from weft.records.contract import ArgumentUse, Case, Contract, ContractSet
from weft.records.environment import Environment
from weft.records.expression import obj
from weft.records.spec import McpSpec, Provenance, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table
from weft.records.task import (
    AtomicSolution,
    AtomicTask,
    EnvironmentPin,
    FromInput,
    FromStep,
    ReferenceStep,
    ReplyPart,
    Source,
    TaskInput,
    TaskOutput,
    Texts,
)
from weft.records.verdict import Verifier
from weft.tasks.compose import anchored, stated_outputs
from weft.tasks.naming import spoken_outputs


def contract(tool: str, intent: str, *uses: ArgumentUse) -> Contract:
    return Contract(
        tool=tool,
        function=tool,
        effect="write" if intent == "create" else "read",
        cases=(Case(intent=intent, table="people", operations=(), returns=obj()),),
        arguments=uses,
        returns_schema={},
    )


def use(path: str, role: str) -> ArgumentUse:
    return ArgumentUse.model_validate(
        {"path": path, "role": role, "table": "people", "column": path, "provenance": Provenance.DECLARED}
    )


ENVIRONMENT = Environment(
    spec=McpSpec(name="s", title="S", tools=(ToolSpec(name="find", input_schema={}, declared={}),)),
    contracts=ContractSet(
        schema=DatabaseSchema(
            tables=(
                Table(
                    name="people",
                    entity="contact",
                    columns=(
                        Column(name="id", field="id", type=ColumnType.INTEGER, role=ColumnRole.ID),
                        Column(name="email", field="email", type=ColumnType.TEXT),
                    ),
                    key=("id",),
                ),
            )
        ),
        contracts=(
            contract("find", "list", use("email", "filter")),
            contract("get", "get", use("id", "identifier")),
            contract("add", "create", use("email", "attribute")),
        ),
    ),
    seed=InitialState(rows={"people": [{"id": 1, "email": "ana@x.example"}]}),
)


def task(*inputs: TaskInput) -> AtomicTask:
    texts = Texts(vague="v", partial="p", full="f")
    pin = EnvironmentPin(name="s", hash="h", state="s")
    return AtomicTask(id="t", server="s", kind="read", intent="i", inputs=inputs, environment=pin, texts=texts)


def solution(
    tool: str,
    arguments: Mapping[str, Source],
    outputs: tuple[TaskOutput, ...] = (),
    reply: tuple[ReplyPart, ...] = (),
) -> AtomicSolution:
    step = ReferenceStep(id="s1", server="s", tool=tool, arguments=dict(arguments))
    return AtomicSolution(
        task="t", chain=(tool,), reference=(step,), reply=reply, reply_text="", outputs=outputs, verifier=Verifier()
    )


WHO = TaskInput(name="who", value="ana@x.example", semantic="email")
GIVEN = FromInput(kind="input", name="who")
EMAIL = FromStep(kind="step", step="s1", field="email")


def test_an_input_that_looks_a_row_up_is_keyed_by_the_column_that_holds_it() -> None:
    found = anchored(task(WHO), solution("find", {"email": GIVEN}), ENVIRONMENT)
    assert found.inputs[0].keyed == "people.email"


def test_an_input_that_is_written_or_that_no_row_holds_stays_free() -> None:
    assert anchored(task(WHO), solution("add", {"email": GIVEN}), ENVIRONMENT).inputs[0].keyed == ""
    stranger = WHO.model_copy(update={"value": "x@y.example"})
    assert anchored(task(stranger), solution("find", {"email": GIVEN}), ENVIRONMENT).inputs[0].keyed == ""


def test_texts_that_a_reply_states_become_outputs_unless_they_are_already() -> None:
    reply = (
        ReplyPart(name="email", source=EMAIL),
        ReplyPart(name="count", source=FromStep(kind="step", step="s1", field="total"), kind="number"),
    )
    assert [one.name for one in stated_outputs(solution("find", {}, reply=reply))] == ["email"]
    known = (TaskOutput(name="address", source=EMAIL, semantic="email"),)
    assert stated_outputs(solution("find", {}, known, reply)) == ()


def test_an_output_is_spoken_of_by_what_was_asked_whose_it_is_or_what_was_made() -> None:
    output = (TaskOutput(name="email", source=EMAIL, semantic="email"),)
    keyed = WHO.model_copy(update={"keyed": "people.email"})
    asked = spoken_outputs(task(keyed), solution("find", {}, output, (ReplyPart(name="x", source=EMAIL),)), ENVIRONMENT)
    assert asked["email"].asked
    got = spoken_outputs(task(keyed), solution("get", {"id": GIVEN}, output), ENVIRONMENT)
    assert (got["email"].owner, got["email"].entity) == ("who", "contact")
    made = spoken_outputs(task(), solution("add", {}, output), ENVIRONMENT)
    assert made["email"].made


def test_an_output_that_nothing_tells_apart_is_not_spoken_of() -> None:
    output = (TaskOutput(name="email", source=EMAIL, semantic="email"),)
    assert spoken_outputs(task(), solution("find", {}, output), ENVIRONMENT) == {}
