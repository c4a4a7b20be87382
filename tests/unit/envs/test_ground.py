"""The ground of a tool changes with what it can reach, and with nothing else."""

from typing import Any

from weft.envs.ground import Ground
from weft.records.contract import Case, Contract, ContractSet
from weft.records.environment import Environment
from weft.records.expression import const
from weft.records.spec import McpSpec
from weft.records.state import Column, ColumnType, DatabaseSchema, InitialState, Table


def table(name: str, parent: str | None = None) -> Table:
    columns = [Column(name="id", field="id", type=ColumnType.INTEGER)]
    if parent:
        columns.append(Column(name="up", field="up", type=ColumnType.INTEGER, references=parent))
    return Table(name=name, entity=name, key=("id",), columns=tuple(columns))


SCHEMA = DatabaseSchema(tables=(table("a"), table("b", "a"), table("c")))


def ground(rows: dict[str, Any], table: str) -> list[str]:
    case = Case(intent="list", table=table, operations=(), returns=const(1), reads=(table,))
    contract = Contract(tool="t", function="t", effect="read", cases=(case,), returns_schema={})
    contracts = ContractSet(schema=SCHEMA, contracts=(contract,))
    spec = McpSpec(name="s", title="S", tools=())
    return Ground(Environment(spec=spec, contracts=contracts, seed=InitialState(rows=rows))).under(contract)


def test_rows_of_joined_tables_matter_and_others_do_not() -> None:
    before = {"a": [{"id": 1}], "b": [], "c": []}
    assert ground(before, "b") != ground({**before, "a": [{"id": 2}]}, "b")
    assert ground(before, "b") == ground({**before, "c": [{"id": 9}]}, "b")
    assert ground(before, "c") == ground({**before, "a": [{"id": 2}]}, "c")
