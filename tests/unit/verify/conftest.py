"""A small shop: customers, orders and their lines, to try verifiers on by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from weft.records.state import Changeset, Column, ColumnRole, ColumnType, DatabaseSchema, RowChange, Table

Change = Callable[..., RowChange]


def column(
    name: str, kind: ColumnType = ColumnType.TEXT, role: ColumnRole = ColumnRole.ATTRIBUTE, **more: Any
) -> Column:
    return Column(name=name, field=name, type=kind, role=role, **more)


SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="customers",
            entity="customer",
            key=("id",),
            columns=(
                column("id", role=ColumnRole.ID),
                column("name", role=ColumnRole.NAME),
                column("email", schema={"type": "string", "format": "email"}),
            ),
            id_style="prefixed",
            id_prefix="cus",
        ),
        Table(
            name="orders",
            entity="order",
            key=("id",),
            columns=(
                column("id", role=ColumnRole.ID),
                column("customer_id", role=ColumnRole.FOREIGN_KEY, references="customers"),
                column("status", role=ColumnRole.STATUS),
                column("total", ColumnType.NUMBER),
                column("due", ColumnType.DATETIME),
                column("created_at", ColumnType.DATETIME, ColumnRole.CREATED),
                column("updated_at", ColumnType.DATETIME, ColumnRole.UPDATED),
            ),
            id_style="prefixed",
            id_prefix="ord",
        ),
        Table(
            name="lines",
            entity="line",
            key=("id",),
            columns=(
                column("id", ColumnType.INTEGER, ColumnRole.ID),
                column("order_id", role=ColumnRole.FOREIGN_KEY, references="orders"),
                column("product"),
                column("quantity", ColumnType.INTEGER),
                column("note"),
            ),
        ),
    )
)


@pytest.fixture(scope="session")
def schemas() -> dict[str, DatabaseSchema]:
    return {"shop": SCHEMA}


@pytest.fixture(scope="session")
def insert() -> Change:
    def make(table: str, **row: Any) -> RowChange:
        key = {name: row[name] for name in SCHEMA.table(table).key}
        return RowChange(server="shop", table=table, key=key, op="insert", after=row)

    return make


@pytest.fixture(scope="session")
def update() -> Change:
    def make(table: str, before: dict[str, Any], **values: Any) -> RowChange:
        key = {name: before[name] for name in SCHEMA.table(table).key}
        return RowChange(server="shop", table=table, key=key, op="update", before=before, after={**before, **values})

    return make


@pytest.fixture(scope="session")
def changeset() -> Callable[..., Changeset]:
    def make(*changes: RowChange) -> Changeset:
        return Changeset(rows=tuple(sorted(changes, key=lambda item: (item.table, str(item.key)))))

    return make
