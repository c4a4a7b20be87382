"""``schema.sql`` from the database schema (Weft 3.1.1, shared database schema; pure).

Everything is STRICT. Identifiers are always quoted, so ``order`` and ``group`` are ordinary names. Foreign keys are
checked when a call commits, so that rows of a cycle may be written in any order; a renamed key takes its references
along (``ON UPDATE CASCADE``), a deleted one never does: cascades are written out in contracts.
"""

from collections.abc import Iterable
from typing import Any

from weft.errors import InputError
from weft.records.state import Column, ColumnType, DatabaseSchema, Table

MAX_CHECKED_VALUES = 60
"""An enum with more values gets no CHECK in the DDL; the state and the argument schema hold it."""

_SQL_TYPES = {
    ColumnType.TEXT: "TEXT",
    ColumnType.INTEGER: "INTEGER",
    ColumnType.NUMBER: "ANY",
    ColumnType.BOOLEAN: "INTEGER",
    ColumnType.JSON: "TEXT",
    ColumnType.DATETIME: "TEXT",
    ColumnType.DATE: "TEXT",
    ColumnType.TIME: "TEXT",
}


def render_ddl(schema: DatabaseSchema) -> str:
    """Return the DDL of a schema: one statement per table, in the schema's order.

    Raises:
        InputError: a key column is not there, or a foreign key points to no single column.
    """
    return "\n".join(_table(schema, table) for table in schema.tables)


def quote(name: str) -> str:
    """Return an identifier in SQL's double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a scalar as an SQL literal."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    if "\0" in text:  # SQL text ends at a NUL
        return f"CAST(X'{text.encode().hex()}' AS TEXT)"
    return "'" + text.replace("'", "''") + "'"


def reference_target(schema: DatabaseSchema, table: Table, column: Column) -> tuple[Table, str]:
    """Return the table and column that a foreign key points to: the table's only key column, else its id column.

    Raises:
        InputError: there is no such table or no such column.
    """
    where = f"{table.name}.{column.name}"
    try:
        target = schema.table(column.references or "")
    except KeyError as error:
        raise InputError(f"{where}: references table {column.references!r}, which the schema lacks; add it") from error
    if len(target.key) == 1:
        return target, target.key[0]
    ids = [other.name for other in target.columns if other.role == "id"]
    if len(ids) != 1:
        raise InputError(
            f"{where}: references {target.name!r}, whose key has several columns and no single id; give it one"
        )
    return target, ids[0]


def _table(schema: DatabaseSchema, table: Table) -> str:
    names = [column.name for column in table.columns]
    for name in table.key:
        if name not in names:
            raise InputError(f"table {table.name!r}: key column {name!r} is not among its columns {names}")
    if not table.key:
        raise InputError(f"table {table.name!r} has no key; name its key columns")
    lines = [_column(table, column) for column in table.columns]
    lines.append(f"PRIMARY KEY ({', '.join(map(quote, table.key))})")
    lines += [f"UNIQUE ({quote(name)})" for name in unique_columns(schema, table)]
    for column in table.columns:
        if column.references is not None:
            target, name = reference_target(schema, table, column)
            lines.append(
                f"FOREIGN KEY ({quote(column.name)}) REFERENCES {quote(target.name)} ({quote(name)}) "
                "ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED"
            )
    body = ",\n".join("  " + line for line in lines)
    return f"CREATE TABLE {quote(table.name)} (\n{body}\n) STRICT;\n"


def unique_columns(schema: DatabaseSchema, table: Table) -> list[str]:
    """Return the columns of a table that are unique on their own besides a single-column key."""
    pointed_at = {
        name
        for other in schema.tables
        for column in other.columns
        if column.references == table.name
        for name in [reference_target(schema, other, column)[1]]
    }
    return [
        column.name
        for column in table.columns
        if (column.unique or column.name in pointed_at) and table.key != (column.name,)
    ]


def _column(table: Table, column: Column) -> str:
    name = quote(column.name)
    parts = [name, _SQL_TYPES[column.type]]
    if not column.nullable or column.name in table.key:
        parts.append("NOT NULL")
    if column.type is ColumnType.NUMBER:
        parts.append(f"CHECK (typeof({name}) IN ('integer', 'real', 'null'))")
    elif column.type is ColumnType.BOOLEAN:
        parts.append(f"CHECK ({name} IN (0, 1))")
    elif column.type is ColumnType.JSON:
        parts.append(f"CHECK (json_valid({name}))")
    values = list(enum_values(column))
    if values and len(values) <= MAX_CHECKED_VALUES and column.type is not ColumnType.BOOLEAN:
        parts.append(f"CHECK ({name} IN ({', '.join(map(literal, values))}))")
    return " ".join(parts)


def enum_values(column: Column) -> Iterable[Any]:
    """Return the values that a column's enum allows besides null. A JSON column's enum is not enforced."""
    if column.type is ColumnType.JSON:
        return ()
    return tuple(value for value in column.enum if value is not None)
