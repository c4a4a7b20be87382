"""Full comparison takes nothing for the same that is not."""

from weft.records.trace import LedgerEntry, Outcome
from weft.tasks.equivalence import exactly, same_state, shows
from weft.tasks.reference import EndState


def entry(tool: str, result: object, **arguments: object) -> LedgerEntry:
    return LedgerEntry(index=0, server="s", tool=tool, arguments=arguments, outcome=Outcome.OK, result=result)


def test_types_count() -> None:
    assert exactly({"a": [1, None, "x"]}, {"a": [1, None, "x"]})
    assert not exactly(25, 25.0)
    assert not exactly(1, True)
    assert not exactly({"a": 1}, {"a": 1, "b": None})


def test_volatile_columns_count() -> None:
    left = EndState({"t": [{"id": 1, "updated_at": "2026-03-02T09:00:01Z"}]}, {})
    right = EndState({"t": [{"id": 1, "updated_at": "2026-03-02T09:00:02Z"}]}, {})
    assert same_state(left, left)
    assert not same_state(left, right)


def test_required_returns_are_fragments_word_for_word_or_the_same_call() -> None:
    seen = [entry("list", {"rows": [{"id": 1, "n": 2}]}), entry("count", {"count": 2}, status="open")]
    assert shows(seen, [{"id": 1, "n": 2}], [])
    assert not shows(seen, [{"id": 1, "n": 2.0}], [])
    assert shows(seen, [], [entry("count", {"count": 2}, status="open")])
    assert not shows(seen, [], [entry("count", {"count": 2}, status="closed")])
