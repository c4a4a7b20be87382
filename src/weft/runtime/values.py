"""Values as tools see them: ABSENT, typed JSON equality, instants, folded text and decimal-exact arithmetic (pure)."""

import math
import re
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any, Final, Literal

from weft.errors import ToolRejection
from weft.records.base import JSON

INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1


class Absent:
    """The value that is not there, which is not null: an optional argument that was left out."""

    __slots__ = ()
    _instance: "Absent | None" = None

    def __new__(cls) -> "Absent":
        """Return the one there is."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "ABSENT"

    def __copy__(self) -> "Absent":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Absent":
        return self

    def __reduce__(self) -> tuple[type["Absent"], tuple[()]]:
        return (Absent, ())


ABSENT: Final = Absent()


def json_equal(left: Any, right: Any) -> bool:
    """True if two JSON values are equal by type: 25 == 25.0, but True != 1 and "1" != 1.

    The order of object keys does not count; the order of array elements does. ABSENT equals only ABSENT.
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)):
        return isinstance(right, (int, float)) and left == right
    if isinstance(left, (list, tuple)):
        return (
            isinstance(right, (list, tuple))
            and len(left) == len(right)
            and all(json_equal(a, b) for a, b in zip(left, right, strict=True))
        )
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(json_equal(value, right[key]) for key, value in left.items())
        )
    return bool(type(left) is type(right) and left == right)


_INSTANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII,
)
_TIME = re.compile(r"(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def instant(text: str) -> tuple[int, int] | None:
    """Return ``(seconds, nanoseconds)`` since 1970-01-01 UTC of a date or date-time text, or None if it is neither.

    RFC 3339 and its ISO 8601 neighbours in any offset: ``2026-03-02T09:00:00Z``, ``2026-03-02 10:00+01:00``,
    ``2026-03-02``. A date alone is midnight UTC; a date-time without an offset is taken as UTC. Seconds may be left
    out; ``:60`` (a leap second) is the first second of the next minute.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    seconds = int(second or 0)
    if seconds > 60:
        return None
    try:
        moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), tzinfo=UTC)
    except ValueError:
        return None
    shift = 0
    if offset and offset not in "Zz":
        digits = offset[1:].replace(":", "")
        hours, minutes = int(digits[:2]), int(digits[2:] or 0)
        if hours > 23 or minutes > 59:
            return None
        shift = (hours * 3600 + minutes * 60) * (-1 if offset[0] == "-" else 1)
    elapsed = moment - _EPOCH
    return elapsed.days * 86400 + elapsed.seconds + seconds - shift, int((fraction or "").ljust(9, "0") or 0)


def is_day(text: str) -> bool:
    """True if ``text`` is a calendar date ``YYYY-MM-DD`` without a time."""
    if len(text) != 10 or not text.isascii():
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return text[4] == "-"


def is_time(text: str) -> bool:
    """True if ``text`` is a time of day: ``HH:MM``, ``HH:MM:SS``, with fraction and offset allowed."""
    match = _TIME.fullmatch(text)
    return match is not None and int(match[1]) < 24 and int(match[2]) < 60 and int(match[3] or 0) <= 60


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return the text for comparing without regard to case: Unicode case folding and NFC normal form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def is_number(value: Any) -> bool:
    """True for an int or float that is not a boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


Arithmetic = Literal["add", "subtract", "multiply", "divide", "min", "max"]


def number_exact(left: int | float, fn: Arithmetic, right: int | float) -> int | float:
    """Compute ``left fn right`` exactly on the decimal spelling of the numbers: 0.1 + 0.2 is 0.3.

    Integers stay integers, also for a division without remainder. A quotient is rounded to 28 digits before it
    becomes a float.

    Raises:
        ToolRejection: ``invalid_argument`` for a division by zero, an operand that is no finite number, or a result
            beyond 64-bit integers or finite floats.
    """
    for operand in (left, right):
        if not is_number(operand) or not math.isfinite(operand):
            raise ToolRejection("invalid_argument", f"{operand!r} is not a finite number", {"value": repr(operand)})
    if fn == "min":
        return left if left <= right else right
    if fn == "max":
        return left if left >= right else right
    if fn == "divide" and right == 0:
        raise ToolRejection("invalid_argument", f"cannot divide {left!r} by zero", {"value": left})
    with localcontext() as context:
        context.prec = 28 if fn == "divide" else 700  # sums of any two floats fit, so only quotients are rounded
        a, b = Decimal(repr(left)), Decimal(repr(right))
        if fn == "add":
            exact = a + b
        elif fn == "subtract":
            exact = a - b
        elif fn == "multiply":
            exact = a * b
        else:
            exact = a / b
        whole = isinstance(left, int) and isinstance(right, int) and exact == exact.to_integral_value()
        result: int | float = int(exact) if whole else float(exact)
    if (isinstance(result, int) and not INTEGER_MIN <= result <= INTEGER_MAX) or not math.isfinite(result):
        raise ToolRejection(
            "invalid_argument", f"{fn} of {left!r} and {right!r} is too large a number", {"values": [left, right]}
        )
    return result


def unstorable(value: JSON) -> str | None:
    """Say why a JSON value cannot be stored (non-finite number, 64-bit overflow, lone surrogate, no JSON), or None."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return None if value.isascii() or _encodes(value) else "text with a lone surrogate (half of a character)"
    if isinstance(value, int):
        return None if INTEGER_MIN <= value <= INTEGER_MAX else f"integer {str(value)[:40]} beyond 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"non-finite number {value!r}"
    if isinstance(value, (list, tuple)):
        return next((reason for item in value if (reason := unstorable(item))), None)
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                return f"object key {key!r} that is not text"
            if reason := unstorable(key) or unstorable(item):
                return reason
        return None
    return f"a value of type {type(value).__name__}, which is not JSON"


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def type_name(value: Any) -> str:
    """Return the JSON type of a value, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, (list, tuple)):
        return "array"
    return "object" if isinstance(value, dict) else type(value).__name__


def shown(value: Any, limit: int = 80) -> str:
    """Return a short, safe spelling of a value for messages."""
    text = ascii(value) if isinstance(value, str) and not _encodes(value) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
