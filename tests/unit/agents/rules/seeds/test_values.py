"""Values from schemas: what is drawn is valid, for schemas as wild as declarations are."""

import random
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.agents.rules.seeds.facts import RowFacts, entity_words
from weft.agents.rules.seeds.values import Unsatisfiable, ValueSchema

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def facts(index: int = 0) -> RowFacts:
    return RowFacts(index, entity_words("order", "", ()), random.Random(index), NOW, 12, 3)


ADDRESS = {"type": "object", "required": ["street", "city"], "properties": {"street": {"type": "string"}}}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "string", "format": "email", "maxLength": 60},
    {"type": "string", "format": "uri"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "minLength": 300},
    {"type": "string", "maxLength": 3},
    {"type": "integer", "minimum": 5, "maximum": 7},
    {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 25},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2, "maxItems": 3, "uniqueItems": True},
    {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
    {"type": "array", "minItems": 1},
    {"const": {"a": [1]}},
    {"enum": ["x", 4, None, True]},
    {"type": ["string", "null"], "pattern": "^[A-Z]{3}-\\d{4}$"},
    {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]},
    {"oneOf": [{"type": "object", "required": ["kind"], "properties": {"kind": {"const": "a"}}}, {"type": "integer"}]},
    {"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"required": ["a"]}]},
    {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1},
    {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False,
     "minProperties": 1},
    {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 2},
    {"type": "object", "required": ["a"], "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
    {"type": "string", "not": {"const": "Quarterly Budget"}},
    {"$ref": "#/$defs/A", "$defs": {"A": ADDRESS}},
    {"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "required": ["kids"], "properties": {
        "kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/A", "definitions": {"A": ADDRESS}},
    {},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: str(schema)[:60])
def test_every_draw_is_valid(schema: dict[str, Any]) -> None:
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    wanted = ValueSchema(schema)
    for seed in range(12):
        value = wanted.draw(random.Random(seed), "value", facts(seed))
        assert validator.is_valid(value), value


def test_a_schema_that_allows_nothing_says_so() -> None:
    with pytest.raises(Unsatisfiable, match="price"):
        ValueSchema({"type": "integer", "not": {"type": "integer"}}).draw(random.Random(1), "price", facts())


bounds = st.integers(-1000, 1000)


@settings(max_examples=60, deadline=None)
@given(
    low=bounds,
    width=st.integers(0, 400),
    whole=st.booleans(),
    seed=st.integers(0, 99),
    name=st.sampled_from(["price", "count", "x"]),
)
def test_numbers_keep_their_bounds(low: int, width: int, whole: bool, seed: int, name: str) -> None:
    schema = ValueSchema({"type": "integer" if whole else "number", "minimum": low, "maximum": low + width})
    assert low <= schema.draw(random.Random(seed), name, facts(seed)) <= low + width


leaves = st.sampled_from([
    {"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"enum": ["a", "b"]}, {"type": "null"},
    {"type": "string", "minLength": 3, "maxLength": 9}, {"type": "number", "minimum": 0},
])  # fmt: skip
nested = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 4}, inner),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.builds(lambda a, b: {"type": "object", "properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(schema=nested, seed=st.integers(0, 9))
def test_nested_schemas_are_satisfied(schema: dict[str, Any], seed: int) -> None:
    value = ValueSchema(schema).draw(random.Random(seed), "field", facts(seed))
    assert jsonschema_rs.is_valid(schema, value)


def test_enum_is_found_through_references_and_unions() -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/E"}, {"type": "null"}], "$defs": {"E": {"enum": ["a", "b"]}}}
    assert ValueSchema(schema).enum == ("a", "b")
