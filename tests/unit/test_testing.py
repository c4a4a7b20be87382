from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from weft.errors import HostError, InputError, ModelError, SessionClosed, ToolRejection, UnknownSnapshot
from weft.ports import ModelClient, SessionGroup, ToolHost
from weft.records.codec import parse_record
from weft.records.environment import Environment
from weft.records.state import InitialState, Rows
from weft.records.trace import Message, Outcome
from weft.testing import Fault, FaultyHost, InMemoryToolHost, ScriptedCompletion, ScriptedModel, corrupted

DATA = Path(__file__).resolve().parents[1] / "data" / "notes.environment.json"
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def notes() -> Environment:
    return parse_record(Environment, DATA.read_bytes(), DATA.name)


def create(rows: Rows, arguments: dict[str, Any]) -> Any:
    if not arguments.get("title"):
        raise ToolRejection("invalid_argument", "title is missing")
    row = {"id": max(row["id"] for row in rows["notes"]) + 1, "title": arguments["title"]}
    rows["notes"].append(row)
    return {"id": row["id"], "title": row["title"]}


def get(rows: Rows, arguments: dict[str, Any]) -> Any:
    return next(row for row in rows["notes"] if row["id"] == arguments["id"])


@pytest.fixture
def host() -> InMemoryToolHost:
    return InMemoryToolHost({("notes", "create_note"): create, ("notes", "get_note"): get})


async def faulty(host: ToolHost, notes: Environment, *plan: Fault) -> SessionGroup:
    return await FaultyHost(host, plan).open([notes], seed=1)


async def count(group: SessionGroup) -> int:
    return len((await group.rows("notes"))["notes"])


async def add(group: SessionGroup, title: str = "x") -> Any:
    return await group.call("notes", "create_note", {"title": title}, call_id="c")


def test_the_doubles_are_the_ports(host: InMemoryToolHost) -> None:
    assert isinstance(host, ToolHost)
    assert isinstance(FaultyHost(host, []), ToolHost)
    assert isinstance(ScriptedModel([]), ModelClient)


async def test_functions_run_on_rows_that_are_kept_only_when_they_return(
    host: InMemoryToolHost, notes: Environment
) -> None:
    group = await host.open([notes], seed=1)
    assert isinstance(group, SessionGroup)
    assert (await add(group)).value == {"id": 11, "title": "x"}
    assert (await add(group, "")).value["error"]["code"] == "invalid_argument"
    fault = await group.call("notes", "get_note", {"id": 99})
    assert (fault.outcome, fault.value["error"]["message"]) == (Outcome.FAULT, "tool get_note failed: StopIteration")
    assert (await group.call("notes", "delete_note", {})).value["error"]["code"] == "unknown_tool"
    ledger = await group.ledger()
    assert [entry.outcome.value for entry in ledger] == ["ok", "error", "fault", "error"]
    assert [(change.op, change.key) for change in ledger[0].changes.rows] == [("insert", {"id": 11})]
    assert (await group.files("notes"))["pages/welcome.md"]
    assert [tool.name for tool in group.tools()][:2] == ["create_note", "get_note"]


async def test_the_in_memory_host_snapshots_restores_and_forks(host: InMemoryToolHost, notes: Environment) -> None:
    group = await host.open([notes], seed=1, states={"notes": InitialState(rows={"notes": [{"id": 1, "title": "a"}]})})
    snapshot = await group.snapshot()
    await add(group)
    first, second = await group.fork(snapshot, 2)
    await add(first)
    await add(first)
    assert [await count(one) for one in (group, first, second)] == [2, 3, 1]
    await group.restore(snapshot)
    assert (await count(group), group.branch, await group.ledger()) == (1, 1, [])
    with pytest.raises(UnknownSnapshot):
        await group.restore("nope")
    await group.close()
    await group.close()
    with pytest.raises(SessionClosed):
        await add(group)
    assert await count(first) == 3
    assert notes.seed.rows["notes"][0]["id"] == 1


async def test_without_faults_a_host_behaves_as_it_does(host: InMemoryToolHost, notes: Environment) -> None:
    plain, wrapped = await host.open([notes], seed=1), await faulty(host, notes)
    for group in (plain, wrapped):
        await add(group)
        snapshot = await group.snapshot()
        await add(group)
        await group.restore(snapshot)
        (fork,) = await group.fork(snapshot, 1)
        await add(fork)
        assert len(await fork.ledger()) == 2
    assert await wrapped.ledger() == await plain.ledger()
    assert await wrapped.rows("notes") == await plain.rows("notes")
    assert wrapped.branch == plain.branch == 1
    await wrapped.close()
    with pytest.raises(SessionClosed):
        await wrapped.ledger()


async def test_a_host_error_comes_before_anything_is_done(host: InMemoryToolHost, notes: Environment) -> None:
    group = await faulty(host, notes, Fault("host_error", at=1))
    await add(group)
    with pytest.raises(HostError, match="planned"):
        await add(group)
    assert (await count(group), len(await group.ledger())) == (4, 1)
    await add(group)
    assert await count(group) == 5


async def test_a_lost_answer_comes_after_it_is_done(host: InMemoryToolHost, notes: Environment) -> None:
    group = await faulty(host, notes, Fault("lost_answer"))
    with pytest.raises(HostError):
        await add(group)
    assert (await count(group), len(await group.ledger())) == (4, 1)


async def test_an_infrastructure_result_is_recorded_and_does_nothing(
    host: InMemoryToolHost, notes: Environment
) -> None:
    group = await faulty(host, notes, Fault("infrastructure", times=2))
    results = [await add(group) for _ in range(3)]
    assert [result.outcome.value for result in results] == ["infrastructure", "infrastructure", "ok"]
    assert [entry.outcome.value for entry in await group.ledger()] == ["infrastructure", "infrastructure", "ok"]
    assert await count(group) == 4


async def test_a_dropped_write_reports_success_and_leaves_nothing(host: InMemoryToolHost, notes: Environment) -> None:
    group = await faulty(host, notes, Fault("drop_write", tool="create_note"))
    result = await add(group)
    assert (result.outcome, result.value["title"]) == (Outcome.OK, "x")
    assert await count(group) == 3
    (entry,) = await group.ledger()
    assert entry.outcome is Outcome.OK
    assert entry.changes.empty
    assert group.branch == 0
    await add(group)
    assert [entry.index for entry in await group.ledger()] == [0, 1]


async def test_a_corrupt_result_is_what_caller_and_ledger_see(host: InMemoryToolHost, notes: Environment) -> None:
    group = await faulty(host, notes, Fault("corrupt", at=1, tool="get_note", server="notes"))
    await add(group)
    whole = await group.call("notes", "get_note", {"id": 11})
    broken = await group.call("notes", "get_note", {"id": 11})
    assert (whole.value, broken.value) == ({"id": 11, "title": "x"}, {"id": 12, "title": "x"})
    assert (await group.ledger())[2].result == broken.value


async def test_faults_count_over_all_groups_of_the_host(host: InMemoryToolHost, notes: Environment) -> None:
    group = await faulty(host, notes, Fault("host_error", at=2))
    snapshot = await group.snapshot()
    first, second = await group.fork(snapshot, 2)
    await add(group)
    await add(first)
    with pytest.raises(HostError):
        await add(second)
    assert await add(second)


@pytest.mark.parametrize("kind", ["host_error", "lost_answer"])
async def test_the_control_plane_can_break_too(host: InMemoryToolHost, notes: Environment, kind: Any) -> None:
    plan = [Fault(kind, operation=operation) for operation in ("snapshot", "restore", "fork")]  # type: ignore[arg-type]
    group = await faulty(host, notes, *plan)
    with pytest.raises(HostError):
        await group.snapshot()
    snapshot = await group.snapshot()
    await add(group)
    runs: list[Callable[[], Any]] = [lambda: group.restore(snapshot), lambda: group.fork(snapshot, 2)]
    for run in runs:
        with pytest.raises(HostError):
            await run()
        await run()
    broken = FaultyHost(host, [Fault(kind, operation="open")])
    with pytest.raises(HostError):
        await broken.open([notes], seed=1)
    assert await broken.open([notes], seed=1)


def test_a_fault_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="a corrupt fault breaks calls, not fork"):
        Fault("corrupt", operation="fork")


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        (1, 2), (1.5, 2.5), (True, False), ("a", "a?"), ({"b": 1, "a": [None, "x"]}, {"b": 1, "a": [None, "x?"]}),
        ([], {"corrupted": []}), (None, {"corrupted": None}),
    ],
)  # fmt: skip
def test_a_corrupted_value_differs_in_one_place(value: Any, changed: Any) -> None:
    assert corrupted(value) == changed


def test_a_scripted_model_answers_in_order_and_remembers_what_it_was_asked() -> None:
    hello = Message(role="assistant", content="hello")
    model = ScriptedModel([hello, ScriptedCompletion(hello, truncated=True), ModelError("down")], name="scripted:test")
    asked = [Message(role="user", content="hi")]

    async def talk() -> None:
        first = await model.complete(asked, [{"type": "function"}], seed=3)
        assert (first.message, first.tokens, first.truncated) == (hello, None, False)
        assert (await model.complete(asked, [], seed=4, temperature=0.0)).truncated
        with pytest.raises(ModelError, match="down"):
            await model.complete(asked, [], seed=5)
        with pytest.raises(ModelError, match="scripted:test has 3 answers"):
            await model.complete(asked, [], seed=6)

    anyio.run(talk)
    assert [request.seed for request in model.requests] == [3, 4, 5, 6]
    assert model.requests[0].tools == ({"type": "function"},)
    assert model.name == "scripted:test"


async def test_tables_that_no_schema_declares_are_told_apart_by_id(host: InMemoryToolHost, notes: Environment) -> None:
    bare = notes.contracts.model_copy(update={"schema_": notes.contracts.schema_.model_copy(update={"tables": ()})})
    state = InitialState(rows={"notes": [{"id": 1, "title": "a"}]})
    group = await host.open([notes.model_copy(update={"contracts": bare})], seed=1, states={"notes": state})
    await add(group)
    assert [change.key for change in (await group.ledger())[0].changes.rows] == [{"id": 2}]
