"""Rows that a create tool could have made: its conditions over several arguments hold for seed rows too.

A schema may say more than its properties do one by one: ``if``/``then``/``else``, ``dependentRequired``, ``anyOf`` at
the root. A row that breaks it is mended column by column, from values that other rows hold.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.agents.rules.seeds.argument_paths import locate
from weft.agents.rules.seeds.references import Schema, flatten
from weft.agents.rules.seeds.values import ValueSchema
from weft.records.contract import Contract, ContractSet, Insert
from weft.records.expression import Arg, Coalesce, Expr
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import ColumnRole, Row, Table

KEYWORDS = (
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "anyOf",
    "oneOf",
    "not",
    "minProperties",
    "maxProperties",
)
"""Keywords of the root by which arguments depend on each other."""

MOST_STEPS = 6


def meet_conditions(spec: McpSpec, contracts: ContractSet, rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return the rows with those mended that no call of a create tool with conditions could have made.

    Args:
        spec: the tools' input schemas.
        contracts: schema and contracts.
        rows: of every table.
    """
    tools = {tool.name: tool for tool in spec.tools}
    changed = dict(rows)
    for contract in contracts.contracts:
        tool = tools.get(contract.tool)
        if tool is None:
            continue
        for name, columns in _inserted(contract, tool):
            if name in changed:
                changed[name] = _mended(contracts.schema_.table(name), changed[name], columns, tool.input_schema)
    return changed


def _inserted(contract: Contract, tool: ToolSpec) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the tables that a tool with conditions inserts into, with the argument that each column takes."""
    root = flatten(tool.input_schema, tool.input_schema)
    if len(contract.cases) != 1 or not any(key in root for key in KEYWORDS):
        return
    for step in contract.cases[0].operations:
        if isinstance(step, Insert):
            given = {column: _argument(value) for column, value in step.values.items()}
            known = {column: name for column, name in given.items() if name and locate(tool.input_schema, name)}
            yield step.table, known


def _argument(value: Expr) -> str:
    """Return the top-level argument that a value is; the empty text when it is none."""
    if isinstance(value, Coalesce):
        value = value.items[0]
    return str(value.path[0]) if isinstance(value, Arg) and len(value.path) == 1 else ""


def _mended(table: Table, rows: list[Row], columns: Mapping[str, str], root: Schema) -> list[Row]:
    schema = ValueSchema(root, root)
    kept = [row for row in rows if schema.valid(_call(row, columns))]
    if len(kept) == len(rows):
        return rows
    return [_mend(table, row, rows, kept, columns, schema) for row in rows]


def _call(row: Row, columns: Mapping[str, str]) -> dict[str, Any]:
    """The arguments that would have made the row."""
    return {name: row[column] for column, name in columns.items() if row.get(column) is not None}


def _problems(row: Row, columns: Mapping[str, str], schema: ValueSchema) -> int:
    if schema.validator is None:
        return 0
    return sum(1 for _ in schema.validator.iter_errors(_call(row, columns)))


def _mend(
    table: Table, row: Row, rows: list[Row], kept: list[Row], columns: Mapping[str, str], schema: ValueSchema
) -> Row:
    """The row with the fewest changes by which it is one that a call could make; as it is when none is found."""
    free = [column for column in table.columns if column.name in columns and column.role is not ColumnRole.ID]
    free = [column for column in free if column.name not in table.key and not column.unique]
    here, left = row, _problems(row, columns, schema)
    for _ in range(MOST_STEPS):
        if not left:
            return here
        options = [{**here, c.name: None} for c in free if c.nullable and here.get(c.name) is not None]
        for column in free:
            values = [
                other[column.name] for other in rows if other.get(column.name) not in (None, here.get(column.name))
            ]
            options += [{**here, column.name: value} for value in values[:3]]
        scored = [(_problems(option, columns, schema), place) for place, option in enumerate(options)]
        best = min(scored, default=(left, 0))
        if best[0] >= left:
            break
        here, left = options[best[1]], best[0]
    if not left:
        return here
    if kept:
        # Nothing short mends it: it takes all that a caller gives from a row that holds.
        return {**row, **{column.name: kept[0][column.name] for column in free}}
    return row
