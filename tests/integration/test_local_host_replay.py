"""Whatever is called, a snapshot is a point to which the host can return and from which it can fork."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.hosts.local import LocalHost
from weft.ports import SessionGroup
from weft.records.codec import canonical, parse_record
from weft.records.environment import Environment
from weft.records.trace import LedgerEntry
from weft.runtime.changes import compose, diff_states

DATA = Path(__file__).resolve().parents[1] / "data" / "notes.environment.json"

IDS = st.sampled_from([1, 2, 10, 99])
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["notes", "diary"]),
        st.one_of(
            st.tuples(st.just("create_note"), st.fixed_dictionaries({"title": st.sampled_from(["a", "É", 5])})),
            st.tuples(
                st.just("update_note"), st.fixed_dictionaries({"id": IDS, "price": st.sampled_from([None, 25, 9.5])})
            ),
            st.tuples(st.just("delete_note"), st.fixed_dictionaries({"id": IDS})),
            st.tuples(st.just("archive_note"), st.fixed_dictionaries({"id": IDS})),
            st.tuples(
                st.just("tag.note"), st.fixed_dictionaries({"id": IDS, "tag": st.sampled_from(["idea", "none"])})
            ),
            st.tuples(st.just("list_notes"), st.fixed_dictionaries({"search": st.sampled_from(["", "a"])})),
            st.tuples(
                st.just("write_page"),
                st.fixed_dictionaries({"path": st.sampled_from(["a", "a/b", "../x"]), "text": st.just("t")}),
            ),
        ),
    ),
    max_size=6,
)
Calls = list[tuple[str, tuple[str, dict[str, Any]]]]


@pytest.fixture(scope="module")
def environments() -> list[Environment]:
    notes = parse_record(Environment, DATA.read_bytes(), DATA.name)
    return [notes, notes.model_copy(update={"spec": notes.spec.model_copy(update={"name": "diary"})})]


@pytest.fixture(scope="module")
def host() -> LocalHost:
    return LocalHost()


async def play(group: SessionGroup, calls: Calls) -> list[LedgerEntry]:
    since = len(await group.ledger())
    for server, (tool, arguments) in calls:
        await group.call(server, tool, arguments)
    return await group.ledger(since)


async def content(group: SessionGroup) -> bytes:
    """Everything that makes the state's identity, as bytes."""
    return canonical({server: [await group.rows(server), await group.files(server)] for server in ("notes", "diary")})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=CALLS, second=CALLS, third=CALLS)
def test_restores_and_forks_replay_to_the_same_results_ids_rows_and_files(
    host: LocalHost, environments: list[Environment], first: Calls, second: Calls, third: Calls
) -> None:
    async def run() -> None:
        group = await host.open(environments, seed=5)
        await play(group, first)
        snapshot, before = await group.snapshot(), await content(group)
        played = await play(group, second)
        after = await content(group)
        untouched, fork = await group.fork(snapshot, 2)
        assert await play(fork, second) == played
        assert await content(fork) == after
        await play(fork, third)
        await group.restore(snapshot)
        assert await content(group) == before == await content(untouched)
        assert await play(group, second) == played
        assert await content(group) == after
        assert await group.ledger() == [*(await untouched.ledger()), *played]
        for one in (group, fork, untouched):
            await one.close()

    anyio.run(run)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=CALLS, second=CALLS)
def test_the_ledgers_changes_between_two_snapshots_are_the_difference_of_the_states(
    host: LocalHost, environments: list[Environment], first: Calls, second: Calls
) -> None:
    async def run() -> None:
        group = await host.open(environments, seed=5)
        await play(group, first)
        before = {each.name: (await group.rows(each.name), await group.files(each.name)) for each in environments}
        played = await play(group, second)
        for each in environments:
            name = each.name
            after = (await group.rows(name), await group.files(name))
            mine = compose([entry.changes for entry in played if entry.server == name])
            assert mine == diff_states(before[name], after, name, each.contracts.schema_)
        await group.close()

    anyio.run(run)
