"""Generated ids: drawn from the session's seed, the server's name, the table and a counter (pure).

The counter is in the database, so a snapshot carries it and a failed call gives it back: after a restore the next ids
are those of the original timeline. Integers go on after the largest seed id, with a gap that depends on the seed, so
that an id learned in one session is not a right guess in another. Text ids look like the seed rows' (prefix, width,
letters) and match the ``pattern`` of the column's JSON Schema; a pattern that neither the seed rows' form nor
:mod:`weft.runtime.patterns` can meet is a fault of the environment, which validation finds.
"""

import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from weft.errors import ToolFault
from weft.records.base import JSON
from weft.records.state import ColumnType, IdStyle, Row, Table
from weft.runtime.patterns import Draw, matching_text

MAX_GAP = 997
"""Largest distance between the largest seed id and the first generated integer id."""

BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
DIGITS = BASE36[:10]
HEX = BASE36[:16]
PREFIXED_WIDTH = 8
HEX_WIDTH = 24


@dataclass(frozen=True, slots=True)
class IdShape:
    """How the generated ids of one table look.

    Attributes:
        style: ``integer``, ``number`` (text that ends in a counting number), ``uuid``, ``drawn`` or ``natural``.
        prefix: what text ids start with.
        width: letters after the prefix; for ``number`` the least width, filled up with zeros.
        letters: what ``drawn`` ids are drawn from.
        base: the largest number among the seed ids.
        maximum: of an integer id, if the schema gives one.
        pattern: that text ids must match, or "".
    """

    style: str
    prefix: str = ""
    width: int = 0
    letters: str = BASE36
    base: int = 0
    maximum: int | None = None
    pattern: str = ""

    def plain(self) -> dict[str, JSON]:
        """Return the JSON form, for the database."""
        return asdict(self)


def infer_shape(table: Table, rows: list[Row]) -> IdShape:
    """Return how the ids of a table's new rows look, from its declaration and its seed rows."""
    if len(table.key) != 1 or table.id_style is IdStyle.NATURAL:
        return IdShape("natural")
    column = table.column(table.key[0])
    known = [row[column.name] for row in rows if row.get(column.name) is not None]
    schema = column.schema_
    if column.type is ColumnType.INTEGER or column.type is ColumnType.NUMBER:
        maximum = schema.get("maximum")
        numbers = [int(value) for value in known if isinstance(value, (int, float))]
        top = int(maximum) if isinstance(maximum, (int, float)) and not isinstance(maximum, bool) else None
        return IdShape("integer", base=max([0, *numbers]), maximum=top)
    if column.type is not ColumnType.TEXT:
        return IdShape("natural")
    pattern = schema.get("pattern") if isinstance(schema.get("pattern"), str) else ""
    texts = [value for value in known if isinstance(value, str)]
    shape = _text_shape(table, texts, uuid=table.id_style is IdStyle.UUID or schema.get("format") == "uuid")
    return IdShape(**{**asdict(shape), "pattern": pattern or ""})


def candidate(shape: IdShape, *, seed: int, server: str, table: str, counter: int) -> int | str:
    """Return the id number ``counter`` (from 0) of a table; the caller skips one that is taken.

    Raises:
        ToolFault: no id of this shape meets the column's pattern or maximum.
    """
    if shape.style == "integer":
        return _integer(shape, seed, server, table, counter)
    draw = _drawing(seed, server, table, counter)
    text = _text(shape, draw, seed, server, table, counter)
    if not shape.pattern or _matches(shape.pattern, text):
        return text
    drawn = matching_text(shape.pattern, draw)
    if drawn is None:
        raise ToolFault(
            f"no id for table {table!r} can be made that matches the pattern {shape.pattern!r}; "
            "let the caller give the id, or give the table seed rows whose ids show the form"
        )
    return drawn


def _integer(shape: IdShape, seed: int, server: str, table: str, counter: int) -> int:
    room = MAX_GAP if shape.maximum is None else min(MAX_GAP, (shape.maximum - shape.base) // 2)
    value = shape.base + 1 + _gap(seed, server, table, max(1, room)) + counter
    if shape.maximum is not None and value > shape.maximum:
        raise ToolFault(f"no integer id is left for table {table!r} below the maximum {shape.maximum}")
    return value


def _text(shape: IdShape, draw: Draw, seed: int, server: str, table: str, counter: int) -> str:
    if shape.style == "number":
        number = shape.base + 1 + _gap(seed, server, table, MAX_GAP) + counter
        return shape.prefix + str(number).zfill(shape.width)
    if shape.style == "uuid":
        letters = [HEX[draw(16)] for _ in range(32)]
        letters[12], letters[16] = "4", "89ab"[draw(4)]
        text = "".join(letters)
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    return shape.prefix + "".join(shape.letters[draw(len(shape.letters))] for _ in range(shape.width))


def _text_shape(table: Table, texts: list[str], *, uuid: bool) -> IdShape:
    if uuid:
        return IdShape("uuid")
    if table.id_style is IdStyle.INTEGER:
        return _numbered(table.id_prefix, texts)
    if table.id_style is IdStyle.HEX:
        widths = [len(text) for text in texts if text and set(text) <= set(HEX)]
        return IdShape("drawn", width=widths[0] if widths else HEX_WIDTH, letters=HEX)
    prefix = table.id_prefix or _shared_prefix(texts)
    tails = [text[len(prefix) :] for text in texts if text.startswith(prefix) and len(text) > len(prefix)]
    used = set("".join(tails))
    width = len(tails[0]) if tails else PREFIXED_WIDTH
    if not tails or used <= set(DIGITS):
        # A few digits cannot keep drawn ids apart for long, so they count on.
        return _numbered(prefix, texts) if tails else IdShape("drawn", prefix, width)
    if used <= set(HEX):
        return IdShape("drawn", prefix, width, HEX)
    return IdShape("drawn", prefix, width, BASE36 if used <= set(BASE36) or not used else _letters(used))


def _letters(used: set[str]) -> str:
    """Letters to draw from when the seed ids hold more than lower-case ones: upper case if they have no lower."""
    if used <= set(BASE36.upper()):
        return BASE36.upper()
    return BASE36 + BASE36[10:].upper() if any(letter.isupper() for letter in used) else BASE36


def _numbered(prefix: str, texts: list[str]) -> IdShape:
    prefix = prefix or _shared_prefix(texts)
    tails = [text[len(prefix) :] for text in texts if text.startswith(prefix)]
    numbers = [tail for tail in tails if tail.isascii() and tail.isdigit()]
    padded = any(number.startswith("0") for number in numbers)
    width = max(map(len, numbers)) if padded else 0
    return IdShape("number", prefix, width, base=max([0, *map(int, numbers)]))


def _shared_prefix(texts: list[str]) -> str:
    """The start up to the last separator or the trailing number, if all have the same."""
    starts = {
        match[1] for text in texts if (match := re.fullmatch(r"(.*[-_:/.#]|\D*)[^-_:/.#]*", text, re.ASCII | re.DOTALL))
    }
    return starts.pop() if len(starts) == 1 else ""


def _gap(seed: int, server: str, table: str, size: int) -> int:
    return int.from_bytes(_digest(seed, server, table, "gap")[:8], "big") % size


def _drawing(seed: int, server: str, table: str, counter: int) -> Draw:
    """Numbers drawn from a hash of where and when; more hashes follow when the first is used up."""
    state = {"round": 0, "pool": 0, "left": 0}

    def draw(size: int) -> int:
        if state["left"] < 24:
            digest = _digest(seed, server, table, f"{counter}.{state['round']}")
            state.update(round=state["round"] + 1, pool=int.from_bytes(digest, "big"), left=256)
        state["pool"], value = divmod(state["pool"], size)
        state["left"] -= max(1, (size - 1).bit_length())
        return value

    return draw


def _digest(*parts: Any) -> bytes:
    return sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False
