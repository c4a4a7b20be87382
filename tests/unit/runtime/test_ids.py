import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ToolFault
from weft.records.state import Column, ColumnRole, ColumnType, IdStyle, Table
from weft.runtime.ids import MAX_GAP, candidate, infer_shape
from weft.runtime.patterns import matching_text


def table(style: IdStyle, *, kind: ColumnType = ColumnType.TEXT, prefix: str = "", **schema: object) -> Table:
    column = Column(name="id", field="id", type=kind, role=ColumnRole.ID, nullable=False, schema=schema)
    return Table(name="orders", entity="order", columns=(column,), key=("id",), id_style=style, id_prefix=prefix)


def made(table: Table, known: list[object], count: int = 3, seed: int = 1) -> list[object]:
    shape = infer_shape(table, [{"id": value} for value in known])
    return [candidate(shape, seed=seed, server="shop", table="orders", counter=number) for number in range(count)]


def test_integers_count_on_after_the_largest_with_a_gap_of_the_seed() -> None:
    integers = table(IdStyle.INTEGER, kind=ColumnType.INTEGER)
    first, second, third = made(integers, [3, 40, 7])
    assert 41 < first <= 41 + MAX_GAP
    assert (second, third) == (first + 1, first + 2)
    starts = {made(integers, [3], 1, seed)[0] for seed in range(20)}
    assert len(starts) > 15


def test_integers_stay_below_the_maximum_that_the_schema_gives() -> None:
    small = table(IdStyle.INTEGER, kind=ColumnType.INTEGER, maximum=50)
    assert all(value <= 50 for value in made(small, [40], 4))
    with pytest.raises(ToolFault, match="no integer id is left"):
        made(small, [50], 1)


def test_uuids_are_version_four() -> None:
    for value in made(table(IdStyle.UUID), []):
        assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", str(value))


@pytest.mark.parametrize(
    ("style", "prefix", "known", "form"),
    [
        (IdStyle.PREFIXED, "ord_", ["ord_5k2p9x"], r"ord_[0-9a-z]{6}"),
        (IdStyle.PREFIXED, "ord_", [], r"ord_[0-9a-z]{8}"),
        (IdStyle.PREFIXED, "event_", ["evt_0a", "evt_z1"], r"evt_[0-9a-z]{2}"),
        (IdStyle.PREFIXED, "", ["cus-12ab34", "cus-9f00cc"], r"cus-[0-9a-f]{6}"),
        (IdStyle.PREFIXED, "", ["HO-K2P", "HO-Z9Q"], r"HO-[0-9A-Z]{3}"),
        (IdStyle.PREFIXED, "", ["INV-1481-6177", "INV-2059-0847"], r"INV-[0-9]{4}-[0-9]{4}"),
        (IdStyle.PREFIXED, "", ["W0832670", "W9885719"], r"W[0-9]{7}"),
        (IdStyle.PREFIXED, "", ["0249.4055", "0512.86190"], r"[0-9]{4}\.[0-9]{4}"),
        (IdStyle.PREFIXED, "", ["a1@x.org", "b2@x.org"], r"[0-9a-z]{2}@x\.org"),
        (IdStyle.PREFIXED, "", ["xY9zK2", "Ab3dE4"], r"[0-9a-zA-Z]{6}"),
        (IdStyle.PREFIXED, "note_", ["buy-milk", "my-first-note"], r"note_[0-9a-z]{8}"),
        (IdStyle.PREFIXED, "note_", ["buy-milk", "write-home"], r"note_[0-9a-z]{8}"),
        (IdStyle.PREFIXED, "ISS-", ["ISS-007", "ISS-012"], r"ISS-[0-9]{3,4}"),
        (IdStyle.PREFIXED, "", ["0d5ab1c2-38f0-4d9c-8a70-0123456789ab"], r"[0-9a-f-]{36}"),
        (IdStyle.HEX, "", ["00ff00ff"], r"[0-9a-f]{8}"),
        (IdStyle.HEX, "", ["0011"], r"[0-9a-f]{4}"),
        (IdStyle.HEX, "", [], r"[0-9a-f]{24}"),
        (IdStyle.INTEGER, "", ["17", "3"], r"[0-9]{2,4}"),
        (IdStyle.INTEGER, "", ["task7", "task12"], r"task[0-9]{2,4}"),
        (IdStyle.INTEGER, "", [], r"[0-9]{1,4}"),
    ],
)
def test_text_ids_look_like_the_seed_rows(style: IdStyle, prefix: str, known: list[object], form: str) -> None:
    values = made(table(style, prefix=prefix), known)
    assert len(set(values)) == 3
    assert all(re.fullmatch(form, str(value)) for value in values), values


def test_ids_meet_the_pattern_of_the_column_even_without_seed_rows() -> None:
    pattern = r"^[A-Z]{2}\d{4}(?:-x|_[0-9a-f]+)$"
    for value in made(table(IdStyle.PREFIXED, pattern=pattern), [], 20):
        assert re.search(pattern, str(value)), value


def test_a_pattern_that_cannot_be_met_is_a_fault_that_names_it() -> None:
    with pytest.raises(ToolFault, match="matches the pattern"):
        made(table(IdStyle.PREFIXED, pattern=r"^(?=never)x$"), [])
    with pytest.raises(ToolFault, match="matches the pattern"):
        made(table(IdStyle.PREFIXED, pattern="("), [])


def test_natural_and_composite_keys_are_never_generated() -> None:
    assert infer_shape(table(IdStyle.NATURAL), []).style == "natural"
    assert infer_shape(table(IdStyle.UUID, kind=ColumnType.DATE), []).style == "natural"


@given(st.integers(), st.integers(), st.integers(0, 50))
def test_ids_depend_on_seed_and_counter_alone(seed: int, other: int, counter: int) -> None:
    shape = infer_shape(table(IdStyle.HEX), [])

    def one(seed: int, name: str = "shop") -> object:
        return candidate(shape, seed=seed, server=name, table="orders", counter=counter)

    assert one(seed) == one(seed)
    assert (one(seed) == one(other)) is (seed == other)
    assert one(seed) != one(seed, "shop2")


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z0-9]{24}$", "^(usr|org)_[A-Za-z0-9]{8,12}$", r"^\d{3}-\d{2}$",
        r"^[^@]+@[^@]+\.[a-z]+$", "^#?[0-9A-F]{6}$",
        r"^\w+\s\S?$|^abc$", "^a*b+c{2,}d{0,1}$", "^[-_]x[a-]$", "^.{5}$", r"^[\w.-]{4}\/x$",
    ],
)  # fmt: skip
def test_texts_match_the_patterns_that_schemas_give(pattern: str) -> None:
    state = {"n": 1}

    def draw(size: int) -> int:
        state["n"] = state["n"] * 1103515245 + 12345
        return (state["n"] >> 8) % size

    for _ in range(30):
        text = matching_text(pattern, draw)
        if "S" in pattern:
            assert text is None or re.search(pattern, text)
        else:
            assert text is not None
            assert re.search(pattern, text)


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?!x)y", "[z-a]", "a{5000}", "(", "a)", "[", "\\"])
def test_other_patterns_are_not_understood(pattern: str) -> None:
    assert matching_text(pattern, lambda _: 0) is None
