"""Sources are resolved from what was observed, and only from that."""

import pytest

from weft.agents.reference import Unresolved, reply_of, resolve, said
from weft.records.task import AtomicSolution, BuildObject, FromInput, FromStep, FromSteps, Given, ReplyPart
from weft.records.verdict import Verifier

RESULTS = {
    "s1": {
        "orders": [
            {"id": 7, "email": "ana@example.org", "total": 12.5, "address": {"city": "Porto"}},
            {"id": 9, "email": "bo@example.org", "total": 30, "address": {"city": "Oslo"}},
        ],
        "total": 2,
    }
}


def test_a_value_is_found_by_what_its_object_shows() -> None:
    source = FromStep(kind="step", step="s1", field="id", match={"email": FromInput(kind="input", name="who")})
    assert resolve(source, {"who": "bo@example.org"}, RESULTS) == 9


def test_an_object_that_was_not_shown_is_not_invented() -> None:
    source = FromStep(kind="step", step="s1", field="id", match={"email": FromInput(kind="input", name="who")})
    with pytest.raises(Unresolved, match=r"cy@example\.org"):
        resolve(source, {"who": "cy@example.org"}, RESULTS)


def test_a_step_that_was_not_made_has_no_value() -> None:
    with pytest.raises(Unresolved, match="s2"):
        resolve(FromStep(kind="step", step="s2", field="id"), {}, RESULTS)


def test_a_path_is_followed_inside_the_field() -> None:
    source = FromStep(
        kind="step", step="s1", field="address", match={"id": Given(kind="given", value=9, reason="")}, path=("city",)
    )
    assert resolve(source, {}, RESULTS) == "Oslo"


@pytest.mark.parametrize(("fn", "wanted"), [("count", 2), ("sum", 42.5), ("min", 12.5), ("max", 30), ("first", 12.5)])
def test_folds_over_the_matching_objects(fn: str, wanted: float) -> None:
    source = FromSteps(kind="fold", step="s1", fn=fn, field="total", match={})  # type: ignore[arg-type]
    # the envelope's own "total" is the first object that has the field: the order is parents before children
    everything = resolve(source, {}, {"s1": RESULTS["s1"]["orders"]})
    assert everything == wanted


def test_nested_arguments_are_built() -> None:
    source = BuildObject(kind="object", fields={"city": FromInput(kind="input", name="city")})
    assert resolve(source, {"city": "Rome"}, {}) == {"city": "Rome"}


@pytest.mark.parametrize(
    ("value", "words"), [(True, "yes"), (False, "no"), (None, "none"), (3.5, "3.5"), (["a", 2], "a, 2"), ("x", "x")]
)
def test_values_are_said_in_words(value: object, words: str) -> None:
    assert said(value) == words


def test_a_reply_states_what_was_observed() -> None:
    part = ReplyPart(
        name="total",
        source=FromStep(kind="step", step="s1", field="total", match={"id": Given(kind="given", value=9, reason="")}),
    )
    solution = AtomicSolution(
        task="t",
        chain=("list_orders",),
        reference=(),
        reply=(part,),
        reply_text="It comes to {total}.",
        verifier=Verifier(),
    )
    assert reply_of(solution, {}, RESULTS) == "It comes to 30."
