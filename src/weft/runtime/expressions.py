"""What the expressions of a contract compute, as plain functions (pure; the meaning of records.expression).

The interpreter calls these and a rendered backend calls these, so a value never depends on which of the two ran.
ABSENT goes in and comes out as a value: see :data:`weft.runtime.values.ABSENT`.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from weft.errors import ToolFault, ToolRejection
from weft.records.base import JSON
from weft.runtime.values import ABSENT, INTEGER_MAX, INTEGER_MIN, instant, is_number, json_equal, number_exact, shown
from weft.runtime.values import Arithmetic as ArithmeticName

Ordering = Literal["lt", "lte", "gt", "gte"]
CastTarget = Literal["text", "integer", "number"]

_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)


def dig(value: Any, *path: str | int) -> Any:
    """Return what is at a path inside a value; ABSENT when a step is missing."""
    for step in path:
        if isinstance(value, dict):
            if step not in value:
                return ABSENT
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value


def present(value: Any) -> bool:
    """True if a value is neither ABSENT nor null."""
    return value is not ABSENT and value is not None


def or_null(value: Any) -> Any:
    """Return the value, null if it is ABSENT."""
    return None if value is ABSENT else value


def coalesce(*values: Any) -> Any:
    """Return the first value that is not ABSENT; null counts as there."""
    for value in values:
        if value is not ABSENT:
            return value
    return ABSENT


def first_of(*choices: Callable[[], Any]) -> Any:
    """Return the first choice that is not ABSENT; later ones are not evaluated."""
    for choice in choices:
        value = choice()
        if value is not ABSENT:
            return value
    return ABSENT


def without_absent(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an object without those that are ABSENT."""
    return {name: value for name, value in fields.items() if value is not ABSENT}


def present_items(values: Iterable[Any]) -> list[Any]:
    """Return the elements of an array without those that are ABSENT."""
    return [value for value in values if value is not ABSENT]


def items_of(value: Any) -> list[Any]:
    """Return what to go through: nothing for null and ABSENT, a list itself, any other value as a list of one."""
    if value is ABSENT or value is None:
        return []
    return value if isinstance(value, list) else [value]


def text_of(value: Any) -> str:
    """Return a value as text: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def concat(*values: Any, separator: str = "") -> str:
    """Join values as text; ABSENT and null are left out."""
    return separator.join(text_of(value) for value in values if present(value))


def length(value: Any) -> int:
    """Return the number of elements, fields or characters; 0 for null and ABSENT."""
    if not present(value):
        return 0
    return len(value) if isinstance(value, (str, list, dict)) else len(text_of(value))


def arithmetic(fn: ArithmeticName, left: Any, right: Any) -> Any:
    """Compute ``left fn right``, exactly on decimals; ABSENT gives ABSENT, and else null gives null.

    Raises:
        ToolRejection: ``invalid_argument`` for what is no number, and for a division by zero.
    """
    if left is ABSENT or right is ABSENT:
        return ABSENT
    if left is None or right is None:
        return None
    return number_exact(left, fn, right)


def cast_to(value: Any, to: CastTarget) -> Any:
    """Return a value as text, integer or number; ABSENT and null pass through.

    Raises:
        ToolRejection: ``invalid_argument`` for a value that does not fit, e.g. 2.5 or "two" as an integer.
    """
    if not present(value):
        return value
    if to == "text":
        return text_of(value)
    number = _number(value)
    if number is None or (to == "integer" and isinstance(number, float)):
        message = f"{shown(value)} cannot be read as {'an integer' if to == 'integer' else 'a number'}"
        raise ToolRejection("invalid_argument", message, {"value": value})
    return number


def _number(value: Any) -> int | float | None:
    """Read a number, whole ones as int; None for what is none or is beyond 64 bits."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
        value = int(text) if text.removeprefix("-").isdigit() else float(text)
    if not is_number(value) or not math.isfinite(value):
        return None
    if isinstance(value, float) and value.is_integer() and INTEGER_MIN <= value < INTEGER_MAX:
        value = int(value)
    return value if isinstance(value, float) or INTEGER_MIN <= value <= INTEGER_MAX else None


def merged(*objects: Any) -> dict[str, Any]:
    """Merge objects left to right; later fields win. ABSENT and null are skipped.

    Raises:
        ToolFault: something else is among them, which is a mistake of the contract.
    """
    result: dict[str, Any] = {}
    for item in objects:
        if isinstance(item, dict):
            result.update(item)
        elif present(item):
            raise ToolFault(f"cannot merge {shown(item)} into an object")
    return result


def keep_fields(value: Any, fields: Any, known: Sequence[str], always: Sequence[str] = ()) -> Any:
    """Keep the named fields of an object, or of each object of an array.

    Args:
        value: the object or array; anything else passes through.
        fields: list of names, or names separated by commas; ABSENT, null and empty keep all.
        known: names that may be asked for.
        always: names kept in any case.

    Raises:
        ToolRejection: ``invalid_argument`` for a name that is not known, with the known ones.
    """
    names = _field_names(fields)
    for name in names:
        if name not in known:
            message = f"unknown field {shown(name)}; known are {', '.join(known)}"
            raise ToolRejection("invalid_argument", message, {"field": name, "known": list(known)})
    if not names:
        return value
    kept = {*names, *always}
    if isinstance(value, list):
        return [_keep(item, kept) for item in value]
    return _keep(value, kept)


def _field_names(fields: Any) -> list[str]:
    if not present(fields):
        return []
    if isinstance(fields, str):
        return [name.strip() for name in fields.split(",") if name.strip()]
    return [text_of(name) for name in items_of(fields)]


def _keep(value: Any, names: set[str]) -> Any:
    return {name: item for name, item in value.items() if name in names} if isinstance(value, dict) else value


def compare(test: Ordering, left: Any, right: Any) -> bool:
    """Order two values: numbers by value, date-times as instants, other texts by code point; else false."""
    if is_number(left) and is_number(right):
        return _ordered(test, left, right)
    if not (isinstance(left, str) and isinstance(right, str)):
        return False
    moments = instant(left), instant(right)
    if moments[0] is not None and moments[1] is not None:
        return _ordered(test, moments[0], moments[1])
    return _ordered(test, left, right)


def _ordered(test: Ordering, left: Any, right: Any) -> bool:
    if test == "lt":
        return bool(left < right)
    if test == "lte":
        return bool(left <= right)
    return bool(left > right) if test == "gt" else bool(left >= right)


def is_in(value: JSON, values: Any) -> bool:
    """True if a list holds a value that is equal; a value in place of the list counts as a list of one."""
    return any(json_equal(value, item) for item in items_of(values))
