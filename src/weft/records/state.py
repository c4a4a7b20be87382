"""State: the schema of a database, its rows, workspace files, and changes to them."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.spec import Provenance


class ColumnType(StrEnum):
    """Logical type of a column; the DDL type follows from it (see :mod:`weft.runtime.ddl`)."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"  # stored as ANY with a typeof check: 25 stays 25 and 25.5 stays 25.5
    BOOLEAN = "boolean"
    JSON = "json"  # objects, arrays and unions; stored as canonical JSON text
    DATETIME = "datetime"  # text, compared as an instant
    DATE = "date"
    TIME = "time"


class ColumnRole(StrEnum):
    """What a column is for. ``CREATED`` and ``UPDATED`` are written by the runtime from the clock."""

    ID = "id"
    KEY = "key"  # part of a natural key by which tools look a row up
    FOREIGN_KEY = "foreign_key"
    NAME = "name"
    ATTRIBUTE = "attribute"
    STATUS = "status"
    CREATED = "created"
    UPDATED = "updated"


class Column(Record):
    """A column.

    Attributes:
        name: SQL name: lower-case identifier, unique in its table without regard to case.
        field: the JSON field name that tools use for it (``Name``, ``$filter``, ``2fa`` are legal).
        type: logical type.
        nullable: NULL is a legal value.
        role: see :class:`ColumnRole`.
        references: table whose id this column holds, for foreign keys.
        enum: the allowed values, where the specs agree on them (not repeated in CHECK when long).
        unique: no two rows share a value.
        schema_: the JSON Schema of one value, as declared; empty when invented.
        provenance: declared (a schema names it), inferred (a description or another tool supports it) or invented.
        evidence: where that comes from, e.g. ``create_note.inputSchema/properties/title``.
        default: value of a new row when the caller gives none (JSON); None means NULL.
    """

    name: str
    field: str
    type: ColumnType
    nullable: bool = True
    role: ColumnRole = ColumnRole.ATTRIBUTE
    references: str | None = None
    enum: tuple[Any, ...] = ()
    unique: bool = False
    schema_: dict[str, Any] = Field(default_factory=dict, alias="schema")
    provenance: Provenance = Provenance.DECLARED
    evidence: str = ""
    default: Any = None


class IdStyle(StrEnum):
    """How ids of new rows look. All are drawn from the session's seed and a counter in the database."""

    INTEGER = "integer"
    UUID = "uuid"
    PREFIXED = "prefixed"  # e.g. "ord_5k2p9x"
    HEX = "hex"
    NATURAL = "natural"  # given by the caller (a key, a slug, a path): never generated


class Table(Record):
    """A table of one entity, or of a relation between entities.

    Attributes:
        name: SQL name.
        entity: singular noun, for people ("note").
        columns: in order; exactly one has role ID unless ``key`` names several columns.
        key: primary-key columns.
        id_style: how new ids are made.
        id_prefix: for the prefixed style.
        relation: True for a many-to-many link table.
    """

    name: str
    entity: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    id_style: IdStyle = IdStyle.INTEGER
    id_prefix: str = ""
    relation: bool = False
    provenance: Provenance = Provenance.DECLARED

    def column(self, name: str) -> Column:
        """Return the column called ``name``; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name!r} has no column {name!r}")


class DatabaseSchema(Record):
    """The tables of one environment, referenced tables first."""

    tables: tuple[Table, ...] = ()

    def table(self, name: str) -> Table:
        """Return the table called ``name``; KeyError if there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"no table {name!r}")


Row = dict[str, Any]
"""Column name -> JSON value (booleans and JSON columns already decoded)."""

Rows = dict[str, list[Row]]
"""Table name -> rows, ordered by primary key."""

Files = dict[str, str]
"""Workspace path (relative, ``/``) -> UTF-8 text. A directory without files is ``"path/": ""``."""


class InitialState(Record):
    """What a session starts from: rows, files and the virtual clock.

    Attributes:
        rows: the initial rows of every table.
        files: the initial workspace.
        clock: the virtual now, RFC 3339 UTC, e.g. ``2026-03-02T09:00:00Z``.
    """

    rows: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    clock: str = "2026-03-02T09:00:00Z"


class RowChange(Record):
    """One row's change over an interval.

    Attributes:
        server: name of the environment.
        table: SQL table.
        key: primary-key columns and values.
        op: insert, update or delete.
        before: the whole row before (None for an insert).
        after: the whole row after (None for a delete).
    """

    server: str
    table: str
    key: dict[str, Any]
    op: Literal["insert", "update", "delete"]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class FileChange(Record):
    """One workspace file's change over an interval; None means that the file is not there."""

    server: str
    path: str
    before: str | None = None
    after: str | None = None


class Changeset(Record):
    """Row and file changes of a call or an interval, ordered by server, table and key, or path."""

    rows: tuple[RowChange, ...] = ()
    files: tuple[FileChange, ...] = ()

    @property
    def empty(self) -> bool:
        """True when nothing changed."""
        return not self.rows and not self.files
