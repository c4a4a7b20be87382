"""Fresh values: what a user might want written, unlike what stands there (pure)."""

import random
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from weft.agents.rules.seeds import seed_state
from weft.agents.rules.tasks.actions import Parameter
from weft.agents.rules.tasks.words import split
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.state import Column, ColumnType, Row, Rows
from weft.runtime.values import json_equal

LONGEST = 120
"""Most characters of a text that a user states."""

NOTES = ("Please call back on Friday", "Checked with the whole team", "Waiting for the supplier",
         "Agreed at the last meeting", "Needs a second look", "Moved forward by a week", "Confirmed by phone",
         "See the attached summary")  # fmt: skip


def donors(environment: Environment, seed: int) -> Rows:
    """Return rows like the environment's own, made by the same rules from another seed; only their values are used."""
    return seed_state(environment.spec, environment.contracts, seed=seed, size=4).rows


def statable(value: JSON) -> bool:
    """Return whether a person could say a value in a request."""
    if value is None or value == "" or value == [] or value == {}:
        return False
    if isinstance(value, str):
        plain = "\n" not in value and '"' not in value and "{" not in value and "}" not in value
        return plain and len(value) <= LONGEST and value == value.strip()
    if isinstance(value, list):
        return len(value) <= 4 and all(not isinstance(item, list) and statable(item) for item in value)
    if isinstance(value, dict):
        return len(value) <= 5 and all(not isinstance(item, (dict, list)) and statable(item) for item in value.values())
    return True


class Fresh:
    """Draws values for parameters.

    Args:
        rows: of the environment's initial state.
        others: donor rows.
        rng: of the draws.
    """

    def __init__(self, rows: Rows, others: Rows, rng: random.Random) -> None:
        self._rows, self._others, self._rng = rows, others, rng

    def value(self, parameter: Parameter, current: Row | None = None) -> JSON:
        """Return a value for a parameter that differs from the row's own, or None when there is none to be had."""
        column = parameter.column
        old = current.get(column.name) if current is not None and column is not None else None
        for candidate in self._candidates(parameter, old):
            if statable(candidate) and not json_equal(candidate, old) and fits(parameter.schema, candidate):
                return candidate
        return None

    def unused(self, table: str, column: str) -> list[JSON]:
        """Return donor values of a column that no row has."""
        taken = {repr(row.get(column)) for row in self._rows.get(table, ())}
        return self._shuffled(
            [row.get(column) for row in self._others.get(table, ()) if repr(row.get(column)) not in taken]
        )

    def _candidates(self, parameter: Parameter, old: JSON) -> Sequence[JSON]:
        column, table = parameter.column, parameter.use.table
        found: list[JSON] = []
        allowed = parameter.enum or list(column.enum if column is not None else ())
        if allowed:
            found += self._shuffled(allowed)
        if parameter.schema.get("type") == "boolean":
            found += [not old] if isinstance(old, bool) else [True, False]
        if column is not None:
            taken = {repr(row.get(column.name)) for row in self._rows.get(table, ())}
            lent = [row.get(column.name) for row in self._others.get(table, ())]
            found += self._shuffled([value for value in lent if repr(value) not in taken])
            if not column.unique:
                found += self._shuffled([row.get(column.name) for row in self._rows.get(table, ())])
                found += self._shuffled(lent)
            found += self._made(column, old)
        found.sort(key=lambda value: isinstance(value, str) and len(value) > 60)
        found += [self._wrapped(parameter, item) for item in list(found) if not isinstance(item, (list, dict))]
        return [*found, *self._declared(parameter)]

    def _wrapped(self, parameter: Parameter, value: JSON) -> JSON:
        return [value] if parameter.schema.get("type") == "array" else value

    def _shuffled(self, values: Sequence[JSON]) -> list[JSON]:
        unique = {repr(value): value for value in values}
        ordered = [unique[key] for key in sorted(unique)]
        self._rng.shuffle(ordered)
        return ordered

    def _made(self, column: Column, old: JSON) -> list[JSON]:
        if column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
            base = old if isinstance(old, (int, float)) and not isinstance(old, bool) else 2
            return [base + self._rng.randint(1, 4), base + 1, max(1, base - 1)]
        if column.type in (ColumnType.DATE, ColumnType.DATETIME) and isinstance(old, str):
            try:
                later = date.fromisoformat(old[:10]) + timedelta(days=self._rng.randint(2, 9))
            except ValueError:
                return []
            return [later.isoformat() + old[10:]]
        return []

    def _declared(self, parameter: Parameter) -> list[JSON]:
        schema = parameter.schema
        found: list[JSON] = [*(schema.get("examples") or ()), *([schema["default"]] if "default" in schema else [])]
        kind = schema.get("type")
        if kind in ("integer", "number"):
            low = schema.get("minimum", 1)
            top = schema.get("maximum", low + 20 if isinstance(low, (int, float)) else 20)
            if isinstance(low, (int, float)) and isinstance(top, (int, float)) and top >= low:
                found.append(self._rng.randint(int(low), max(int(low), min(int(top), int(low) + 20))))
        elif kind == "string" and not schema.get("pattern") and not schema.get("format"):
            words = split(parameter.leaf)
            if {"url", "link", "uri"} & set(words):
                found.append(f"https://files.example.com/{self._rng.choice(('report', 'summary', 'plan'))}")
            found += self._shuffled(list(NOTES))
        elif kind == "string" and schema.get("format") == "date":
            found.append(f"2026-0{self._rng.randint(4, 9)}-1{self._rng.randint(0, 9)}")
        elif kind == "string" and schema.get("format") == "date-time":
            found.append(f"2026-0{self._rng.randint(4, 9)}-1{self._rng.randint(0, 9)}T10:00:00Z")
        elif kind == "array":
            items = schema.get("items")
            if isinstance(items, Mapping) and isinstance(items.get("enum"), list):
                found.append([self._rng.choice(items["enum"])])
            elif isinstance(items, Mapping) and items.get("type") == "string" and not items.get("pattern"):
                found.append([self._rng.choice(("priority", "review", "spring", "archive"))])
        return found


def fits(schema: Mapping[str, Any], value: JSON) -> bool:
    """Return whether a value fits the plain keywords of a schema; the tool itself decides in the end."""
    kind = schema.get("type")
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "array": list,
        "object": dict,
    }
    if isinstance(kind, str) and kind in kinds:
        if isinstance(value, bool) and kind != "boolean":
            return False
        if not isinstance(value, kinds[kind]):
            return False
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(json_equal(item, value) for item in allowed):
        return False
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, top = schema.get("minimum"), schema.get("maximum")
        if (isinstance(low, (int, float)) and value < low) or (isinstance(top, (int, float)) and value > top):
            return False
    if isinstance(value, str):
        pattern = schema.get("pattern")
        if isinstance(schema.get("maxLength"), int) and len(value) > schema["maxLength"]:
            return False
        if isinstance(schema.get("minLength"), int) and len(value) < schema["minLength"]:
            return False
        if isinstance(pattern, str):
            try:
                return re.search(pattern, value) is not None
            except re.error:
                return True  # another dialect of patterns; the tool decides
    return True
