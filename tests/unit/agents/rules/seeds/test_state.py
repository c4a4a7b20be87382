"""Seed rows: valid, coherent, uneven and the same for the same seed."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.agents.rules.seeds import seed_state
from weft.agents.rules.seeds.values import ValueSchema
from weft.records.contract import ArgumentUse, Case, Contract, ContractSet, Find
from weft.records.expression import Select, arg, eq, obj, var
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, DatabaseSchema, InitialState, Table
from weft.runtime.state import State


def column(name: str, kind: str = "text", **more: Any) -> Column:
    return Column.model_validate({"name": name, "field": name, "type": kind, **more})


def table(name: str, entity: str, *columns: Column, key: tuple[str, ...] = ("id",), **more: Any) -> Table:
    return Table.model_validate({"name": name, "entity": entity, "columns": columns, "key": key, **more})


def number_id() -> Column:
    return column("id", "integer", role="id", nullable=False)


def link(name: str, to: str, kind: str = "integer", **more: Any) -> Column:
    return column(name, kind, role="foreign_key", references=to, **more)


STATUSES = ("pending", "paid", "shipped", "cancelled")
ADDRESS = {
    "$ref": "#/$defs/A",
    "$defs": {"A": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}},
}
SHOP = DatabaseSchema(
    tables=(
        table(
            "users",
            "user",
            column("id", role="id", nullable=False),
            column("full_name", role="name", nullable=False),
            column("email", unique=True, nullable=False, schema={"type": "string", "format": "email"}),
            column("active", "boolean", nullable=False),
            column("created_at", "datetime", role="created"),
            column("updated_at", "datetime", role="updated"),
            id_style="uuid",
        ),
        table("projects", "project", number_id(), column("name", role="name", nullable=False, unique=True)),
        table(
            "tasks",
            "task",
            number_id(),
            column("title", role="name", nullable=False),
            link("project_id", "projects", nullable=False),
            link("parent_id", "tasks"),
            column("due_date", "date"),
        ),
        table(
            "orders",
            "order",
            column("id", role="id", nullable=False),
            link("user_id", "users", "text", nullable=False),
            link("project_id", "projects", nullable=False),
            link("task_id", "tasks", nullable=False),
            column("status", role="status", enum=STATUSES, nullable=False),
            column("code", role="key", unique=True, schema={"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}),
            column("total", "number", schema={"type": "number", "minimum": 1, "maximum": 900}),
            column("address", "json", schema=ADDRESS),
            column("note"),
            id_style="prefixed",
            id_prefix="ord_",
        ),
        table(
            "order_tasks",
            "order task",
            link("order_id", "orders", "text", nullable=False),
            link("task_id", "tasks", nullable=False),
            key=("order_id", "task_id"),
            relation=True,
        ),
    )
)
SPEC = McpSpec(name="shop", title="Shop", tools=())


def seeded(seed: int = 7, size: int = 10, schema: DatabaseSchema = SHOP) -> InitialState:
    return seed_state(SPEC, ContractSet(schema=schema, contracts=()), seed=seed, size=size)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 30))
def test_rows_load_and_satisfy_their_schemas(seed: int, size: int) -> None:
    state = seeded(seed, size)
    State.create(SHOP, state, seed=1, name="shop").close()  # types, enums, keys, references, CHECKs
    for one in SHOP.tables:
        for col in one.columns:
            for row in state.rows[one.name]:
                assert row[col.name] is None or not col.schema_ or ValueSchema(col.schema_).valid(row[col.name])


def test_the_same_seed_gives_the_same_state_and_another_seed_another() -> None:
    assert seeded(7) == seeded(7)
    assert seeded(7) != seeded(8)


def test_one_more_column_leaves_the_others_as_they_are() -> None:
    users = SHOP.table("users")
    wider = users.model_copy(update={"columns": (*users.columns, column("city"))})
    schema = DatabaseSchema(tables=(wider, *SHOP.tables[1:]))
    cut = [{k: v for k, v in row.items() if k != "city"} for row in seeded(schema=schema).rows["users"]]
    assert cut == seeded().rows["users"]


def test_every_enum_value_occurs_and_one_occurs_twice() -> None:
    counts = Counter(row["status"] for row in seeded().rows["orders"])
    assert set(counts) == set(STATUSES)
    assert max(counts.values()) >= 2


def test_parents_have_no_one_and_many_children() -> None:
    state = seeded(size=12)
    counts = Counter(row["project_id"] for row in state.rows["tasks"])
    children = [counts.get(row["id"], 0) for row in state.rows["projects"]]
    assert 0 in children
    assert 1 in children
    assert max(children) >= 2


def test_foreign_keys_of_one_row_agree() -> None:
    state = seeded()
    project_of = {row["id"]: row["project_id"] for row in state.rows["tasks"]}
    assert all(row["project_id"] == project_of[row["task_id"]] for row in state.rows["orders"])


def test_a_tree_has_roots_and_children_and_no_cycle() -> None:
    rows = seeded().rows["tasks"]
    assert any(row["parent_id"] is None for row in rows)
    assert all(row["parent_id"] is None or row["parent_id"] < row["id"] for row in rows)
    assert any(row["parent_id"] is not None for row in rows)


def test_created_comes_before_updated_and_both_before_now() -> None:
    state = seeded()
    assert all(row["created_at"] <= row["updated_at"] <= state.clock for row in state.rows["users"])


def test_planned_dates_lie_on_both_sides_of_now() -> None:
    state = seeded(size=20)
    due = [row["due_date"] for row in state.rows["tasks"] if row["due_date"]]
    assert min(due) < state.clock[:10] < max(due)


def test_an_address_matches_the_name_and_is_unique() -> None:
    rows = seeded(size=30).rows["users"]
    plain = [row["email"].split(".")[0] for row in rows]
    assert all(row["email"].isascii() and "@" in row["email"] for row in rows)
    first = [row["full_name"].split()[0].lower() for row in rows]
    assert sum(a == b for a, b in zip(plain, first, strict=True)) >= 25  # the others have accents
    assert len({row["email"] for row in rows}) == len(rows)


def test_nullable_columns_have_values_and_nulls() -> None:
    notes = [row["note"] for row in seeded().rows["orders"]]
    assert None in notes
    assert sum(note is not None for note in notes) >= len(notes) / 2


def test_every_column_varies() -> None:
    for name, rows in seeded(size=12).rows.items():
        for key in rows[0]:
            assert len({repr(row[key]) for row in rows}) > 1, (name, key)


def test_ids_have_the_tables_style() -> None:
    state = seeded()
    assert all(row["id"].startswith("ord_") and len(row["id"]) == 12 for row in state.rows["orders"])
    assert [row["id"] for row in state.rows["tasks"]] == list(range(1, 11))
    assert all(len(row["id"]) == 36 and row["id"][14] == "4" for row in state.rows["users"])


def shown(argument: dict[str, Any], result: dict[str, Any]) -> tuple[McpSpec, ContractSet]:
    """A one-tool server whose argument and result hold `orders.code`."""
    source = {"type": "object", "properties": {"code": argument}, "required": ["code"]}
    tool = ToolSpec(name="get", input_schema=source, declared={"name": "get", "inputSchema": source})
    items = table("items", "item", number_id(), column("code", nullable=True))
    returns = {"type": "object", "properties": {"item": {"type": "object", "properties": {"code": result}}}}
    find = Find(op="find", into="row", table="items", where=(eq("code", arg("code")),))
    case = Case(intent="get", table="items", operations=(find,), returns=obj(item=obj(code=var("row", "code"))))
    use = ArgumentUse.model_validate(
        {"path": "code", "role": "identifier", "table": "items", "column": "code", "provenance": "declared"}
    )
    contract = Contract(
        tool="get", function="get", effect="read", cases=(case,), arguments=(use,), returns_schema=returns
    )
    spec = McpSpec(name="one", title="One", tools=(tool,))
    return spec, ContractSet(schema=DatabaseSchema(tables=(items,)), contracts=(contract,))


def test_values_satisfy_the_argument_that_looks_them_up_and_the_result_that_shows_them() -> None:
    argument = {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"}
    result = {"type": "string", "maxLength": 6}
    rows = seed_state(*shown(argument, result), seed=1, size=8).rows["items"]
    assert all(ValueSchema(argument).valid(row["code"]) and len(row["code"]) <= 6 for row in rows)


def test_a_result_that_allows_no_null_keeps_nulls_out_of_a_nullable_column() -> None:
    rows = seed_state(*shown({"type": "string"}, {"type": "string"}), seed=1, size=8).rows["items"]
    assert all(row["code"] is not None for row in rows)
    loose = seed_state(*shown({"type": "string"}, {"type": ["string", "null"]}), seed=1, size=8).rows["items"]
    assert any(row["code"] is None for row in loose)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_small_states_are_valid(size: int) -> None:
    initial = seeded(size=size)
    state = State.create(SHOP, initial, seed=1, name="shop")
    assert {name: len(rows) for name, rows in state.rows().items() if rows} == {
        name: len(rows) for name, rows in initial.rows.items() if rows
    }
    state.close()


def test_files_are_there_when_a_contract_reads_files() -> None:
    case = Case(intent="list", operations=(), returns=Select(op="select", table="items"), reads=("files",))
    contract = Contract(tool="ls", function="ls", effect="read", cases=(case,), returns_schema={"type": "object"})
    state = seed_state(SPEC, ContractSet(schema=DatabaseSchema(), contracts=(contract,)), seed=1, size=6)
    assert "README.md" in state.files
    assert state.files["docs/archive/"] == ""
    assert state.files["data/contacts.csv"].startswith("name,email,city\n")
    assert seeded().files == {}
