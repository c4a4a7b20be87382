"""Strings from patterns: every draw matches, within its length, for the subset that real specs use."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.agents.rules.seeds.patterns import PatternNotSupported, PatternSampler, compile_pattern

PATTERNS = [
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[A-Z][A-Z0-9_]+-\d+(?:-\d+)*$",
    r"^#[0-9a-fA-F]{6}$",
    r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
    r"^(GET|POST)(,(GET|POST))*$",
    r"^[^,]+(,[^,]+)*$",
    r"^(?!\.)(?!.*\.\.)[a-z.]+@[a-z]+\.[a-z]{2,}$",
    r"^[a-zA-Z0-9]([a-zA-Z0-9._+-]{0,58}[a-zA-Z0-9])?$",
    r"^\p{L}+$",
    r"^(?<year>\d{4})-(?<month>0[1-9]|1[0-2])$",
    r"\S",
    r"^=",
    r"^[^\d]{3}$",
    r"(\w)\1",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_draw_matches_its_pattern(pattern: str) -> None:
    sampler = PatternSampler(pattern)
    for seed in range(20):
        assert compile_pattern(pattern).search(sampler.draw(random.Random(seed)))


def test_digits_are_ascii_as_in_ecma() -> None:
    assert compile_pattern(r"^\d$").search("٣") is None


@given(low=st.integers(0, 30), extra=st.integers(0, 20), seed=st.integers(0, 50))
def test_length_bounds_hold(low: int, extra: int, seed: int) -> None:
    text = PatternSampler("^[a-z0-9-]*$", low, low + extra).draw(random.Random(seed))
    assert low <= len(text) <= low + extra
    assert re.fullmatch("[a-z0-9-]*", text)


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "a{2,1}"])
def test_a_pattern_that_cannot_be_read_says_so(pattern: str) -> None:
    with pytest.raises(PatternNotSupported):
        PatternSampler(pattern)


def test_a_pattern_without_a_match_says_so() -> None:
    with pytest.raises(PatternNotSupported, match="no match found"):
        PatternSampler("^a(?!a)a$").draw(random.Random(1))
