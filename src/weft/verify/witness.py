"""Witnesses: returns in the ledger on which an answer or a read rests (DESIGN section 5).

Reads are free: any call may have shown the rows. What counts is that they were shown before the reply was given.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.records.base import JSON
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import CheckResult, ExpectedCall, Witness
from weft.runtime.values import json_equal
from weft.verify.answers import same_instant
from weft.verify.evidence import Evidence, objects, returns, scalars
from weft.verify.matching import Slots, match_value

ANY_FIELD = "*"
"""A fragment's field that starts with this stands for any field: another tool may name the column otherwise."""


def _holds(seen: Mapping[str, Any], field: str, value: JSON) -> bool:
    if field.startswith(ANY_FIELD):
        return any(_equal(item, value) for item in own_values(seen))
    return field in seen and _equal(seen[field], value)


def own_values(seen: Mapping[str, Any]) -> Iterator[JSON]:
    """Yield what an object says of itself: its values and those of objects in it, not those of rows in a list."""
    for value in seen.values():
        if isinstance(value, dict):
            yield from own_values(value)
        elif isinstance(value, list):
            yield from (item for item in value if not isinstance(item, (dict, list)))
        else:
            yield value


def _equal(left: JSON, right: JSON) -> bool:
    return json_equal(left, right) or same_instant(left, right)


def covers(seen: Mapping[str, Any], fragment: Mapping[str, Any]) -> bool:
    """Return whether one object covers a fragment."""
    return all(_holds(seen, field, value) for field, value in fragment.items())


class Shown:
    """What the tools of one server showed over an interval and before it."""

    def __init__(self, entries: Sequence[LedgerEntry], server: str) -> None:
        values = returns(entries, server)
        self._objects = [item for value in values for item in objects(value)]
        self._bare = [value for value in values if not isinstance(value, dict)]

    def fragment(self, fragment: Mapping[str, Any]) -> bool:
        """Return whether some object covers the fragment; a field ``""`` is looked for among bare returns."""
        if set(fragment) == {""}:
            return any(_equal(item, fragment[""]) for value in self._bare for item in (value, *scalars(value)))
        return any(covers(seen, fragment) for seen in self._objects)


def check_witnesses(witnesses: Sequence[Witness], entries: Sequence[LedgerEntry]) -> list[CheckResult]:
    """Check that each witness is supported by successful returns.

    Args:
        witnesses: what must have been shown.
        entries: the ledger of the interval and, before it, of the episode.
    """
    shown: dict[str, Shown] = {}
    results = []
    for witness in witnesses:
        seen = shown.setdefault(witness.server, Shown(entries, witness.server))
        missing: list[JSON] = []
        for alternative in witness.alternatives:
            missing = [fragment for fragment in alternative if not seen.fragment(fragment)]
            if not missing:
                break
        passed = not missing and bool(witness.alternatives)
        detail = "" if passed else f"no tool of {witness.server} showed {_short(missing[:1])}"
        results.append(CheckResult(name=f"witness {witness.name}", passed=passed, detail=detail))
    return results


def check_calls(calls: Sequence[ExpectedCall], evidence: Evidence, slots: Slots) -> list[CheckResult]:
    """Check that each expected call was made, with success or refused with one of the codes that count.

    A call without such codes must be in the interval. One with them is evidence for a refusal, and may have been made
    earlier in the episode: who has seen that there is no such order need not look again.
    """
    results = []
    for call in calls:
        entries = (*evidence.earlier, *evidence.ledger) if call.error_codes else evidence.ledger
        passed = any(_is_call(call, entry, slots) for entry in entries)
        detail = "" if passed else f"no call to {' or '.join(call.tools)} of {call.server} that counts"
        results.append(CheckResult(name=f"call {call.name}", passed=passed, detail=detail))
    return results


def _is_call(call: ExpectedCall, entry: LedgerEntry, slots: Slots) -> bool:
    if entry.server != call.server or entry.tool not in call.tools:
        return False
    if entry.outcome is Outcome.ERROR:
        error = entry.result.get("error") if isinstance(entry.result, dict) else None
        if not isinstance(error, dict) or error.get("code") not in call.error_codes:
            return False
    elif entry.outcome is not Outcome.OK:
        return False
    arguments = entry.arguments if isinstance(entry.arguments, dict) else {}
    return all(match_value(test, arguments.get(name), slots) is not None for name, test in call.arguments.items())


def _short(value: JSON) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
