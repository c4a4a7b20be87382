"""Tables as the state uses them: values to SQLite and back, statements, keys and references (pure)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from weft.errors import InputError, ToolFault, ToolRejection
from weft.records.base import JSON
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, IdStyle, Row, Table
from weft.runtime.ddl import enum_values, quote, reference_target, render_ddl, unique_columns
from weft.runtime.values import instant, is_day, is_number, is_time, json_equal, shown, type_name, unstorable

SQLiteValue = None | int | float | str
Stored = tuple[SQLiteValue, ...]
"""A row as SQLite holds it, in column order; or the values of a key."""

META_TABLE = "_weft"
"""Clock, seed, name and id counters; not a table of the schema and never among the rows."""

_WANTED = {
    ColumnType.TEXT: "a text",
    ColumnType.INTEGER: "an integer",
    ColumnType.NUMBER: "a number",
    ColumnType.BOOLEAN: "true or false",
    ColumnType.DATETIME: "a date-time like 2026-03-02T09:00:00Z",
    ColumnType.DATE: "a date like 2026-03-02",
    ColumnType.TIME: "a time like 09:00 or 09:00:00",
}

_DECODERS: dict[ColumnType, Callable[[Any], JSON]] = {ColumnType.BOOLEAN: bool, ColumnType.JSON: orjson.loads}


class ColumnPlan:
    """A column with its codec."""

    __slots__ = ("_allowed", "clocked", "column", "decode", "field", "name", "nullable", "sql", "type")

    def __init__(self, table: Table, column: Column) -> None:
        self.column = column
        self.name = column.name
        self.field = column.field
        self.sql = quote(column.name)
        self.type = column.type
        self.nullable = column.nullable and column.name not in table.key
        self.clocked = column.role in (ColumnRole.CREATED, ColumnRole.UPDATED)
        self.decode: Callable[[Any], JSON] | None = _DECODERS.get(column.type)
        self._allowed = tuple(enum_values(column))

    def encode(self, value: JSON) -> SQLiteValue:
        """Return a value as SQLite holds it.

        Raises:
            ToolRejection: ``invalid_argument`` naming the field, if the value does not fit the column.
        """
        if value is None:
            if self.nullable:
                return None
            raise self.refusal(value, "must not be null; give a value")
        stored = self._stored(value)
        if self._allowed and not any(json_equal(value, one) for one in self._allowed):
            some = ", ".join(map(shown, self._allowed[:10]))
            more = f" ... ({len(self._allowed)} values)" if len(self._allowed) > 10 else ""
            raise self.refusal(value, f"is not one of {some}{more}")
        return stored

    def _stored(self, value: JSON) -> SQLiteValue:
        kind = self.type
        if kind is ColumnType.JSON:
            if reason := unstorable(value):
                raise self.refusal(value, f"holds {reason}")
            return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        if isinstance(value, str):
            if reason := unstorable(value):
                raise self.refusal(value, f"is {reason}")
            if (
                kind is ColumnType.TEXT
                or (kind is ColumnType.DATETIME and instant(value) is not None)
                or (kind is ColumnType.DATE and is_day(value))
                or (kind is ColumnType.TIME and is_time(value))
            ):
                return value
        elif isinstance(value, bool):
            if kind is ColumnType.BOOLEAN:
                return int(value)
        elif is_number(value) and kind in (ColumnType.INTEGER, ColumnType.NUMBER):
            if reason := unstorable(value):
                raise self.refusal(value, f"is a {reason}")
            if kind is ColumnType.NUMBER:
                return float(value) if isinstance(value, float) else int(value)
            if value == int(value):
                if reason := unstorable(int(value)):
                    raise self.refusal(value, f"is an {reason}")
                return int(value)
        raise self.refusal(value, f"({type_name(value)}) is not {_WANTED[kind]}")

    def refusal(self, value: JSON, problem: str) -> ToolRejection:
        """Return the rejection of a value, naming the field."""
        return ToolRejection("invalid_argument", f"{self.field}: {shown(value)} {problem}", {"field": self.field})


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: ``table.column`` holds ``target.target_column``."""

    table: str
    column: str
    target: str
    target_column: str


class TablePlan:
    """A table with its statements. Rows come and go as tuples in column order; :meth:`row` makes dicts."""

    def __init__(self, schema: DatabaseSchema, table: Table) -> None:
        self.table = table
        self.name = table.name
        self.entity = table.entity
        self.sql = quote(table.name)
        self.columns = tuple(ColumnPlan(table, column) for column in table.columns)
        self.by_name = {column.name: column for column in self.columns}
        self.index = {column.name: index for index, column in enumerate(self.columns)}
        self.key = table.key
        self.generates = len(table.key) == 1 and table.id_style is not IdStyle.NATURAL
        self.unique = tuple(unique_columns(schema, table))
        self.references = tuple(
            Reference(table.name, column.name, target.name, name)
            for column in table.columns
            if column.references is not None
            for target, name in [reference_target(schema, table, column)]
        )
        self.referenced_by: tuple[Reference, ...] = ()
        names = ", ".join(column.sql for column in self.columns)
        self.select_sql = f"SELECT {names} FROM {self.sql}"
        self.order_sql = " ORDER BY " + ", ".join(quote(name) for name in table.key)
        self.key_sql = " WHERE " + " AND ".join(f"{quote(name)} = ?" for name in table.key)
        self.by_key_sql = self.select_sql + self.key_sql
        self.delete_sql = f"DELETE FROM {self.sql}{self.key_sql}"
        self.insert_sql = f"INSERT INTO {self.sql} ({names}) VALUES ({', '.join('?' * len(self.columns))})"
        self._decoded = tuple((column.name, column.decode) for column in self.columns if column.decode is not None)
        self._names = tuple(column.name for column in self.columns)

    def row(self, stored: Stored) -> Row:
        """Return a stored row as JSON values by column name."""
        row: Row = dict(zip(self._names, stored, strict=True))
        for name, decode in self._decoded:
            value = row[name]
            if value is not None:
                row[name] = decode(value)
        return row

    def column(self, name: str) -> ColumnPlan:
        """Return a column.

        Raises:
            ToolFault: the contract names a column that the table does not have.
        """
        try:
            return self.by_name[name]
        except KeyError:
            raise ToolFault(f"table {self.name!r} has no column {name!r}") from None

    def key_of(self, row: Row) -> Stored:
        """Return the key values of a row.

        Raises:
            ToolFault: the value is not a row of this table.
        """
        try:
            return tuple(row[name] for name in self.key)
        except (KeyError, TypeError):
            raise ToolFault(f"a row of {self.name!r} needs its key {list(self.key)}; got {shown(row)}") from None


class SchemaPlan:
    """A database schema made ready to use. Immutable in use, so all sessions of an environment share one.

    Raises:
        InputError: a name is reserved or doubled, or a key or reference points nowhere.
    """

    def __init__(self, schema: DatabaseSchema) -> None:
        self.schema = schema
        self.ddl = render_ddl(schema)
        self.tables: dict[str, TablePlan] = {}
        folded: dict[str, str] = {}
        for table in schema.tables:
            lowered = table.name.lower()
            if lowered == META_TABLE or lowered.startswith("sqlite_") or not table.name:
                raise InputError(f"table name {table.name!r} is reserved; choose another")
            if lowered in folded:
                raise InputError(f"two tables are called {table.name!r} without regard to case; rename one")
            columns = [column.name.lower() for column in table.columns]
            if doubled := next((name for name in columns if columns.count(name) > 1), None):
                raise InputError(f"table {table.name!r} has two columns {doubled!r} without regard to case; rename one")
            folded[lowered] = table.name
            self.tables[table.name] = TablePlan(schema, table)
        for plan in self.tables.values():
            plan.referenced_by = tuple(
                reference
                for other in self.tables.values()
                for reference in other.references
                if reference.target == plan.name
            )

    def table(self, name: str) -> TablePlan:
        """Return a table.

        Raises:
            ToolFault: the contract names a table that the schema does not have.
        """
        try:
            return self.tables[name]
        except KeyError:
            raise ToolFault(f"the schema has no table {name!r}") from None
