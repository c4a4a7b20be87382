"""Plans: a tool split into parts, one per case, with what each of its arguments is for."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.environment.blueprint import ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.intents import Intent
from weft.agents.rules.environment.refused import Refused
from weft.records.contract import Case
from weft.records.spec import Provenance, ToolSpec

Words = tuple[str, ...]


@dataclass
class Use:
    """What one argument is for in one part.

    Attributes:
        field: the argument.
        role: as in :class:`weft.records.contract.ArgumentUse`.
        table: table it acts on.
        column: column it maps to.
        test: predicate for filters.
        provenance: how well the meaning is supported.
        evidence: by what.
        options: further settings of the role.
    """

    field: Field
    role: str
    table: TablePlan | None = None
    column: ColumnPlan | None = None
    test: str = ""
    provenance: Provenance = Provenance.DECLARED
    evidence: str = ""
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass
class Part:
    """One behaviour of a tool: the whole tool, or one value of its action enum."""

    tool: ToolSpec
    intent: Intent
    fields: list[Field]
    when: dict[str, Any] = dataclasses.field(default_factory=dict)
    table: TablePlan | None = None
    rest: Words = ()
    link: tuple[TablePlan, TablePlan | None, Words] | None = None
    uses: list[Use] = dataclasses.field(default_factory=list)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    problem: Refused | None = None

    @property
    def needs_guard(self) -> bool:
        """True when the schema cannot require what this part needs, because other parts do not need it."""
        return bool(self.when)

    def role(self, *names: str) -> list[Use]:
        """The uses with one of these roles, in order."""
        return [use for use in self.uses if use.role in names]

    def one(self, name: str) -> Use | None:
        """The first use with this role."""
        return next((use for use in self.uses if use.role == name), None)

    def main(self) -> TablePlan:
        """The table; a part without one never gets to the builders."""
        assert self.table is not None
        return self.table


@dataclass
class ToolPlan:
    """A tool, its argument fields and its parts."""

    tool: ToolSpec
    fields: list[Field]
    parts: list[Part] = dataclasses.field(default_factory=list)
    action: Field | None = None
    problem: Refused | None = None
    cases: list[Case] = dataclasses.field(default_factory=list)
