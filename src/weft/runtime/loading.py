"""Initial rows checked against a schema and made ready to insert (pure; Weft 3.1.1, state initialisation)."""

from weft.errors import InputError, ToolRejection
from weft.records.base import JSON
from weft.records.state import InitialState, Row
from weft.runtime.clock import reading
from weft.runtime.tables import SchemaPlan, SQLiteValue, Stored, TablePlan
from weft.runtime.values import shown


def stored_rows(plan: SchemaPlan, initial: InitialState, clock: str) -> dict[str, list[Stored]]:
    """Return the rows of every table as SQLite holds them.

    A row may leave out columns that have a default, may be null, or are set from the clock.

    Raises:
        InputError: naming table, row (from 0) and column of the first thing that does not fit.
    """
    for name in initial.rows:
        if name not in plan.tables:
            raise InputError(f"initial rows name table {name!r}; the schema has {sorted(plan.tables)}")
    rows = {
        name: [_stored_row(table, row, number, clock) for number, row in enumerate(initial.rows.get(name, []))]
        for name, table in plan.tables.items()
    }
    for name, table in plan.tables.items():
        _check_keys(table, rows[name])
    for name, table in plan.tables.items():
        _check_references(plan, table, rows, name)
    return rows


def _stored_row(table: TablePlan, row: Row, number: int, clock: str) -> Stored:
    where = f"table {table.name!r}, row {number}"
    for name in row:
        if name not in table.by_name:
            raise InputError(f"{where}: column {name!r} is not in the schema; it has {list(table.by_name)}")
    cells: list[SQLiteValue] = []
    for column in table.columns:
        value: JSON = row.get(column.name, column.column.default)
        if value is None and column.clocked and not column.nullable:
            value = reading(clock, column.type)
        try:
            cells.append(column.encode(value))
        except ToolRejection as error:
            raise InputError(f"{where}, column {column.name!r}: {error}") from error
    return tuple(cells)


def _check_keys(table: TablePlan, rows: list[Stored]) -> None:
    for names in (table.key, *((name,) for name in table.unique)):
        seen: dict[Stored, int] = {}
        for number, row in enumerate(rows):
            value = tuple(row[table.index[name]] for name in names)
            if None in value:
                continue
            if value in seen:
                raise InputError(
                    f"table {table.name!r}, row {number}, column {names[0]!r}: {shown(value[0])} "
                    f"is that of row {seen[value]} too; keys and unique values differ from row to row"
                )
            seen[value] = number


def _check_references(plan: SchemaPlan, table: TablePlan, rows: dict[str, list[Stored]], name: str) -> None:
    for reference in table.references:
        target = plan.table(reference.target)
        there = {row[target.index[reference.target_column]] for row in rows[target.name]}
        for number, row in enumerate(rows[name]):
            value = row[table.index[reference.column]]
            if value is not None and value not in there:
                raise InputError(
                    f"table {name!r}, row {number}, column {reference.column!r}: {shown(value)} "
                    f"is no {reference.target_column} of {reference.target!r}; add that row or use one that is there"
                )
