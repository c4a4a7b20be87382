"""One session's state of one environment: an in-memory SQLite database and a workspace (Weft 3.1.1, 3.2.1).

Reads go straight to the database. Writes happen inside :meth:`State.call`, one transaction per tool call: SQLite's
session extension records exactly which rows the call changed, and a call that is rejected, fails, or in the end changes
nothing leaves rows, files, clock and ids as they were.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import apsw

from weft.errors import InputError, ToolFault, ToolRejection
from weft.records.base import JSON
from weft.records.state import DatabaseSchema, Files, InitialState, Row
from weft.runtime.clock import parse_clock, reading
from weft.runtime.ddl import quote
from weft.runtime.ids import IdShape, candidate, infer_shape
from weft.runtime.loading import stored_rows
from weft.runtime.meta import META_DDL, Meta
from weft.runtime.predicates import SortKey, Test
from weft.runtime.reads import Reader
from weft.runtime.tables import META_TABLE, Reference, SchemaPlan, SQLiteValue, Stored, TablePlan
from weft.runtime.transaction import Call, Transaction
from weft.runtime.values import Absent, json_equal, shown
from weft.runtime.workspace import Workspace

__all__ = ["Call", "Image", "SortKey", "State", "Test"]

PAGE_SIZE = 1024
"""Bytes; small pages keep a session with many small tables small."""


@dataclass(frozen=True, slots=True)
class Image:
    """A state at rest. Immutable, so that any number of forks share one; loading it copies the database bytes."""

    database: bytes
    workspace: Workspace


class State(Reader):
    """The state of one session. Make one with :meth:`create` or :meth:`load`; not safe for use by several threads.

    Attributes:
        plan: the schema, ready to use.
        workspace: the files.
    """

    def __init__(self, plan: SchemaPlan, database: apsw.Connection, workspace: Workspace) -> None:
        super().__init__(plan, database)
        database.execute("PRAGMA foreign_keys = ON")
        self.workspace = workspace
        self._meta = Meta(database)
        self._transaction = Transaction(self, self._meta, workspace)

    # ------------------------------------------------------------------ making and keeping

    @classmethod
    def create(
        cls,
        schema: DatabaseSchema | SchemaPlan,
        initial: InitialState,
        *,
        seed: int,
        name: str,
        root: str | None = None,
    ) -> "State":
        """Return a new state with the initial rows, files and clock.

        Args:
            schema: the tables, or their plan if the caller keeps one.
            initial: rows, files and clock.
            seed: of the generated ids.
            name: the environment's name, recorded in changes.
            root: the path that agents see as the workspace's root.

        Raises:
            InputError: the schema is not usable, or a row does not fit: names table, row and column.
        """
        plan = schema if isinstance(schema, SchemaPlan) else SchemaPlan(schema)
        workspace = Workspace(initial.files, root=root) if root else Workspace(initial.files)
        clock = parse_clock(initial.clock, "initial clock")
        rows = stored_rows(plan, initial, clock)
        meta = {"clock": clock, "seed": str(seed), "name": name}
        for table in plan.tables.values():
            if table.generates:
                shape = infer_shape(table.table, [table.row(row) for row in rows[table.name]])
                meta[f"ids:{table.name}"] = json.dumps(shape.plain(), sort_keys=True)
        database = apsw.Connection(":memory:")
        try:
            database.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            database.execute(META_DDL + plan.ddl)
            with database:
                for table in plan.tables.values():
                    database.executemany(table.insert_sql, rows[table.name])
                database.executemany(f"INSERT INTO {META_TABLE} VALUES (?, ?)", sorted(meta.items()))
        except apsw.Error as error:
            database.close()
            raise InputError(f"{name}: the schema or its rows are not usable by SQLite: {error}") from error
        return cls(plan, database, workspace)

    @classmethod
    def load(cls, schema: DatabaseSchema | SchemaPlan, image: Image) -> "State":
        """Return a state that goes on from an image, independent of all others."""
        database = apsw.Connection(":memory:")
        database.deserialize("main", image.database)
        plan = schema if isinstance(schema, SchemaPlan) else SchemaPlan(schema)
        return cls(plan, database, image.workspace.share())

    def serialize(self) -> Image:
        """Return the state at rest: database bytes and files.

        Raises:
            ToolFault: a call is running.
        """
        self._transaction.idle("be saved")
        return Image(self.database.serialize("main"), self.workspace.share())

    def close(self) -> None:
        """Free the database. Idempotent."""
        self.database.close()

    # ------------------------------------------------------------------ clock, ids, whole content

    @property
    def name(self) -> str:
        """The environment's name."""
        return self._meta.values["name"]

    @property
    def clock(self) -> str:
        """The virtual now, RFC 3339 UTC."""
        return self._meta.values["clock"]

    def set_clock(self, clock: str) -> None:
        """Move the clock, because another session of the group did."""
        self._transaction.idle("have its clock set")
        self._meta.values["clock"] = parse_clock(clock)
        self._meta.save()

    @property
    def seed(self) -> int:
        """The seed of the generated ids."""
        return int(self._meta.values["seed"])

    def reseed(self, seed: int) -> None:
        """Draw later ids from another seed: a state made once serves sessions of any seed."""
        self._transaction.idle("be given another seed")
        self._meta.values["seed"] = str(seed)
        self._meta.save()

    def now(self, form: Literal["datetime", "date"] = "datetime") -> str:
        """Return the clock: RFC 3339 UTC with ``Z``, or the date ``YYYY-MM-DD``."""
        clock = self.clock
        return clock[:10] if form == "date" else clock

    def files(self) -> Files:
        """Return all workspace files by path."""
        return self.workspace.files()

    def call(self) -> Call:
        """Return a context manager for one tool call: rows, files, clock and ids change all together or not at all."""
        return Call(self._transaction)

    # ------------------------------------------------------------------ writes

    def insert(
        self,
        table: str,
        values: Mapping[str, JSON | Absent],
        exists: Literal["error", "ignore", "update"] = "error",
    ) -> Row:
        """Insert a row and return it whole; see :class:`weft.records.contract.Insert`.

        Raises:
            ToolRejection: ``conflict``, ``not_found`` (a foreign key) or ``invalid_argument``, naming the field.
            ToolFault: no such table or column.
        """
        self._transaction.open()
        plan = self.plan.table(table)
        given = {
            name: plan.column(name).encode(value)
            for name, value in values.items()
            if not isinstance(value, Absent) and not (value is None and self._made_by_runtime(plan, name))
        }
        there = self._same_row(plan, given)
        if there is not None:
            field, row = there
            if exists == "error":
                value = plan.row(row)[field]
                raise ToolRejection(
                    "conflict",
                    f"{plan.by_name[field].field}: a {plan.entity} with {shown(value)} is there already",
                    {"field": plan.by_name[field].field, "value": value, "entity": plan.entity},
                )
            found = plan.row(row)
            if exists == "ignore":
                return found
            return self.update(table, found, {name: values[name] for name in given if name not in plan.key})
        stored = self._completed(plan, given)
        self._check_references(plan, stored)
        self._execute(plan.insert_sql, stored)
        return plan.row(stored)

    @overload
    def update(self, table: str, rows: None, values: Mapping[str, JSON | Absent]) -> None: ...
    @overload
    def update(self, table: str, rows: Row, values: Mapping[str, JSON | Absent]) -> Row: ...
    @overload
    def update(self, table: str, rows: list[Row], values: Mapping[str, JSON | Absent]) -> list[Row]: ...
    def update(
        self, table: str, rows: Row | list[Row] | None, values: Mapping[str, JSON | Absent]
    ) -> Row | list[Row] | None:
        """Set values on a row, a list of rows, or nothing, and return the new rows in the same shape.

        ABSENT leaves a column as it is, null sets NULL. A value equal to the present one is no change; the columns of
        role UPDATED are set from the clock only if something changed.

        Raises:
            ToolRejection: ``invalid_argument``, ``conflict`` or ``not_found``, naming the field.
        """
        self._transaction.open()
        plan = self.plan.table(table)
        if rows is None:
            return None
        given = {
            name: plan.column(name).encode(value) for name, value in values.items() if not isinstance(value, Absent)
        }
        if isinstance(rows, list):
            return [self._update(plan, row, given) for row in rows]
        return self._update(plan, rows, given)

    def delete(self, table: str, rows: Row | list[Row] | None, cascade: Sequence[str] = ()) -> int:
        """Delete rows, and those of ``cascade`` tables that reference them at any depth; return how many of ``rows``.

        Raises:
            ToolRejection: ``conflict`` if rows of other tables reference one of them; ``not_found`` if one is gone.
        """
        self._transaction.open()
        plan = self.plan.table(table)
        wanted = [] if rows is None else rows if isinstance(rows, list) else [rows]
        doomed: dict[tuple[str, Stored], None] = {}
        for row in wanted:
            doomed[plan.name, tuple(self._present(plan, row)[plan.index[name]] for name in plan.key)] = None
        count = len(doomed)
        referring = self._spread(doomed, set(cascade))
        for reference, key in referring:
            if (reference.table, key) not in doomed:
                child = self.plan.table(reference.table)
                raise ToolRejection(
                    "conflict",
                    f"a {child.entity} ({shown(key[0])}) still refers to this {plan.entity}; delete that first",
                    {"entity": plan.entity, "referenced_by": child.entity, "value": key[0]},
                )
        for name, key in reversed(doomed):
            self._execute(self.plan.table(name).delete_sql, key)
        return count

    def transition(self, table: str, row: Row, column: str, to: JSON | Absent, sources: Sequence[JSON] = ()) -> Row:
        """Set a status column and return the new row; see :class:`weft.records.contract.Transition`.

        Raises:
            ToolRejection: ``invalid_state`` if the row's state is not among ``sources`` (empty: any).
        """
        self._transaction.open()
        plan = self.plan.table(table)
        field = plan.column(column).field
        present = plan.row(self._present(plan, row))
        if sources and not any(json_equal(present[column], one) for one in sources):
            raise ToolRejection(
                "invalid_state",
                f"{field} of this {plan.entity} is {shown(present[column])}; "
                f"it can be set to {shown(to)} only from {', '.join(map(shown, sources))}",
                {"field": field, "state": present[column], "allowed": list(sources)},
            )
        return self.update(table, present, {column: to})

    # ------------------------------------------------------------------ parts of writes

    def _made_by_runtime(self, plan: TablePlan, name: str) -> bool:
        return plan.column(name).clocked or (plan.generates and name in plan.key)

    def _same_row(
        self, plan: TablePlan, given: Mapping[str, SQLiteValue], but: Stored | None = None
    ) -> tuple[str, Stored] | None:
        """A present row with the same key or unique value and the column that says so, but not the row at ``but``."""
        if all(given.get(name) is not None for name in plan.key):
            key = tuple(given[name] for name in plan.key)
            row = self.stored(plan, key)
            if row is not None and key != but:
                return plan.key[0], row
        for name in plan.unique:
            value = given.get(name)
            if value is not None:
                sql = f"{plan.select_sql} WHERE {quote(name)} = ?"
                for row in self.database.execute(sql, (value,)).fetchall():
                    if tuple(row[plan.index[part]] for part in plan.key) != but:
                        return name, row
        return None

    def _completed(self, plan: TablePlan, given: Mapping[str, SQLiteValue]) -> Stored:
        """All columns of a new row: given values, then generated ids, clock readings, defaults and NULL."""
        cells: list[SQLiteValue] = []
        for column in plan.columns:
            if column.name in given:
                cells.append(given[column.name])
            elif column.name in plan.key:
                cells.append(self._new_id(plan) if plan.generates else self._natural_key(plan, column.name))
            elif column.clocked:
                cells.append(column.encode(reading(self.clock, column.type)))
            elif column.column.default is not None or column.nullable:
                cells.append(column.encode(column.column.default))
            else:
                raise ToolRejection(
                    "invalid_argument", f"{column.field}: missing; a {plan.entity} needs it", {"field": column.field}
                )
        return tuple(cells)

    def _natural_key(self, plan: TablePlan, name: str) -> SQLiteValue:
        column = plan.by_name[name]
        if column.column.default is not None:
            return column.encode(column.column.default)
        raise ToolRejection(
            "invalid_argument",
            f"{column.field}: missing; it names the {plan.entity} and is not made up",
            {"field": column.field},
        )

    def _new_id(self, plan: TablePlan) -> SQLiteValue:
        shape = IdShape(**json.loads(self._meta.values[f"ids:{plan.name}"]))
        if shape.style == "natural":
            return self._natural_key(plan, plan.key[0])
        counter = int(self._meta.values.get(f"count:{plan.name}", "0"))
        tries = 0
        while True:
            value = candidate(shape, seed=self.seed, server=self.name, table=plan.name, counter=counter)
            counter += 1
            if self.stored(plan, (value,)) is None:
                break
            tries += 1
            if tries > 10_000:
                raise ToolFault(f"every id of the form of table {plan.name!r} is taken")
        self._meta.values[f"count:{plan.name}"] = str(counter)
        return plan.by_name[plan.key[0]].encode(value)

    def _check_references(self, plan: TablePlan, stored: Stored, only: Mapping[str, Any] | None = None) -> None:
        for reference in plan.references:
            value = stored[plan.index[reference.column]]
            if value is None or (only is not None and reference.column not in only):
                continue
            target = self.plan.table(reference.target)
            itself = target is plan and stored[plan.index[reference.target_column]] == value
            sql = f"SELECT 1 FROM {target.sql} WHERE {quote(reference.target_column)} = ?"
            if not itself and not self.database.execute(sql, (value,)).fetchall():
                field = plan.by_name[reference.column].field
                raise ToolRejection(
                    "not_found",
                    f"{field}: no {target.entity} with id {shown(value)}",
                    {"field": field, "value": value, "entity": target.entity},
                )

    def _update(self, plan: TablePlan, row: Row, given: Mapping[str, SQLiteValue]) -> Row:
        present = self._present(plan, row)
        key = tuple(present[plan.index[name]] for name in plan.key)
        before = plan.row(present)
        changed = {
            name: value
            for name, value in given.items()
            if present[plan.index[name]] != value  # stored forms are canonical, and SQLite's 25 == 25.0 is Python's
        }
        if not changed:
            return before
        for column in plan.columns:
            if column.column.role == "updated" and column.name not in given:
                changed[column.name] = column.encode(reading(self.clock, column.type))
        after = tuple(changed.get(column.name, present[index]) for index, column in enumerate(plan.columns))
        self._check_unique(plan, changed, after, key)
        self._check_references(plan, after, changed)
        names = ", ".join(f"{quote(name)} = ?" for name in changed)
        self._execute(f"UPDATE {plan.sql} SET {names}{plan.key_sql}", (*changed.values(), *key))
        return plan.row(after)

    def _check_unique(self, plan: TablePlan, changed: Mapping[str, SQLiteValue], after: Stored, key: Stored) -> None:
        told_apart = {name: changed[name] for name in plan.unique if name in changed}
        if any(name in changed for name in plan.key):
            told_apart.update({name: after[plan.index[name]] for name in plan.key})
        there = self._same_row(plan, told_apart, but=key) if told_apart else None
        if there is not None:
            column = plan.by_name[there[0]]
            value = plan.row(after)[column.name]
            raise ToolRejection(
                "conflict",
                f"{column.field}: another {plan.entity} has {shown(value)} already",
                {"field": column.field, "value": value, "entity": plan.entity},
            )

    def _present(self, plan: TablePlan, row: Row) -> Stored:
        key = tuple(plan.by_name[name].encode(value) for name, value in zip(plan.key, plan.key_of(row), strict=True))
        stored = self.stored(plan, key)
        if stored is None:
            raise ToolRejection(
                "not_found",
                f"no {plan.entity} with id {shown(key[0])} any more",
                {"field": plan.by_name[plan.key[0]].field, "value": key[0], "entity": plan.entity},
            )
        return stored

    def _spread(self, doomed: dict[tuple[str, Stored], None], cascade: set[str]) -> list[tuple[Reference, Stored]]:
        """Add to ``doomed`` what the cascade takes along; return the other rows that reference something doomed."""
        referring: list[tuple[Reference, Stored]] = []
        waiting = list(doomed)
        while waiting:
            name, key = waiting.pop()
            plan = self.plan.table(name)
            stored = self.stored(plan, key)
            assert stored is not None
            for reference in plan.referenced_by:
                child = self.plan.table(reference.table)
                value = stored[plan.index[reference.target_column]]
                sql = f"{child.select_sql} WHERE {quote(reference.column)} = ?{child.order_sql}"
                for row in self.database.execute(sql, (value,)).fetchall():
                    place = (child.name, tuple(row[child.index[part]] for part in child.key))
                    if child.name not in cascade:
                        referring.append((reference, place[1]))
                    elif place not in doomed:
                        doomed[place] = None
                        waiting.append(place)
        return referring

    def _execute(self, sql: str, values: Sequence[SQLiteValue]) -> None:
        try:
            self.database.execute(sql, values)
        except apsw.ConstraintError as error:
            # Everything a caller can meet was checked above with a better message.
            raise ToolFault(f"the database of {self.name!r} refused a row that had passed every check") from error
