"""The blueprint: tables and columns while they are being inferred from the whole tool set."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.environment.fields import Field, Schema
from weft.agents.rules.environment.intents import noun
from weft.agents.rules.environment.words import listed, plural, sql_name, unique_name
from weft.records.spec import Provenance
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, IdStyle, Table

Words = tuple[str, ...]

_RANK = {Provenance.INVENTED: 0, Provenance.INERT: 0, Provenance.INFERRED: 1, Provenance.DECLARED: 2}
_CREATED = set(
    listed(
        "created, created at, date created, creation time, created date, created on, created date time, "
        "created time, creation date, create time, creation timestamp, created timestamp, inserted at, "
        "create date "
    )
)
_UPDATED = set(
    listed(
        "updated, updated at, modified, modified at, date updated, last modified, last updated, updated "
        "date, last modified date time, last modified at, update time, last edited time, date modified, "
        "updated on, last updated at, modified time, updated date time, modified date, edited at, last "
        "edited at "
    )
)
_FILLER = frozenset({"is", "new", "the", "updated"})
_BARE = frozenset({"on", "at", "by", "of", "for", "to", "from", "in"})
"""Words that mean nothing without the word before them: ``updated_on`` is no ``on``."""


@dataclass
class ColumnPlan:
    """A column being inferred; see :class:`weft.records.state.Column` for the meaning of the parts."""

    name: str
    field: str
    key: Words
    type: ColumnType
    nullable: bool = True
    role: ColumnRole = ColumnRole.ATTRIBUTE
    references: str | None = None
    enum: list[Any] = dataclasses.field(default_factory=list)
    unique: bool = False
    schema: Schema = dataclasses.field(default_factory=dict)
    provenance: Provenance = Provenance.INVENTED
    evidence: str = ""
    default: Any = None
    written: bool = False
    shown: bool = False
    """A declared result requires a value that is not null."""
    fallback: Any = None
    """A value that satisfies that result."""
    constant: bool = False
    """New rows hold the fallback: no tool gives another value when it makes one."""
    hidden: bool = False
    """Returned only when an argument asks for it."""

    def support(self, provenance: Provenance, evidence: str) -> None:
        """Raise the provenance when something better supports the column."""
        if _RANK[provenance] > _RANK[self.provenance]:
            self.provenance, self.evidence = provenance, evidence

    def record(self) -> Column:
        """The finished column."""
        enum = tuple(self.enum) if self.type in (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER) else ()
        return Column(
            name=self.name,
            field=self.field,
            type=self.type,
            nullable=self.nullable,
            role=self.role,
            references=self.references,
            enum=enum,
            unique=self.unique,
            schema=self.schema,
            provenance=self.provenance,
            evidence=self.evidence,
            default=self.default,
        )


@dataclass
class Relation:
    """A many-to-many link or a set-like attribute kept in its own table."""

    table: str
    near: str
    far: str
    field: str
    key: Words


@dataclass
class TablePlan:
    """A table being inferred."""

    name: str
    phrase: Words
    group: Words = ()
    columns: list[ColumnPlan] = dataclasses.field(default_factory=list)
    id: str = ""
    id_style: IdStyle = IdStyle.HEX
    id_prefix: str = ""
    key: Words = ()
    relation: bool = False
    within: list[Words] = dataclasses.field(default_factory=list)
    """Attributes inside whose values the natural key is unique."""
    made: bool = False
    """Some tool makes rows."""
    provenance: Provenance = Provenance.DECLARED
    relations: list[Relation] = dataclasses.field(default_factory=list)
    scope: list[Words] = dataclasses.field(default_factory=list)
    writers: int = 0
    readers: int = 0

    @property
    def entity(self) -> str:
        """The singular noun, for people."""
        return " ".join(self.phrase)

    def normal(self, words: Words) -> Words:
        """Words of an attribute without filler and without the entity's own name."""
        plain = noun(words)
        while len(plain) > 1 and plain[0] in _FILLER and plain[1] not in _BARE:
            plain = plain[1:]
        for own in (self.phrase, self.phrase[-1:]):
            if own and plain[: len(own)] == own and len(plain) > len(own) and plain[len(own)] not in _BARE:
                return plain[len(own) :]
        return plain

    def column(self, name: str) -> ColumnPlan:
        """The column called ``name``; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name!r} has no column {name!r}")

    def find(self, words: Words) -> ColumnPlan | None:
        """The column that an attribute of these words means, if there is one."""
        plain = noun(words)
        normal = self.normal(words)
        for key in (plain, normal):
            for column in self.columns:
                if column.key == key:
                    return column
        for column in self.columns:
            if column.key == (*normal, "id") and column.references:
                return column
        return None

    def spelled(self, name: str, found: ColumnPlan | None) -> ColumnPlan | None:
        """Of the columns that mean the same words as ``found``, the one spelled so (``Name`` beside ``name``)."""
        if found is None or found.field == name:
            return found
        return next((column for column in self.columns if column.key == found.key and column.field == name), found)

    def ensure(self, source: Field, *, provenance: Provenance, evidence: str, words: Words | None = None) -> ColumnPlan:
        """The column of an attribute, made when it is missing and widened when the types differ."""
        found = self.find(words or source.words)
        if found is None:
            return self.add(words or source.words, source, provenance=provenance, evidence=evidence)
        return self.widened(found, source, provenance, evidence)

    def widened(self, found: ColumnPlan, source: Field, provenance: Provenance, evidence: str) -> ColumnPlan:
        """A column that another schema supports too, of a type that holds the values of both."""
        found.support(provenance, evidence)
        self._widen(found, source)
        return found

    def _widen(self, column: ColumnPlan, source: Field) -> None:
        if column.role in (ColumnRole.ID, ColumnRole.FOREIGN_KEY, ColumnRole.CREATED, ColumnRole.UPDATED):
            return
        if column.type != source.type:
            texts = {ColumnType.TEXT, ColumnType.DATE, ColumnType.DATETIME, ColumnType.TIME}
            numbers = {ColumnType.INTEGER, ColumnType.NUMBER}
            if {column.type, source.type} <= texts:
                column.type = ColumnType.TEXT
            elif {column.type, source.type} <= numbers:
                column.type = ColumnType.NUMBER
            else:
                column.type = ColumnType.JSON
        if column.enum and source.enum:
            column.enum += [value for value in source.enum if value not in column.enum]
        elif column.enum and not source.enum and source.path:
            column.enum = []

    def add(
        self, words: Words, source: Field, *, provenance: Provenance, evidence: str, field_name: str = ""
    ) -> ColumnPlan:
        """Add a column whatever is there already."""
        key = self.normal(words)
        name = self.fresh(sql_name(key, "value"))
        label = field_name or self.label(source.name, key)
        column = ColumnPlan(
            name=name,
            field=label,
            key=key,
            type=source.type,
            enum=list(source.enum),
            schema=source.schema,
            provenance=provenance,
            evidence=evidence,
        )
        plain = " ".join(key)
        if source.type in (ColumnType.TEXT, ColumnType.DATETIME) and plain in _CREATED | _UPDATED and not source.enum:
            column.role = ColumnRole.CREATED if plain in _CREATED else ColumnRole.UPDATED
            column.type = ColumnType.DATETIME
        elif (
            plain in ("name", "title", "subject", "display name", "summary", "label", "full name")
            and source.type == ColumnType.TEXT
        ):
            column.role = ColumnRole.NAME
        elif plain in ("status", "state") and source.type == ColumnType.TEXT and source.enum:
            column.role = ColumnRole.STATUS
        self.columns.append(column)
        return column

    def another(self, source: Field, like: ColumnPlan, *, provenance: Provenance, evidence: str) -> ColumnPlan:
        """A second column beside one of much the same name, told from it by the whole name; a reference like it."""
        column = self.add(source.words, source, provenance=provenance, evidence=evidence, field_name=source.name)
        column.field = self.fresh_field(source.name) if self._shared(column) else source.name
        column.key = noun(source.words)
        taken = {other.name.lower() for other in self.columns if other is not column}
        column.name = unique_name(sql_name(column.key, "value"), taken)
        if like.references is not None:
            column.role, column.references, column.type = like.role, like.references, like.type
            column.schema, column.enum = like.schema, []
        return column

    def _shared(self, column: ColumnPlan) -> bool:
        return any(other.field == column.field for other in self.columns if other is not column)

    def plain(
        self, name: str, kind: ColumnType, *, evidence: str, provenance: Provenance = Provenance.INVENTED
    ) -> ColumnPlan:
        """A column that no schema names, found or added."""
        words = tuple(name.split("_"))
        found = next((column for column in self.columns if column.key == self.normal(words)), None)
        if found is not None:
            return found
        column = ColumnPlan(
            name=self.fresh(name),
            field=self.fresh_field(name),
            key=self.normal(words),
            type=kind,
            provenance=provenance,
            evidence=evidence,
        )
        self.columns.append(column)
        return column

    def fresh(self, base: str) -> str:
        """A column name that is not taken."""
        return unique_name(base, {column.name.lower() for column in self.columns})

    def fresh_field(self, base: str) -> str:
        """A JSON field name that is not taken."""
        return unique_name(base, {column.field.lower() for column in self.columns})

    def label(self, name: str, key: Words) -> str:
        """The JSON field name of a new column: the declared name, or its normal words when it repeats the entity."""
        taken = {column.field for column in self.columns}
        if noun(tuple(name.lower().replace("-", "_").split("_"))) != key and key and "_" in name:
            name = "_".join(key)
        if name not in taken and name:
            return name
        return self.fresh_field(name or "value")

    def record(self) -> Table:
        """The finished table."""
        return Table(
            name=self.name,
            entity=self.entity or self.name,
            columns=tuple(column.record() for column in self.columns),
            key=self.key or (self.id,),
            id_style=self.id_style,
            id_prefix=self.id_prefix,
            relation=self.relation,
            provenance=self.provenance,
        )


@dataclass
class Blueprint:
    """All tables of one server."""

    server: str
    tables: list[TablePlan] = dataclasses.field(default_factory=list)

    def table(self, name: str) -> TablePlan:
        """The table called ``name``; KeyError if there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"no table {name!r}")

    def by_phrase(self, phrase: Words, group: Words = ()) -> TablePlan | None:
        """The table of an entity phrase, of the same namespace if there are several."""
        found = [table for table in self.tables if table.phrase == phrase and not table.relation]
        return next((table for table in found if table.group == group), found[0] if found else None)

    def new_table(self, phrase: Words, group: Words = ()) -> TablePlan:
        """Add an empty table for an entity."""
        base = sql_name((*phrase[:-1], plural(phrase[-1])), "items") if phrase else "items"
        taken = {table.name.lower() for table in self.tables}
        if base in taken and group:
            base = sql_name((*group, *phrase[:-1], plural(phrase[-1])), "items")
        table = TablePlan(name=unique_name(base, taken), phrase=phrase, group=group)
        self.tables.append(table)
        return table

    def referencing(self, name: str) -> list[tuple[TablePlan, ColumnPlan]]:
        """The columns that reference a table."""
        return [(table, column) for table in self.tables for column in table.columns if column.references == name]

    def schema(self) -> DatabaseSchema:
        """The finished schema, referenced tables first."""
        return DatabaseSchema(tables=tuple(table.record() for table in self.ordered()))

    def ordered(self) -> list[TablePlan]:
        """The tables, referenced ones first. Cycles are broken by dropping references, so call it before building."""
        done: list[TablePlan] = []
        waiting = list(self.tables)
        while waiting:
            names = {table.name for table in done}
            ready = next(
                (t for t in waiting if all(c.references in (None, t.name) or c.references in names for c in t.columns)),
                None,
            )
            if ready is None:
                ready = waiting[0]
                for column in ready.columns:
                    if column.references not in (None, ready.name) and column.references not in names:
                        column.references = None
                        column.role = ColumnRole.ATTRIBUTE
            done.append(ready)
            waiting.remove(ready)
        return done
