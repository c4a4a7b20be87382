"""What a reply states: hand-worked spellings that count, and those that do not."""

from decimal import Decimal
from typing import Any

import pytest

from weft.records.verdict import AnswerPart
from weft.verify.answers import check_answer, numbers, states


def part(value: Any, kind: Any, *rivals: Any, name: str = "value") -> AnswerPart:
    return AnswerPart(name=name, value=value, kind=kind, rivals=rivals)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It comes to $1,234.50 in all.", ["1234.50"]),
        ("1 234 of 5'678", ["1", "234", "5678"]),
        ("1\u202f234 km", ["1234"]),
        ("-5 and −6.5", ["-5", "-6.5"]),
        ("on 2026-03-02 at 10:30, version v2, ORD-12, 3rd", []),
        ("a 12kg parcel, 45%, (7), **8**.", ["12", "45", "7", "8"]),
        ("12-month plan", ["12"]),
        ("There are three of them.", ["3"]),
        ("192.168.0.1 and 1.2.3", []),
        ("ends with 12.", ["12"]),
    ],
)
def test_number_tokens(text: str, found: list[str]) -> None:
    assert numbers(text) == [Decimal(item) for item in found]


@pytest.mark.parametrize(
    ("value", "reply", "stated"),
    [
        (1234.5, "The total is 1,234.50 EUR.", True),
        (1234.5, "The total is 1234.", False),
        (3, "three open orders", True),
        (3, "order ORD-3 is open", False),
        (0, "There are no open orders.", True),
        (4.3333333, "about 4.33 on average", True),
        (4.3333333, "about 4.3 on average", False),
        (59.9, "59.90", True),
        (12, "12 of them were due on 2026-03-12", True),
    ],
)
def test_numbers_in_replies(value: Any, reply: str, *, stated: bool) -> None:
    assert states(part(value, "number"), reply) is stated


@pytest.mark.parametrize(
    ("value", "reply", "stated"),
    [
        ("2026-03-02", "It is due on 2026-03-02.", True),
        ("2026-03-02", "It is due on 2 March 2026.", True),
        ("2026-03-02", "due March 2nd, 2026", True),
        ("2026-03-02", "due on the 2nd of March", True),
        ("2026-03-02", "due Mar 2", True),
        ("2026-03-02", "due 02/03/2026", True),
        ("2026-03-02", "due 2 March 2025", False),
        ("2026-03-02", "due 3 March 2026", False),
        ("2026-03-02T09:30:00Z", "at 09:30 on 2 March 2026", True),
        ("2026-03-02T09:30:00Z", "2026-03-02T09:30:00Z", True),
        ("2026-05-02", "You may go on 3 June.", False),
    ],
)
def test_dates_in_replies(value: str, reply: str, *, stated: bool) -> None:
    assert states(part(value, "date"), reply) is stated


def test_the_time_counts_where_a_rival_has_the_same_date() -> None:
    meeting = part("2026-03-02T14:30:00Z", "date", "2026-03-02T09:00:00Z")
    assert states(meeting, "2 March 2026 at 2:30 pm")
    assert states(meeting, "2026-03-02 14:30")
    assert not states(meeting, "2 March 2026")


@pytest.mark.parametrize(
    ("value", "reply", "stated"),
    [
        ("in_progress", "It is in progress now.", True),
        ("open", "The door is opened.", False),
        ("Ann O'Neil", "Assigned to **Ann O’Neil**.", True),
        ("ann@x.org", "Write to ann@x.org.", True),
        ("Zürich", "She lives in ZÜRICH", True),
        ("C++", "written in C++ mostly", True),
        ("a  b", "a b", True),
    ],
)
def test_texts_in_replies(value: str, reply: str, *, stated: bool) -> None:
    assert states(part(value, "text"), reply) is stated


@pytest.mark.parametrize(
    ("value", "reply", "stated"),
    [
        (True, "Yes, it is archived.", True),
        (True, "It is archived.", True),
        (True, "It is not archived.", False),
        (True, "No.", False),
        (False, "No, it isn't.", True),
        (False, "The project isn't archived.", True),
        (False, "It is archived.", False),
        (True, "archived: yes", True),
        (True, "Done.", False),
        (False, "I do not know.", False),
    ],
)
def test_yes_and_no_in_replies(*, value: bool, reply: str, stated: bool) -> None:
    assert states(part(value, "boolean", name="archived"), reply) is stated


@pytest.mark.parametrize(
    ("reply", "stated"),
    [
        ("I could not find order 99.", True),
        ("There's no order 99, so I left everything as it is.", True),
        ("Order 99 is cancelled.", False),
        ("I won't.", False),
    ],
)
def test_refusals_need_a_reason(reply: str, *, stated: bool) -> None:
    assert states(part(("could not find", "no order"), "refusal"), reply) is stated


def passed(parts: list[AnswerPart], reply: str) -> bool:
    return all(check.passed for check in check_answer(parts, reply))


def test_listing_every_value_states_rivals() -> None:
    count = part(3, "number", 2, 4)
    assert passed([count], "There are 3 open orders out of 12.")
    assert not passed([count], "There are 2, 3 or 4 open orders.")
    status = part("shipped", "text", "pending", "closed")
    assert not passed([status], "It is pending, shipped or closed.")


def test_a_rival_that_is_set_aside_does_not_count() -> None:
    status = part("closed", "text", "open")
    assert passed([status], "It is closed, not open.")
    assert passed([status], "I looked: it is closed; it was previously open.")
    assert passed([status], "closed rather than open")
    assert not passed([status], "closed, or open")


def test_a_rival_inside_a_right_value_does_not_count() -> None:
    assert passed([part("Ann Miller", "text", "Ann", "Miller")], "It is Ann Miller's.")
    two = [part("Ann", "text", "Bob"), part("Cid", "text", "Ann")]
    assert passed(two, "Ann and Cid")


def test_a_rival_date_fails_and_another_right_date_does_not() -> None:
    start, end = part("2026-03-02", "date", "2026-03-09"), part("2026-03-09", "date", "2026-03-02", "2026-03-16")
    assert passed([start, end], "from 2 March 2026 to 9 March 2026")
    assert not passed([start, end], "from 2 March to 9 March 2026, or 16 March 2026")
