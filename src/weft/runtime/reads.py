"""Reading rows: selection, existence and aggregates over one database (Weft 3.1.1)."""

import json
from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

import apsw

from weft.errors import ToolFault
from weft.records.base import JSON
from weft.records.state import Row, Rows
from weft.runtime.predicates import Match, SortKey, Test, checked_limit, matcher, prefilter, sort_key, sort_rows
from weft.runtime.tables import SchemaPlan, SQLiteValue, Stored, TablePlan
from weft.runtime.values import is_number, number_exact


class Reader:
    """Reads the rows of one database.

    Attributes:
        plan: the schema, ready to use.
        database: the connection; what runs on it is this package's business alone.
    """

    def __init__(self, plan: SchemaPlan, database: apsw.Connection) -> None:
        self.plan = plan
        self.database = database

    def rows(self) -> Rows:
        """Return all rows in canonical form: tables in the schema's order, rows by primary key."""
        return {name: self._rows(plan, plan.select_sql + plan.order_sql) for name, plan in self.plan.tables.items()}

    def stored(self, plan: TablePlan, key: Sequence[SQLiteValue]) -> Stored | None:
        """Return a row as SQLite holds it, by the stored values of its key; None if there is none."""
        found = self.database.execute(plan.by_key_sql, key).fetchall()
        return found[0] if found else None

    def select(
        self, table: str, tests: Sequence[Test] = (), order: Sequence[SortKey] = (), limit: Any = None
    ) -> list[Row]:
        """Return the rows that pass every test, by ``order`` then by primary key, at most ``limit``.

        Raises:
            ToolRejection: ``invalid_argument`` for an operand or limit that has no meaning there.
            ToolFault: no such table, column or test.
        """
        most = checked_limit(limit)
        plan = self.plan.table(table)
        clauses: list[str] = []
        values: list[SQLiteValue] = []
        checks: list[Match] = []
        for test in tests:
            condition = prefilter(plan, test)
            if condition is None:
                checks.append(matcher(plan, test, self._linked))
            else:
                clauses.append(condition[0])
                values += condition[1]
        sql = plan.select_sql
        if clauses:
            sql += " WHERE " + " AND ".join(clauses)
        sql += plan.order_sql
        if order:
            return sort_rows(plan, self._rows(plan, sql, values, checks), order)[:most]
        if most is not None and not checks:
            sql += f" LIMIT {most}"
        return self._rows(plan, sql, values, checks, most)

    def first(self, table: str, tests: Sequence[Test] = (), order: Sequence[SortKey] = ()) -> Row | None:
        """Return the first row of :meth:`select`, or None."""
        found = self.select(table, tests, order, 1)
        return found[0] if found else None

    def exists(self, table: str, tests: Sequence[Test] = ()) -> bool:
        """True if a row passes every test."""
        return bool(self.select(table, tests, limit=1))

    def aggregate(
        self,
        table: str,
        fn: Literal["count", "sum", "avg", "min", "max"],
        column: str = "",
        tests: Sequence[Test] = (),
        group_by: Sequence[str] = (),
    ) -> JSON:
        """Return a number over the rows that pass every test, or with ``group_by`` a list of ``{..., "value": n}``.

        ``count`` counts rows, or with a column its values that are not null. The others skip nulls and are null over
        no values. Sums and averages are decimal-exact; ``min`` and ``max`` go by the column's order.
        """
        rows = self.select(table, tests)
        plan = self.plan.table(table)
        if not group_by:
            return self._aggregate(plan, fn, column, rows)
        groups: dict[str, list[Row]] = {}
        for row in sort_rows(plan, rows, [SortKey(name) for name in group_by]):
            groups.setdefault(json.dumps([row[name] for name in group_by], sort_keys=True), []).append(row)
        return [
            {**{name: members[0][name] for name in group_by}, "value": self._aggregate(plan, fn, column, members)}
            for members in groups.values()
        ]

    def _aggregate(self, plan: TablePlan, fn: str, column: str, rows: list[Row]) -> JSON:
        if fn == "count" and not column:
            return len(rows)
        kind = plan.column(column).type
        values = [row[column] for row in rows if row[column] is not None]
        if fn == "count":
            return len(values)
        if not values:
            return None
        if fn in ("min", "max"):
            pick = min if fn == "min" else max
            return pick(values, key=lambda value: sort_key(kind, value))
        if not all(map(is_number, values)):
            raise ToolFault(f"{fn} of {plan.name}.{column}, which does not hold numbers")
        total = values[0]
        for value in values[1:]:
            total = number_exact(total, "add", value)
        return number_exact(total, "divide", len(values)) if fn == "avg" else total

    def _rows(
        self,
        plan: TablePlan,
        sql: str,
        values: Sequence[SQLiteValue] = (),
        checks: Sequence[Match] = (),
        most: int | None = None,
    ) -> list[Row]:
        rows = (plan.row(stored) for stored in self.database.execute(sql, values))
        if checks:
            rows = (row for row in rows if all(check(row) for check in checks))
        return list(rows if most is None else islice(rows, most))

    def _linked(self, test: Test) -> tuple[str, set[SQLiteValue]]:
        relation = self.plan.table(test.through)
        near, far = relation.column(test.near).name, relation.column(test.far)
        target = next((one.target_column for one in relation.references if one.column == near), None)
        kind = "in" if isinstance(test.value, (list, tuple)) else "eq"
        found = self.select(relation.name, [Test(kind, test.value, column=far.name, ignore_case=test.ignore_case)])
        if target is None:
            raise ToolFault(f"{relation.name}.{near} is no foreign key, so it links nothing")
        return target, {row[near] for row in found}
