"""Canonical JSON, hashes and lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError
from weft.records.codec import canonical, content_hash, dump_lines, parse_json, parse_record, split_lines
from weft.records.expression import Select, arg, const, eq
from weft.records.state import Column, ColumnType, InitialState

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_canonical_json_reads_back_equal(value: object) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_hash_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    turned = dict(reversed(list(value.items())))
    assert content_hash(value) == content_hash(turned)


@given(st.lists(json_values, max_size=6))
def test_lines_split_at_line_feeds_alone(values: list[object]) -> None:
    data = dump_lines(values)
    assert [json.loads(line) for line, complete in split_lines(data) if complete] == values


def test_a_half_written_last_line_is_marked() -> None:
    assert list(split_lines(b'{"a":1}\n{"b":')) == [(b'{"a":1}', True), (b'{"b":', False)]


def test_a_missing_last_line_break_is_no_loss() -> None:
    assert list(split_lines('{"a":"x\u2028y\u0085z"}'.encode())) == [('{"a":"x\u2028y\u0085z"}'.encode(), True)]


@pytest.mark.parametrize("text", ['{"a": NaN}', "[Infinity]", "{", "", '"half \\ud83d"'])
def test_what_is_not_strict_json_is_refused_with_its_source(text: str) -> None:
    with pytest.raises(FormatError, match=r"specs/x\.json"):
        parse_json(text, "specs/x.json")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "half \ud83d"])
def test_values_that_are_no_json_cannot_be_written(value: object) -> None:
    with pytest.raises(FormatError):
        canonical({"a": value})


def test_a_field_that_does_not_fit_is_named() -> None:
    with pytest.raises(FormatError, match="type"):
        parse_record(Column, {"name": "a", "field": "a", "type": "colour"}, "contracts.json")


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(FormatError, match="colour"):
        parse_record(InitialState, {"colour": 1}, "seed.json")


def test_defaults_are_left_out_and_versions_are_kept() -> None:
    column = Column(name="title", field="title", type=ColumnType.TEXT)
    assert json.loads(canonical(column)) == {"name": "title", "field": "title", "type": "text"}


def test_expressions_read_back_as_the_same_record() -> None:
    select = Select(
        op="select", table="notes", where=(eq("id", arg("note_id")), eq("done", const(False), optional=True))
    )
    assert parse_record(Select, canonical(select), "contract") == select
