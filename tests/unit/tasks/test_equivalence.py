"""Full comparison takes nothing for the same that is not."""

from weft.records.state import Changeset, Column, ColumnRole, ColumnType, DatabaseSchema, RowChange, Table
from weft.records.trace import LedgerEntry, Outcome
from weft.tasks.equivalence import exactly, is_difference, same_changes, shows
from weft.tasks.reference import EndState

COLUMNS = (
    Column(name="id", field="id", type=ColumnType.INTEGER, role=ColumnRole.ID),
    Column(name="updated_at", field="updated_at", type=ColumnType.DATETIME, role=ColumnRole.UPDATED),
)
SCHEMA = DatabaseSchema(tables=(Table(name="t", entity="thing", key=("id",), columns=COLUMNS),))


def changed(moment: str) -> Changeset:
    before = {"id": 1, "updated_at": "2026-03-01T00:00:00Z"}
    after = {"id": 1, "updated_at": moment}
    return Changeset(rows=(RowChange(server="s", table="t", key={"id": 1}, op="update", before=before, after=after),))


def entry(tool: str, result: object, **arguments: object) -> LedgerEntry:
    return LedgerEntry(index=0, server="s", tool=tool, arguments=arguments, outcome=Outcome.OK, result=result)


def test_types_count() -> None:
    assert exactly({"a": [1, None, "x"]}, {"a": [1, None, "x"]})
    assert not exactly(25, 25.0)
    assert not exactly(1, True)
    assert not exactly({"a": 1}, {"a": 1, "b": None})


def test_volatile_columns_count() -> None:
    left, right = changed("2026-03-02T09:00:01Z"), changed("2026-03-02T09:00:02Z")
    assert same_changes(left, left)
    assert not same_changes(left, right)


def test_a_changeset_is_the_whole_difference_of_two_states_or_it_is_not() -> None:
    before = EndState({"t": [{"id": 1, "updated_at": "2026-03-01T00:00:00Z"}]}, {"a.txt": "x"})
    after = EndState({"t": [{"id": 1, "updated_at": "2026-03-02T09:00:01Z"}]}, {"a.txt": "x"})
    assert is_difference(changed("2026-03-02T09:00:01Z"), before, after, "s", SCHEMA)
    assert not is_difference(Changeset(), before, after, "s", SCHEMA)
    more = EndState(after.rows, {"a.txt": "y"})
    assert not is_difference(changed("2026-03-02T09:00:01Z"), before, more, "s", SCHEMA)


def test_required_returns_are_fragments_word_for_word_or_the_same_call() -> None:
    seen = [entry("list", {"rows": [{"id": 1, "n": 2}]}), entry("count", {"count": 2}, status="open")]
    assert shows(seen, [{"id": 1, "n": 2}], [])
    assert not shows(seen, [{"id": 1, "n": 2.0}], [])
    assert shows(seen, [], [entry("count", {"count": 2}, status="open")])
    assert not shows(seen, [], [entry("count", {"count": 2}, status="closed")])
