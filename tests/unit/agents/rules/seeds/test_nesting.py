"""Deep schemas give small values."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from weft.agents.rules.seeds.facts import RowFacts, entity_words
from weft.agents.rules.seeds.values import ValueSchema


def leaves(value: Any) -> int:
    return sum(leaves(item) for item in value) if isinstance(value, list) else 1


@pytest.mark.parametrize("depth", [3, 8, 25])
def test_arrays_of_arrays_do_not_grow_with_the_power_of_their_depth(depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    rng = random.Random(7)
    facts = RowFacts(1, entity_words("note", "", ()), rng, datetime(2026, 3, 2, tzinfo=UTC), 60, 17)
    value = ValueSchema(schema, schema).draw(rng, "matrix", facts)
    assert leaves(value) <= 27
