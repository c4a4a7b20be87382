from typing import Any

import pytest

from weft.errors import ToolFault, ToolRejection
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.runtime.state import SortKey, State, Test
from weft.runtime.values import ABSENT


def ids(state: State, test: str, value: Any = None, column: str = "", **more: Any) -> list[int]:
    return [row["id"] for row in state.select("notes", [Test(test, value, column, **more)])]


@pytest.mark.parametrize(
    ("test", "column", "value", "found"),
    [
        ("eq", "id", 1, [1]), ("eq", "id", 1.0, [1]), ("eq", "id", True, []), ("eq", "id", "1", []),
        ("eq", "id", 2**70, []), ("eq", "title", "Buy milk", [1]), ("eq", "title", "buy milk", []),
        ("ne", "title", "Buy milk", [2, 10]), ("eq", "pinned", True, [1]), ("eq", "pinned", 1, []),
        ("ne", "pinned", True, [2, 10]), ("eq", "price", 25.0, [1]), ("eq", "price", None, [10]),
        ("ne", "price", 25, [2, 10]), ("ne", "price", None, [1, 2]), ("in", "id", [1, 10, "2"], [1, 10]),
        ("in", "id", 2, [2]), ("in", "id", [], []), ("in", "price", [25, None], [1, 10]),
        ("not_in", "id", [1], [2, 10]), ("not_in", "id", [], [1, 2, 10]), ("not_in", "price", [25], [2, 10]),
        ("lt", "price", 25.5, [1]), ("gte", "price", 25, [1, 2]), ("gt", "id", 2, [10]), ("lte", "id", 2, [1, 2]),
        ("lt", "title", "Z", [1]), ("gt", "title", "Z", [2, 10]), ("contains", "title", "MILK", [1]),
        ("prefix", "title", "é", [2]), ("contains", "title", "", [1, 2, 10]), ("contains", "body", "100%", [1]),
        ("contains", "body", "100_", []), ("contains", "body", "who's", [2]), ("contains", "body", '"', []),
        ("contains", "price", 25, [1, 2]), ("contains", "links", "x_y", [1]),
        ("contains", "links", "deep text", [10]), ("contains", "links", "href", []),
        ("is_null", "folder_id", None, [10]), ("not_null", "folder_id", None, [1, 2]), ("has", "links", "a", [1]),
        ("has", "links", {"href": "x_y"}, [1]), ("has_any", "links", ["q", "a"], [1]),
        ("has_all", "links", ["a", "q"], []), ("has_all", "links", [], [1, 10]), ("has_any", "links", [], []),
        ("eq", "at", "09:30", [1]), ("gte", "at", "10:00", [2]), ("eq", "day", "2026-03-01", [1]),
        ("lte", "day", "2026-03-01", [1]), ("gt", "day", "2026-03-01", [2]), ("contains", "title", None, []),
        ("lt", "price", None, []), ("eq", "title", ABSENT, []), ("ne", "title", ABSENT, []),
    ],
)  # fmt: skip
def test_a_test_compares_by_the_type_of_the_column(
    state: State, test: str, column: str, value: Any, found: list[int]
) -> None:
    assert ids(state, test, value, column) == found


# Note 1 is due 2026-03-02T01:30Z, note 2 2026-03-02T01:00Z, note 10 never.
@pytest.mark.parametrize(
    ("test", "value", "found"),
    [
        ("eq", "2026-03-02T01:30:00Z", [1]), ("eq", "2026-03-02T10:30:00.000+09:00", [1]),
        ("ne", "2026-03-02T01:30:00Z", [2, 10]), ("in", ["2026-03-02T01:00Z", "nonsense"], [2]),
        ("lt", "2026-03-02T01:30:00Z", [2]), ("lte", "2026-03-02T01:30:00Z", [1, 2]),
        ("gt", "2026-03-02T02:00:00+01:00", [1]), ("gte", "2026-03-02", [1, 2]), ("gt", "2026-03-02", [1, 2]),
        ("lte", "2026-03-02", [1, 2]), ("lt", "2026-03-02", []), ("lte", "2026-03-01", []),
        ("lt", "2026-03-03", [1, 2]), ("gt", "2026-03-03", []), ("day", "2026-03-02", [1, 2]),
        ("day", "2026-03-01", []), ("day", "2026-03-02T23:00:00Z", [1, 2]),
    ],
)  # fmt: skip
def test_date_times_compare_as_instants_and_dates_alone_as_whole_days(
    state: State, test: str, value: Any, found: list[int]
) -> None:
    assert ids(state, test, value, "due") == found


@pytest.mark.parametrize(
    ("test", "column", "value"),
    [
        ("lt", "due", "tomorrow"), ("day", "due", "2026-02-30"), ("gt", "price", "5"), ("lt", "price", True),
        ("lt", "title", 3), ("gt", "due", 5), ("lt", "pinned", True), ("day", "due", 3),
    ],
)  # fmt: skip
def test_a_bound_of_another_type_is_rejected_by_field(state: State, test: str, column: str, value: Any) -> None:
    with pytest.raises(ToolRejection) as caught:
        ids(state, test, value, column)
    assert caught.value.code == "invalid_argument"
    assert caught.value.details == {"field": column}


def test_a_path_goes_into_a_json_column(state: State) -> None:
    assert ids(state, "eq", "x_y", "links", path=(1, "href")) == [1]
    assert ids(state, "gt", 0, "links", path=("k", 0)) == [10]
    assert ids(state, "is_null", None, "links", path=("k",)) == [1, 2]
    assert ids(state, "prefix", "deep", "links", path=("k", 1)) == [10]
    assert ids(state, "lte", "2026-01-01", "links", path=("k", 1)) == []


def test_case_is_ignored_where_asked(state: State) -> None:
    assert ids(state, "eq", "BUY MILK", "title", ignore_case=True) == [1]
    assert ids(state, "in", ["ÉCLAIR RECIPE", "Call bob"], "title", ignore_case=True) == [2, 10]
    assert ids(state, "not_in", ["CALL BOB"], "title", ignore_case=True) == [1, 2]
    assert ids(state, "has", "A", "links", ignore_case=True) == [1]


def test_search_takes_the_text_literally_in_any_column(state: State) -> None:
    columns = ("title", "body", "links", "price")
    assert ids(state, "search", "E\u0301CLAIR", columns=columns) == [2]
    assert ids(state, "search", "25.5", columns=columns) == [2]
    assert ids(state, "search", "deep", columns=columns) == [10]
    assert ids(state, "search", "milk fresh", columns=columns) == []
    assert ids(state, "search", "", columns=columns) == [1, 2, 10]
    assert ids(state, "search", "%", columns=columns) == [1]


def test_a_link_goes_through_the_relation_table(state: State) -> None:
    through = {"through": "note_tags", "near": "note_id", "far": "tag"}
    assert ids(state, "link", "urgent", **through) == [1]
    assert ids(state, "link", ["urgent", "idea"], **through) == [1, 2]
    assert ids(state, "link", "none", **through) == []
    assert ids(state, "link", "URGENT", ignore_case=True, **through) == [1]


def test_tests_are_joined_and_cut_by_the_limit(state: State) -> None:
    both = [Test("eq", "open", "status"), Test("contains", "b", "title")]
    assert [row["id"] for row in state.select("notes", both)] == [1, 10]
    assert [row["id"] for row in state.select("notes", both, limit=1)] == [1]
    assert state.select("notes", limit=0.0) == []
    assert len(state.select("notes", limit=99)) == 3
    for wrong in (-1, 1.5, True, "2", float("nan")):
        with pytest.raises(ToolRejection, match="limit"):
            state.select("notes", limit=wrong)


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ([SortKey("title")], [1, 10, 2]),
        ([SortKey("title", descending=True)], [2, 10, 1]),
        ([SortKey("price")], [1, 2, 10]),
        ([SortKey("price", descending=True)], [2, 1, 10]),
        ([SortKey("due")], [2, 1, 10]),
        ([SortKey("due", descending=True)], [1, 2, 10]),
        ([SortKey("pinned", descending=True), SortKey("id", descending=True)], [1, 10, 2]),
        ([SortKey("status"), SortKey("folder_id")], [2, 1, 10]),
        ([SortKey("links")], [1, 10, 2]),
        ([], [1, 2, 10]),
    ],
)
def test_rows_come_in_the_wanted_order_with_nulls_last(state: State, keys: list[SortKey], order: list[int]) -> None:
    assert [row["id"] for row in state.select("notes", order=keys)] == order


def test_equal_keys_fall_back_to_the_primary_key_in_both_directions(state: State) -> None:
    for descending in (False, True):
        rows = state.select("notes", [Test("eq", "open", "status")], [SortKey("status", descending)])
        assert [row["id"] for row in rows] == [1, 10]
    assert state.first("notes", order=[SortKey("title", descending=True)])["id"] == 2  # type: ignore[index]
    assert state.first("notes", [Test("eq", 5, "id")]) is None
    assert state.exists("notes", [Test("eq", 10, "id")])


def test_aggregates_are_decimal_exact_and_null_over_nothing(notes: Environment) -> None:
    rows = [
        {"id": number, "title": title, "price": price, "status": status}
        for number, (title, price, status) in enumerate(
            [("b", 0.1, "open"), ("A", 0.2, "open"), ("c", None, "done")], 1
        )
    ]
    state = State.create(notes.contracts.schema_, InitialState(rows={"notes": rows}), seed=1, name="notes")
    assert state.aggregate("notes", "sum", "price") == 0.3
    assert state.aggregate("notes", "avg", "price") == 0.15
    assert state.aggregate("notes", "min", "title") == "A"
    assert state.aggregate("notes", "max", "title") == "c"
    assert state.aggregate("notes", "count") == 3
    assert state.aggregate("notes", "count", "price") == 2
    nothing = [Test("eq", 99, "id")]
    assert state.aggregate("notes", "count", tests=nothing) == 0
    assert state.aggregate("notes", "sum", "price", nothing) is None
    assert state.aggregate("notes", "sum", "price", group_by=["status"]) == [
        {"status": "done", "value": None},
        {"status": "open", "value": 0.3},
    ]
    with pytest.raises(ToolFault, match="does not hold numbers"):
        state.aggregate("notes", "sum", "title")


def test_what_the_schema_lacks_is_a_fault_of_the_environment(state: State) -> None:
    for run in (
        lambda: state.select("nope"),
        lambda: ids(state, "eq", 1, "nope"),
        lambda: ids(state, "like", 1, "title"),
        lambda: state.select("notes", order=[SortKey("nope")]),
        lambda: ids(state, "link", "x", through="comments", near="text", far="id"),
    ):
        with pytest.raises(ToolFault):
            run()


def test_the_same_test_means_the_same_with_and_without_sql(state: State) -> None:
    for column, value in [("id", 1), ("title", "Buy milk"), ("pinned", False), ("price", 25.5), ("at", "09:30")]:
        assert ids(state, "eq", value, column) == ids(state, "eq", value, column, ignore_case=True)
        assert ids(state, "in", [value, value], column) == ids(state, "eq", value, column)
