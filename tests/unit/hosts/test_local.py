import re
from typing import Any

import anyio
import pytest

from weft.errors import InputError, SessionClosed, UnknownSnapshot
from weft.hosts.local import LocalHost
from weft.ports import SessionGroup, ToolHost
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.trace import Outcome

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def group(notes: Environment, diary: Environment) -> SessionGroup:
    return await LocalHost().open([notes, diary], seed=7)


async def create(group: SessionGroup, server: str = "notes", title: str = "x") -> int:
    result = await group.call(server, "create_note", {"title": title})
    assert result.outcome is Outcome.OK, result.value
    return int(result.value["id"])


async def test_host_and_group_are_the_ports(group: SessionGroup) -> None:
    assert isinstance(LocalHost(), ToolHost)
    assert isinstance(group, SessionGroup)


async def test_tools_are_offered_under_unique_legal_names(group: SessionGroup, notes: Environment) -> None:
    tools = group.tools()
    assert [tool.name for tool in tools][:2] == ["notes__create_note", "notes__get_note"]
    assert len({tool.name for tool in tools}) == len(tools) == 2 * len(notes.served())
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name) for tool in tools)
    alone = await LocalHost().open([notes], seed=7)
    assert [(tool.name, tool.spec.name) for tool in alone.tools()][6] == ("tag_note", "tag.note")


async def test_only_served_tools_are_offered(notes: Environment) -> None:
    contracts = notes.contracts.model_copy(update={"contracts": notes.contracts.contracts[:2]})
    group = await LocalHost().open([notes.model_copy(update={"contracts": contracts})], seed=7)
    assert [tool.name for tool in group.tools()] == ["create_note", "get_note"]
    assert (await group.call("notes", "list_notes", {})).value["error"]["code"] == "unknown_tool"


async def test_every_call_is_in_the_ledger_with_its_changes(group: SessionGroup) -> None:
    arguments = {"title": "x", "price": 3}
    await group.call("notes", "create_note", arguments, call_id="c1")
    arguments["title"] = "changed by the caller afterwards"
    await group.call("notes", "get_note", {"id": 99})
    await group.call("nowhere", "get_note", {"id": 1})
    await group.call("notes", "create_note", "not an object")
    entries = await group.ledger()
    assert [entry.index for entry in entries] == [0, 1, 2, 3]
    assert [entry.outcome.value for entry in entries] == ["ok", "error", "error", "error"]
    assert entries[0].arguments == {"title": "x", "price": 3}
    assert entries[0].call_id == "c1"
    assert entries[0].changes.rows[0].after is not None
    assert entries[0].changes.rows[0].after["title"] == "x"
    assert entries[0].result["title"] == "x"
    assert entries[2].result["error"]["details"] == {"servers": ["notes", "diary"]}
    assert entries[3].arguments == "not an object"
    assert await group.ledger(3) == entries[3:]
    with pytest.raises(InputError):
        await group.ledger(-1)


@pytest.mark.parametrize("arguments", [{"title": float("nan")}, {"title": "\ud800"}, {"title": {1, 2}}, object()])
async def test_arguments_that_are_no_json_are_refused_and_recorded_as_such(group: SessionGroup, arguments: Any) -> None:
    result = await group.call("notes", "create_note", arguments)
    assert result.outcome is Outcome.ERROR
    (entry,) = await group.ledger()
    assert set(entry.arguments) == {"not_json"}
    entry.model_dump_json()


async def test_results_in_the_ledger_are_safe_from_the_caller(group: SessionGroup) -> None:
    result = await group.call("notes", "get_note", {"id": 1})
    result.value["title"] = "forged"
    assert (await group.ledger())[0].result["title"] == "Buy milk"


async def test_the_clock_is_shared_and_starts_at_the_latest(group: SessionGroup) -> None:
    async def created(server: str) -> str:
        return str((await group.call(server, "create_note", {"title": "x"})).value["createdAt"])

    assert await created("notes") == "2026-03-02T10:00:00Z"
    assert await created("diary") == "2026-03-02T10:00:01Z"
    await group.call("diary", "get_note", {"id": 1})
    assert await created("notes") == "2026-03-02T10:00:02Z"


async def test_a_restore_goes_back_in_rows_files_clock_ids_and_ledger(group: SessionGroup) -> None:
    await create(group)
    snapshot = await group.snapshot()
    assert group.branch == 0

    async def play() -> tuple[Any, ...]:
        first = await create(group)
        await group.call("notes", "delete_note", {"id": first})
        second = await create(group, "diary")
        await group.call("notes", "write_page", {"path": "p.md", "text": "x"})
        third = await create(group)
        ledger = await group.ledger()
        return (
            first,
            second,
            third,
            await group.rows("notes"),
            await group.rows("diary"),
            await group.files("notes"),
            ledger,
        )

    played = await play()
    assert played[0] != played[2]
    await group.restore(snapshot)
    assert group.branch == 1
    assert len(await group.ledger()) == 1
    assert "p.md" not in await group.files("notes")
    assert await play() == played
    await group.restore(snapshot)
    await group.restore(snapshot)
    assert group.branch == 3


async def test_forks_replay_alike_and_share_nothing(group: SessionGroup) -> None:
    await create(group)
    snapshot = await group.snapshot()
    forks = await group.fork(snapshot, 3)
    assert [fork.id for fork in forks] == ["g1.1", "g1.2", "g1.3"]
    ids = [[await create(one), await create(one, "diary")] for one in (group, *forks)]
    assert ids[0] == ids[1] == ids[2] == ids[3]
    await forks[0].call("notes", "delete_note", {"id": 1})
    assert len((await forks[1].rows("notes"))["notes"]) == 5
    assert await forks[1].rows("notes") == await group.rows("notes")
    assert [len(await one.ledger()) for one in (group, *forks)] == [3, 4, 3, 3]
    assert await group.fork(snapshot, 0) == []
    with pytest.raises(InputError):
        await group.fork(snapshot, -1)


async def test_a_fork_knows_the_snapshots_before_it_and_outlives_its_parent(group: SessionGroup) -> None:
    start = await group.snapshot()
    await create(group)
    later = await group.snapshot()
    (fork,) = await group.fork(later, 1)
    await group.close()
    await fork.restore(start)
    assert await fork.ledger() == []
    assert len((await fork.rows("notes"))["notes"]) == 3
    own = await fork.snapshot()
    assert own.startswith("g1.1/")
    (child,) = await fork.fork(own, 1)
    assert child.id == "g1.1.1"


async def test_snapshots_of_other_groups_are_unknown(notes: Environment, group: SessionGroup) -> None:
    other = await LocalHost().open([notes], seed=7)
    await other.snapshot()
    for name in ("g1/s1", "nope"):
        with pytest.raises(UnknownSnapshot, match=name):
            await group.restore(name)
        with pytest.raises(UnknownSnapshot):
            await group.fork(name, 1)


async def test_a_closed_group_says_so_and_closes_again(group: SessionGroup) -> None:
    snapshot = await group.snapshot()
    await group.close()
    await group.close()
    runs = [
        group.call("notes", "get_note", {"id": 1}), group.snapshot(), group.restore(snapshot), group.fork(snapshot, 1),
        group.ledger(), group.rows("notes"), group.files("notes"),
    ]  # fmt: skip
    for run in runs:
        with pytest.raises(SessionClosed, match="g1 is closed"):
            await run


async def test_seeds_make_other_ids_and_equal_seeds_equal_ones(notes: Environment) -> None:
    host = LocalHost()
    ids = [await create(await host.open([notes], seed=seed)) for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


async def test_both_engines_give_the_same_ledger(notes: Environment) -> None:
    ledgers = []
    for engine in ("backend", "interpreter"):
        group = await LocalHost(engine=engine).open([notes], seed=7)  # type: ignore[arg-type]
        await create(group)
        await group.call("notes", "delete_note", {"id": 1})
        await group.call("notes", "list_notes", {})
        ledgers.append(await group.ledger())
    assert ledgers[0] == ledgers[1]


async def test_a_state_can_be_given_and_is_checked(notes: Environment, diary: Environment) -> None:
    host = LocalHost()
    state = InitialState(rows={"notes": [{"id": 5, "title": "only"}]}, clock="2030-01-01T00:00:00Z")
    group = await host.open([notes, diary], seed=7, states={"diary": state})
    assert [row["id"] for row in (await group.rows("diary"))["notes"]] == [5]
    result = await group.call("notes", "create_note", {"title": "x"})
    assert result.value["createdAt"] == "2030-01-01T00:00:00Z"
    with pytest.raises(InputError, match="'shop', which is not opened"):
        await host.open([notes], seed=7, states={"shop": state})
    with pytest.raises(InputError, match="table 'notes', row 0"):
        await host.open([notes], seed=7, states={"notes": InitialState(rows={"notes": [{"id": None}]})})
    with pytest.raises(InputError, match="no environment 'shop'"):
        await group.rows("shop")


async def test_environments_need_names_of_their_own(notes: Environment) -> None:
    for wrong in ([], [notes, notes]):
        with pytest.raises(InputError, match="names of their own"):
            await LocalHost().open(wrong, seed=7)


async def test_equal_environments_read_twice_are_prepared_once(notes: Environment) -> None:
    host = LocalHost()
    first = await host.open([notes], seed=1)
    second = await host.open([notes.model_copy(deep=True)], seed=1)
    await create(first)
    assert len((await second.rows("notes"))["notes"]) == 3
    assert len(host._programs) == 1


async def test_calls_from_many_tasks_run_one_after_the_other(group: SessionGroup) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(create, group, ("notes", "diary")[number % 2], f"n{number}")
        tasks.start_soon(group.snapshot)
    entries = await group.ledger()
    assert [entry.index for entry in entries] == list(range(50))
    stamps = [entry.result["createdAt"] for entry in entries]
    assert stamps == sorted(set(stamps))
    for server in ("notes", "diary"):
        assert len((await group.rows(server))["notes"]) == 28
