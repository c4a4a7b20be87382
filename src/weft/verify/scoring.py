"""From verdicts to outcomes and rewards (Weft 3.3.2: an atomic turn is complete or it is not)."""

from collections.abc import Mapping, Sequence

from weft.records.verdict import Verdict


def reward(passed: bool | None) -> float | None:
    """Return 1.0 for completion, 0.0 for failure, None when the outcome is unknown: unknown is never zero."""
    return None if passed is None else float(passed)


def progress(verdict: Verdict) -> float:
    """Return the share of checks that passed, for reports; no reward rests on it."""
    return sum(check.passed for check in verdict.checks) / len(verdict.checks) if verdict.checks else 0.0


def whole(nodes: Mapping[str, bool | None], order: Sequence[str], total: bool | None = True) -> bool | None:
    """Return the outcome of a task from those of its nodes and of the whole verifier.

    A failure anywhere is a failure; without one, anything unknown makes the whole unknown.

    Args:
        nodes: outcome by node id.
        order: every node of the task; one without an outcome was not reached and counts as failed.
        total: outcome of the verifier of the whole.
    """
    outcomes = [nodes.get(node, False) for node in order] + [total]
    if any(outcome is False for outcome in outcomes):
        return False
    return None if None in outcomes else True


def completed_prefix(nodes: Mapping[str, bool | None], order: Sequence[str]) -> int:
    """Return how many nodes in execution order passed before the first that did not."""
    count = 0
    for node in order:
        if nodes.get(node) is not True:
            break
        count += 1
    return count
