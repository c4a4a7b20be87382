"""A structural check of drafts: every table, column and argument that a contract names exists. It runs nothing."""

from collections.abc import Iterator
from typing import Any

from weft.records.contract import Contract
from weft.records.draft import EnvironmentDraft
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema

_TABLED = frozenset({"find", "insert", "update", "delete", "transition", "select", "aggregate", "exists"})


def check_draft(spec: McpSpec, draft: EnvironmentDraft) -> list[str]:
    """Return what is wrong with the structure of a draft, one line per problem; [] when nothing is.

    Args:
        spec: the server's tools.
        draft: schema, contracts and seed rows.
    """
    schema = draft.contracts.schema_
    tools = {tool.name: tool for tool in spec.tools}
    problems = list(_schema_problems(schema))
    for contract in draft.contracts.contracts:
        where = contract.tool
        if contract.tool not in tools:
            problems.append(f"{where}: not a tool of the spec")
            continue
        problems += [f"{where}: {problem}" for problem in _contract_problems(contract, schema)]
        problems += [f"{where}: {problem}" for problem in _argument_problems(contract, tools[contract.tool])]
    named = [refusal.subject.split("/", 1)[1] for refusal in draft.refused if "/" in refusal.subject]
    served = {contract.tool for contract in draft.contracts.contracts}
    problems += [f"{name}: neither served nor refused" for name in tools if name not in served and name not in named]
    functions = [contract.function for contract in draft.contracts.contracts]
    problems += [f"function {name} is used twice" for name in sorted({n for n in functions if functions.count(n) > 1})]
    return problems


def _schema_problems(schema: DatabaseSchema) -> Iterator[str]:
    seen: list[str] = []
    for table in schema.tables:
        columns = [column.name.lower() for column in table.columns]
        fields = [column.field for column in table.columns]
        if len(set(columns)) != len(columns) or len(set(fields)) != len(fields):
            yield f"table {table.name} repeats a column or field"
        for name in table.key:
            if name.lower() not in columns:
                yield f"table {table.name} has no key column {name}"
        for column in table.columns:
            if column.references is not None and column.references not in (*seen, table.name):
                yield f"{table.name}.{column.name} references {column.references}, which does not come before it"
        seen.append(table.name)


def _contract_problems(contract: Contract, schema: DatabaseSchema) -> Iterator[str]:
    tables = {table.name: {column.name for column in table.columns} for table in schema.tables}
    for case in contract.cases:
        for name in (*case.reads, *case.writes):
            table, _, column = name.partition(".")
            if table != "files" and (table not in tables or (column and column not in tables[table])):
                yield f"names {name}, which does not exist"
        for node in _nodes([operation.model_dump() for operation in case.operations]):
            yield from _node_problems(node, tables)
        for node in _nodes(case.returns.model_dump()):
            yield from _node_problems(node, tables)
    for use in contract.arguments:
        if use.table and use.table not in tables:
            yield f"argument {use.path} maps to table {use.table}, which does not exist"
        elif use.column and use.column not in tables.get(use.table, set()):
            yield f"argument {use.path} maps to column {use.table}.{use.column}, which does not exist"


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _nodes(item)


def _node_problems(node: dict[str, Any], tables: dict[str, set[str]]) -> Iterator[str]:
    if node.get("op") not in _TABLED:
        return
    table = node.get("table")
    if table not in tables:
        yield f"{node['op']} on table {table}, which does not exist"
        return
    names = [where["column"] for where in node.get("where") or () if where.get("column")]
    names += [name for where in node.get("where") or () for name in where.get("columns") or ()]
    names += list(node.get("values") or {})
    names += [order["column"] for order in node.get("order") or () if order.get("column")]
    names += [name for order in node.get("order") or () for name in (order.get("columns") or {}).values()]
    yield from (
        f"{node['op']} on {table} names column {name}, which does not exist"
        for name in names
        if name not in tables[table]
    )


def _argument_problems(contract: Contract, tool: ToolSpec) -> Iterator[str]:
    known = [use.path for use in contract.arguments]
    for name in tool.input_schema.get("properties") or {}:
        if name.startswith("$schema"):
            continue
        if not any(path == name or path.startswith((f"{name}.", f"{name}[]")) for path in known):
            yield f"argument {name} is not accounted for"
