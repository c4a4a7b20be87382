import apsw
import pytest

from weft.errors import InputError
from weft.records.environment import Environment
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, Table
from weft.runtime.ddl import MAX_CHECKED_VALUES, literal, render_ddl
from weft.runtime.tables import SchemaPlan


def table(name: str, *columns: Column, key: tuple[str, ...] = ("id",)) -> Table:
    own = Column(name="id", field="id", type=ColumnType.INTEGER, role=ColumnRole.ID, nullable=False)
    return Table(name=name, entity=name, columns=(own, *columns), key=key)


def run(schema: DatabaseSchema) -> apsw.Connection:
    database = apsw.Connection(":memory:")
    database.execute("PRAGMA foreign_keys = ON")
    database.execute(render_ddl(schema))
    return database


def test_every_table_is_strict_and_has_its_key_and_references(notes: Environment) -> None:
    database = run(notes.contracts.schema_)
    tables = database.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall()
    assert {name: strict for name, strict in tables if not name.startswith("sqlite_")} == {
        "folders": 1, "tags": 1, "notes": 1, "note_tags": 1, "comments": 1,
    }  # fmt: skip
    assert "ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED" in render_ddl(notes.contracts.schema_)


def test_the_same_schema_renders_to_the_same_bytes(notes: Environment) -> None:
    assert render_ddl(notes.contracts.schema_) == render_ddl(notes.contracts.schema_.model_copy(deep=True))


def test_names_that_are_sql_words_or_hold_quotes_are_ordinary_names() -> None:
    column = Column(name='or"der', field="order", type=ColumnType.TEXT)
    database = run(DatabaseSchema(tables=(table("group", column),)))
    database.execute('INSERT INTO "group" ("id", "or""der") VALUES (1, ?)', ("x",))
    assert database.execute('SELECT "or""der" FROM "group"').fetchall() == [("x",)]


def test_enums_are_checked_only_while_they_are_short() -> None:
    def schema(count: int) -> DatabaseSchema:
        values = tuple(f"it's {number}" for number in range(count))
        return DatabaseSchema(tables=(table("t", Column(name="e", field="e", type=ColumnType.TEXT, enum=values)),))

    short = run(schema(MAX_CHECKED_VALUES))
    with pytest.raises(apsw.ConstraintError):
        short.execute("INSERT INTO t VALUES (1, 'else')")
    short.execute("INSERT INTO t VALUES (1, ?)", ("it's 3",))
    assert "IN (" not in render_ddl(schema(MAX_CHECKED_VALUES + 1))


@pytest.mark.parametrize(("kind", "bad"), [("number", "text"), ("boolean", 2), ("json", "{"), ("integer", "x")])
def test_the_database_itself_refuses_values_of_another_type(kind: str, bad: object) -> None:
    database = run(DatabaseSchema(tables=(table("t", Column(name="c", field="c", type=ColumnType(kind))),)))
    with pytest.raises(apsw.ConstraintError):
        database.execute("INSERT INTO t VALUES (1, ?)", (bad,))


def test_numbers_keep_whether_they_are_whole() -> None:
    database = run(DatabaseSchema(tables=(table("t", Column(name="c", field="c", type=ColumnType.NUMBER)),)))
    database.execute("INSERT INTO t VALUES (1, ?), (2, ?)", (25, 25.0))
    assert [type(value) for (value,) in database.execute("SELECT c FROM t").fetchall()] == [int, float]


def test_a_literal_survives_quotes_and_nul() -> None:
    database = apsw.Connection(":memory:")
    for value in ("it's", "a\0b", 3, 2.5):
        assert database.execute(f"SELECT {literal(value)}").fetchall() == [(value,)]


def test_references_must_point_to_one_column() -> None:
    to_nowhere = Column(name="other_id", field="otherId", type=ColumnType.INTEGER, references="others")
    with pytest.raises(InputError, match=r"t\.other_id: references table 'others'"):
        render_ddl(DatabaseSchema(tables=(table("t", to_nowhere),)))
    a, b = (Column(name=name, field=name, type=ColumnType.TEXT) for name in "ab")
    pair = Table(name="others", entity="other", columns=(a, b), key=("a", "b"))
    with pytest.raises(InputError, match="several columns and no single id"):
        render_ddl(DatabaseSchema(tables=(pair, table("t", to_nowhere))))


def test_an_id_beside_a_composite_key_can_be_referenced() -> None:
    extra = Column(name="x", field="x", type=ColumnType.TEXT)
    both = table("others", extra, key=("id", "x"))
    reference = Column(name="other_id", field="otherId", type=ColumnType.INTEGER, references="others")
    database = run(DatabaseSchema(tables=(both, table("t", reference))))
    with database:
        database.execute("INSERT INTO t VALUES (1, 5)")
        database.execute("INSERT INTO others VALUES (5, 'x')")
    assert database.execute("SELECT other_id FROM t").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (DatabaseSchema(tables=(table("_weft"),)), "reserved"),
        (DatabaseSchema(tables=(table("sqlite_x"),)), "reserved"),
        (DatabaseSchema(tables=(table("a"), table("A"))), "without regard to case"),
        (DatabaseSchema(tables=(table("a", Column(name="ID", field="x", type=ColumnType.TEXT)),)), "two columns 'id'"),
        (DatabaseSchema(tables=(table("a", key=("nope",)),)), "key column 'nope'"),
        (DatabaseSchema(tables=(table("a", key=()),)), "has no key"),
    ],
)
def test_a_schema_that_cannot_work_is_refused_by_name(schema: DatabaseSchema, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SchemaPlan(schema)
