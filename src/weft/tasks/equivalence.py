"""Whether a mutant came to the same: full, unnormalised comparison of end state, reply and required returns (pure).

This is deliberately not the verifier: no slots, no volatile columns, no spelling of numbers. A mutant that the verifier
accepts and that differs here is a hole in the verifier.
"""

from collections.abc import Sequence

from weft.records.base import JSON
from weft.records.trace import LedgerEntry, Outcome
from weft.tasks.reference import EndState
from weft.tasks.support import Fragment
from weft.verify.evidence import objects


def exactly(left: JSON, right: JSON) -> bool:
    """Return whether two values are the same in type and content: 25 is not 25.0 and true is not 1."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(exactly(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(exactly, left, right))
    return bool(left == right)


def same_state(left: EndState, right: EndState) -> bool:
    """Return whether two end states hold the same rows and files, volatile columns included."""
    return exactly(left.rows, right.rows) and exactly(left.files, right.files)


def shows(entries: Sequence[LedgerEntry], required: Sequence[Fragment]) -> bool:
    """Return whether successful returns hold every required object, whole."""
    seen = [item for entry in entries if entry.outcome is Outcome.OK for item in objects(entry.result)]
    return all(any(exactly(item, wanted) for item in seen) for wanted in required)
