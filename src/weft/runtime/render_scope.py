"""What the renderer knows while it writes: names in scope, what their values are, and row shapes seen twice (pure)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import BaseModel

from weft.records import expression as exprs
from weft.records.codec import plain
from weft.records.state import DatabaseSchema
from weft.runtime.render_layout import Doc
from weft.runtime.render_names import Names


@dataclass(frozen=True)
class Kind:
    """What a value is known to be; ``table`` says of which table its rows are."""

    shape: Literal["any", "row", "maybe_row", "rows", "list", "page", "number", "flag"] = "any"
    table: str = ""


ANY: Final = Kind()
LIST: Final = Kind("list")
NUMBER: Final = Kind("number")
FLAG: Final = Kind("flag")

ATOM, COMPARISON, BOOLEAN, CONDITIONAL = range(4)


@dataclass(frozen=True)
class Code:
    """A rendered expression.

    Attributes:
        doc: the code.
        absent: its value may be ABSENT.
        risky: evaluating it may reject the call, so it must not run before its turn.
        level: how loosely it binds; a looser one needs parentheses inside a tighter one.
        kind: what its value is known to be.
        key: the literal of the argument's name, for an optional argument of one step.
    """

    doc: Doc
    absent: bool = False
    risky: bool = False
    level: int = ATOM
    kind: Kind = ANY
    key: str = ""


@dataclass(frozen=True)
class Local:
    """A variable of the contract as a Python local."""

    name: str
    kind: Kind = ANY
    absent: bool = False


@dataclass
class Scope:
    """The variables that are bound at one place.

    Attributes:
        bound: by their name in the contract.
        own: those that this scope bound itself; others are an outer scope's, and binding them again makes new ones.
        planned: Python names for variables that are not bound yet, because both branches of a condition bind them.
    """

    bound: dict[str, Local] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    planned: dict[str, str] = field(default_factory=dict)

    def inner(self) -> "Scope":
        """A scope inside this one: it sees everything and changes nothing here."""
        return Scope(dict(self.bound))

    def branch(self) -> "Scope":
        """The same scope on one branch of a condition."""
        return Scope(dict(self.bound), set(self.own), dict(self.planned))

    def name_for(self, variable: str, names: Names) -> str:
        """The Python name to assign a variable to here: the one it has here, the planned one, or a new one."""
        if variable in self.own:
            return self.bound[variable].name
        return self.planned.get(variable) or names.take(variable)

    def bind(self, variable: str, local: Local) -> None:
        """Bind a variable here."""
        self.bound[variable] = local
        self.own.add(variable)

    def assume(self, condition: exprs.Condition) -> None:
        """Take note that a condition holds from here on: a row that was looked for is there."""
        if isinstance(condition, exprs.AllOf):
            for one in condition.of:
                self.assume(one)
        elif isinstance(condition, exprs.Present) and isinstance(condition.of, exprs.Var) and not condition.of.path:
            local = self.bound.get(condition.of.name)
            if local is not None and not condition.null_counts:
                kind = Kind("row", local.kind.table) if local.kind.shape == "maybe_row" else local.kind
                self.bound[condition.of.name] = replace(local, kind=kind, absent=False)


def walk(value: Any) -> Iterator[BaseModel]:
    """Yield every record inside a value, itself included, in no promised order."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, BaseModel):
            yield item
            stack += [part for part in item.__dict__.values() if part and not isinstance(part, (str, int))]
        elif isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, (list, tuple)):
            stack += item


@dataclass(frozen=True)
class RowShape:
    """An object that tools make from a row of one table, rendered once as a private function.

    Attributes:
        name: of the function.
        table: of the row.
        variable: the row's name inside ``expr``.
        expr: the object.
        reads_state: it also needs the state.
        risky: making it may reject the call.
    """

    name: str
    table: str
    variable: str
    expr: exprs.ObjectOf
    reads_state: bool
    risky: bool


@dataclass(frozen=True)
class Seen:
    """What :meth:`RowShapes.see` found of an object: its function and row variable, and whether it was seen before."""

    shape: RowShape | None = None
    variable: str = ""
    again: bool = False


_OF_STATE: Final = (exprs.Select, exprs.Aggregate, exprs.Exists, exprs.Now, exprs.ReadFiles)
_RISKY: Final = (
    exprs.Arithmetic,
    exprs.Cast,
    exprs.Merge,
    exprs.ProjectFields,
    exprs.Select,
    exprs.Aggregate,
    exprs.Exists,
    exprs.ReadFiles,
)


class RowShapes:
    """The row shapes of a backend: counted on a first pass, functions for those seen twice on the second.

    Args:
        schema: the tables.
        names: module-level names; None while counting.
        wanted: keys of the shapes that get a function.
    """

    def __init__(
        self, schema: DatabaseSchema, names: Names | None = None, wanted: frozenset[str] = frozenset()
    ) -> None:
        self.counts: dict[str, int] = {}
        self.functions: dict[str, RowShape] = {}
        self.muted = 0
        """Above 0 while inside an object that was counted before: what is in it was counted with it."""
        self.columns = {table.name: {column.name for column in table.columns} for table in schema.tables}
        self._entities = {table.name: table.entity for table in schema.tables}
        self._names = names
        self._wanted = wanted

    @property
    def counting(self) -> bool:
        """True on the first pass."""
        return self._names is None

    def repeated(self) -> frozenset[str]:
        """Keys of the shapes seen at least twice."""
        return frozenset(key for key, count in self.counts.items() if count > 1)

    def see(self, expr: exprs.ObjectOf, scope: Scope) -> Seen:
        """Count an object and return the function that makes it, if it has one."""
        found = _row_variable(expr, scope)
        if found is None:
            return Seen()
        variable, table = found
        key = json.dumps([table, _renamed(plain(expr), variable)], sort_keys=True)
        again = key in self.counts
        if not self.muted:
            self.counts[key] = self.counts.get(key, 0) + 1
        if self._names is None or key not in self._wanted:
            return Seen(None, variable, again)
        if key not in self.functions:
            parts = list(walk(expr))
            name = self._names.take(self._entities.get(table) or table, private=True)
            reads = any(isinstance(part, _OF_STATE) for part in parts)
            risky = any(isinstance(part, _RISKY) for part in parts)
            self.functions[key] = RowShape(name, table, variable, expr, reads, risky)
        return Seen(self.functions[key], variable, again)


def _row_variable(expr: exprs.ObjectOf, scope: Scope) -> tuple[str, str] | None:
    """The one row variable that an object of at least two fields is made from, and its table."""
    parts = list(walk(expr))
    inside = {part.name for part in parts if isinstance(part, exprs.MapOver)}
    free = {part.name for part in parts if isinstance(part, exprs.Var)} - inside
    if len(expr.fields) < 2 or len(free) != 1 or inside & scope.bound.keys():
        return None
    if any(isinstance(part, exprs.Arg) for part in parts):
        return None
    (variable,) = free
    local = scope.bound.get(variable)
    if local is None or local.kind.shape != "row" or local.absent:
        return None
    return variable, local.kind.table


def _renamed(value: Any, variable: str) -> Any:
    if isinstance(value, list):
        return [_renamed(item, variable) for item in value]
    if not isinstance(value, dict) or value.get("op") == "const":
        return value
    changed = {name: _renamed(item, variable) for name, item in value.items()}
    return {**changed, "name": "row"} if value.get("op") == "var" and value.get("name") == variable else changed
