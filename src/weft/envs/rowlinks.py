"""Rows of the initial state and how they hang together: what a call aims at, and the rows around it."""

from weft.records.state import ColumnRole, DatabaseSchema, Row, Rows, Table

MOST_STEPS = 3


def id_columns(table: Table) -> tuple[str, ...]:
    """Return the column by which other tables refer to a table, or its key columns."""
    if len(table.key) == 1:
        return table.key
    ids = tuple(c.name for c in table.columns if c.role is ColumnRole.ID)
    return ids[:1] or table.key


class RowLinks:
    """Finds rows that belong together.

    Args:
        schema: the tables.
        rows: the initial rows.
    """

    def __init__(self, schema: DatabaseSchema, rows: Rows) -> None:
        self.schema, self.rows = schema, rows
        self.tables = {table.name: table for table in schema.tables}
        self._related: dict[tuple[str, int, str], tuple[Row, Row | None]] = {}

    def of(self, table: str) -> list[Row]:
        """Return the rows of a table; [] for an unknown one."""
        return self.rows.get(table, [])

    def related(self, table: str, row: Row, wanted: str) -> Row | None:
        """Return the row of table ``wanted`` that ``row`` of ``table`` hangs together with, by the shortest way.

        Foreign keys are followed up, then down, then through relation tables; None when no row is linked.
        """
        if table == wanted:
            return row
        # The row is kept beside the answer, so that its identity stays its own while the answer is remembered.
        key = (table, id(row), wanted)
        if key not in self._related:
            self._related[key] = (row, self._search(table, row, wanted))
        return self._related[key][1]

    def _search(self, table: str, row: Row, wanted: str) -> Row | None:
        edge: list[tuple[str, Row]] = [(table, row)]
        seen = {table}
        for _ in range(MOST_STEPS):
            onward: list[tuple[str, Row]] = []
            for name, here in edge:
                for other, found in self._next_to(name, here):
                    if other == wanted:
                        return found
                    if other not in seen:
                        seen.add(other)
                        onward.append((other, found))
            edge = onward
        return None

    def _next_to(self, name: str, row: Row) -> list[tuple[str, Row]]:
        found: list[tuple[str, Row]] = []
        table = self.tables.get(name)
        if table is None:
            return found
        for column in table.columns:
            if column.references in self.tables and row.get(column.name) is not None:
                key = id_columns(self.tables[column.references])[0]
                above = next((r for r in self.of(column.references) if r.get(key) == row[column.name]), None)
                if above is not None:
                    found.append((column.references, above))
        key = id_columns(table)[0]
        for other in self.schema.tables:
            for column in other.columns:
                if column.references == name and other.name != name:
                    below = next((r for r in self.of(other.name) if r.get(column.name) == row.get(key)), None)
                    if below is not None:
                        found.append((other.name, below))
        return found

    def foreign_values(self, table: str, column: str) -> list[object]:
        """Return the ids that a foreign key column may hold; [] for other columns."""
        owner = self.tables.get(table)
        if owner is None:
            return []
        referred = next((c.references for c in owner.columns if c.name == column), None)
        if referred is None or referred not in self.tables:
            return []
        key = id_columns(self.tables[referred])[0]
        return [row[key] for row in self.of(referred) if row.get(key) is not None]
