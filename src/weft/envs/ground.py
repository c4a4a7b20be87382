"""The ground of a tool: the tables, rows and files that its calls can depend on, as a hash.

Two drafts in which a tool has the same contract on the same ground give the same report on it, so that a round of
revision runs only what it changed.
"""

from weft.envs.arguments import parts
from weft.records.codec import content_hash
from weft.records.contract import Contract
from weft.records.environment import Environment


class Ground:
    """Hashes of the parts of an environment that hang together: tables joined by foreign keys, however far.

    Args:
        environment: schema and seed state.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._group: dict[str, str] = {}
        tables = environment.contracts.schema_.tables
        for table in tables:
            self._group.setdefault(table.name, table.name)
        for table in tables:
            for column in table.columns:
                if column.references in self._group:
                    self._join(self._group[table.name], self._group[column.references])
        self._hashes = {name: self._hash(name) for name in dict.fromkeys(self._group.values())}
        self._files = content_hash([environment.seed.files, environment.seed.clock])

    def _join(self, one: str, other: str) -> None:
        self._group = {table: one if group == other else group for table, group in self._group.items()}

    def _hash(self, group: str) -> str:
        tables = [t for t in self._environment.contracts.schema_.tables if self._group[t.name] == group]
        rows = self._environment.seed.rows
        return content_hash([[table, rows.get(table.name, [])] for table in tables])

    def under(self, contract: Contract) -> list[str]:
        """Return the hashes of everything that the contract names, directly or through foreign keys."""
        named = {str(getattr(node, field, "")) for node in parts(contract) for field in ("table", "through")}
        named |= {place.partition(".")[0] for case in contract.cases for place in (*case.reads, *case.writes)}
        groups = sorted({self._group[name] for name in named if name in self._group})
        return [self._files, self._environment.name, *(self._hashes[group] for group in groups)]
