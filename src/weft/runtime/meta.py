"""The runtime's own values in the database: clock, seed, name and id counters.

They are in the database so that snapshots carry them, and in memory so that reading them costs nothing.
"""

import apsw

from weft.runtime.tables import META_TABLE

META_DDL = f"CREATE TABLE {META_TABLE} (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;\n"


class Meta:
    """The values of one database.

    Attributes:
        values: the values now; a change is in the database only after :meth:`save`.
    """

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        stored = database.execute(f"SELECT key, value FROM {META_TABLE}").fetchall()
        self._saved: dict[str, str] = {str(key): str(value) for key, value in stored}
        self.values = dict(self._saved)

    def save(self) -> None:
        """Write what changed to the database, inside the caller's transaction if there is one."""
        changed = [(key, value) for key, value in self.values.items() if self._saved.get(key) != value]
        if changed:
            self._database.executemany(f"INSERT OR REPLACE INTO {META_TABLE} (key, value) VALUES (?, ?)", changed)
            self._saved = dict(self.values)

    def restore(self, values: dict[str, str]) -> None:
        """Go back to earlier values, after the database did."""
        self.values = dict(values)
        self._saved = dict(values)
