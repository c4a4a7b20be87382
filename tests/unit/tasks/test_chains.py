"""Chains: containment as ordered subsequence, and coverage by tool and by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.records.contract import Case, Contract, ContractSet
from weft.records.expression import const
from weft.records.state import DatabaseSchema
from weft.tasks.chains import case_names, contained, containing, coverage, maximal, tool_of


def contract(tool: str, *cases: str) -> Contract:
    made = tuple(
        Case(when={"action": case} if case else {}, intent="get", operations=(), returns=const(None))
        for case in cases or ("",)
    )
    return Contract(tool=tool, function=tool, effect="read", cases=made, returns_schema={})


CONTRACTS = ContractSet(
    schema=DatabaseSchema(), contracts=(contract("find"), contract("close"), contract("page", "get", "set"))
)


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        (("a",), ("a", "b"), True),
        (("a", "c"), ("a", "b", "c"), True),
        (("c", "a"), ("a", "b", "c"), False),
        (("a", "a"), ("a", "b"), False),
        (("a", "b"), ("a", "b"), True),
        (("a", "b"), ("a",), False),
    ],
)
def test_containment_keeps_the_order(inner: tuple[str, ...], outer: tuple[str, ...], *, expected: bool) -> None:
    assert contained(inner, outer) is expected


def test_identical_and_contained_chains_are_pruned_and_the_first_of_equals_stays() -> None:
    chains = [("a",), ("a", "b"), ("b", "a"), ("a", "b"), ("a", "x", "b")]
    assert maximal(chains) == [2, 4]
    assert containing(("a",), chains[1:]) == ("a", "b")
    assert containing(("z",), chains) is None


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), max_size=8))
def test_what_is_left_is_orthogonal_and_contains_the_rest(chains: list[tuple[str, ...]]) -> None:
    kept = [chains[index] for index in maximal(chains)]
    assert all(not contained(a, b) for i, a in enumerate(kept) for j, b in enumerate(kept) if i != j)
    assert all(any(contained(chain, other) for other in kept) for chain in chains)


def test_coverage_counts_tools_and_beside_them_cases() -> None:
    assert case_names(CONTRACTS) == ["find", "close", "page:get", "page:set"]
    found = coverage([("find", "page:get"), ("find", "!close")], CONTRACTS)
    assert found.tools == pytest.approx(2 / 3)
    assert found.cases == pytest.approx(2 / 4)
    assert found.uncovered == ("close", "page:set")


def test_a_tool_that_was_left_alone_is_not_covered() -> None:
    assert coverage([("!close",)], CONTRACTS).tools == 0


def test_tool_names_may_hold_colons() -> None:
    assert tool_of("ns:find", ["ns:find"]) == "ns:find"
    assert tool_of("page:get", ["page"]) == "page"
