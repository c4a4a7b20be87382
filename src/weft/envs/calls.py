"""Normal calls of a tool, for each case of its contract: required arguments alone, each optional one, many at once.

Calls aim at a row of the initial state: its id is looked up, its values are filtered by, its parents are referred to.
Nothing is random but what a seed says, and no call is known to be right before it has run (Weft 3.1.1, generated normal
and boundary calls).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.seeds.argument_paths import ELEMENT, MISSING, replaced, value_at
from weft.agents.rules.seeds.references import as_schema, flatten
from weft.agents.rules.seeds.values import Unsatisfiable, ValueSchema
from weft.envs.arguments import Argument, arguments_in, looked_up, needed, parts
from weft.envs.candidates import CREATING, Candidates
from weft.records.contract import Case, Contract, Transition, WriteFiles
from weft.records.spec import ToolSpec
from weft.records.state import Row

MOST_TARGETS = 8
LEFT_OUT = frozenset({"cursor", "inert"})
"""Roles that the call with many arguments leaves out: cursors come from results, inert ones do nothing."""

WITH_FEW = frozenset({"limit", "offset", "page", "direction", "sort", "projection", "search", "range"})
"""Roles left out of the call with many arguments because they hide what the others do."""


@dataclass
class CaseCalls:
    """Builds the calls of one case.

    Args:
        tool: the spec's tool.
        contract: its contract.
        position: of the case in the contract.
        arguments: the tool's arguments.
        candidates: where values come from.
    """

    tool: ToolSpec
    contract: Contract
    position: int
    arguments: Sequence[Argument]
    candidates: Candidates

    def __post_init__(self) -> None:
        """Find out once what the case asks for."""
        self._needed = needed(self.case)
        self._looked_up = looked_up(self.case)
        self._values: dict[tuple[str, int], list[Any]] = {}
        self._many: dict[tuple[str, int], dict[str, Any]] = {}
        self._minimal: dict[tuple[int, int], dict[str, Any] | None] = {}
        self._reads = list(dict.fromkeys(arguments_in(self.case)))
        self.relevant = [argument for argument in self.arguments if self._is_read(argument)]

    @property
    def case(self) -> Case:
        """The case."""
        return self.contract.cases[self.position]

    def targets(self) -> list[Row | None]:
        """Return the rows to aim at, spread over the table; None alone for a case without rows."""
        rows = self._first_movable(self.candidates.links.of(self.case.table))
        if not rows:
            return [None] * (3 if self.case.table == "" else 1)
        step = max(1, len(rows) // MOST_TARGETS)
        return list(rows[::step][:MOST_TARGETS])

    def _first_movable(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows with those first that are in a state from which the case's transitions start."""
        steps = [node for node in parts(self.case) if isinstance(node, Transition) and node.sources]
        if not steps:
            return rows
        ready = [row for row in rows if all(row.get(step.column) in step.sources for step in steps)]
        return [*ready, *[row for row in rows if row not in ready]]

    def _is_read(self, argument: Argument) -> bool:
        """True if the case reads the argument, a part of it, or what holds it."""
        own = tuple(step for step in argument.steps if step != ELEMENT)
        return any(path[: len(own)] == own[: len(path)] for path in self._reads)

    def minimal(self, target: Row | None, turn: int = 0) -> dict[str, Any] | None:
        """Return a call with the required arguments alone; None when a required value cannot be made."""
        key = (id(target), turn)
        if key not in self._minimal:
            self._minimal[key] = self._shortest(target, turn)
        return self._minimal[key]

    def _shortest(self, target: Row | None, turn: int) -> dict[str, Any] | None:
        root = flatten(self.tool.input_schema, self.tool.input_schema)
        arguments: dict[str, Any] = {}
        for name in root.get("required") or ():
            if name in self.case.when:
                continue
            found, value = self._top(str(name), as_schema(as_schema(root.get("properties")).get(name)), target, turn)
            if not found:
                return None
            arguments[str(name)] = value
        call = self.with_case(arguments)
        for path in self._needed:
            argument = next((a for a in self.arguments if tuple(s for s in a.steps if s != ELEMENT) == path), None)
            if argument is not None:
                call = self.alone(call, argument, target, turn) or call
        return call

    def with_case(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with those that select the case."""
        out = dict(arguments)
        for name, value in self.case.when.items():
            steps = next((a.steps for a in self.arguments if a.path == name), (name,))
            out = replaced(out, steps, value) or out
        return out

    def _top(self, name: str, schema: Any, target: Row | None, turn: int) -> tuple[bool, Any]:
        """Return a value for a required top-level argument, its own required parts included."""
        inner = [a for a in self.arguments if a.steps[0] == name and len(a.steps) > 1]
        own = next((a for a in self.arguments if a.steps == (name,)), None)
        if own is not None and not inner:
            return self.value(own, target, turn)
        value: Any = None
        found = False
        if own is not None and own.use.table and own.use.column:
            found, value = self.value(own, target, turn)
        if not found:
            found, value = self._drawn(name, schema, turn)
        if not found:
            return False, None
        holder: dict[str, Any] = {name: value}
        for argument in inner:
            if value_at(holder, argument.steps) is MISSING and not argument.required:
                continue
            made, part = self.value(argument, target, turn)
            if made:
                holder = replaced(holder, argument.steps, part) or holder
        return True, holder[name]

    def _drawn(self, name: str, schema: Any, turn: int) -> tuple[bool, Any]:
        try:
            facts = self.candidates.facts(31 + 5 * turn, self.case)
            return True, ValueSchema(schema, self.tool.input_schema).draw(self.candidates.rng, name, facts)
        except Unsatisfiable:
            return False, None

    def value(self, argument: Argument, target: Row | None, turn: int = 0) -> tuple[bool, Any]:
        """Return a value of an argument for a call at ``target``; ``turn`` takes later candidates.

        A new row's attributes get values that no row has where they must be unique; lookups get the target's.
        """
        if argument.path in self.case.when:
            return True, self.case.when[argument.path]
        new_path = self._new_path(argument, turn)
        if new_path is not None:
            return self.candidates.fit(argument, new_path)
        if self._describes_new_row(argument):
            rows = self.candidates.links.of(self.case.table)
            place = next((index for index, row in enumerate(rows) if row is target), 0)
            fresh, value = self.candidates.drawn(argument, self.case, 40 + 11 * turn + place)
            if fresh:
                return True, self.candidates.unlike_rows(argument, value)
        values = self.values(argument, target)
        if not values:
            return False, None
        return True, values[turn % len(values)] if turn and argument.use.role != "identifier" else values[0]

    def values(self, argument: Argument, target: Row | None) -> list[Any]:
        """Return the candidates for an argument of a call at ``target``; made once, so the same each time."""
        key = (argument.path, id(target))
        if key not in self._values:
            self._values[key] = self.candidates.values(argument, self.case, target)
        return self._values[key]

    def _describes_new_row(self, argument: Argument) -> bool:
        use = argument.use
        if use.role == "path" or self.case.intent not in CREATING:
            return False
        if use.table != self.case.table or argument.schema.enum:
            return False
        links = self.candidates.links
        if tuple(step for step in argument.steps if step != ELEMENT) in self._looked_up:
            return False
        return use.role not in ("link", "parent") and not links.foreign_values(use.table, use.column)

    def _new_path(self, argument: Argument, turn: int) -> str | None:
        """Return a free path for an argument that names a file to be made, else None."""
        if argument.use.role != "path":
            return None
        own = tuple(step for step in argument.steps if step != ELEMENT)
        for node in parts(self.case):
            if isinstance(node, WriteFiles):
                making = (
                    node.target if node.fn in ("move", "copy") else node.path if node.fn in ("write", "mkdir") else None
                )
                if making is not None and own in arguments_in(making):
                    return f"notes/entry-{turn + 1}" + ("" if node.fn == "mkdir" else ".md")
        return None

    def alone(
        self, base: dict[str, Any], argument: Argument, target: Row | None, turn: int = 0
    ) -> dict[str, Any] | None:
        """Return the base call with one optional argument more, or None when it is there or has no value."""
        if value_at(base, argument.steps) is not MISSING:
            return None
        found, value = self.value(argument, target, turn)
        return replaced(base, argument.steps, value) if found else None

    def many(self, base: dict[str, Any], target: Row | None) -> dict[str, Any]:
        """Return the base call with every optional argument that does not hide another's effect."""
        key = (repr(base), id(target))
        if key in self._many:
            return self._many[key]
        call = base
        for argument in self.relevant:
            if argument.use.role in LEFT_OUT or argument.use.role in WITH_FEW:
                continue
            call = self.alone(call, argument, target) or call
        self._many[key] = call
        return call
