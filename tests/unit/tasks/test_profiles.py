from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from weft.errors import InputError
from weft.tasks.profiles import Profile, default_profiles, fit, quotas, redistribute

FIVE = default_profiles()


def profile(name: str = "P", share: float = 1.0, **ranges: tuple[int, int]) -> Profile:
    return Profile(**{"name": name, "tasks": (2, 4), "mcps": (2, 3), "domains": (1, 2), "share": share, **ranges})


def test_the_published_profiles_rise_in_length_and_breadth_and_their_shares_sum_to_one() -> None:
    assert [item.name for item in FIVE] == ["Simple", "Standard", "Moderate", "Complex", "Expert"]
    assert sum(item.share for item in FIVE) == pytest.approx(1.0)
    for lower, upper in pairwise(FIVE):
        assert lower.tasks[1] < upper.tasks[0]
        assert lower.mcps <= upper.mcps
        assert lower.domains <= upper.domains


def test_the_default_mixture_has_a_median_length_of_twenty_or_more() -> None:
    lengths: list[float] = []
    for item in FIVE:
        number = round(item.share * 1000)
        low, high = item.tasks
        lengths += [low + (high - low) * index / (number - 1) for index in range(number)]
    assert sorted(lengths)[500] >= 20


def test_largest_remainder_by_hand() -> None:
    # 24 tasks: 2.4, 4.8, 8.4, 4.8, 3.6 -> whole 2 4 8 4 3 (21); the remainders .8 .8 .6 take the other three.
    assert quotas(FIVE, 24) == {"Simple": 2, "Standard": 5, "Moderate": 8, "Complex": 5, "Expert": 4}


def test_equal_remainders_go_to_the_easier_profile() -> None:
    three = [profile(name, share=1 / 3) for name in "abc"]
    assert quotas(three, 4) == {"a": 2, "b": 1, "c": 1}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7).filter(any), st.integers(0, 500))
def test_quotas_add_up_and_stay_within_one_of_the_exact_share(shares: list[float], count: int) -> None:
    several = [profile(str(index), share=share) for index, share in enumerate(shares)]
    given_ = quotas(several, count)
    assert sum(given_.values()) == count
    for item in several:
        assert abs(given_[item.name] - item.share / sum(shares) * count) < 1 + 1e-6


def test_quotas_refuse_a_negative_count_and_shares_of_nothing() -> None:
    with pytest.raises(InputError, match="-1"):
        quotas(FIVE, -1)
    with pytest.raises(InputError, match="share above 0"):
        quotas([profile(share=0)], 3)


def test_a_profile_whose_range_is_upside_down_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="profile P: tasks"):
        profile(tasks=(4, 2))
    with pytest.raises(ValidationError, match="do not fit"):
        profile(tasks=(1, 2), mcps=(3, 3))


def test_a_small_catalog_narrows_a_profile_within_its_ranges_and_says_so() -> None:
    found = fit(profile(tasks=(2, 9), mcps=(2, 4)), {"a": 3, "b": 2, "empty": 0}, {"a": "x", "b": "x", "empty": "y"})
    assert found.profile is not None
    assert (found.profile.tasks, found.profile.mcps, found.profile.domains) == ((2, 5), (2, 2), (1, 1))
    assert [note.message.split(" ")[0] for note in found.notes] == ["tasks", "mcps", "domains"]


def test_a_profile_that_the_catalog_cannot_satisfy_is_refused_with_the_figures() -> None:
    found = fit(FIVE[4], {"a": 9, "b": 9}, {"a": "x", "b": "y"})
    assert found.profile is None
    assert found.notes[0].subject == "profile/Expert"
    assert "4 mcps wanted and 2 there" in found.notes[0].message


def test_the_quota_of_an_impossible_profile_goes_to_the_nearest_and_easier_one() -> None:
    given_ = {"Simple": 1, "Standard": 2, "Moderate": 3, "Complex": 4, "Expert": 5}
    assert redistribute(FIVE, given_, ["Standard", "Complex"]) == {
        "Simple": 0, "Standard": 6, "Moderate": 0, "Complex": 9, "Expert": 0,
    }  # fmt: skip
    assert sum(redistribute(FIVE, given_, []).values()) == 0
