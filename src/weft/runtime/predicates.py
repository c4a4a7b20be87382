"""Row tests and sort orders by the columns' logical types (pure; the meaning of records.expression.Where).

Every test has one meaning, given by :func:`matcher`. :func:`prefilter` says the same in SQL for the few tests where
SQLite means exactly that, so that look-ups by id need no scan.

Null is a value for ``eq``, ``ne``, ``in`` and ``not_in`` (``ne 1`` is true of null); every other test is false on null,
and false for a null operand. An ABSENT operand matches nothing: the interpreter drops optional tests before.

A date alone as a bound of a date-time: ``gt``, ``gte`` and ``lt`` mean the start of that day in UTC, ``lte`` the end of
it, so that ``gte 2026-03-01`` with ``lte 2026-03-01`` is that whole day. ``day`` compares calendar dates in UTC.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import ToolFault, ToolRejection
from weft.records.base import JSON
from weft.records.expression import Step
from weft.records.state import ColumnType, Row
from weft.runtime.tables import ColumnPlan, SQLiteValue, TablePlan
from weft.runtime.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    Absent,
    fold,
    instant,
    is_day,
    is_number,
    json_equal,
    shown,
    unstorable,
)

Match = Callable[[Row], bool]
DAY_SECONDS = 86400
MAX_BOUND_VALUES = 500
RANGES = ("lt", "lte", "gt", "gte")


@dataclass(frozen=True, slots=True)
class Test:
    """A test on a row with its evaluated operand; mirrors :class:`weft.records.expression.Where`."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    test: str
    value: Any = None
    column: str = ""
    path: tuple[Step, ...] = ()
    columns: tuple[str, ...] = ()
    ignore_case: bool = False
    through: str = ""
    near: str = ""
    far: str = ""


Linked = Callable[[Test], tuple[str, Collection[SQLiteValue]]]


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of an order. Nulls come last in both directions."""

    column: str
    descending: bool = False


def _never(_: Any) -> bool:
    return False


def _always(_: Any) -> bool:
    return True


def prefilter(plan: TablePlan, test: Test) -> tuple[str, Sequence[SQLiteValue]] | None:
    """Return an SQL condition that means exactly the test, or None where there is none."""
    if test.path or test.ignore_case or not test.column:
        return None
    column = plan.column(test.column)
    if test.test == "is_null":
        return f"{column.sql} IS NULL", []
    if test.test == "not_null":
        return f"{column.sql} IS NOT NULL", []
    if test.test == "eq":
        wanted = [test.value]
    elif test.test == "in" and isinstance(test.value, (list, tuple)) and len(test.value) <= MAX_BOUND_VALUES:
        wanted = list(test.value)
    else:
        return None
    if column.type in (ColumnType.JSON, ColumnType.DATETIME) or any(value is None for value in wanted):
        return None
    if column.type is ColumnType.DATE and any(isinstance(value, str) and not is_day(value) for value in wanted):
        return None
    bound = [value for value in (_bindable(column, value) for value in wanted) if value is not None]
    if not bound:
        return "0", []
    if len(bound) == 1:
        return f"{column.sql} = ?", bound
    return f"{column.sql} IN ({', '.join('?' * len(bound))})", bound


def _bindable(column: ColumnPlan, value: JSON) -> SQLiteValue:
    """The operand as SQLite compares it, or None if no row of the column can equal it."""
    if column.type is ColumnType.BOOLEAN:
        return int(value) if isinstance(value, bool) else None
    if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
        if not is_number(value) or (isinstance(value, int) and not INTEGER_MIN <= value <= INTEGER_MAX):
            return None
        return float(value) if isinstance(value, float) else int(value)
    return value if isinstance(value, str) and not unstorable(value) else None


def matcher(plan: TablePlan, test: Test, linked: Linked) -> Match:
    """Return the test as a function of a row.

    Args:
        plan: the table.
        test: with its operand.
        linked: for ``link``: this table's column that ``near`` refers to, and the values of ``near`` in the relation
            rows that hold the operand in ``far``.

    Raises:
        ToolRejection: ``invalid_argument`` for an operand that cannot be a bound of the column.
        ToolFault: the test names no known column or kind.
    """
    if isinstance(test.value, Absent):
        return _never
    if test.test == "link":
        name, keys = linked(test)
        return lambda row: row[name] in keys
    if test.test == "search":
        return _searching([plan.column(name).name for name in test.columns or (test.column,)], test.value)
    column = plan.column(test.column)
    check = _value_test(column, test)
    name, path = column.name, test.path
    if not path:
        return lambda row: check(row[name])
    return lambda row: check(_inside(row[name], path))


def _value_test(column: ColumnPlan, test: Test) -> Callable[[JSON], bool]:
    kind, value = test.test, test.value
    by_type = ColumnType.JSON if test.path else column.type
    if kind in ("eq", "ne", "in", "not_in"):
        return _equality(by_type, test)
    if kind == "is_null":
        return lambda held: held is None
    if kind == "not_null":
        return lambda held: held is not None
    if kind in ("has", "has_any", "has_all"):
        return _holding(test)
    if value is None:
        return _never
    if kind in RANGES:
        return _range(column, by_type, kind, value)
    if kind == "day":
        return _day(column, value)
    wanted = fold(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if kind == "contains":
        return lambda held: any(wanted in fold(text) for text in texts(held))
    if kind == "prefix":
        return lambda held: any(fold(text).startswith(wanted) for text in texts(held))
    raise ToolFault(f"there is no test {kind!r}")


def texts(value: JSON) -> list[str]:
    """Return the texts that a search sees in a value: itself, a number's spelling, or those inside a JSON value."""
    if isinstance(value, str):
        return [value]
    if is_number(value):
        return [json.dumps(value)]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []


def _searching(names: Sequence[str], value: JSON) -> Match:
    if value is None:
        return _never
    wanted = fold(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if not wanted:
        return _always
    return lambda row: any(wanted in fold(text) for name in names for text in texts(row[name]))


def _inside(value: JSON, path: Sequence[Step]) -> JSON:
    """The value at a path inside a JSON value; null where there is none."""
    for step in path:
        there: Any = value if isinstance(value, (dict, list)) else {}
        try:
            value = there[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _equal(kind: ColumnType, ignore_case: bool) -> Callable[[JSON, JSON], bool]:
    def equal(held: JSON, wanted: JSON) -> bool:
        if isinstance(held, str) and isinstance(wanted, str):
            if held == wanted:
                return True
            if kind in (ColumnType.DATETIME, ColumnType.DATE):
                moment = instant(held)
                return moment is not None and moment == instant(wanted)
            return ignore_case and fold(held) == fold(wanted)
        return json_equal(held, wanted)

    return equal


def _equality(kind: ColumnType, test: Test) -> Callable[[JSON], bool]:
    equal, value = _equal(kind, test.ignore_case), test.value
    if test.test == "eq":
        return lambda held: equal(held, value)
    if test.test == "ne":
        return lambda held: not equal(held, value)
    wanted = list(value) if isinstance(value, (list, tuple)) else [value]
    if test.test == "in":
        return lambda held: any(equal(held, item) for item in wanted)
    return lambda held: not any(equal(held, item) for item in wanted)


def _holding(test: Test) -> Callable[[JSON], bool]:
    equal, value = _equal(ColumnType.JSON, test.ignore_case), test.value

    def holds(held: JSON, wanted: JSON) -> bool:
        # A value that is no array counts as an array of itself: schemas allow "one or a list of".
        return held is not None and any(equal(item, wanted) for item in (held if isinstance(held, list) else [held]))

    if test.test == "has":
        return lambda held: holds(held, value)
    wanted = list(value) if isinstance(value, (list, tuple)) else [value]
    if test.test == "has_any":
        return lambda held: any(holds(held, item) for item in wanted)
    return lambda held: held is not None and all(holds(held, item) for item in wanted)


def _range(column: ColumnPlan, kind: ColumnType, test: str, value: JSON) -> Callable[[JSON], bool]:
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        if not is_number(value):
            raise column.refusal(value, "is not a number to compare with")
        return lambda held: is_number(held) and _ordered(test, held, value)
    if kind in (ColumnType.DATETIME, ColumnType.DATE):
        if not isinstance(value, str) or instant(value) is None:
            raise column.refusal(value, "is not a date or date-time; use 2026-03-02 or 2026-03-02T09:00:00Z")
        return _before_or_after(test, value)
    if kind in (ColumnType.TEXT, ColumnType.TIME):
        if not isinstance(value, str):
            raise column.refusal(value, "is not a text to compare with")
        return lambda held: isinstance(held, str) and _ordered(test, held, value)
    if kind is ColumnType.BOOLEAN:
        raise column.refusal(value, "cannot be a bound of true or false")
    return _json_range(test, value)


def _json_range(test: str, value: JSON) -> Callable[[JSON], bool]:
    """A bound on a value inside a JSON column: numbers with numbers, date-times as instants, texts as texts."""
    if is_number(value):
        return lambda held: is_number(held) and _ordered(test, held, value)
    if not isinstance(value, str):
        return _never
    if instant(value) is None:
        return lambda held: isinstance(held, str) and _ordered(test, held, value)
    timed = _before_or_after(test, value)
    return lambda held: (
        isinstance(held, str) and (timed(held) if instant(held) is not None else _ordered(test, held, value))
    )


def _before_or_after(test: str, value: str) -> Callable[[JSON], bool]:
    moment = instant(value)
    assert moment is not None
    if test == "lte" and is_day(value):
        test, moment = "lt", (moment[0] + DAY_SECONDS, 0)
    return lambda held: isinstance(held, str) and (at := instant(held)) is not None and _ordered(test, at, moment)


def _ordered(test: str, left: Any, right: Any) -> bool:
    if test == "lt":
        return bool(left < right)
    if test == "lte":
        return bool(left <= right)
    if test == "gt":
        return bool(left > right)
    return bool(left >= right)


def _day(column: ColumnPlan, value: JSON) -> Callable[[JSON], bool]:
    moment = instant(value) if isinstance(value, str) else None
    if moment is None:
        raise column.refusal(value, "is not a date; use 2026-03-02")
    day = moment[0] // DAY_SECONDS
    return lambda held: isinstance(held, str) and (at := instant(held)) is not None and at[0] // DAY_SECONDS == day


def sort_rows(plan: TablePlan, rows: list[Row], order: Sequence[SortKey]) -> list[Row]:
    """Return rows in the wanted order; rows that no key tells apart stay as they were (by primary key)."""
    for key in reversed(order):
        column = plan.column(key.column)
        name, sorting = column.name, _sorting(column.type)
        there = [row for row in rows if row[name] is not None]
        there.sort(key=lambda row, name=name, sorting=sorting: sorting(row[name]), reverse=key.descending)  # type: ignore[misc]
        rows = there + [row for row in rows if row[name] is None]
    return rows


def sort_key(kind: ColumnType, value: JSON) -> Any:
    """Return what a non-null value of a column type is ordered by."""
    return _sorting(kind)(value)


def _sorting(kind: ColumnType) -> Callable[[Any], Any]:
    if kind is ColumnType.TEXT:
        return lambda text: (fold(text), text)
    if kind is ColumnType.DATETIME:
        return lambda text: instant(text) or (0, 0)
    if kind is ColumnType.JSON:
        return lambda value: json.dumps(value, sort_keys=True, ensure_ascii=False)
    return lambda value: value


def checked_limit(limit: Any) -> int | None:
    """Return a limit as a count.

    Raises:
        ToolRejection: ``invalid_argument`` if it is no whole number from 0 up.
    """
    if limit is None or isinstance(limit, Absent):
        return None
    if not is_number(limit) or not float(limit).is_integer() or limit < 0:
        raise ToolRejection(
            "invalid_argument", f"limit: {shown(limit)} is not a whole number from 0 up", {"field": "limit"}
        )
    return int(limit)
