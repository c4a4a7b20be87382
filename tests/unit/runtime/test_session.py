import json
from typing import Any

import pytest

from weft.errors import InputError
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.trace import Outcome
from weft.runtime.session import Engine, EnvironmentSession, Program

ENGINES: tuple[Engine, ...] = ("backend", "interpreter")


@pytest.fixture(scope="module", params=ENGINES)
def program(request: pytest.FixtureRequest, notes: Environment) -> Program:
    return Program(notes, engine=request.param)


@pytest.fixture
def session(program: Program) -> EnvironmentSession:
    return EnvironmentSession(program.environment, program.environment.seed, 7, program=program)


def with_contract(notes: Environment, tool: str, **changes: Any) -> Environment:
    contracts = tuple(one.model_copy(update=changes) if one.tool == tool else one for one in notes.contracts.contracts)
    return notes.model_copy(update={"contracts": notes.contracts.model_copy(update={"contracts": contracts})})


def test_a_call_gives_its_result_and_what_it_changed(session: EnvironmentSession) -> None:
    result, changes = session.call("create_note", {"title": "x", "price": 3})
    assert result.outcome is Outcome.OK
    assert result.value["title"] == "x"
    assert [(change.op, change.key) for change in changes.rows] == [("insert", {"id": result.value["id"]})]
    assert session.clock == "2026-03-02T09:00:01Z"
    again, none = session.call("get_note", {"id": result.value["id"]})
    assert again.value == result.value
    assert none.empty
    assert session.clock == "2026-03-02T09:00:01Z"


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("nope", {}, "unknown_tool"),
        ("create_note", {}, "invalid_argument"),
        ("create_note", None, "invalid_argument"),
        ("create_note", ["title"], "invalid_argument"),
        ("create_note", {"title": "x", "extra": 1}, "invalid_argument"),
        ("create_note", {"title": "\ud800"}, "invalid_argument"),
        ("create_note", {"title": "x", "price": float("nan")}, "invalid_argument"),
        ("create_note", {"title": "x", "folderId": "none"}, "not_found"),
        ("get_note", {"id": 99}, "not_found"),
        ("get_note", {"id": 2**70}, "invalid_argument"),
        ("read_page", {"path": "../x"}, "outside_workspace"),
        ("read_page", {"path": "none"}, "not_found"),
        ("tag.note", {"id": 1, "tag": "none"}, "not_found"),
    ],
)
def test_what_a_caller_can_act_on_is_an_error_with_a_code(
    session: EnvironmentSession, tool: str, arguments: Any, code: str
) -> None:
    image = session.image().database
    result, changes = session.call(tool, arguments)
    assert result.outcome is Outcome.ERROR
    assert result.is_error
    assert result.value["error"]["code"] == code
    assert result.value["error"]["message"]
    json.dumps(result.value, allow_nan=False).encode()
    assert changes.empty
    assert session.image().database == image


def test_a_result_that_breaks_its_schema_is_a_fault_and_undone(notes: Environment) -> None:
    broken = with_contract(notes, "create_note", returns_schema={"type": "object", "required": ["nope"]})
    session = EnvironmentSession(broken, broken.seed, 7)
    image = session.image().database
    result, changes = session.call("create_note", {"title": "x"})
    assert result.outcome is Outcome.FAULT
    assert result.value["error"]["code"] == "fault"
    assert "create_note" in result.value["error"]["message"]
    assert "nope" in result.value["error"]["message"]
    assert changes.empty
    assert session.image().database == image


def test_an_exception_of_a_tool_is_a_fault_without_its_text(session: EnvironmentSession) -> None:
    ready = session.program.tools["create_note"]
    whole = ready.function
    try:

        def failing(state: Any, arguments: dict[str, Any]) -> Any:
            whole(state, arguments)
            raise OSError("/home/somebody/secret.txt")

        ready.function = failing
        result, changes = session.call("create_note", {"title": "x"})
    finally:
        ready.function = whole
    assert result.outcome is Outcome.FAULT
    assert result.value == {"error": {"code": "fault", "message": "tool create_note failed: OSError"}}
    assert changes.empty
    assert len(session.rows()["notes"]) == 3


@pytest.mark.parametrize("value", [float("inf"), {1, 2}, "\ud800", object()])
def test_a_result_that_is_no_json_is_a_fault(session: EnvironmentSession, value: object) -> None:
    ready = session.program.tools["read_page"]
    whole = ready.function
    try:
        ready.function = lambda state, arguments: {"text": value}  # noqa: ARG005
        assert session.call("read_page", {"path": "x"})[0].outcome is Outcome.FAULT
    finally:
        ready.function = whole


def test_results_share_nothing_with_the_arguments(session: EnvironmentSession) -> None:
    ready = session.program.tools["read_page"]
    whole = ready.function
    inner: list[str] = ["a"]
    try:
        ready.function = lambda state, arguments: {"text": "x", "echo": inner}  # noqa: ARG005
        result, _ = session.call("read_page", {"path": "x"})
    finally:
        ready.function = whole
    inner.append("b")
    assert result.value["echo"] == ["a"]


def test_an_image_goes_on_where_it_was_taken(session: EnvironmentSession) -> None:
    session.call("create_note", {"title": "x"})
    session.call("write_page", {"path": "p.md", "text": "x"})
    image = session.image()
    later = [session.call("create_note", {"title": "y"}), session.call("tag.note", {"id": 1, "tag": "idea"})]
    other = EnvironmentSession.from_image(session.program.environment, image, program=session.program)
    assert [other.call("create_note", {"title": "y"}), other.call("tag.note", {"id": 1, "tag": "idea"})] == later
    assert (other.rows(), other.files(), other.clock) == (session.rows(), session.files(), session.clock)


def test_sessions_of_one_program_share_no_state(program: Program) -> None:
    first, second = (
        EnvironmentSession(program.environment, program.environment.seed, seed, program=program) for seed in (1, 2)
    )
    ids = [session.call("create_note", {"title": "x"})[0].value["id"] for session in (first, second)]
    assert ids[0] != ids[1]
    first.call("delete_note", {"id": 1})
    assert len(second.rows()["notes"]) == 4
    first.close()
    first.close()


def test_another_initial_state_is_taken_and_checked(program: Program) -> None:
    initial = InitialState(rows={"notes": [{"id": 5, "title": "only"}]}, clock="2030-01-01T00:00:00Z")
    session = EnvironmentSession(program.environment, initial, 7, program=program)
    assert session.call("list_notes", {})[0].value["notes"][0]["title"] == "only"
    assert session.clock == "2030-01-01T00:00:00Z"
    with pytest.raises(InputError, match="table 'notes', row 0"):
        EnvironmentSession(program.environment, InitialState(rows={"notes": [{"id": "x"}]}), 7, program=program)


def test_both_engines_give_the_same_results_and_changes(notes: Environment) -> None:
    calls = [
        ("create_note", {"title": "x", "folderId": "fld_work02"}),
        ("list_notes", {"search": "MILK"}),
        ("list_notes", {"tag": "idea"}),
        ("update_note", {"id": 1, "price": None}),
        ("update_note", {"id": 1}),
        ("archive_note", {"id": 2}),
        ("archive_note", {"id": 2}),
        ("tag.note", {"id": 10, "tag": "idea"}),
        ("delete_note", {"id": 1}),
        ("delete_note", {"id": 1}),
        ("read_page", {"path": "pages/welcome.md"}),
    ]
    played = []
    for engine in ENGINES:
        session = EnvironmentSession(notes, notes.seed, 7, engine=engine)
        played.append(([session.call(*call) for call in calls], session.rows(), session.files(), session.clock))
    assert played[0] == played[1]
    outcomes = [result.outcome.value for result, _ in played[0][0]]
    assert outcomes == ["ok", "ok", "ok", "ok", "ok", "ok", "error", "ok", "ok", "error", "ok"]


def test_a_contract_of_an_undeclared_tool_is_refused(notes: Environment) -> None:
    spec = notes.spec.model_copy(update={"tools": notes.spec.tools[1:]})
    with pytest.raises(InputError, match="contract of tool 'create_note', which the spec lacks"):
        Program(notes.model_copy(update={"spec": spec}))
