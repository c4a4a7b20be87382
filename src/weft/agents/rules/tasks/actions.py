"""Tools as actions on entities: what each case of a tool needs, and what it is for (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from weft.records.base import JSON
from weft.records.contract import ArgumentUse, Case, Contract
from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.state import Column, DatabaseSchema, Table
from weft.records.task import BuildList, BuildObject, Given, Source

IDENTIFYING = ("identifier",)
REFERRING = ("parent", "link")
IDLE = ("inert", "projection", "expand", "sort", "direction", "limit", "offset", "page", "cursor", "option")
"""Roles that a task leaves out unless the schema requires them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an action.

    Attributes:
        path: in dots, ``[]`` for array elements.
        use: what the contract says of it.
        schema: JSON Schema of its value.
        column: the column it maps to, if any.
        required: the call is not valid without it.
    """

    path: str
    use: ArgumentUse
    schema: Mapping[str, Any]
    column: Column | None
    required: bool

    @property
    def role(self) -> str:
        """The role of the argument."""
        return self.use.role

    @property
    def leaf(self) -> str:
        """The last name of the path, without brackets."""
        return self.path.replace("[]", "").rsplit(".", 1)[-1]

    @property
    def plural(self) -> bool:
        """Whether the value stands in an array."""
        return "[]" in self.path or self.schema.get("type") == "array"

    @property
    def enum(self) -> list[JSON]:
        """The allowed values, empty when anything goes."""
        allowed = self.schema.get("enum")
        return list(allowed) if isinstance(allowed, list) else []


@dataclass(frozen=True)
class Action:
    """One case of a tool.

    Attributes:
        contract: of the tool.
        case: the case.
        spec: the declared tool.
        label: of the case in a chain, "" for a tool with one behaviour.
        parameters: those that this case uses.
    """

    contract: Contract
    case: Case
    spec: ToolSpec
    label: str
    parameters: tuple[Parameter, ...]

    @property
    def tool(self) -> str:
        """The declared tool name."""
        return self.contract.tool

    @property
    def step(self) -> str:
        """Its name in a chain: ``tool`` or ``tool:case``."""
        return f"{self.tool}:{self.label}" if self.label else self.tool

    @property
    def table(self) -> str:
        """Its main table, "" for files."""
        return self.case.table

    @cached_property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return bool(self.case.writes)

    def fixed(self) -> dict[str, Source]:
        """Return the arguments that select this case."""
        reason = "selects what the tool does"
        return {name: Given(kind="given", value=value, reason=reason) for name, value in self.case.when.items()}

    def by_role(self, *roles: str) -> list[Parameter]:
        """Return the parameters of some roles."""
        return [item for item in self.parameters if item.role in roles]


def actions_of(environment: Environment) -> list[Action]:
    """Return every case of every served tool, in declared order."""
    specs = {tool.name: tool for tool in environment.spec.tools}
    schema = environment.contracts.schema_
    found = []
    for contract in environment.contracts.contracts:
        spec = specs[contract.tool]
        for case in contract.cases:
            label = ":".join(str(value) for value in case.when.values())
            found.append(Action(contract, case, spec, label, _parameters(contract, case, spec, schema)))
    return found


def _parameters(contract: Contract, case: Case, spec: ToolSpec, schema: DatabaseSchema) -> tuple[Parameter, ...]:
    used = None if len(contract.cases) == 1 else _used(case)
    found = []
    for use in contract.arguments:
        path = use.path.replace(".[]", "[]")
        names = path.replace("[]", "").split(".")
        if names[0] in case.when and len(names) == 1:
            continue
        declared, required = leaf_schema(spec.input_schema, path)
        if used is not None and not required and not any(_touches(names, seen) for seen in used):
            continue
        found.append(Parameter(path, use, declared, _column(schema, use), required or use.required))
    return tuple(found)


def _column(schema: DatabaseSchema, use: ArgumentUse) -> Column | None:
    for table in schema.tables:
        if table.name == use.table:
            return next((column for column in table.columns if column.name == use.column), None)
    return None


def _touches(names: Sequence[str], seen: Sequence[Any]) -> bool:
    """Return whether an argument path and a path that the operations read are the same or one lies in the other."""
    read = [step for step in seen if isinstance(step, str)]
    return all(left == right for left, right in zip(names, read, strict=False))


def _used(case: Case) -> list[tuple[Any, ...]]:
    """Return the argument paths that a case's operations and result read."""
    return list(argument_paths(case.model_dump(mode="json")))


def argument_paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the argument paths that plain contract data reads, at any depth."""
    if isinstance(value, dict):
        if value.get("op") == "arg" and isinstance(value.get("path"), (list, tuple)):
            yield tuple(value["path"])
        for item in value.values():
            yield from argument_paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from argument_paths(item)


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow local references and take the first usable branch of a union; good enough to choose values by."""
    here: Any = schema
    for _ in range(8):
        if not isinstance(here, Mapping):
            return {}
        target = here.get("$ref")
        if isinstance(target, str) and target.startswith("#"):
            found: Any = root
            for step in target.lstrip("#/").split("/"):
                found = found.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, Mapping) else {}
            here = found
            continue
        union = here.get("anyOf") or here.get("oneOf")
        if isinstance(union, list):
            branches = [item for item in union if isinstance(item, Mapping) and item.get("type") != "null"]
            if branches and "type" not in here and "properties" not in here:
                here = {**{key: value for key, value in here.items() if key not in ("anyOf", "oneOf")}, **branches[0]}
                continue
        return here
    return here if isinstance(here, Mapping) else {}


def leaf_schema(root: Mapping[str, Any], path: str) -> tuple[Mapping[str, Any], bool]:
    """Return the schema at an argument path, and whether every step to it is required."""
    here = _resolved(root, root)
    required = True
    for part in path.split("."):
        name, brackets = part.rstrip("[]"), part.count("[]")
        required = required and name in (here.get("required") or ())
        properties = here.get("properties")
        child = properties.get(name, {}) if isinstance(properties, Mapping) else {}
        here = _resolved(child if isinstance(child, Mapping) else {}, root)
        for _ in range(brackets):
            items = here.get("items", {})
            here = _resolved(items if isinstance(items, Mapping) else {}, root)
    kind = here.get("type")
    if isinstance(kind, list):
        here = {**here, "type": next((item for item in kind if item != "null"), "string")}
    return here, required


def missing_required(action: Action, given: Sequence[str]) -> Iterator[str]:
    """Yield top-level arguments that the schema requires and that neither a path nor the case gives."""
    tops = {path.replace("[]", "").split(".")[0] for path in given} | set(action.case.when)
    for name in action.spec.input_schema.get("required") or ():
        if name not in tops:
            yield name


def assemble(values: Mapping[str, Source]) -> dict[str, Source]:
    """Build the arguments of a call from sources by path: ``a.b`` nests, ``xs[].c`` makes an array of one object."""
    tree: dict[str, Any] = {}
    for path, source in values.items():
        here = tree
        parts = path.split(".")
        for part in parts[:-1]:
            here = here.setdefault(part, {})
        here[parts[-1]] = source
    return {name.replace("[]", ""): _source(name, item) for name, item in tree.items()}


def _source(name: str, item: Any) -> Source:
    built: Source = (
        item
        if not isinstance(item, dict)
        else BuildObject(
            kind="object", fields={key.replace("[]", ""): _source(key, value) for key, value in item.items()}
        )
    )
    for _ in range(name.count("[]")):
        if not isinstance(built, BuildList):
            built = BuildList(kind="list", items=(built,))
    return built


def table_of(schema: DatabaseSchema, name: str) -> Table | None:
    """Return a table by name, or None."""
    return next((table for table in schema.tables if table.name == name), None)
