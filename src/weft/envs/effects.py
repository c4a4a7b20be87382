"""Effect of an argument: two calls on equal states that differ in it alone and give different results or states.

A result that merely repeats the argument shows nothing: places where each of two results holds its own call's value are
left out of the comparison (DESIGN section 5: every declared argument has a shown effect).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.seeds.argument_paths import MISSING, replaced, value_at
from weft.envs.arguments import Argument
from weft.envs.bench import Bench, Observation
from weft.envs.calls import LEFT_OUT, CaseCalls
from weft.records.state import Row
from weft.runtime.values import json_equal

MOST_BASES = 5
NEEDS_LENGTH = frozenset({"limit", "offset", "page", "cursor", "direction", "sort", "option"})
SAYS_NOTHING = frozenset({"invalid_argument", "unknown_tool", "fault"})
"""Error codes that tell of the call's form, not of what the argument does."""


@dataclass(frozen=True)
class Shown:
    """The pair of calls that shows an argument's effect."""

    first: dict[str, Any]
    second: dict[str, Any]
    by: str

    def plain(self) -> dict[str, Any]:
        """Return the pair for a certificate."""
        return {"first": self.first, "second": self.second, "by": self.by}


def differs(first: Observation, second: Observation, value: Any, other: Any) -> str:
    """Return by what two observations differ (``state``, ``result`` or ``outcome``), or "" when they do not.

    Args:
        first: of the call with ``value``.
        second: of the call with ``other``.
        value: the first call's argument, MISSING when it is left out.
        other: the second call's.
    """
    if first.ok and second.ok:
        if first.changes != second.changes:
            return "state"
        return "" if same_but_echo(first.value, second.value, value, other) else "result"
    if first.ok != second.ok:
        failed = second if first.ok else first
        return "" if failed.code in SAYS_NOTHING else "outcome"
    return ""


def same_but_echo(left: Any, right: Any, value: Any, other: Any) -> bool:
    """True if two results are equal where they do not repeat their own call's argument."""
    texts = isinstance(left, str) and isinstance(right, str) and isinstance(value, str) and isinstance(other, str)
    if texts and value and other and value in left and other in right:
        # A text may say much more than the argument that it repeats.
        return bool(left.replace(value, "") == right.replace(other, ""))
    if json_equal(left, right) or (_echoes(left, value) and _echoes(right, other)):
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            if key in left and key in right:
                if not same_but_echo(left[key], right[key], value, other):
                    return False
            elif not (_echoes(left.get(key), value) and _echoes(right.get(key), other)):
                return False
        return True
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return all(same_but_echo(a, b, value, other) for a, b in zip(left, right, strict=True))
    return False


def _echoes(part: Any, value: Any) -> bool:
    """True if a part of a result repeats the argument: equal to it, or a text around it; null for one left out."""
    if value is MISSING:
        return part is None
    if json_equal(part, value):
        return True
    return isinstance(part, str) and isinstance(value, str) and len(value) > 2 and value in part


class EffectProber:
    """Looks for the effect of each argument of one case.

    Args:
        bench: where calls run.
        calls: builds the case's calls.
        normal: calls of the case that succeed, with the rows that they aim at.
    """

    def __init__(self, bench: Bench, calls: CaseCalls, normal: Sequence[tuple[dict[str, Any], Row | None]]) -> None:
        self.bench, self.calls = bench, calls
        self.normal = sorted(normal, key=lambda pair: -self._size(pair[0]))
        self._long: list[tuple[dict[str, Any], Row | None]] | None = None

    def _size(self, arguments: dict[str, Any]) -> int:
        """How much a call gives: pages and filters show their effect best on long results."""
        return len(str(self.bench.run(self.calls.tool.name, arguments).value))

    def probe(self, argument: Argument) -> Shown | None:
        """Return the first pair of calls that shows the argument's effect, or None."""
        weak: Shown | None = None
        for base, target in self._bases(argument):
            values = self.calls.values(argument, target)
            if argument.use.role == "cursor":
                values = [*self._cursors(base, argument), *values]
            there = value_at(base, argument.steps)
            options: list[Any] = [there] if there is MISSING else [there, *([] if argument.required else [MISSING])]
            options += [value for value in values if value is not there and value != there]
            seen: list[tuple[Any, dict[str, Any], Observation]] = []
            for option in options:
                call = replaced(base, argument.steps, option)
                if call is None:
                    continue
                observed = self.bench.run(self.calls.tool.name, call)
                for value, before, known in seen:
                    by = differs(known, observed, value, option)
                    if by in ("state", "result"):
                        return Shown(before, call, by)
                    if by and weak is None:
                        weak = Shown(before, call, by)
                seen.append((option, call, observed))
        return weak

    def _bases(self, argument: Argument) -> Iterator[tuple[dict[str, Any], Row | None]]:
        """Yield the calls to vary: short ones, one with much in it, and those that make a page or an order visible."""
        given: list[tuple[dict[str, Any], Row | None]] = []
        long = argument.use.role in NEEDS_LENGTH
        # An argument that rules others out is varied in calls that give it.
        with_it = [pair for pair in self.normal[2:] if value_at(pair[0], argument.steps) is not MISSING][:1]
        for base, target in self._long_results() if long else [*self.normal[:2], *with_it]:
            given.append((base, target))
            helper = {"page": "limit", "offset": "limit", "cursor": "limit", "direction": "sort"}.get(argument.use.role)
            for other in self.calls.relevant:
                if helper and other.use.role == helper:
                    for value in [1, 2] if helper == "limit" else self._values(other, target)[:3]:
                        fits, form = self.calls.candidates.fit(other, value)
                        call = replaced(base, other.steps, form) if fits else None
                        if call is not None:
                            given.append((call, target))
            full = self.calls.many(base, target)
            if full != base and self.bench.run(self.calls.tool.name, full).ok:
                given.append((full, target))
        yield from given[:MOST_BASES]
        if self.normal[2:]:
            yield self.normal[-1]

    def _long_results(self) -> list[tuple[dict[str, Any], Row | None]]:
        """Return the calls of the case with the longest results: a page of one row shows no limit and no order."""
        if self._long is None:
            found = list(self.normal)
            for turn, target in [(0, target) for target in self.calls.targets()] + [(t, None) for t in (1, 2, 3)]:
                call = self.calls.minimal(target, turn)
                options = [call, *self._opened(call)] if call is not None else []
                found += [(one, target) for one in options if self.bench.run(self.calls.tool.name, one).ok]
            self._long = sorted(found, key=lambda pair: -self._size(pair[0]))[:2]
        return self._long

    def _opened(self, call: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the call with switches set that may let more rows into the result (``include_archived``)."""
        switches = [a for a in self.calls.relevant if a.schema.types == ("boolean",) and a.use.role not in LEFT_OUT]
        changed = [replaced(call, a.steps, True) for a in switches[:3] if value_at(call, a.steps) is MISSING]
        return [one for one in changed if one is not None]

    def _values(self, argument: Argument, target: Row | None) -> list[Any]:
        return self.calls.values(argument, target)

    def _cursors(self, base: dict[str, Any], argument: Argument) -> list[Any]:
        """Return cursors that a short first page hands out."""
        seen = self.bench.run(self.calls.tool.name, base)
        found = [text for text in _cursor_texts(seen.value) if self.calls.candidates.fit(argument, text)[0]]
        return found[:2]


def _cursor_texts(value: Any, name: str = "") -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _cursor_texts(item, str(key))
    elif isinstance(value, list):
        for item in value[:3]:
            yield from _cursor_texts(item, name)
    elif isinstance(value, (str, int)) and any(word in name.lower() for word in ("cursor", "next", "token", "after")):
        yield value
