from typing import Any

import pytest

from weft.catalog.pages import PageWalk

TOOLS = [{"name": f"t{number}"} for number in range(4)]


def test_an_empty_cursor_is_a_cursor() -> None:
    walk = PageWalk("s")
    walk.take({"tools": TOOLS[:2], "nextCursor": ""})
    assert (walk.done, walk.cursor) == (False, "")
    walk.take({"tools": TOOLS[2:]})
    assert walk.done
    assert walk.tools == TOOLS
    assert walk.warnings == []


def test_a_null_cursor_ends_the_list() -> None:
    walk = PageWalk("s")
    walk.take({"tools": TOOLS, "nextCursor": None})
    assert walk.done


def test_a_cursor_that_comes_back_ends_the_walk_with_each_tool_once() -> None:
    walk = PageWalk("s")
    for _ in range(2):
        walk.take({"tools": TOOLS[:2], "nextCursor": "same"})
    assert walk.done
    assert walk.tools == TOOLS[:2]
    assert "never end" in walk.warnings[0].message


def test_a_tool_that_one_page_lists_twice_stays_twice() -> None:
    walk = PageWalk("s")
    walk.take({"tools": [TOOLS[0], TOOLS[0]]})
    assert walk.tools == [TOOLS[0], TOOLS[0]]


def test_a_list_without_end_is_left_at_the_limit() -> None:
    walk = PageWalk("s", max_pages=3)
    pages = 0
    while not walk.done:
        pages += 1
        walk.take({"tools": [{"name": str(pages)}], "nextCursor": str(pages)})
    assert pages == len(walk.tools) == 3
    assert "limit is 3 pages" in walk.warnings[0].message


@pytest.mark.parametrize("page", [None, [], {"tools": None}, {"tools": "x"}, {"tools": [], "nextCursor": 5}])
def test_a_page_that_is_none_ends_the_walk_with_a_reason(page: Any) -> None:
    walk = PageWalk("s")
    walk.take(page)
    assert walk.done
    assert len(walk.warnings) == 1
