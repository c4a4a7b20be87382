"""Seed rows hold what a create tool's schema says over several arguments at once."""

from typing import Any

from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.seeds.draw import shares, stream
from weft.agents.rules.seeds.facts import RowFacts, entity_words, parse_clock
from weft.agents.rules.seeds.values import ValueSchema
from weft.records.spec import McpSpec, ToolSpec

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["gift", "sale"]},
        "message": {"type": "string"},
        "price": {"type": "number", "multipleOf": 0.01},
        "card": {"type": "string"},
        "cvv": {"type": "string"},
        "codes": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "contains": {"const": "MAIN"}},
    },
    "required": ["kind"],
    "if": {"properties": {"kind": {"const": "gift"}}},
    "then": {"required": ["message"]},
    "else": {"required": ["price"]},
    "dependentRequired": {"card": ["cvv"]},
}


def facts() -> RowFacts:
    rng = stream("facts")
    return RowFacts(1, entity_words("order", "", ()), rng, parse_clock("2026-03-01T09:00:00Z"), 12, 3)


def test_every_seed_row_is_one_that_a_call_could_make() -> None:
    tool = ToolSpec(name="create_order", input_schema=ORDER, declared={"name": "create_order", "inputSchema": ORDER})
    spec = McpSpec(name="shop", title="Shop", tools=(tool,))
    draft = RulesEnvironmentAuthor().draft(spec, seed=7, size=24)
    (table,) = draft.contracts.schema_.tables
    fields = {column.name: column.field for column in table.columns if column.name != "id"}
    schema = ValueSchema(ORDER)
    calls = [
        {fields[name]: value for name, value in row.items() if name in fields and value is not None}
        for row in draft.seed.rows[table.name]
    ]
    assert len(calls) == 24
    assert [call for call in calls if not schema.valid(call)] == []
    assert any("card" in call for call in calls)
    assert any("codes" in call for call in calls)


def test_an_array_holds_as_many_of_a_kind_as_it_must() -> None:
    wanted = {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "minContains": 2, "maxItems": 4}
    value = ValueSchema(wanted).draw(stream("draw"), "numbers", facts())
    assert value.count(7) >= 2


def test_an_object_has_what_its_condition_asks_for() -> None:
    for turn in range(8):
        assert ValueSchema(ORDER).valid(ValueSchema(ORDER).draw(stream("object", turn), "order", facts()))


def test_some_parents_have_many_children_one_has_one_and_one_has_none() -> None:
    counts = [shares(stream("shares"), 12, 12).count(parent) for parent in range(12)]
    assert max(counts) >= 3
    assert 1 in counts
    assert 0 in counts
    assert sum(counts) == 12
