import re

from hypothesis import given
from hypothesis import strategies as st

from weft.hosts.naming import offered_names


def test_a_name_that_one_environment_has_stays_bare() -> None:
    assert offered_names([("crm", "search"), ("shop", "buy")]) == {("crm", "search"): "search", ("shop", "buy"): "buy"}


def test_a_name_that_two_environments_have_gets_the_environment_before_it() -> None:
    names = offered_names([("crm", "search"), ("shop", "search"), ("shop", "buy")])
    assert list(names.values()) == ["crm__search", "shop__search", "buy"]


def test_letters_that_are_not_allowed_are_replaced() -> None:
    assert offered_names([("my.crm", "notes.list"), ("shop", "x")])["my.crm", "notes.list"] == "notes_list"
    names = offered_names([("my.crm", "list"), ("shop", "list")])
    assert names["my.crm", "list"] == "my_crm__list"


def test_names_that_differ_only_in_such_letters_stay_apart() -> None:
    names = offered_names([("a", "read.file"), ("a", "read file"), ("a", "read_file"), ("a", "read-file")])
    assert names["a", "read_file"] == "read_file"
    assert names["a", "read-file"] == "read-file"
    assert len(set(names.values())) == 4
    twins = offered_names([("foo-bar", "x"), ("foo_bar", "x"), ("foo.bar", "x")])
    assert len(set(twins.values())) == 3


def test_a_name_does_not_depend_on_the_order_of_environments() -> None:
    tools = [("b", "read.file"), ("a", "read file"), ("c", "read_file"), ("c", "y" * 70)]
    assert offered_names(tools) == offered_names(tools[::-1])


def test_a_declared_name_that_looks_like_a_made_one_is_kept() -> None:
    names = offered_names([("a", "x"), ("b", "x"), ("c", "a__x")])
    assert names["c", "a__x"] == "a__x"
    assert len(set(names.values())) == 3


NAMES = st.one_of(st.text(max_size=4), st.sampled_from(["a.b", "a_b", "a b", "é" * 3, "x" * 80, "x" * 81, "", "a__b"]))


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12))
def test_distinct_tools_get_distinct_legal_names(tools: list[tuple[str, str]]) -> None:
    names = offered_names(tools)
    assert set(names) == set(tools)
    assert len(set(names.values())) == len(set(tools))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names.values())
