"""What the operations of a contract need beside the state: rejections, row tests, orders, pages and sorts (pure).

As with :mod:`weft.runtime.expressions`, the interpreter and rendered backends share these functions.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.errors import ToolRejection
from weft.records.base import JSON
from weft.runtime.expressions import dig, items_of, present, text_of
from weft.runtime.predicates import SortKey, Test
from weft.runtime.values import ABSENT, fold, instant, is_number, json_equal, shown

SHOWN_CHARACTERS: Final = 80
DESCENDING_WORDS: Final = frozenset({"desc", "descending", "-1"})
_PLACEHOLDER: Final = re.compile(r"\{([^{}\s\"':,]+)\}")
_LISTED_TESTS: Final = frozenset({"in", "has_any", "has_all"})


def reject(code: str, message: str, args: Mapping[str, Any]) -> ToolRejection:
    """Return the rejection of an ErrorSpec.

    Args:
        code: of the error.
        message: may hold ``{argument}`` placeholders, dotted paths allowed; long values are shortened.
        args: of the call. Those that the message names are the details, whole.
    """
    named: dict[str, object] = {}

    def fill(match: re.Match[str]) -> str:
        value = argument(args, match[1])
        if value is ABSENT:
            return "(not given)"
        named[match[1]] = value
        text = text_of(value)
        return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"

    text = _PLACEHOLDER.sub(fill, message)
    return ToolRejection(code, text, {"arguments": named} if named else {})


def argument(args: Mapping[str, Any], name: str) -> Any:
    """Return the argument of that name, or at that dotted path (``query.tags.0``); ABSENT if there is none."""
    if name in args:
        return args[name]
    value: Any = args
    for step in name.split("."):
        value = dig(value, int(step) if isinstance(value, list) and step.isdecimal() else step)
    return value


def selects(args: Mapping[str, Any], when: Mapping[str, JSON]) -> bool:
    """True if the arguments have every value that a case asks for."""
    return all(json_equal(argument(args, name), value) for name, value in when.items())


def no_case(args: Mapping[str, Any], cases: Sequence[Mapping[str, JSON]]) -> ToolRejection:
    """Return the rejection of a call that selects no case of its tool, listing the values that select one."""
    told = []
    names = list(dict.fromkeys(name for case in cases for name in case))
    for name in names:
        values = dict.fromkeys(shown(case[name]) for case in cases if name in case)
        value = argument(args, name)
        given = "it is missing" if value is ABSENT else f"got {shown(value)}"
        told.append(f"{name} must be one of {', '.join(values)}; {given}")
    return ToolRejection("invalid_argument", "; ".join(told) or "this tool has no case to run", {"arguments": names})


def where(*given: Test | None) -> list[Test]:
    """Return the tests that apply: all but the optional ones that were left out."""
    return [test for test in given if test is not None]


def optional(test: str, *, value: Any, **place: Any) -> Test | None:
    """Return a test that applies only if its value is given: None for ABSENT, and for an empty list to be in or have.

    Args:
        test: kind of test.
        value: operand.
        place: the other fields of :class:`~weft.runtime.predicates.Test`.
    """
    if value is ABSENT or (test in _LISTED_TESTS and value == []):
        return None
    return Test(test, value, **place)


def order_by(*keys: SortKey | None) -> list[SortKey]:
    """Return the sort keys that apply."""
    return [key for key in keys if key is not None]


def sort_key(by: Any, columns: Mapping[str, str], *, descending: bool = False, default: str = "") -> SortKey | None:
    """Return the sort key that a caller chose by name; None if none was chosen and there is no default column.

    Raises:
        ToolRejection: ``invalid_argument`` for a name that is not known, with the known ones.
    """
    if not present(by):
        return SortKey(default, descending) if default else None
    column = columns.get(by) if isinstance(by, str) else None
    if column is None:
        message = f"cannot sort by {shown(by)}; known are {', '.join(columns)}"
        raise ToolRejection("invalid_argument", message, {"value": by, "known": list(columns)})
    return SortKey(column, descending)


def is_descending(value: Any) -> bool:
    """True for true and for the words (in any case) and the number -1 that mean a descending order."""
    if isinstance(value, str):
        return value.strip().casefold() in DESCENDING_WORDS
    return value is True or (is_number(value) and value == -1)


def sort_items(items: Any, keys: Sequence[SortKey]) -> list[Any]:
    """Sort a list of objects by fields; items that no key tells apart keep their order, nulls come last.

    Booleans come before numbers, numbers before texts, texts before the rest. Texts are ordered without regard to case,
    and as instants where all of a field are dates or date-times.
    """
    sorted_items = list(items_of(items))
    for key in reversed(keys):
        held = [(dig(item, key.column), item) for item in sorted_items]
        there = [pair for pair in held if present(pair[0])]
        timed = all(isinstance(value, str) and instant(value) is not None for value, _ in there)
        there.sort(key=lambda pair, timed=timed: _rank(pair[0], timed), reverse=key.descending)  # type: ignore[misc]
        sorted_items = [item for _, item in there] + [item for value, item in held if not present(value)]
    return sorted_items


def _rank(value: Any, timed: bool) -> tuple[int, Any, str]:
    if timed:
        return (0, instant(value), "")
    if isinstance(value, bool):
        return (0, value, "")
    if is_number(value):
        return (1, value, "")
    if isinstance(value, str):
        return (2, fold(value), value)
    return (3, text_of(value), "")


def page_of(
    items: Any,
    *,
    limit: Any = ABSENT,
    offset: Any = ABSENT,
    page: Any = ABSENT,
    cursor: Any = ABSENT,
    default_limit: int = 50,
    maximum: int = 1000,
    first_page: int = 1,
) -> dict[str, Any]:
    """Cut a list; see :class:`weft.records.contract.Page`. Null counts as not given; cursor wins over page over offset.

    Raises:
        ToolRejection: ``invalid_argument`` for a limit below 1, an offset below 0, a page before the first, or a cursor
            that no page gave out.
    """
    whole = items_of(items)
    size = min(_count("limit", limit, 1, default_limit), maximum)
    if present(cursor):
        start = read_cursor(cursor)
    elif present(page):
        start = (_count("page", page, first_page, first_page) - first_page) * size
    else:
        start = _count("offset", offset, 0, 0)
    shown_items = whole[start : start + size]
    after = start + len(shown_items)
    more = after < len(whole) and bool(shown_items)
    number = start // size + first_page
    return {
        "items": shown_items,
        "total": len(whole),
        "count": len(shown_items),
        "offset": start,
        "limit": size,
        "page": number,
        "pages": -(-len(whole) // size),
        "has_more": more,
        "next_offset": after if more else None,
        "next_page": number + 1 if more else None,
        "next_cursor": cursor_at(after) if more else None,
    }


def _count(name: str, value: Any, least: int, default: int) -> int:
    if not present(value):
        return default
    if not is_number(value) or value != int(value) or value < least:
        message = f"{name} must be a whole number from {least}, got {shown(value)}"
        raise ToolRejection("invalid_argument", message, {"field": name, "value": value})
    return int(value)


def cursor_at(offset: int) -> str:
    """Return the opaque cursor of an offset, with a checksum, so that a made-up one is noticed."""
    text = f"{offset}.{zlib.crc32(str(offset).encode()):08x}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: Any) -> int:
    """Return the offset of a cursor.

    Raises:
        ToolRejection: ``invalid_argument`` if it is none that :func:`cursor_at` made.
    """
    if isinstance(cursor, str):
        try:
            text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            text = ""
        digits = text.partition(".")[0]
        if digits.isdigit() and len(digits) < 19 and cursor_at(int(digits)) == cursor:
            return int(digits)
    message = f"unknown cursor {shown(cursor)}; use the next_cursor of the page before, or none for the first page"
    raise ToolRejection("invalid_argument", message, {"field": "cursor", "value": cursor})
