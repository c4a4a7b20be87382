"""Whether a mutant came to the same: full, unnormalised comparison of end state, reply and required returns (pure).

This is deliberately not the verifier: no slots, no volatile columns, no spelling of numbers. A mutant that the verifier
accepts and that differs here is a hole in the verifier.
"""

from collections.abc import Sequence

from weft.records.base import JSON
from weft.records.state import Changeset, DatabaseSchema
from weft.records.trace import LedgerEntry, Outcome
from weft.runtime.changes import diff_states
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


def same_changes(left: Changeset, right: Changeset) -> bool:
    """Return whether two intervals from one initial state end in the same state, volatile columns included.

    Equal differences from equal states make equal states; that a changeset really is the difference of the states is
    checked on every reference (:func:`is_difference`).
    """
    rows = len(left.rows) == len(right.rows) and all(
        (a.server, a.table, a.op) == (b.server, b.table, b.op) and exactly([a.key, a.after], [b.key, b.after])
        for a, b in zip(left.rows, right.rows, strict=True)
    )
    return rows and left.files == right.files


def is_difference(changes: Changeset, before: EndState, after: EndState, server: str, schema: DatabaseSchema) -> bool:
    """Return whether a changeset is the whole difference of two states of one environment."""
    found = diff_states((before.rows, before.files), (after.rows, after.files), server, schema)
    return same_changes(changes, found)


def shows(entries: Sequence[LedgerEntry], required: Sequence[Fragment], calls: Sequence[LedgerEntry]) -> bool:
    """Return whether the required returns are there: fragments word for word, and the very same calls.

    A call is the same when its arguments and its whole result are.

    Args:
        entries: what was called.
        required: fragments, each within one object of a successful return.
        calls: calls of the reference whose whole return is required, because it shows a figure and no rows.
    """
    good = [entry for entry in entries if entry.outcome is Outcome.OK]
    seen = [item for entry in good for item in objects(entry.result)]
    rows = all(any(_within(wanted, item) for item in seen) for wanted in required)
    return rows and all(any(_same_call(entry, wanted) for entry in good) for wanted in calls)


def _within(wanted: Fragment, seen: Fragment) -> bool:
    return all(name in seen and exactly(seen[name], value) for name, value in wanted.items())


def _same_call(left: LedgerEntry, right: LedgerEntry) -> bool:
    same = left.tool == right.tool and exactly(left.arguments, right.arguments)
    return same and exactly(left.result, right.result)
