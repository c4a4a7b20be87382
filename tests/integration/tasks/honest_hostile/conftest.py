"""A hand-written environment: a small parts shop with customers and their orders."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from weft.hosts.local import LocalHost
from weft.records.contract import (
    ArgumentUse,
    Case,
    Contract,
    ContractSet,
    Delete,
    ErrorSpec,
    Find,
    Insert,
    Transition,
    Update,
)
from weft.records.environment import Environment, TestCall
from weft.records.expression import Aggregate, Where, arg, eq, obj, var
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table

R, T = ColumnRole, ColumnType


def column(name: str, kind: ColumnType = T.TEXT, role: ColumnRole = R.ATTRIBUTE, **more: Any) -> Column:
    return Column(name=name, field=name, type=kind, role=role, **more)


STATUSES = ("open", "packed", "shipped", "cancelled")
SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="customers",
            entity="customer",
            key=("customer_id",),
            id_style="prefixed",
            id_prefix="cus_",
            columns=(
                column("customer_id", role=R.ID, nullable=False),
                column("name", role=R.NAME, nullable=False),
                column("email", schema={"type": "string", "format": "email"}),
                column("city"),
            ),
        ),
        Table(
            name="orders",
            entity="order",
            key=("order_id",),
            id_style="prefixed",
            id_prefix="ord_",
            columns=(
                column("order_id", role=R.ID, nullable=False),
                column("customer_id", role=R.FOREIGN_KEY, references="customers", nullable=False),
                column("product", role=R.NAME, nullable=False),
                column("quantity", T.INTEGER),
                column("total", T.NUMBER),
                column("due", T.DATE),
                column("gift", T.BOOLEAN, default=False),
                column("status", role=R.STATUS, enum=STATUSES, default="open"),
                column("created_at", T.DATETIME, R.CREATED),
                column("updated_at", T.DATETIME, R.UPDATED),
            ),
        ),
    )
)

MISSING = ErrorSpec(code="not_found", message="no order {order_id}")
TEXT = {"type": "string"}
WHOLE = {"type": "integer", "minimum": 1}
STATUS = {"type": "string", "enum": list(STATUSES)}


def use(path: str, role: Any, table: str = "orders", column: str = "", *, required: bool = False) -> ArgumentUse:
    return ArgumentUse(path=path, role=role, table=table, column=column, provenance="declared", required=required)


def tool(name: str, effect: Any, case: Case, /, *uses: ArgumentUse, **properties: Any) -> tuple[ToolSpec, Contract]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [item.path for item in uses if item.required],
        "additionalProperties": False,
    }
    spec = ToolSpec(name=name, description=name.replace("_", " "), input_schema=schema, declared={"name": name})
    returns = {"type": "object"}
    return spec, Contract(
        tool=name, function=name, effect=effect, cases=(case,), arguments=uses, returns_schema=returns
    )


def find_order() -> Find:
    return Find(op="find", into="order", table="orders", where=(eq("order_id", arg("order_id")),), missing=MISSING)


def one_order(intent: str, *operations: Any, returns: Any = None, **more: Any) -> Case:
    writes = more.pop("writes", ())
    return Case(
        intent=intent,
        table="orders",
        operations=(find_order(), *operations),
        returns=returns or var("order"),
        reads=("orders",),
        writes=writes,
    )


BY_ID = use("order_id", "identifier", "orders", "order_id", required=True)
MANY_CUSTOMERS = Find(
    op="find",
    into="rows",
    table="customers",
    many=True,
    where=(
        Where(test="eq", column="email", value=arg("email"), optional=True, ignore_case=True),
        Where(test="contains", column="name", value=arg("name"), optional=True),
    ),
)
MANY_ORDERS = Find(
    op="find",
    into="rows",
    table="orders",
    many=True,
    where=(eq("customer_id", arg("customer_id"), optional=True), eq("status", arg("status"), optional=True)),
)
COUNT = Aggregate(op="aggregate", table="orders", fn="count", where=(eq("status", arg("status"), optional=True),))
EDITABLE = ("product", "quantity", "due", "gift")

TOOLS = (
    tool(
        "find_customers",
        "read",
        Case(
            intent="search",
            table="customers",
            operations=(MANY_CUSTOMERS,),
            returns=obj(customers=var("rows")),
            reads=("customers",),
        ),
        use("email", "filter", "customers", "email"),
        use("name", "filter", "customers", "name"),
        email=TEXT,
        name=TEXT,
    ),
    tool(
        "list_orders",
        "read",
        Case(
            intent="list", table="orders", operations=(MANY_ORDERS,), returns=obj(orders=var("rows")), reads=("orders",)
        ),
        use("customer_id", "filter", "orders", "customer_id"),
        use("status", "filter", "orders", "status"),
        customer_id=TEXT,
        status=STATUS,
    ),
    tool("get_order", "read", one_order("get"), BY_ID, order_id=TEXT),
    tool(
        "count_orders",
        "read",
        Case(intent="count", table="orders", operations=(), returns=obj(count=COUNT), reads=("orders",)),
        use("status", "filter", "orders", "status"),
        status=STATUS,
    ),
    tool(
        "create_order",
        "write",
        Case(
            intent="create",
            table="orders",
            operations=(
                Insert(
                    op="insert",
                    into="order",
                    table="orders",
                    values={name: arg(name) for name in ("customer_id", "product", "quantity", "total", "due")},
                ),
            ),
            returns=var("order"),
            writes=("orders",),
        ),
        use("customer_id", "parent", "customers", "customer_id", required=True),
        use("product", "attribute", "orders", "product", required=True),
        use("quantity", "attribute", "orders", "quantity", required=True),
        use("total", "attribute", "orders", "total"),
        use("due", "attribute", "orders", "due"),
        customer_id=TEXT,
        product=TEXT,
        quantity=WHOLE,
        total={"type": "number"},
        due={"type": "string", "format": "date"},
    ),
    tool(
        "update_order",
        "write",
        one_order(
            "update",
            Update(
                op="update", into="order", table="orders", rows="order", values={name: arg(name) for name in EDITABLE}
            ),
            writes=tuple(f"orders.{name}" for name in EDITABLE),
        ),
        BY_ID,
        *(use(name, "attribute", "orders", name) for name in EDITABLE),
        order_id=TEXT,
        product=TEXT,
        quantity=WHOLE,
        due={"type": "string", "format": "date"},
        gift={"type": "boolean"},
    ),
    tool(
        "set_order_status",
        "write",
        one_order(
            "transition",
            Transition(
                op="transition",
                into="order",
                table="orders",
                row="order",
                column="status",
                to=arg("status"),
                sources=("open", "packed"),
            ),
            writes=("orders.status",),
        ),
        BY_ID,
        use("status", "status", "orders", "status", required=True),
        order_id=TEXT,
        status=STATUS,
    ),
    tool(
        "delete_order",
        "write",
        one_order(
            "delete",
            Delete(op="delete", into="count", table="orders", rows="order"),
            returns=obj(deleted=var("count")),
            writes=("orders",),
        ),
        BY_ID,
        order_id=TEXT,
    ),
)

CUSTOMERS = (
    ("cus_a1", "Ann Miller", "ann@parts.example", "Lyon"),
    ("cus_b2", "Bo Larsen", "bo@parts.example", "Oslo"),
    ("cus_c3", "Cara Diaz", "cara@parts.example", "Lima"),
    ("cus_d4", "Dev Patel", "dev@parts.example", "Pune"),
)
ORDERS = (
    ("ord_k1", "cus_a1", "steel hinge", 4, 18.0, "2026-03-10", False, "open"),
    ("ord_k2", "cus_a1", "oak shelf", 1, 59.9, "2026-03-12", True, "shipped"),
    ("ord_k3", "cus_b2", "brass lock", 2, 41.5, "2026-03-15", False, "open"),
    ("ord_k4", "cus_c3", "pine door", 1, 230.0, "2026-04-02", False, "packed"),
    ("ord_k5", "cus_c3", "door handle", 6, 66.0, "2026-04-03", False, "open"),
    ("ord_k6", "cus_d4", "wood screws", 200, 12.25, "2026-03-20", False, "cancelled"),
)
STAMP = "2026-03-01T08:00:00Z"
NAMES = ("order_id", "customer_id", "product", "quantity", "total", "due", "gift", "status")


def seed() -> InitialState:
    people = ("customer_id", "name", "email", "city")
    return InitialState(
        rows={
            "customers": [dict(zip(people, row, strict=True)) for row in CUSTOMERS],
            "orders": [
                {**dict(zip(NAMES, row, strict=True)), "created_at": STAMP, "updated_at": STAMP} for row in ORDERS
            ],
        }
    )


def parts_shop() -> Environment:
    deletion = TestCall(
        name="An order can be deleted.",
        kind="normal",
        tool="delete_order",
        arguments={"order_id": "ord_k6"},
        outcome="ok",
        changes=("orders",),
    )
    return Environment(
        spec=McpSpec(name="shop", title="Parts shop", tools=tuple(spec for spec, _ in TOOLS)),
        contracts=ContractSet(schema=SCHEMA, contracts=tuple(contract for _, contract in TOOLS)),
        seed=seed(),
        tests=(deletion,),
    )


@pytest.fixture(scope="session")
def shop() -> Environment:
    """The parts shop."""
    return parts_shop()


@pytest.fixture(scope="session")
def local() -> LocalHost:
    """The host that runs it."""
    return LocalHost()


@pytest.fixture(scope="session")
def run() -> Callable[[Callable[[], Awaitable[Any]]], Any]:
    """Run a coroutine function to its end."""
    return anyio.run
