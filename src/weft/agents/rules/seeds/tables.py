"""The rows of a table: how many, which foreign keys they hold, and keys of several columns without repeats."""

import random
from collections.abc import Mapping
from datetime import datetime
from itertools import product
from typing import Any

from weft.agents.rules.seeds.columns import ColumnJob, fill, listed
from weft.agents.rules.seeds.constraints import Constraints, Place
from weft.agents.rules.seeds.draw import shares, stream
from weft.agents.rules.seeds.facts import EntityWords, RowFacts
from weft.records.state import Column, ColumnRole, DatabaseSchema, Row, Table

Key = tuple[Any, ...]


def target_column(schema: DatabaseSchema, column: Column) -> tuple[Table, str] | None:
    """Return the table and column that a foreign key holds values of, or None when there is no such table."""
    if column.references is None:
        return None
    try:
        target = schema.table(column.references)
    except KeyError:
        return None
    if len(target.key) == 1:
        return target, target.key[0]
    ids = [c.name for c in target.columns if c.role is ColumnRole.ID]
    return (target, ids[0]) if ids else None


class TableSeeder:
    """Fills the tables of one schema, parents first.

    Args:
        schema: the tables.
        constraints: of every column.
        words: vocabulary of every table's entity.
        now: the virtual clock.
        seed: of all draws.
        size: rows of a main table.
    """

    def __init__(
        self,
        schema: DatabaseSchema,
        constraints: Mapping[Place, Constraints],
        words: Mapping[str, EntityWords],
        now: datetime,
        *,
        seed: int,
        size: int,
    ) -> None:
        self.schema, self.constraints, self.words = schema, constraints, words
        self.now, self.seed, self.size = now, seed, size
        self.rows: dict[str, list[Row]] = {}
        self.identities: dict[Place, list[Any]] = {}

    def seed_all(self) -> dict[str, list[Row]]:
        """Return the rows of every table, in the schema's order."""
        for table in self.schema.tables:
            self._identify(table)
        for table in self.schema.tables:
            self.rows[table.name] = self._table(table)
        return {table.name: self.rows[table.name] for table in self.schema.tables}

    def facts(self, table: Table, count: int) -> list[RowFacts]:
        """Return the facts of each row of a table."""
        offset = stream(self.seed, "offset", table.name).randrange(48)
        return [
            RowFacts(i, self.words[table.name], stream(self.seed, "row", table.name, i), self.now, count, offset)
            for i in range(count)
        ]

    def job(self, table: Table, column: Column, facts: list[RowFacts]) -> ColumnJob:
        """Return the job of filling one column."""
        rng = stream(self.seed, "column", table.name, column.name)
        return ColumnJob(table, column, self.constraints[table.name, column.name], facts, rng)

    def count(self, table: Table) -> int:
        """Return how many rows a table gets: fewer where a key has few values."""
        if table.relation:
            return self.size + self.size // 2
        wanted = self.size
        facts = self.facts(table, 1)
        for column in table.columns:
            if column.references is None and (column.unique or table.key == (column.name,)):
                values = listed(self.job(table, column, facts))
                wanted = min(wanted, len(values)) if values else wanted
        return max(wanted, 1 if self.size else 0)

    def _identify(self, table: Table) -> None:
        """Fill the columns that other tables refer to, before any foreign key is."""
        if table.relation and not self._referred(table):
            return
        count = self.count(table)
        facts = self.facts(table, count)
        for column in table.columns:
            own = column.role is ColumnRole.ID or table.key == (column.name,)
            if own and column.references is None:
                self.identities[table.name, column.name] = fill(self.job(table, column, facts))
            elif own:
                parents = self._parent_values(column)
                rng = stream(self.seed, "shared key", table.name)
                # A key that is a foreign key stands for one row per parent; one parent stays without.
                keep = len(parents) - 1 if len(parents) > 2 else len(parents)
                chosen = sorted(rng.sample(range(len(parents)), min(count, keep)))
                self.identities[table.name, column.name] = [parents[i] for i in chosen]

    def _referred(self, table: Table) -> bool:
        return any(c.references == table.name for other in self.schema.tables for c in other.columns)

    def _parent_values(self, column: Column) -> list[Any]:
        target = target_column(self.schema, column)
        return self.identities.get((target[0].name, target[1]), []) if target else []

    def _table(self, table: Table) -> list[Row]:
        known = {
            c.name: self.identities[table.name, c.name]
            for c in table.columns
            if (table.name, c.name) in self.identities
        }
        count = min((len(v) for v in known.values()), default=self.count(table))
        facts = self.facts(table, count)
        rows: list[Row] = [{} for _ in range(count)]
        for column in table.columns:
            if column.name in known:
                values = known[column.name]
            elif column.references is not None:
                values = self._foreign(table, column, count)
            else:
                values = fill(self.job(table, column, facts))
            for row, value in zip(rows, values, strict=False):
                row[column.name] = value
        self._agree(table, rows)
        rows = [row for row in rows if len(row) == len(table.columns) and self._whole(table, row)]
        return _without_repeats(table, rows, self._spare_keys(table))

    def _whole(self, table: Table, row: Row) -> bool:
        return all(row[c.name] is not None or (c.nullable and c.name not in table.key) for c in table.columns)

    def _foreign(self, table: Table, column: Column, count: int) -> list[Any]:
        """Return parents' ids unevenly: a parent with no child, one with one, some with many."""
        parents = self._parent_values(column)
        rng = self._foreign_stream(table, column)
        if not parents:
            return [None] * count
        if column.references == table.name:
            return self._tree(column, parents, count, rng)
        if column.unique:
            order = list(parents)
            rng.shuffle(order)
            return (order + [None] * count)[:count]
        fitting = [v for v in parents if self.constraints[table.name, column.name].met(v)] or parents
        values = [fitting[place] for place in shares(rng, len(fitting), count)]
        if column.nullable and column.name not in table.key and count >= 4 and not table.relation:
            values[rng.randrange(count)] = None
        return values

    def _foreign_stream(self, table: Table, column: Column) -> random.Random:
        """Return one stream for all parents of a row, so that rows share several; a second parent of a kind differs."""
        same = [c.name for c in table.columns if c.references == column.references]
        if table.relation or column.name in table.key or same[0] != column.name:
            return stream(self.seed, "foreign", table.name, column.name)
        return stream(self.seed, "foreign", table.name)

    def _tree(self, column: Column, own: list[Any], count: int, rng: random.Random) -> list[Any]:
        """Return parents inside the same table: earlier rows only, a third of the rows without a parent."""
        values: list[Any] = []
        for place in range(count):
            root = place == 0 or place % 3 == 0
            values.append((None if column.nullable else own[place]) if root else own[rng.randrange(place)])
        return values

    def _agree(self, table: Table, rows: list[Row]) -> None:
        """Make foreign keys agree: a row's project is the project of the row's task, where it names both."""
        links = [(c, t) for c in table.columns if (t := target_column(self.schema, c)) and t[0].name != table.name]
        for column, (parent, key) in links:
            if parent.name not in self.rows:
                continue
            for other, (grand, _) in links:
                if other is column or other.name in table.key or parent.name == grand.name:
                    continue
                above = self._through(parent, key, grand)
                for row in rows:
                    value = above.get(repr(row[column.name]))
                    row[other.name] = row[other.name] if value is None else value

    def _through(self, parent: Table, key: str, grand: Table) -> dict[str, Any]:
        """Return for each row of ``parent`` (by its key's text) the row of ``grand`` that it belongs to."""
        ups = [c.name for c in parent.columns if c.references == grand.name and c.role is not ColumnRole.ID]
        return {repr(row[key]): row[ups[0]] for row in self.rows[parent.name]} if ups else {}

    def _spare_keys(self, table: Table) -> list[Key]:
        """Return key combinations to use instead of repeated ones, for keys made of foreign keys alone."""
        columns = [table.column(name) for name in table.key]
        if len(columns) < 2 or any(c.references is None for c in columns):
            return []
        keys = list(product(*(self._parent_values(c)[:12] for c in columns)))
        stream(self.seed, "spare", table.name).shuffle(keys)
        return keys


def _without_repeats(table: Table, rows: list[Row], spare: list[Key]) -> list[Row]:
    """Return the rows with repeated keys replaced by a spare key, or dropped when there is none."""
    seen: set[str] = set()
    kept: list[Row] = []
    spares = iter(spare)
    for row in rows:
        key: Key | None = tuple(row[name] for name in table.key)
        while key is not None and repr(key) in seen:
            key = next(spares, None)
        if key is None:
            continue
        seen.add(repr(key))
        kept.append({**row, **dict(zip(table.key, key, strict=True))})
    return kept
