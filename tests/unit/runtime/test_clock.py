import pytest

from weft.errors import InputError
from weft.records.state import ColumnType
from weft.runtime.clock import epoch, latest, parse_clock, reading, ticked


def test_a_clock_is_read_in_any_offset_and_written_in_utc() -> None:
    assert parse_clock("2026-03-02T10:00:00+01:00") == "2026-03-02T09:00:00Z"
    assert parse_clock("2026-03-02") == "2026-03-02T00:00:00Z"
    assert parse_clock("0999-03-02T00:00:00.9Z") == "0999-03-02T00:00:00Z"


def test_a_tick_is_one_second() -> None:
    assert ticked("2026-12-31T23:59:59Z") == "2027-01-01T00:00:00Z"


def test_a_group_starts_at_the_latest_clock() -> None:
    assert latest(["2026-03-02T09:00:00Z", "2026-03-02T09:00:00-01:00"]) == "2026-03-02T10:00:00Z"


def test_what_is_no_clock_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="initial clock: 'noon' is not a date-time"):
        parse_clock("noon", "initial clock")
    with pytest.raises(InputError, match="beyond the year 9999"):
        ticked("9999-12-31T23:59:59Z")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ColumnType.DATETIME, "2026-03-02T09:00:00Z"),
        (ColumnType.TEXT, "2026-03-02T09:00:00Z"),
        (ColumnType.DATE, "2026-03-02"),
        (ColumnType.TIME, "09:00:00"),
        (ColumnType.INTEGER, 1772442000),
    ],
)
def test_a_column_gets_the_clock_in_its_own_form(kind: ColumnType, value: object) -> None:
    assert reading("2026-03-02T09:00:00Z", kind) == value
    assert epoch("2026-03-02T09:00:00Z") == 1772442000
