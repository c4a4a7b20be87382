"""The value functions that interpreter and backend share, with numbers worked by hand."""

from typing import Any

import pytest

from weft.errors import ToolFault, ToolRejection
from weft.runtime import expressions
from weft.runtime.values import ABSENT


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": [1, 2]}}, ("a", "b", 1), 2),
        ({"a": None}, ("a",), None),
        ({"a": None}, ("a", "b"), ABSENT),
        ({"a": [1]}, ("a", 1), ABSENT),
        ({"a": [1]}, ("a", -1), ABSENT),
        ({"a": "text"}, ("a", 0), ABSENT),
        (ABSENT, ("a",), ABSENT),
        ({"a": 1}, (), {"a": 1}),
    ],
)
def test_dig_goes_along_a_path_and_ends_in_absent(value: Any, path: tuple[Any, ...], found: Any) -> None:
    assert expressions.dig(value, *path) == found


def test_null_counts_as_there_for_coalesce_and_absent_does_not() -> None:
    assert expressions.coalesce(ABSENT, None, 1) is None
    assert expressions.coalesce(ABSENT, ABSENT) is ABSENT
    assert expressions.first_of(lambda: ABSENT, lambda: 2, lambda: 1 // 0) == 2


def test_text_is_joined_without_what_is_not_there() -> None:
    assert expressions.concat("a", ABSENT, None, 1, 2.5, True, ["x"], separator=" ") == 'a 1 2.5 true ["x"]'
    assert expressions.concat() == ""


def test_objects_and_arrays_leave_absent_out_and_keep_null() -> None:
    assert expressions.without_absent({"a": None, "b": ABSENT, "c": 0}) == {"a": None, "c": 0}
    assert expressions.present_items([None, ABSENT, 0]) == [None, 0]


@pytest.mark.parametrize(
    ("value", "items"), [(ABSENT, []), (None, []), ([1], [1]), ("one", ["one"]), ({"a": 1}, [{"a": 1}])]
)
def test_items_are_those_of_a_list_or_the_value_itself(value: Any, items: list[Any]) -> None:
    assert expressions.items_of(value) == items


@pytest.mark.parametrize(("value", "size"), [(ABSENT, 0), (None, 0), ("äb", 2), ([1, 2], 2), ({"a": 1}, 1), (1234, 4)])
def test_length_counts_characters_elements_and_fields(value: Any, size: int) -> None:
    assert expressions.length(value) == size


def test_arithmetic_is_decimal_exact_and_passes_on_what_is_missing() -> None:
    assert expressions.arithmetic("add", 0.1, 0.2) == 0.3
    assert expressions.arithmetic("multiply", 19.99, 3) == 59.97
    assert expressions.arithmetic("divide", 6, 3) == 2
    assert expressions.arithmetic("min", 2, 1.5) == 1.5
    assert expressions.arithmetic("add", ABSENT, None) is ABSENT
    assert expressions.arithmetic("add", 1, None) is None


@pytest.mark.parametrize(("left", "right"), [(1, 0), ("1", 2), (True, 1)])
def test_arithmetic_that_has_no_answer_rejects_the_call(left: Any, right: Any) -> None:
    with pytest.raises(ToolRejection) as caught:
        expressions.arithmetic("divide", left, right)
    assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize(
    ("value", "to", "result"),
    [
        ("12", "integer", 12),
        (" -3 ", "integer", -3),
        (2.0, "integer", 2),
        ("2.50", "number", 2.5),
        ("1e3", "number", 1000),
        (7, "number", 7),
        (7, "text", "7"),
        (2.5, "text", "2.5"),
        (False, "text", "false"),
        ({"a": 1}, "text", '{"a":1}'),
        (None, "integer", None),
        (ABSENT, "text", ABSENT),
    ],
)
def test_casts_give_the_wanted_type(value: Any, to: Any, result: Any) -> None:
    given = expressions.cast_to(value, to)
    assert given == result
    assert type(given) is type(result)


@pytest.mark.parametrize(
    ("value", "to"),
    [
        ("two", "integer"), (2.5, "integer"), ("2.5", "integer"), (True, "integer"), ("", "number"), ("0x1", "number"),
        ([], "number"), (2**70, "integer"), ("99999999999999999999", "integer"), ("nan", "number"), ("1e400", "number"),
        ("１", "integer"),
    ],
)  # fmt: skip
def test_casts_that_do_not_fit_reject_the_call(value: Any, to: Any) -> None:
    with pytest.raises(ToolRejection, match="cannot be read as"):
        expressions.cast_to(value, to)


def test_later_objects_win_a_merge_and_nothing_else_can_be_merged() -> None:
    assert expressions.merged({"a": 1, "b": 1}, ABSENT, None, {"b": 2}) == {"a": 1, "b": 2}
    with pytest.raises(ToolFault):
        expressions.merged({"a": 1}, [2])


def test_fields_are_kept_by_name_as_list_or_comma_text() -> None:
    row = {"id": 1, "title": "a", "body": "b"}
    assert expressions.keep_fields(row, ["title"], ["title", "body"], ["id"]) == {"id": 1, "title": "a"}
    assert expressions.keep_fields([row, 3], "title , body", ["title", "body"]) == [{"title": "a", "body": "b"}, 3]
    for everything in (ABSENT, None, "", [], " , "):
        assert expressions.keep_fields(row, everything, ["title"]) == row
    with pytest.raises(ToolRejection, match="unknown field 'id'; known are title, body"):
        expressions.keep_fields(row, "id", ["title", "body"])


@pytest.mark.parametrize(
    ("test", "left", "right", "holds"),
    [
        ("lt", 2, 2.5, True),
        ("gte", 25, 25.0, True),
        ("lt", "2026-03-02T10:00:00+02:00", "2026-03-02T09:00:00Z", True),
        ("lte", "2026-03-02T10:00:00+01:00", "2026-03-02T09:00:00Z", True),
        ("gt", "b", "a", True),
        ("gt", "10", "9", False),
        ("lt", 1, "2", False),
        ("gt", True, 0, False),
        ("lte", None, 1, False),
        ("gte", ABSENT, ABSENT, False),
    ],
)
def test_order_is_by_value_instant_or_text_and_never_across_types(
    test: Any, left: Any, right: Any, holds: bool
) -> None:
    assert expressions.compare(test, left, right) is holds


def test_membership_is_by_json_equality() -> None:
    assert expressions.is_in(25.0, [1, 25])
    assert not expressions.is_in(True, [1])
    assert expressions.is_in("a", "a")
    assert not expressions.is_in("a", None)
