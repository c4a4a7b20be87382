import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.errors import ToolRejection
from weft.records.environment import Environment
from weft.records.state import Changeset, FileChange, RowChange
from weft.runtime.changes import compose, diff_rows, diff_states
from weft.runtime.state import State, Test
from weft.runtime.tables import SchemaPlan


def change(op: str, before: object, after: object, key: int = 1, server: str = "s") -> Changeset:
    def row(value: object) -> dict[str, object] | None:
        return None if value is None else {"id": key, "v": value}

    one = RowChange(server=server, table="t", key={"id": key}, op=op, before=row(before), after=row(after))  # type: ignore[arg-type]
    return Changeset(rows=(one,))


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (("insert", None, 1), ("update", 1, 2), ("insert", None, 2)),
        (("insert", None, 1), ("delete", 1, None), None),
        (("update", 1, 2), ("update", 2, 3), ("update", 1, 3)),
        (("update", 1, 2), ("update", 2, 1), None),
        (("update", 25, 26), ("update", 26, 25.0), None),
        (("update", 1, 2), ("delete", 2, None), ("delete", 1, None)),
        (("delete", 1, None), ("insert", None, 2), ("update", 1, 2)),
        (("delete", 1, None), ("insert", None, 1), None),
        (("update", True, 2), ("update", 2, 1), ("update", True, 1)),
    ],
)
def test_the_last_writer_of_a_row_wins(
    first: tuple[str, object, object], second: tuple[str, object, object], result: tuple[str, object, object] | None
) -> None:
    composed = compose([change(*first), change(*second)])
    assert composed == (change(*result) if result else Changeset())


def test_files_compose_like_rows() -> None:
    def file(path: str, before: str | None, after: str | None) -> Changeset:
        return Changeset(files=(FileChange(server="s", path=path, before=before, after=after),))

    composed = compose([file("b", None, "1"), file("a", "x", "y"), file("b", "1", None), file("a", "y", "z")])
    assert composed == file("a", "x", "z")


def test_changes_are_ordered_by_server_table_and_key() -> None:
    composed = compose([
        change("insert", None, 1, 10), change("insert", None, 1, 9), change("insert", None, 1, 50, server="a"),
    ])  # fmt: skip
    assert [(one.server, one.key["id"]) for one in composed.rows] == [("a", 50), ("s", 9), ("s", 10)]


def test_nothing_composes_to_nothing(notes: Environment) -> None:
    assert compose([]) == Changeset()
    assert diff_rows(notes.seed.rows, notes.seed.rows, "notes", notes.contracts.schema_) == ()


TEXTS = st.sampled_from(["a", "b", "É"])
STEPS = st.one_of(
    st.tuples(st.just("insert"), TEXTS, st.sampled_from([None, 25, 25.0, 3.5])),
    st.tuples(st.just("update"), st.integers(0, 4), st.sampled_from([None, 25, 25.0, 3.5])),
    st.tuples(st.just("delete"), st.integers(0, 4), st.none()),
    st.tuples(st.just("reinsert"), st.integers(0, 4), TEXTS),
    st.tuples(st.just("rename"), st.sampled_from(["idea", "urgent", "x"]), st.sampled_from(["idea", "urgent", "x"])),
    st.tuples(st.just("tag"), st.integers(0, 4), st.sampled_from(["idea", "urgent", "x"])),
    st.tuples(st.just("write"), st.sampled_from(["a", "a/b", "pages/welcome.md", "empty/x"]), TEXTS),
    st.tuples(st.just("remove"), st.sampled_from(["a", "a/b", "pages", "empty"]), st.none()),
    st.tuples(st.just("move"), st.sampled_from(["a", "pages"]), st.sampled_from(["b", "empty/c"])),
)
CALLS = st.lists(st.tuples(st.lists(STEPS, max_size=4), st.booleans()), max_size=8)


def play(state: State, step: tuple[str, object, object]) -> None:
    kind, one, other = step
    rows = state.select("notes")
    if kind == "insert":
        state.insert("notes", {"title": one, "price": other})
    elif kind == "write":
        state.workspace.write(one, other)
    elif kind == "remove":
        state.workspace.delete(one, recursive=True)
    elif kind == "move":
        state.workspace.move(one, other)
    elif kind == "rename":
        tag = state.first("tags", [Test("eq", one, "name")])
        state.update("tags", tag, {"name": other})
    elif isinstance(one, int) and one < len(rows):
        if kind == "update":
            state.update("notes", rows[one], {"price": other})
        elif kind == "tag":
            state.insert("note_tags", {"note_id": rows[one]["id"], "tag": other}, "ignore")
        else:
            state.delete("notes", rows[one], ["comments", "note_tags"])
            if kind == "reinsert":
                state.insert("notes", {"id": rows[one]["id"], "title": other})


def run(state: State, calls: list[tuple[list[tuple[str, object, object]], bool]]) -> list[Changeset]:
    found = []
    for steps, fails in calls:
        before = (state.serialize().database, state.files(), state.clock)
        try:
            with state.call() as call:
                for step in steps:
                    play(state, step)
                if fails:
                    raise ToolRejection("conflict", "planned")
        except ToolRejection:
            assert call.changes.empty
        if call.changes.empty:
            assert (state.serialize().database, state.files(), state.clock) == before
        else:
            assert state.clock > before[2]
        found.append(call.changes)
    return found


@pytest.fixture(scope="module")
def plan(notes: Environment) -> SchemaPlan:
    return SchemaPlan(notes.contracts.schema_)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS)
def test_composing_the_calls_gives_the_difference_of_the_end_states(
    notes: Environment, plan: SchemaPlan, calls: list[tuple[list[tuple[str, object, object]], bool]]
) -> None:
    state = State.create(plan, notes.seed, seed=3, name="notes")
    before = (state.rows(), state.files())
    changes = run(state, calls)
    after = (state.rows(), state.files())
    assert compose(changes) == diff_states(before, after, "notes", plan.schema)
    middle = len(changes) // 2
    assert compose([compose(changes[:middle]), compose(changes[middle:])]) == compose(changes)
    state.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=CALLS, second=CALLS)
def test_a_state_loaded_from_an_image_replays_to_the_same_rows_ids_and_files(
    notes: Environment,
    plan: SchemaPlan,
    first: list[tuple[list[tuple[str, object, object]], bool]],
    second: list[tuple[list[tuple[str, object, object]], bool]],
) -> None:
    state = State.create(plan, notes.seed, seed=3, name="notes")
    run(state, first)
    image = state.serialize()
    changes = run(state, second)
    again = State.load(plan, image)
    assert run(again, second) == changes
    assert (again.rows(), again.files(), again.clock) == (state.rows(), state.files(), state.clock)
    for one in (state, again):
        one.close()
