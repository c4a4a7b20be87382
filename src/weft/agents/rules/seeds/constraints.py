"""Which schemas a column's values must satisfy: its own, those of the arguments that map to it, and of results.

A seed row is looked up by argument values and comes back in results, so that one value has to fit all of them. The
result's part is found by following rows through a contract's ``returns`` expression, next to its schema.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.agents.rules.seeds.argument_paths import locate
from weft.agents.rules.seeds.references import Schema, as_schema, flatten
from weft.agents.rules.seeds.values import ValueSchema
from weft.records.contract import (
    Case,
    Contract,
    ContractSet,
    Each,
    Find,
    Insert,
    Operation,
    Page,
    Transition,
    Update,
    When,
)
from weft.records.expression import Expr, MapOver, Merge, ObjectOf, ProjectFields, Select, Var
from weft.records.spec import McpSpec

MATCHING_ROLES = frozenset({"identifier", "filter", "attribute", "status", "parent", "link", "quantity", "content"})
"""Roles whose argument holds a value of the column itself (ranges, searches and pages do not)."""

ANNOTATIONS = frozenset(
    {"description", "title", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"}
)
MOST_DEMANDS = 24
"""Schemas kept per column: more than that never differ in practice and only cost time."""

Place = tuple[str, str]
"""Table and column."""


@dataclass
class Constraints:
    """What is asked of one column's values.

    Attributes:
        declared: the column's own schema, or None when it has none.
        arguments: schemas of arguments that hold the value.
        results: schemas of the places in results where it comes back.
        scopes: lists require its value, so that rows have to share values for a list to be long.
    """

    declared: ValueSchema | None = None
    arguments: list[ValueSchema] = field(default_factory=list)
    results: list[ValueSchema] = field(default_factory=list)
    scopes: bool = False

    @property
    def all(self) -> list[ValueSchema]:
        """Every schema, the column's own first."""
        return [*([self.declared] if self.declared else []), *self.arguments, *self.results]

    def met(self, value: object, level: int = 0) -> bool:
        """True if the value fits all (level 0), all but arguments' (1), or the declared schema alone (2)."""
        asked = [s for s in self.all if level == 0 or s not in self.arguments]
        if level == 2:
            asked = [self.declared] if self.declared else []
        return all(schema.valid(value) for schema in asked)

    @property
    def null_fits(self) -> bool:
        """True if every result that shows the column may hold null."""
        return all(schema.valid(None) for schema in self.results)


def collect(spec: McpSpec, contracts: ContractSet) -> dict[Place, Constraints]:
    """Return the constraints of every column of the schema."""
    found: dict[Place, Constraints] = {}
    for table in contracts.schema_.tables:
        for column in table.columns:
            own = ValueSchema(column.schema_) if column.schema_ else None
            found[table.name, column.name] = Constraints(own)
    tools = {tool.name: tool for tool in spec.tools}
    for contract in contracts.contracts:
        tool = tools.get(contract.tool)
        for use in contract.arguments:
            place = found.get((use.table, use.column))
            if tool is None or place is None or use.role not in MATCHING_ROLES:
                continue
            lists = all(case.intent in ("list", "search") for case in contract.cases)
            place.scopes = place.scopes or (lists and use.required and use.role in ("filter", "parent"))
            found_at = locate(tool.input_schema, use.path)
            if found_at:
                _add(place.arguments, ValueSchema(bare(found_at[1]), tool.input_schema))
        for key, result in result_places(contract):
            if key in found:
                _add(found[key].results, ValueSchema(bare(result.schema), result.root))
    return found


def bare(schema: Schema) -> Schema:
    """Return a schema without its annotations, so that equal demands are recognised."""
    return {key: value for key, value in schema.items() if key not in ANNOTATIONS}


def _add(schemas: list[ValueSchema], schema: ValueSchema) -> None:
    """Add a demand unless it is there already; references are compared with the document that they point into."""
    local = "$ref" in str(schema.schema)
    for known in schemas:
        if known.schema == schema.schema and (not local or known.root is schema.root or known.root == schema.root):
            return
    if schema.schema and len(schemas) < MOST_DEMANDS:
        schemas.append(schema)


Rows = tuple[str, bool]
"""A table, and True for many of its rows."""


def result_places(contract: Contract) -> list[tuple[Place, ValueSchema]]:
    """Return where columns come back in the results of a contract, and the schema there."""
    found: list[tuple[Place, ValueSchema]] = []
    root = as_schema(contract.returns_schema)
    for case in contract.cases:
        _follow(case.returns, root, root, bound_rows(case), found)
    return found


def bound_rows(case: Case) -> dict[str, Rows]:
    """Return the tables whose rows the case's variables hold."""
    bound: dict[str, Rows] = {}

    def walk(operations: Iterable[Operation]) -> None:
        for step in operations:
            if isinstance(step, Find):
                bound[step.into] = (step.table, step.many)
            elif isinstance(step, Insert | Transition):
                bound[step.into] = (step.table, False)
            elif isinstance(step, Update):
                bound[step.into] = (step.table, bound.get(step.rows, ("", False))[1])
            elif isinstance(step, Page) and step.over in bound:
                bound[step.into + ".items"] = bound[step.over]
            elif isinstance(step, When):
                walk(step.operations)
                walk(step.otherwise)
            elif isinstance(step, Each):
                over = rows_of(step.over, bound)
                if over:
                    bound[step.name] = (over[0], False)
                walk(step.operations)
                result = rows_of(step.result, bound)
                if result:
                    bound[step.into] = (result[0], True)

    walk(case.operations)
    return bound


def rows_of(expr: Expr, bound: dict[str, Rows]) -> Rows | None:
    """Return the table whose row or rows an expression gives, whole."""
    if isinstance(expr, Var):
        if not expr.path:
            return bound.get(expr.name)
        return bound.get(f"{expr.name}.items") if expr.path == ("items",) else None
    if isinstance(expr, Select):
        return (expr.table, True)
    return rows_of(expr.of, bound) if isinstance(expr, ProjectFields) else None


def _follow(
    expr: Expr, schema: Schema, root: Schema, bound: dict[str, Rows], found: list[tuple[Place, ValueSchema]]
) -> None:
    """Walk an expression and its schema together, and note every column that is shown."""
    flat = flatten(schema, root)
    flat = _branch(flat, root, "object" if isinstance(expr, ObjectOf | Merge) else "array")
    if isinstance(expr, ProjectFields):
        _follow(expr.of, schema, root, bound, found)
    elif isinstance(expr, Merge):
        for item in expr.items:
            _follow(item, schema, root, bound, found)
    elif isinstance(expr, ObjectOf):
        properties = as_schema(flat.get("properties"))
        for name, value in expr.fields.items():
            if name in properties:
                _follow(value, as_schema(properties[name]), root, bound, found)
    elif isinstance(expr, MapOver):
        rows = rows_of(expr.over, bound)
        inner = {**bound, expr.name: (rows[0], False)} if rows else bound
        _follow(expr.value, as_schema(flat.get("items")), root, inner, found)
    elif isinstance(expr, Var) and len(expr.path) == 1 and isinstance(expr.path[0], str):
        rows = bound.get(expr.name)
        if rows and not rows[1] and schema:
            found.append(((rows[0], expr.path[0]), ValueSchema(schema, root)))
    else:
        _whole_rows(rows_of(expr, bound), flat, root, found)


def _whole_rows(rows: Rows | None, flat: Schema, root: Schema, found: list[tuple[Place, ValueSchema]]) -> None:
    """Note the columns of whole rows that are given back under their column names."""
    if rows is None:
        return
    item = flatten(as_schema(_branch(flat, root, "array").get("items")), root) if rows[1] else flat
    for name, schema in as_schema(_branch(item, root, "object").get("properties")).items():
        if as_schema(schema):
            found.append(((rows[0], name), ValueSchema(schema, root)))


def _branch(flat: Schema, root: Schema, kind: str) -> Schema:
    """Return the alternative of a union that is an object or array, or the schema itself."""
    key = "properties" if kind == "object" else "items"
    if key in flat:
        return flat
    parts: Sequence[Schema] = [flatten(as_schema(b), root) for name in ("anyOf", "oneOf") for b in flat.get(name) or ()]
    return next((part for part in parts if key in part), flat)
