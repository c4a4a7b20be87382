"""Rejections, tests, orders, pages and sorts, with results worked by hand."""

from typing import Any

import pytest

from weft.errors import ToolRejection
from weft.runtime.operations import (
    cursor_at,
    is_descending,
    no_case,
    optional,
    order_by,
    page_of,
    reject,
    selects,
    sort_items,
    sort_key,
    where,
)
from weft.runtime.state import SortKey, Test
from weft.runtime.values import ABSENT

LETTERS = list("abcdefg")


def test_a_rejection_fills_in_arguments_by_name_and_dotted_path() -> None:
    args = {"id": 7, "query": {"tags": ["x"]}, "a.b": "dotted", "from": None}
    error = reject("not_found", "{id} {query.tags.0} {a.b} {from} {gone} {x: y}", args)
    assert str(error) == "7 x dotted null (not given) {x: y}"
    assert error.code == "not_found"
    assert error.details == {"arguments": {"id": 7, "query.tags.0": "x", "a.b": "dotted", "from": None}}


def test_a_rejection_shortens_long_values_in_the_message_only() -> None:
    error = reject("conflict", "{text}", {"text": "x" * 500})
    assert str(error) == "x" * 79 + "…"
    assert error.details == {"arguments": {"text": "x" * 500}}


def test_a_value_with_braces_is_not_filled_in_again() -> None:
    assert str(reject("conflict", "{text}", {"text": "{id}", "id": 1})) == "{id}"


def test_a_case_is_selected_by_value_and_type() -> None:
    assert selects({"action": "a", "n": 1.0}, {"action": "a", "n": 1})
    assert not selects({"n": True}, {"n": 1})
    assert not selects({}, {"n": None})
    assert selects({"query": {"kind": "x"}}, {"query.kind": "x"})
    assert selects({}, {})


def test_no_case_lists_the_values_and_says_what_was_sent() -> None:
    cases = [{"action": "get"}, {"action": "put"}, {"action": "get", "deep": True}]
    assert str(no_case({"action": "zap"}, cases)) == (
        "action must be one of 'get', 'put'; got 'zap'; deep must be one of True; it is missing"
    )
    assert no_case({}, []).code == "invalid_argument"


def test_an_optional_test_is_dropped_for_absent_and_for_empty_lists_only_where_lists_are_asked_for() -> None:
    kept = [
        optional("eq", value=None, column="a"),
        optional("eq", value=[], column="a"),
        optional("in", value=[1], column="a"),
    ]
    dropped = [optional("eq", value=ABSENT, column="a")]
    dropped += [optional(test, value=[], column="a") for test in ("in", "has_any", "has_all")]
    assert where(*kept, *dropped, Test("is_null", column="b")) == [
        Test("eq", None, "a"),
        Test("eq", [], "a"),
        Test("in", [1], "a"),
        Test("is_null", column="b"),
    ]


def test_a_sort_key_is_looked_up_and_an_unknown_one_lists_the_known() -> None:
    columns = {"created": "created_at", "title": "title"}
    assert sort_key("created", columns, descending=True) == SortKey("created_at", True)
    assert sort_key(ABSENT, columns) is None
    assert sort_key(None, columns, default="id") == SortKey("id")
    assert order_by(None, SortKey("id")) == [SortKey("id")]
    with pytest.raises(ToolRejection, match="cannot sort by 'created_at'; known are created, title"):
        sort_key("created_at", columns)


@pytest.mark.parametrize("value", [True, "desc", "DESC", " Descending ", "-1", -1, -1.0])
def test_words_for_descending(value: Any) -> None:
    assert is_descending(value)


@pytest.mark.parametrize("value", [False, "asc", "", "1", 1, None, ABSENT, ["desc"]])
def test_everything_else_is_ascending(value: Any) -> None:
    assert not is_descending(value)


def test_items_are_sorted_by_type_and_value_with_nulls_last_and_ties_as_they_were() -> None:
    items = [{"n": n, "i": i} for i, n in enumerate([None, "b", 10, "B", 9.5, True, "a", 10])]
    assert [item["n"] for item in sort_items([*items, {}], [SortKey("n")])[:-1]] == [
        True, 9.5, 10, 10, "a", "B", "b", None,
    ]  # fmt: skip
    downwards = sort_items(items, [SortKey("n", descending=True)])
    assert [item["i"] for item in downwards] == [1, 3, 6, 2, 7, 4, 5, 0]


def test_dates_are_sorted_as_instants_and_later_keys_break_ties() -> None:
    items = [
        {"at": "2026-08-22T00:00:00Z", "n": 1},
        {"at": "2026-08-22T01:00:00+09:00", "n": 2},
        {"at": "2026-08-21T16:00:00.000Z", "n": 3},
    ]
    assert [item["n"] for item in sort_items(items, [SortKey("at"), SortKey("n", descending=True)])] == [3, 2, 1]
    assert sort_items(None, [SortKey("at")]) == []


def test_the_first_page_says_what_follows() -> None:
    assert page_of(LETTERS, limit=3) == {
        "items": ["a", "b", "c"], "total": 7, "count": 3, "offset": 0, "limit": 3, "page": 1, "pages": 3,
        "has_more": True, "next_offset": 3, "next_page": 2, "next_cursor": cursor_at(3),
    }  # fmt: skip


def test_the_last_page_has_no_next() -> None:
    last = page_of(LETTERS, limit=3, page=3)
    assert (last["items"], last["page"], last["has_more"]) == (["g"], 3, False)
    assert [last[f"next_{name}"] for name in ("offset", "page", "cursor")] == [None, None, None]


def test_following_cursors_meets_every_item_once() -> None:
    seen, cursor = [], ABSENT
    while cursor is not None:
        found = page_of(LETTERS, limit=2, cursor=cursor)
        seen += found["items"]
        cursor = found["next_cursor"]
    assert seen == LETTERS


def test_pages_may_count_from_zero_and_offsets_may_be_anywhere() -> None:
    assert page_of(LETTERS, limit=3, page=1, first_page=0)["items"] == ["d", "e", "f"]
    odd = page_of(LETTERS, limit=3, offset=4)
    assert (odd["items"], odd["page"], odd["has_more"]) == (["e", "f", "g"], 2, False)
    assert page_of(LETTERS, offset=99)["items"] == []
    assert page_of([], limit=5)["pages"] == 0


def test_limits_have_a_default_and_a_maximum_and_null_is_not_given() -> None:
    assert page_of(LETTERS, limit=None, default_limit=2)["limit"] == 2
    assert page_of(LETTERS, limit=99, maximum=4)["count"] == 4
    assert page_of(LETTERS, default_limit=50, maximum=5)["limit"] == 5
    assert page_of(LETTERS, limit=2.0)["count"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": 1.5},
        {"limit": "3"},
        {"limit": True},
        {"offset": -1},
        {"page": 0},
        {"page": -1, "first_page": 0},
        {"cursor": ""},
        {"cursor": "3"},
        {"cursor": 3},
        {"cursor": "ünknown"},
        {"cursor": cursor_at(3)[:-1] + "X"},
    ],
)
def test_what_makes_no_page_is_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolRejection) as caught:
        page_of(LETTERS, **wrong)
    assert caught.value.code == "invalid_argument"
