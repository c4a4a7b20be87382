"""Argument paths: where they lead in schemas and values, which a contract uses, what a case asks for."""

from typing import Any

import pytest

from weft.agents.rules.seeds.argument_paths import MISSING, locate, replaced, value_at
from weft.envs.arguments import known_words, looked_up, matching_case, needed, places_of
from weft.records.contract import Case, Contract, ErrorSpec, Find, Guard, Sort
from weft.records.expression import AnyOf, Order, Present, ProjectFields, arg, const, eq, var

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["query"],
    "properties": {
        "query": {"$ref": "#/$defs/Query"},
        "items": {
            "anyOf": [{"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}]
        },
        "a.b": {"type": "integer"},
    },
    "$defs": {"Query": {"type": "object", "properties": {"limit": {"type": "integer"}}}},
}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("query", ("query",)),
        ("query.limit", ("query", "limit")),
        ("items[].name", ("items", "[]", "name")),
        ("items.[].name", ("items", "[]", "name")),
        ("a.b", ("a.b",)),
    ],
)
def test_a_path_leads_through_references_unions_arrays_and_dotted_names(path: str, steps: tuple[str, ...]) -> None:
    found = locate(SCHEMA, path)
    assert found is not None
    assert found[0] == steps


@pytest.mark.parametrize("path", ["nothing", "query.nothing", "query[]", "a"])
def test_an_undeclared_path_leads_nowhere(path: str) -> None:
    assert locate(SCHEMA, path) is None


def test_values_are_read_and_replaced_in_copies() -> None:
    call: dict[str, Any] = {"items": [{"name": "x"}]}
    assert value_at(call, ("items", "[]", "name")) == "x"
    assert replaced(call, ("items", "[]", "name"), "y") == {"items": [{"name": "y"}]}
    assert replaced(call, ("query", "limit"), 3) == {"items": [{"name": "x"}], "query": {"limit": 3}}
    assert replaced(call, ("items",), MISSING) == {}
    assert call == {"items": [{"name": "x"}]}
    assert replaced({}, ("items", "[]", "name"), "y") is None
    assert value_at({"items": []}, ("items", "[]")) is MISSING


ERROR = ErrorSpec(code="not_found", message="no")


def case(**more: Any) -> Case:
    return Case(**{"intent": "get", "table": "t", "operations": (), "returns": const(1), **more})


def test_a_case_asks_for_what_it_looks_up_and_guards() -> None:
    wheres = (eq("id", arg("id")), eq("a", arg("a"), optional=True))
    find = Find(op="find", into="x", table="t", where=wheres, missing=ERROR)
    one_of = AnyOf(op="any", of=(Present(op="present", of=arg("b")), Present(op="present", of=arg("c"))))
    asked = case(operations=(find, Guard(op="guard", condition=one_of, error=ERROR)))
    assert looked_up(asked) == [("id",)]
    assert needed(asked) == [("id",), ("b",)]
    assert places_of(asked) == {("id",): [("t", "id")], ("a",): [("t", "a")]}


def test_words_are_those_to_project_and_to_sort_by() -> None:
    sort = Sort(op="sort", into="y", over="x", order=(Order(by=arg("sort"), columns={"newest": "created"}),))
    fields = ProjectFields(op="project", of=var("y"), fields=arg("fields"), known=("id", "title"))
    assert known_words(case(operations=(sort,), returns=fields)) == {
        ("sort",): ["newest"],
        ("fields",): ["id", "title"],
    }


def test_the_first_case_whose_values_match_runs() -> None:
    contract = Contract(
        tool="t",
        function="t",
        effect="read",
        cases=(case(when={"action": "a"}), case(when={"action": "b"})),
        returns_schema={"type": "object"},
    )
    assert matching_case(contract, {"action": "b"}) == 1
    assert matching_case(contract, {"action": "c"}) is None
