import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from weft.tasks.profiles import Profile, fit
from weft.tasks.ranking import Capability
from weft.tasks.sampling import Draw, Usage, by_need, combinations, reserve, shares

WIDE = Profile(name="P", tasks=(3, 8), mcps=(2, 4), domains=(1, 3), share=1)
catalogs = st.dictionaries(
    st.sampled_from([f"m{index}" for index in range(9)]),
    st.tuples(st.integers(0, 9), st.sampled_from(["a", "b", "c", "d"])),
    min_size=1,
)


def known(catalog: dict[str, tuple[int, str]]) -> dict[str, Capability]:
    return {mcp: Capability(mcp, domain, capacity) for mcp, (capacity, domain) in catalog.items()}


@given(catalogs, st.integers(0, 99))
def test_every_draw_is_within_its_profile_and_uses_only_mcps_that_have_tasks(
    catalog: dict[str, tuple[int, str]], seed: int
) -> None:
    capabilities = known(catalog)
    capacity = {mcp: item.capacity for mcp, item in capabilities.items()}
    domains = {mcp: item.domain for mcp, item in capabilities.items()}
    fitted = fit(WIDE, capacity, domains).profile
    if fitted is None:
        return
    for draw in combinations(fitted, capabilities, Usage(), random.Random(seed)):
        assert fitted.mcps[0] <= len(draw.mcps) <= fitted.mcps[1]
        assert len(set(draw.mcps)) == len(draw.mcps)
        assert fitted.tasks[0] <= draw.size <= fitted.tasks[1]
        assert fitted.domains[0] <= len({domains[mcp] for mcp in draw.mcps}) <= fitted.domains[1]
        split = shares(draw, capacity)
        assert sum(split.values()) == draw.size
        assert all(1 <= split[mcp] <= capacity[mcp] for mcp in draw.mcps)


def test_the_same_seed_draws_the_same() -> None:
    capabilities = known({f"m{index}": (5, "ab"[index % 2]) for index in range(6)})
    first = combinations(WIDE, capabilities, Usage(), random.Random(3))
    assert first == combinations(WIDE, capabilities, Usage(), random.Random(3))


def test_under_represented_mcps_come_first_so_that_use_evens_out() -> None:
    capabilities = known({f"m{index}": (6, "abc"[index % 3]) for index in range(9)})
    usage, rng = Usage(), random.Random(1)
    narrow = Profile(name="P", tasks=(2, 4), mcps=(2, 2), domains=(2, 2), share=1)
    for _ in range(45):
        usage.count(combinations(narrow, capabilities, usage, rng)[0].mcps, capabilities)
    assert set(usage.mcps) == set(capabilities)
    assert max(usage.mcps.values()) <= 2 * min(usage.mcps.values())
    assert max(usage.domains.values()) <= 1.5 * min(usage.domains.values())


def test_combinations_grow_along_bindings_and_from_groups_that_are_large_enough() -> None:
    capabilities = known(dict.fromkeys(("a", "b", "c", "x", "y", "alone"), (4, "d")))
    pairs = {"a": "b", "b": "ac", "c": "b", "x": "y", "y": "x"}
    joined = {name: frozenset(others) for name, others in pairs.items()}
    three = Profile(name="P", tasks=(3, 9), mcps=(3, 3), domains=(1, 1), share=1)
    for seed in range(9):
        draws = combinations(three, capabilities, Usage(), random.Random(seed), joined)
        assert draws
        assert all(set(draw.mcps) == {"a", "b", "c"} for draw in draws)
        assert all(draw.mcps[1] in joined[draw.mcps[0]] for draw in draws)
    four = Profile(name="P", tasks=(4, 9), mcps=(4, 4), domains=(1, 1), share=1)
    assert combinations(four, capabilities, Usage(), random.Random(0), joined) == []


def test_a_combination_counts_each_of_its_domains_once() -> None:
    usage = Usage()
    usage.count(("m0", "m1", "m2"), known({"m0": (1, "a"), "m1": (1, "a"), "m2": (1, "b")}))
    assert usage.domains == Counter(a=1, b=1)
    assert usage.mcps == Counter(m0=1, m1=1, m2=1)


def test_what_exceeds_the_quota_is_held_back_for_composition() -> None:
    assert reserve({"a": 9, "b": 3}, 4) == {"a": 5, "b": 0}


def test_sizes_are_split_in_proportion_to_capacity() -> None:
    assert shares(Draw(6, ("a", "b")), {"a": 8, "b": 2}) == {"a": 5, "b": 1}
    assert shares(Draw(9, ("a", "b")), {"a": 1, "b": 2}) == {"a": 1, "b": 2}  # no more is there


def test_least_used_tasks_come_first_and_reserved_ones_before_the_rest() -> None:
    usage = Usage()
    usage.tasks.update(["t1", "t4"])
    drawn = by_need(["t1", "t2", "t3", "t4"], usage, 2, random.Random(0))
    assert drawn[0] == "t3"
    assert set(drawn[2:]) == {"t1", "t4"}
    assert drawn[2] == "t4"
