import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ToolRejection
from weft.runtime.values import (
    ABSENT,
    Absent,
    fold,
    instant,
    is_day,
    is_time,
    json_equal,
    number_exact,
    shown,
    unstorable,
)


def test_absent_is_one_falsy_value_that_survives_copies() -> None:
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert Absent() is copy.copy(ABSENT) is copy.deepcopy([ABSENT])[0] is pickle.loads(pickle.dumps(ABSENT)) is ABSENT


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (25, 25.0, True),
        (True, 1, False),
        (False, 0.0, False),
        ("1", 1, False),
        (None, False, False),
        ([1, [2.0]], [1.0, [2]], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
        ({"a": True}, {"a": 1}, False),
        ({}, [], False),
        (2**53 + 1, float(2**53), False),
        (ABSENT, None, False),
        (ABSENT, ABSENT, True),
    ],
)
def test_json_values_are_equal_by_type(left: object, right: object, equal: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("2026-03-02T09:00:00Z", "2026-03-02T18:00:00+09:00"),
        ("2026-03-02T09:00:00Z", "2026-03-02 09:00"),
        ("2026-03-02", "2026-03-02T00:00:00z"),
        ("2026-03-02T09:00:00.5Z", "2026-03-02T09:00:00.500000+00:00"),
        ("2026-03-02T09:00:00-02:30", "2026-03-02T11:30:00Z"),
        ("2026-03-02T09:00:00+0200", "2026-03-02T07:00:00Z"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z"),
    ],
)
def test_one_instant_in_two_spellings_is_one_instant(text: str, other: str) -> None:
    assert instant(text) is not None
    assert instant(text) == instant(other)


def test_instants_are_seconds_and_nanoseconds_of_utc() -> None:
    assert instant("1970-01-02T00:00:01.25Z") == (86401, 250_000_000)
    assert instant("1969-12-31T23:59:59Z") == (-1, 0)
    assert instant("2024-02-29") == (19782 * 86400, 0)


@pytest.mark.parametrize(
    "text",
    ["tomorrow", "2026-02-30", "2026-13-01", "2026-3-2", "2026-03-02T25:00Z", "2026-03-02T09:00:61Z", "",
     "2026-03-02T09:00:00+24:00", "2026-W10-1", "20260302", "٢٠٢٦-03-02", "2026-03-02T"],
)  # fmt: skip
def test_what_is_no_date_is_no_instant(text: str) -> None:
    assert instant(text) is None


def test_days_and_times_are_told_from_other_texts() -> None:
    assert is_day("2026-02-28")
    assert not is_day("2026-02-29")
    assert not is_day("20260228")
    assert not is_day("2026-02-28T00:00Z")
    assert is_time("09:00")
    assert is_time("23:59:60.5Z")
    assert not is_time("24:00")
    assert not is_time("9:00")


def test_folding_ignores_case_and_composition() -> None:
    assert fold("ÉCLAIR") == fold("e\u0301clair") == fold("éclair")
    assert fold("Straße") == fold("STRASSE")
    assert fold("I") == "i"


@pytest.mark.parametrize(
    ("left", "fn", "right", "result"),
    [
        (0.1, "add", 0.2, 0.3),
        (19.99, "multiply", 3, 59.97),
        (1, "subtract", 0.9, 0.1),
        (4, "divide", 2, 2),
        (5, "divide", 2, 2.5),
        (1, "divide", 3, 0.3333333333333333),
        (2, "min", 2.5, 2),
        (2, "max", 2.5, 2.5),
        (1e308, "subtract", 1e-308, 1e308),
    ],
)
def test_arithmetic_is_exact_on_decimals(left: float, fn: str, right: float, result: float) -> None:
    found = number_exact(left, fn, right)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize(
    ("left", "fn", "right"),
    [(1, "divide", 0), (2**62, "multiply", 4), (1e308, "multiply", 10), (float("nan"), "add", 1), (True, "add", 1)],
)
def test_arithmetic_without_a_result_is_rejected(left: float, fn: str, right: float) -> None:
    with pytest.raises(ToolRejection) as caught:
        number_exact(left, fn, right)
    assert caught.value.code == "invalid_argument"


@given(st.integers(-(2**40), 2**40), st.integers(-(2**20), 2**20))
def test_integer_arithmetic_stays_integer(left: int, right: int) -> None:
    assert number_exact(left, "add", right) == left + right
    assert number_exact(left, "multiply", right) == left * right
    assert isinstance(number_exact(left, "subtract", right), int)


@pytest.mark.parametrize(
    "value",
    [float("inf"), 2**63, -(2**63) - 1, "\ud800", ["ok", {"x": "\udfff"}], {"\ud800": 1}, {1: 2}, object(), {"a": {1}}],
)
def test_what_cannot_be_stored_is_named(value: object) -> None:
    assert unstorable(value)


def test_what_can_be_stored_has_no_complaint() -> None:
    assert unstorable({"a": [1, 2.5, None, True, "𝄞\0", -(2**63)]}) is None


def test_values_in_messages_are_short_and_encodable() -> None:
    assert shown("\ud800").encode()
    assert len(shown("x" * 500)) == 80
