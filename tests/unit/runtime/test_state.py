from collections.abc import Callable
from typing import Any

import pytest

from weft.errors import InputError, ToolFault, ToolRejection
from weft.records.environment import Environment
from weft.records.state import InitialState, Row
from weft.runtime.state import State, Test
from weft.runtime.values import ABSENT


def rejected(code: str, run: Callable[[], Any]) -> ToolRejection:
    with pytest.raises(ToolRejection) as caught:
        run()
    assert caught.value.code == code, caught.value
    assert "INSERT" not in str(caught.value)
    assert "constraint" not in str(caught.value).lower()
    return caught.value


def done(state: State, run: Callable[[], Any]) -> Any:
    with state.call():
        return run()


def note(state: State, key: int) -> Row:
    row = state.first("notes", [Test("eq", key, "id")])
    assert row is not None
    return row


def test_a_new_state_holds_the_initial_rows_files_and_clock(state: State, notes: Environment) -> None:
    assert state.rows() == notes.seed.rows
    assert state.files() == dict(sorted(notes.seed.files.items()))
    assert (state.clock, state.now(), state.now("date")) == (
        "2026-03-02T09:00:00Z",
        "2026-03-02T09:00:00Z",
        "2026-03-02",
    )


def test_an_inserted_row_gets_id_clock_and_defaults(state: State) -> None:
    with state.call() as call:
        row = state.insert("notes", {"title": "x", "price": 3.0, "body": ABSENT, "links": {"b": 1, "a": [True]}})
    assert row == {
        "id": row["id"], "folder_id": None, "title": "x", "body": "", "price": 3.0, "pinned": False,
        "links": {"a": [True], "b": 1}, "due": None, "day": None, "at": None, "status": "open",
        "created_at": "2026-03-02T09:00:00Z", "updated_at": "2026-03-02T09:00:00Z",
    }  # fmt: skip
    assert note(state, row["id"]) == row
    (change,) = call.changes.rows
    assert (change.op, change.server, change.table, change.key) == ("insert", "notes", "notes", {"id": row["id"]})
    assert change.after == row
    assert state.clock == "2026-03-02T09:00:01Z"


def test_an_update_records_both_whole_rows_and_moves_the_clock_once(state: State) -> None:
    before = note(state, 1)
    with state.call() as call:
        first = state.update("notes", before, {"price": None, "pinned": ABSENT})
        state.update("notes", first, {"body": "n"})
    (change,) = call.changes.rows
    assert change.before == before
    assert change.after == {**before, "price": None, "body": "n", "updated_at": "2026-03-02T09:00:00Z"}
    assert state.clock == "2026-03-02T09:00:01Z"


@pytest.mark.parametrize("values", [{}, {"price": 25.0}, {"title": "Buy milk", "links": ["a", {"href": "x_y"}]}])
def test_setting_what_is_there_already_is_no_change(state: State, values: dict[str, Any]) -> None:
    image = state.serialize().database
    with state.call() as call:
        assert state.update("notes", note(state, 1), values) == note(state, 1)
    assert call.changes.empty
    assert state.clock == "2026-03-02T09:00:00Z"
    assert state.serialize().database == image


def test_a_call_that_undoes_itself_leaves_no_trace(state: State) -> None:
    image = state.serialize().database
    with state.call() as call:
        row = state.insert("notes", {"title": "gone"})
        state.delete("notes", row)
        state.update("notes", note(state, 1), {"title": "other"})
        state.update("notes", note(state, 1), {"title": "Buy milk", "updated_at": "2026-02-01T08:00:00Z"})
    assert call.changes.empty
    assert state.serialize().database == image
    with state.call():
        assert state.insert("notes", {"title": "again"})["id"] == row["id"]


def test_deleting_and_inserting_a_key_again_is_an_update(state: State) -> None:
    with state.call() as call:
        state.delete("tags", {"name": "urgent"}, ["note_tags"])
        state.insert("tags", {"name": "urgent", "colour": "blue"})
    assert [(change.op, change.table) for change in call.changes.rows] == [("delete", "note_tags"), ("update", "tags")]


def test_update_keeps_the_shape_of_its_argument(state: State) -> None:
    assert done(state, lambda: state.update("notes", None, {"title": "x"})) is None
    assert done(state, lambda: state.update("notes", [], {"title": "x"})) == []
    rows = done(state, lambda: state.update("notes", state.select("notes"), {"pinned": True}))
    assert [row["pinned"] for row in rows] == [True, True, True]


def test_a_row_that_is_gone_cannot_be_updated(state: State) -> None:
    row = note(state, 10)
    done(state, lambda: state.delete("notes", row))
    error = rejected("not_found", lambda: done(state, lambda: state.update("notes", row, {"title": "x"})))
    assert error.details == {"field": "id", "value": 10, "entity": "note"}


@pytest.mark.parametrize(
    ("table", "values", "code", "field"),
    [
        ("notes", {"title": "x", "folder_id": "fld_none"}, "not_found", "folderId"),
        ("notes", {"title": None}, "invalid_argument", "title"),
        ("notes", {}, "invalid_argument", "title"),
        ("notes", {"title": 5}, "invalid_argument", "title"),
        ("notes", {"title": "\ud800"}, "invalid_argument", "title"),
        ("notes", {"title": "x", "status": "lost"}, "invalid_argument", "status"),
        ("notes", {"title": "x", "pinned": 1}, "invalid_argument", "pinned"),
        ("notes", {"title": "x", "price": True}, "invalid_argument", "price"),
        ("notes", {"title": "x", "price": "3"}, "invalid_argument", "price"),
        ("notes", {"title": "x", "price": 2**63}, "invalid_argument", "price"),
        ("notes", {"title": "x", "price": float("nan")}, "invalid_argument", "price"),
        ("notes", {"title": "x", "id": 1.5}, "invalid_argument", "id"),
        ("notes", {"title": "x", "id": 1e300}, "invalid_argument", "id"),
        ("notes", {"title": "x", "links": [2**64]}, "invalid_argument", "links"),
        ("notes", {"title": "x", "due": "2026-02-30T00:00:00Z"}, "invalid_argument", "due"),
        ("notes", {"title": "x", "day": "2026-03-02T00:00:00Z"}, "invalid_argument", "day"),
        ("notes", {"title": "x", "at": "9:00"}, "invalid_argument", "at"),
        ("notes", {"title": "x", "id": 1}, "conflict", "id"),
        ("folders", {"name": "Home"}, "conflict", "name"),
        ("tags", {}, "invalid_argument", "name"),
        ("tags", {"name": "new", "colour": "pink"}, "invalid_argument", "colour"),
        ("note_tags", {"note_id": 1}, "invalid_argument", "tag"),
        ("note_tags", {"note_id": 99, "tag": "idea"}, "not_found", "noteId"),
        ("note_tags", {"note_id": 1, "tag": "urgent"}, "conflict", "noteId"),
    ],
)
def test_a_row_that_does_not_fit_is_rejected_by_field(
    state: State, table: str, values: dict[str, Any], code: str, field: str
) -> None:
    image = state.serialize().database
    error = rejected(code, lambda: done(state, lambda: state.insert(table, values)))
    assert error.details["field"] == field
    assert field in str(error)
    assert state.serialize().database == image
    assert state.clock == "2026-03-02T09:00:00Z"


def test_a_missing_reference_names_entity_and_value(state: State) -> None:
    error = rejected("not_found", lambda: done(state, lambda: state.insert("comments", {"note_id": 99, "text": "x"})))
    assert str(error) == "noteId: no note with id 99"
    assert error.details == {"field": "noteId", "value": 99, "entity": "note"}


def test_a_row_may_refer_to_itself(state: State) -> None:
    row = done(state, lambda: state.insert("comments", {"id": "self", "parent_id": "self", "note_id": 1, "text": "x"}))
    assert row["parent_id"] == "self"


def test_whole_floats_are_integers(state: State) -> None:
    row = done(state, lambda: state.insert("notes", {"id": 50.0, "title": "x"}))
    assert row["id"] == 50
    assert isinstance(row["id"], int)


def test_an_insert_can_leave_or_change_the_row_that_is_there(state: State) -> None:
    with state.call() as call:
        assert state.insert("note_tags", {"note_id": 1, "tag": "urgent"}, "ignore") == {"note_id": 1, "tag": "urgent"}
        assert state.insert("folders", {"name": "Home"}, "ignore")["id"] == "fld_home01"
    assert call.changes.empty
    row = done(state, lambda: state.insert("tags", {"name": "urgent", "colour": "blue"}, "update"))
    assert row == {"name": "urgent", "colour": "blue"}
    row = done(state, lambda: state.insert("notes", {"id": 2, "price": 1}, "update"))
    assert (row["title"], row["price"], row["updated_at"]) == ("Éclair recipe", 1, "2026-03-02T09:00:01Z")


def test_unique_values_stay_unique_when_rows_change(state: State) -> None:
    work = state.first("folders", [Test("eq", "Work", "name")])
    assert work is not None
    error = rejected("conflict", lambda: done(state, lambda: state.update("folders", work, {"name": "Home"})))
    assert error.details == {"field": "name", "value": "Home", "entity": "folder"}
    rejected("conflict", lambda: done(state, lambda: state.update("tags", {"name": "idea"}, {"name": "urgent"})))
    assert done(state, lambda: state.update("folders", work, {"name": "Work"})) == work


def test_a_renamed_key_takes_its_references_along(state: State) -> None:
    with state.call() as call:
        state.update("tags", {"name": "urgent"}, {"name": "now"})
    assert [(change.op, change.table, tuple(change.key.values())) for change in call.changes.rows] == [
        ("insert", "note_tags", (1, "now")), ("delete", "note_tags", (1, "urgent")),
        ("insert", "tags", ("now",)), ("delete", "tags", ("urgent",)),
    ]  # fmt: skip
    assert state.rows()["note_tags"][0] == {"note_id": 1, "tag": "now"}


def test_deleting_a_referenced_row_is_a_conflict_that_names_who_refers(state: State) -> None:
    error = rejected("conflict", lambda: done(state, lambda: state.delete("notes", note(state, 1), ["note_tags"])))
    assert error.details["referenced_by"] == "comment"
    parent = state.first("comments")
    rejected("conflict", lambda: done(state, lambda: state.delete("comments", parent)))


def test_a_cascade_takes_referring_rows_along_at_any_depth(state: State) -> None:
    with state.call() as call:
        assert state.delete("notes", note(state, 1), ["comments", "note_tags"]) == 1
    assert [(change.op, change.table) for change in call.changes.rows] == [
        ("delete", "comments"), ("delete", "comments"), ("delete", "note_tags"), ("delete", "notes"),
    ]  # fmt: skip
    assert call.changes.rows[0].before is not None
    assert call.changes.rows[0].before["text"] == "first"


def test_rows_that_refer_to_each_other_can_go_together(state: State) -> None:
    assert done(state, lambda: state.delete("comments", state.select("comments"))) == 2
    assert done(state, lambda: state.delete("comments", [])) == 0
    assert done(state, lambda: state.delete("comments", None)) == 0


def test_a_transition_holds_to_the_states_it_may_come_from(state: State) -> None:
    row = done(state, lambda: state.transition("notes", note(state, 1), "status", "archived", ["open", "done"]))
    assert row["status"] == "archived"
    error = rejected(
        "invalid_state", lambda: done(state, lambda: state.transition("notes", row, "status", "done", ["open"]))
    )
    assert error.details == {"field": "status", "state": "archived", "allowed": ["open"]}
    rejected("invalid_argument", lambda: done(state, lambda: state.transition("notes", row, "status", "lost")))


def test_a_failed_call_gives_back_ids_files_and_clock(state: State) -> None:
    image = state.serialize()

    def fail() -> None:
        lost.update(state.insert("notes", {"title": "x"}))
        state.workspace.write("pages/new.md", "x")
        state.delete("comments", state.select("comments"))
        raise RuntimeError("boom")

    lost: Row = {}
    with pytest.raises(RuntimeError, match="boom"):
        done(state, fail)
    assert state.serialize().database == image.database
    assert state.files() == image.workspace.files()
    with state.call():
        assert state.insert("notes", {"title": "y"})["id"] == lost["id"]


def test_a_change_of_files_alone_moves_the_clock(state: State) -> None:
    with state.call() as call:
        state.workspace.write("pages/new.md", "x")
    assert [change.path for change in call.changes.files] == ["pages/new.md"]
    assert call.changes.rows == ()
    assert state.clock == "2026-03-02T09:00:01Z"
    assert State.load(state.plan, state.serialize()).clock == "2026-03-02T09:00:01Z"


def test_a_generated_id_is_never_one_that_is_there(state: State) -> None:
    copy = State.load(state.plan, state.serialize())
    upcoming = done(copy, lambda: copy.insert("notes", {"title": "x"}))["id"]
    done(state, lambda: state.insert("notes", {"id": upcoming, "title": "mine"}))
    assert done(state, lambda: state.insert("notes", {"title": "x"}))["id"] == upcoming + 1


def test_ids_never_come_back_after_a_delete_but_do_after_a_restore(state: State) -> None:
    image = state.serialize()

    def play(state: State) -> list[int]:
        first = done(state, lambda: state.insert("notes", {"title": "x"}))
        done(state, lambda: state.delete("notes", first))
        return [first["id"], done(state, lambda: state.insert("notes", {"title": "y"}))["id"]]

    played = play(state)
    assert played[0] != played[1]
    assert play(State.load(state.plan, image)) == played
    other = State.load(state.plan, image)
    other.reseed(8)
    assert other.seed == 8
    assert play(other) != played


def test_ids_meet_the_pattern_of_their_column(state: State) -> None:
    folder = done(state, lambda: state.insert("folders", {"name": "New"}))
    assert folder["id"].startswith("fld_")
    assert len(folder["id"]) == 10
    comment = done(state, lambda: state.insert("comments", {"note_id": 1, "text": "x"}))
    assert comment["id"][14] == "4"


def test_a_loaded_state_is_writable_grows_and_shares_nothing(state: State) -> None:
    image = state.serialize()
    first, second = State.load(state.plan, image), State.load(state.plan.schema, image)
    with first.call():
        for number in range(2000):
            first.insert("notes", {"title": f"note {number}", "body": "x" * 50})
        first.workspace.write("a", "1")
    assert len(first.rows()["notes"]) == 2003
    assert second.rows() == state.rows()
    assert second.files() == state.files()
    rejected("not_found", lambda: done(second, lambda: second.insert("notes", {"title": "x", "folder_id": "none"})))


def test_writes_need_a_call_and_calls_do_not_nest(state: State) -> None:
    with pytest.raises(ToolFault, match="needs a call"):
        state.insert("notes", {"title": "x"})
    with pytest.raises(ToolFault, match="needs a call"):
        state.workspace.write("a", "x")
    done(state, lambda: state.workspace.write("a", "x"))
    with pytest.raises(ToolFault, match="needs a call"):
        State.load(state.plan, state.serialize()).workspace.delete("a")
    with state.call():
        for run in (lambda: state.call().__enter__(), state.serialize, lambda: state.set_clock("2027-01-01T00:00:00Z")):
            with pytest.raises(ToolFault, match="while a call is running"):
                run()


def test_the_clock_can_be_moved_by_the_group(state: State) -> None:
    state.set_clock("2026-05-01T00:00:00Z")
    assert done(state, lambda: state.insert("notes", {"title": "x"}))["created_at"] == "2026-05-01T00:00:00Z"
    assert State.load(state.plan, state.serialize()).clock == "2026-05-01T00:00:01Z"


def test_the_runtimes_own_table_is_not_among_the_rows(state: State) -> None:
    assert set(state.rows()) == {"folders", "tags", "notes", "note_tags", "comments"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"nope": []}, "initial rows name table 'nope'"),
        ({"notes": [{"id": 1, "title": "x", "nope": 1}]}, "table 'notes', row 0: column 'nope'"),
        ({"notes": [{"id": 1, "title": 5}]}, "table 'notes', row 0, column 'title'"),
        ({"notes": [{"id": 1}]}, "row 0, column 'title'"),
        ({"notes": [{"title": "x"}]}, "row 0, column 'id'"),
        ({"notes": [{"id": 1, "title": "x"}, {"id": 1, "title": "y"}]}, "row 1, column 'id': 1 is that of row 0 too"),
        ({"folders": [{"id": "fld_000001", "name": "x"}, {"id": "fld_000002", "name": "x"}]}, "row 1, column 'name'"),
        ({"notes": [{"id": 1, "title": "x", "folder_id": "none"}]}, "column 'folder_id': 'none' is no id of 'folders'"),
        ({"tags": [{"name": "x", "colour": "pink"}]}, "table 'tags', row 0, column 'colour'"),
    ],
)
def test_initial_rows_that_do_not_fit_are_refused_by_table_row_and_column(
    notes: Environment, rows: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        State.create(notes.contracts.schema_, InitialState(rows=rows), seed=1, name="notes")


def test_initial_clock_and_files_are_checked_too(notes: Environment) -> None:
    for initial in (InitialState(clock="noon"), InitialState(files={"../x": ""})):
        with pytest.raises(InputError):
            State.create(notes.contracts.schema_, initial, seed=1, name="notes")
