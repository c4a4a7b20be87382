"""Generated ids: drawn from the session's seed, the server's name, the table and a counter (pure).

The counter is in the database, so a snapshot carries it and a failed call gives it back: after a restore the next ids
are those of the original timeline. Integers go on after the largest seed id, with a gap that depends on the seed, so
that an id learned in one session is not a right guess in another. Text ids look like the seed rows' (prefix, width,
letters) and match the ``pattern`` of the column's JSON Schema; a pattern that neither the seed rows' form nor
:mod:`weft.runtime.patterns` can meet is a fault of the environment, which validation finds.
"""

import re
from dataclasses import asdict, dataclass, replace
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
UPPER36 = BASE36.upper()
MIXED62 = BASE36 + BASE36[10:].upper()
PREFIXED_WIDTH = 8
HEX_WIDTH = 24
MIN_HEX_EVIDENCE = 12
"""So many letters within 0-9a-f show that an id is hexadecimal and not by chance."""
MAX_SPARSITY = 50
"""Numbers up to this many times the count of rows were counted, not drawn; so the next ones are counted too."""

Part = tuple[str, int, str]
"""Fixed text, then so many letters drawn from these."""


@dataclass(frozen=True, slots=True)
class IdShape:
    """How the generated ids of one table look.

    Attributes:
        style: ``integer``, ``number`` (text that ends in a counting number), ``uuid``, ``drawn`` or ``natural``.
        parts: of ``drawn`` ids.
        prefix: of ``number`` ids.
        width: of ``number`` ids: fewer digits are filled up with zeros.
        base: the largest number among the seed ids.
        maximum: of an integer id, if the schema gives one.
        pattern: that text ids must match, or "".
    """

    style: str
    parts: tuple[Part, ...] = ()
    prefix: str = ""
    width: int = 0
    base: int = 0
    maximum: int | None = None
    pattern: str = ""

    def plain(self) -> dict[str, JSON]:
        """Return the JSON form, for the database."""
        return asdict(self)


_PIECES = re.compile(r"[^\W_]+|[\W_]+")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


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
    uuid = table.id_style is IdStyle.UUID or schema.get("format") == "uuid"
    shape = (
        IdShape("uuid")
        if uuid
        else _shape_of_rows(texts, is_hex=table.id_style is IdStyle.HEX) or _shape_of_style(table, texts)
    )
    return replace(shape, pattern=pattern or "")


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
    return "".join(
        fixed + "".join(letters[draw(len(letters))] for _ in range(width)) for fixed, width, letters in shape.parts
    )


def _shape_of_rows(texts: list[str], *, is_hex: bool) -> IdShape | None:
    """The form that the seed rows' ids have in common; None if they have none, as slugs do not."""
    if not texts:
        return None
    if all(_UUID.fullmatch(text) for text in texts):
        return IdShape("uuid")
    rows = [_PIECES.findall(text) for text in texts]
    separators = {tuple(piece for piece in row if not piece.isalnum()) for row in rows}
    if len({len(row) for row in rows}) != 1 or len(separators) != 1:
        return None
    parts: list[Part] = []
    fixed, varied = "", 0
    for column in zip(*rows, strict=True):
        start, width, letters = _piece_shape(column, alone=len(texts) == 1, is_hex=is_hex)
        fixed += start
        if width:
            parts.append((fixed, width, letters))
            fixed, varied = "", varied + 1
    if not varied or (varied > 1 and not _one_width(rows) and any(letters != DIGITS for _, _, letters in parts)):
        return None  # words of changing length are names that somebody gave
    if varied == 1 and not fixed and parts[0][2] == DIGITS:
        numbered = _numbered(parts[0][0], texts)
        if parts[0][1] < 4 or numbered.base <= MAX_SPARSITY * len(texts):
            return numbered
    return IdShape("drawn", tuple(parts) if not fixed else (*parts, (fixed, 0, "")))


def _piece_shape(pieces: tuple[str, ...], *, alone: bool, is_hex: bool) -> Part:
    """Fixed start, width and letters of the runs of letters and digits that stand at one place of all ids."""
    first = pieces[0]
    if not first.isalnum() or (len(set(pieces)) == 1 and not alone):
        return first, 0, ""
    if alone and not any(letter.isdigit() for letter in first):
        return first, 0, ""  # one row shows no variation: its words stay, what holds digits varies
    fixed = _common_letters(pieces)
    tails = [piece[len(fixed) :] for piece in pieces]
    if not tails[0]:
        return "", len(first), _letters_of("".join(pieces), is_hex)
    return fixed, len(tails[0]), _letters_of("".join(tails), is_hex)


def _common_letters(pieces: tuple[str, ...]) -> str:
    """The letters (no digits) that all pieces start with."""
    low, high = min(pieces), max(pieces)
    count = 0
    while count < len(low) and low[count] == high[count] and not low[count].isdigit():
        count += 1
    return low[:count]


def _letters_of(sample: str, is_hex: bool) -> str:
    used = set(sample)
    if used <= set(DIGITS) and not is_hex:
        return DIGITS
    if used <= set(HEX) and (is_hex or len(sample) >= MIN_HEX_EVIDENCE):
        return HEX
    return next((letters for letters in (BASE36, UPPER36) if used <= set(letters)), MIXED62)


def _one_width(rows: list[list[str]]) -> bool:
    return all(len({len(piece) for piece in column}) == 1 for column in zip(*rows, strict=True))


def _shape_of_style(table: Table, texts: list[str]) -> IdShape:
    """The form that the declared style asks for, where rows show none."""
    prefix = table.id_prefix
    if table.id_style is IdStyle.INTEGER:
        return _numbered(prefix, texts)
    if table.id_style is IdStyle.HEX:
        return IdShape("drawn", ((prefix, HEX_WIDTH, HEX),))
    return IdShape("drawn", ((prefix, PREFIXED_WIDTH, BASE36),))


def _numbered(prefix: str, texts: list[str]) -> IdShape:
    tails = [text[len(prefix) :] for text in texts if text.startswith(prefix)]
    numbers = [tail for tail in tails if tail.isascii() and tail.isdigit()]
    padded = any(number.startswith("0") for number in numbers)
    width = max(map(len, numbers)) if padded else 0
    return IdShape("number", prefix=prefix, width=width, base=max([0, *map(int, numbers)]))


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
