"""Matching expected changes to actual ones, one to one, with slots bound on the way (DESIGN section 5).

A generated id has no value to compare: it is a slot, bound when the first change that carries it is matched and
compared
wherever it turns up again, in any table. Matching backtracks, because two inserts may look alike until a third change
tells which of them it refers to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import VerifierError
from weft.records.base import JSON
from weft.records.state import ColumnType, RowChange, Table
from weft.records.verdict import ExpectedChange, ValueMatch
from weft.runtime.values import fold, instant, json_equal

Slots = dict[str, Any]

SLOT = "$slot"
"""``{"$slot": name}`` inside an expected JSON value stands for the slot's value."""

TEXT = "$text"
"""``{"$text": [piece, {"$slot": name}, ...]}`` stands for the pieces joined, slots as text."""

LIMIT = 20_000
"""Most steps of one search; beyond it the verdict is unknown, never a failure."""


def is_slot(value: JSON) -> bool:
    """Return whether an expected value is the marker of a slot."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(SLOT), str)


def same_value(expected: JSON, actual: JSON, as_type: str = "json", *, ignore_case: bool = False) -> bool:
    """Return whether two values are the same by type.

    ``datetime`` compares instants in any spelling, ``date`` the calendar date, ``text`` the text; anything else is JSON
    equality in which 25 equals 25.0.
    """
    if isinstance(expected, str) and isinstance(actual, str):
        if as_type == "datetime":
            left, right = instant(expected), instant(actual)
            if left is not None and right is not None:
                return left == right
        if as_type == "date" and len(expected) >= 10 and len(actual) >= 10:
            return expected[:10] == actual[:10]
        if ignore_case:
            return fold(expected) == fold(actual)
    return json_equal(expected, actual)


def unify(expected: JSON, actual: JSON, slots: Slots, test: ValueMatch) -> Slots | None:
    """Match a value that may hold slot markers at any depth; return the slots afterwards, or None."""
    if is_slot(expected):
        name = expected[SLOT]
        if name in slots:
            return slots if json_equal(slots[name], actual) else None
        return {**slots, name: actual}
    if isinstance(expected, dict) and set(expected) == {TEXT}:
        return _unify_text(expected[TEXT], actual, slots)
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(expected) != set(actual):
            return None
        for key, item in expected.items():
            found = unify(item, actual[key], slots, test)
            if found is None:
                return None
            slots = found
        return slots
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return None
        for item, other in zip(expected, actual, strict=True):
            found = unify(item, other, slots, test)
            if found is None:
                return None
            slots = found
        return slots
    return slots if same_value(expected, actual, test.as_type, ignore_case=test.ignore_case) else None


def _unify_text(pieces: Sequence[JSON], actual: JSON, slots: Slots) -> Slots | None:
    """Match joined pieces; a slot that is not bound yet takes what stands between its neighbours."""
    if not isinstance(actual, str):
        return None
    rest = actual
    for index, piece in enumerate(pieces):
        if not is_slot(piece):
            if not rest.startswith(str(piece)):
                return None
            rest = rest[len(str(piece)) :]
            continue
        name = piece[SLOT]
        if name not in slots:
            following = pieces[index + 1] if index + 1 < len(pieces) else ""
            end = rest.find(str(following)) if following and not is_slot(following) else len(rest)
            if end <= 0:
                return None
            slots = {**slots, name: rest[:end]}
        value = str(slots[name])
        if not rest.startswith(value):
            return None
        rest = rest[len(value) :]
    return slots if not rest else None


def match_value(test: ValueMatch, actual: JSON, slots: Slots) -> Slots | None:
    """Test one value; return the slots afterwards, or None when it does not hold."""
    if test.kind == "any":
        return slots
    if test.kind == "slot":
        return unify({SLOT: test.slot}, actual, slots, test)
    if test.kind == "contains":
        text = fold(actual) if isinstance(actual, str) else ""
        held = isinstance(actual, str) and all(fold(piece) in text for piece in test.fragments)
        return slots if held else None
    return unify(test.value, actual, slots, test)


@dataclass(frozen=True, slots=True)
class Differing:
    """A row change as the frame sees it: which columns really differ, volatile ones left out.

    Attributes:
        change: the recorded change.
        columns: differing columns of an update, or every column but the key of an insert.
    """

    change: RowChange
    columns: tuple[str, ...]


def differing(change: RowChange, table: Table, volatile: frozenset[str]) -> Differing:
    """Return the columns of a change that differ by their logical type, volatile ones left out."""
    if change.op != "update":
        return Differing(change, tuple(name for name in change.after or {} if name not in table.key))
    before, after = change.before or {}, change.after or {}
    types = {column.name: column.type for column in table.columns}
    changed = []
    for name, value in after.items():
        as_type = "datetime" if types.get(name) is ColumnType.DATETIME else "json"
        if name not in volatile and not same_value(before.get(name), value, as_type):
            changed.append(name)
    return Differing(change, tuple(changed))


def mismatches(
    expected: ExpectedChange, actual: Differing, slots: Slots, volatile: frozenset[str]
) -> tuple[list[str], Slots]:
    """Return what keeps an actual change from being the expected one (empty: it is), and the slots afterwards."""
    wrong: list[str] = []
    change = actual.change
    for name, test in expected.key.items():
        found = match_value(test, change.key.get(name), slots)
        if found is None:
            wrong.append(f"{name} is {_short(change.key.get(name))}, wanted {_wanted(test, slots)}")
        else:
            slots = found
    if expected.op == "delete":
        return wrong, slots
    after = change.after or {}
    for name, test in expected.after.items():
        found = match_value(test, after.get(name), slots)
        if found is None:
            wrong.append(f"{name} is {_short(after.get(name))}, wanted {_wanted(test, slots)}")
        else:
            slots = found
    extra = [name for name in actual.columns if name not in expected.after and name not in volatile]
    if expected.op == "update":
        wrong += [f"{name} changed to {_short(after.get(name))}, and must not" for name in extra]
    else:
        wrong += [
            f"{name} is {_short(after[name])}, and no test allows it" for name in extra if after[name] is not None
        ]
    return wrong, slots


def _short(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _wanted(test: ValueMatch, slots: Mapping[str, Any]) -> str:
    if test.kind == "slot":
        return f"{_short(slots[test.slot])} (slot {test.slot})" if test.slot in slots else f"slot {test.slot}"
    if test.kind == "contains":
        return f"a text with {', '.join(map(repr, test.fragments))}"
    return _short(test.value)


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which actual change stands for which expected one.

    Attributes:
        chosen: for each expected change, the index of its actual change, or None.
        slots: bound on the way.
        complete: every expected change has one.
    """

    chosen: tuple[int | None, ...]
    slots: Slots
    complete: bool


def assign(
    expected: Sequence[ExpectedChange],
    actual: Sequence[Differing],
    slots: Slots,
    volatile: Mapping[tuple[str, str], frozenset[str]],
    *,
    free_tables: frozenset[tuple[str, str]] = frozenset(),
    limit: int = LIMIT,
) -> Assignment:
    """Assign actual changes to expected ones, one to one.

    Args:
        expected: what must be there.
        actual: what is there.
        slots: bound beforehand.
        volatile: (server, table) -> columns that the runtime sets.
        free_tables: (server, table) whose further changes the frame allows.
        limit: most steps.

    Raises:
        VerifierError: the search takes more than ``limit`` steps.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index, item in enumerate(actual):
        groups.setdefault((item.change.server, item.change.table, item.change.op), []).append(index)
    candidates = []
    for change in expected:
        free = volatile.get((change.server, change.table), frozenset())
        near = groups.get((change.server, change.table, change.op), [])
        candidates.append([index for index in near if not mismatches(change, actual[index], dict(slots), free)[0]])
    order = sorted(range(len(expected)), key=lambda number: (len(candidates[number]), number))
    search = _Search(expected, actual, candidates, order, volatile, limit)
    # Under the frame equal counts are necessary; without them there is nothing to search for, only to report.
    wanted: dict[tuple[str, str, str], int] = {}
    for change in expected:
        key = (change.server, change.table, change.op)
        wanted[key] = wanted.get(key, 0) + 1
    counts = ((key, len(groups.get(key, ())), count) for key, count in wanted.items())
    fits = all(there == count or (there > count and key[:2] in free_tables) for key, there, count in counts)
    found = search.complete(0, dict(slots), {}) if fits and all(candidates) else None
    if found is not None:
        chosen, bound = found
        return Assignment(tuple(chosen[number] for number in range(len(expected))), bound, complete=True)
    return search.greedy(dict(slots))


class _Search:
    """Backtracking over the expected changes, most constrained first."""

    def __init__(
        self,
        expected: Sequence[ExpectedChange],
        actual: Sequence[Differing],
        candidates: Sequence[Sequence[int]],
        order: Sequence[int],
        volatile: Mapping[tuple[str, str], frozenset[str]],
        limit: int,
    ) -> None:
        self._expected, self._actual, self._candidates, self._order = expected, actual, candidates, order
        self._volatile, self._limit, self._steps = volatile, limit, 0

    def _try(self, number: int, index: int, slots: Slots) -> Slots | None:
        change = self._expected[number]
        free = self._volatile.get((change.server, change.table), frozenset())
        wrong, bound = mismatches(change, self._actual[index], slots, free)
        return None if wrong else bound

    def complete(self, depth: int, slots: Slots, chosen: dict[int, int]) -> tuple[dict[int, int], Slots] | None:
        """Return a whole assignment from this depth on, or None."""
        if depth == len(self._order):
            return chosen, slots
        number = self._order[depth]
        used = set(chosen.values())
        for index in self._candidates[number]:
            if index in used:
                continue
            self._steps += 1
            if self._steps > self._limit:
                raise VerifierError(
                    f"matching {len(self._expected)} expected changes takes more than {self._limit} steps; "
                    "make the expected changes of one table differ in a tested column"
                )
            bound = self._try(number, index, slots)
            if bound is not None:
                found = self.complete(depth + 1, bound, {**chosen, number: index})
                if found is not None:
                    return found
        return None

    def greedy(self, slots: Slots) -> Assignment:
        """Match what can be matched, for the report of a failed verdict."""
        chosen: dict[int, int] = {}
        for number in self._order:
            for index in self._candidates[number]:
                bound = None if index in chosen.values() else self._try(number, index, slots)
                if bound is not None:
                    chosen[number], slots = index, bound
                    break
        picked = tuple(chosen.get(number) for number in range(len(self._expected)))
        return Assignment(picked, slots, complete=None not in picked)
