"""What counts as an effect: another state or another result, beyond a repetition of the argument."""

from typing import Any

import pytest

from weft.agents.rules.seeds.argument_paths import MISSING
from weft.envs.bench import Observation
from weft.envs.effects import differs, same_but_echo
from weft.records.state import Changeset, RowChange
from weft.records.trace import Outcome

NOTHING = Changeset()


def ok(value: Any, changes: Changeset = NOTHING) -> Observation:
    return Observation(Outcome.OK, value, changes)


def error(code: str) -> Observation:
    return Observation(Outcome.ERROR, {"error": {"code": code, "message": "no"}}, Changeset())


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"query": "a", "items": [1]}, {"query": "b", "items": [1]}),
        ({"items": [{"q": "a"}]}, {"items": [{"q": "b"}]}),
        ({"filter": {"query": "a"}, "n": 1.0}, {"filter": {"query": "b"}, "n": 1}),
        ("a", "b"),
    ],
)
def test_a_result_that_repeats_the_argument_is_the_same(left: Any, right: Any) -> None:
    assert same_but_echo(left, right, "a", "b")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"query": "a", "items": [1]}, {"query": "b", "items": []}),
        ({"query": "b"}, {"query": "a"}),
        ([1, 2], [1]),
        ({"a": "x"}, {"a": "y"}),
        (True, 1),
    ],
)
def test_any_other_difference_counts(left: Any, right: Any) -> None:
    assert not same_but_echo(left, right, "a", "b")


def test_an_argument_left_out_is_repeated_as_null_or_nothing() -> None:
    assert same_but_echo({"note": None}, {"note": "x"}, MISSING, "x")
    assert same_but_echo({}, {"note": "x"}, MISSING, "x")
    assert not same_but_echo({"note": "old"}, {"note": "x"}, MISSING, "x")


def test_a_text_around_the_argument_repeats_it() -> None:
    assert same_but_echo("found for design", "found for budget", "design", "budget")


def test_another_state_is_an_effect_even_where_it_repeats_the_argument() -> None:
    def changed(title: str) -> Changeset:
        return Changeset(rows=(RowChange(server="s", table="t", key={"id": 1}, op="update", after={"title": title}),))

    assert differs(ok({}, changed("a")), ok({}, changed("b")), "a", "b") == "state"


def test_an_error_of_the_state_is_an_effect_and_one_of_the_form_is_not() -> None:
    assert differs(ok({}), error("not_found"), "a", "b") == "outcome"
    assert differs(ok({}), error("invalid_argument"), "a", "b") == ""
    assert differs(error("not_found"), error("conflict"), "a", "b") == ""
