import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.catalog.names import MAX_SLUG, slug_of, unique_slugs


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Notes", "notes"),
        ("foo_bar", "foo_bar"),
        ("@scope/mcp-server", "scope-mcp-server"),
        ("Café Menu", "cafe-menu"),
        ("..", "server-5ec1f7e7"),
        ("a/../b", "a-..-b"),
    ],
)
def test_a_slug_is_made_of_a_title(title: str, slug: str) -> None:
    assert slug_of(title) == slug


def test_titles_without_latin_letters_keep_apart() -> None:
    first, second = slug_of("天気"), slug_of("地図")
    assert first != second
    assert first.startswith("server-")


@given(st.lists(st.text(max_size=80), max_size=12))
def test_slugs_are_safe_and_never_merge_two_servers(titles: list[str]) -> None:
    slugs = unique_slugs(titles)
    assert len(set(slugs)) == len(titles)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]*", slug) for slug in slugs)
    assert all(len(slug) <= MAX_SLUG + 4 for slug in slugs)


def test_no_slug_is_the_name_of_a_file_that_stands_beside_the_folders() -> None:
    assert slug_of("build.json") == "build-json"
