"""Evidence: what an interval left behind, which is all that a verifier ever sees (Weft 3.2.1; DESIGN section 5).

State evidence is the composition of the changesets of the interval's calls, last writer wins; return evidence is the
ledger itself. How the policy got there is not part of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.agents.reference import objects, opened
from weft.records.base import JSON
from weft.records.state import Changeset
from weft.records.trace import LedgerEntry, Outcome
from weft.runtime.changes import compose

__all__ = ["Evidence", "gather", "objects", "returns", "scalars"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What came of an interval.

    Attributes:
        changes: composed row and file changes of the interval.
        ledger: its calls.
        earlier: calls of the episode before it; reads made there support answers given here.
        reply: the final reply, empty when there was none.
        upstream: ``node.slot`` -> the value that an upstream node's verdict gave it.
    """

    changes: Changeset
    ledger: tuple[LedgerEntry, ...] = ()
    earlier: tuple[LedgerEntry, ...] = ()
    reply: str = ""
    upstream: Mapping[str, JSON] = field(default_factory=dict)

    def saying(self, reply: str) -> "Evidence":
        """Return the same evidence with another final reply."""
        return replace(self, reply=reply)


def gather(
    ledger: Sequence[LedgerEntry],
    *,
    since: int = 0,
    until: int | None = None,
    reply: str = "",
    upstream: Mapping[str, JSON] | None = None,
) -> Evidence:
    """Gather the evidence of the interval ``[since, until)`` of a branch's ledger.

    Args:
        ledger: the branch's whole ledger, from its first entry.
        since: number of entries before the interval.
        until: number of entries at its end; the ledger's length when None.
        reply: the final reply of the interval.
        upstream: values of upstream slots.
    """
    interval = tuple(ledger[since:until])
    return Evidence(
        changes=compose([entry.changes for entry in interval]),
        ledger=interval,
        earlier=tuple(ledger[:since]),
        reply=reply,
        upstream=dict(upstream or {}),
    )


def scalars(value: JSON) -> Iterator[JSON]:
    """Yield every value of a JSON value that is neither object nor array; texts that hold JSON are read through."""
    stack = [value]
    while stack:
        item = opened(stack.pop())
        if isinstance(item, dict):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        else:
            yield item


def returns(entries: Sequence[LedgerEntry], server: str) -> list[JSON]:
    """Return the values of the successful calls to a server, in order."""
    return [entry.result for entry in entries if entry.server == server and entry.outcome is Outcome.OK]
