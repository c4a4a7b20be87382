"""Reading rows: one by its id, many by filters, in pages; counts and sums."""

from weft.agents.rules.environment.blueprint import Blueprint, TablePlan
from weft.agents.rules.environment.fields import Resolver
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import argument
from weft.agents.rules.environment.selecting import filters, find_one, guards
from weft.records.contract import Find, Operation, Page
from weft.records.expression import (
    Aggregate,
    Cast,
    Choose,
    Compare,
    Condition,
    Expr,
    Not,
    ObjectOf,
    Order,
    Truthy,
    const,
    var,
)
from weft.records.state import ColumnRole, ColumnType

_DESC = ("desc", "descending", "-1", "DESC", "Desc", "DESCENDING", "Descending")
_SORTABLE = (
    ColumnType.TEXT,
    ColumnType.INTEGER,
    ColumnType.NUMBER,
    ColumnType.DATETIME,
    ColumnType.DATE,
    ColumnType.BOOLEAN,
    ColumnType.TIME,
)
_SMALL_PAGE = 5


def reads_of(part: Part) -> list[str]:
    """The tables that a reading part looks into."""
    table = part.main()
    names = [table.name, *[relation.table for relation in table.relations]]
    names += [use.options["relation"].table for use in part.role("link_filter")]
    for use in part.role("include"):
        names += [target[0].name for target in use.options.get("targets", {}).values() if isinstance(target, tuple)]
    return list(dict.fromkeys(names))


def build_get(part: Part, _blueprint: Blueprint) -> Outcome:
    """Find one row; a part without selecting arguments reads the first row (a singleton)."""
    table = part.main()
    extra = filters(part, table)
    operations = find_one(part)
    last = operations[-1]
    if isinstance(last, Find):
        changes: dict[str, object] = {"where": extra}
        if part.intent.end:
            down = const(part.intent.end == "last")
            changes["order"] = (Order(column=age_column(table), descending=down),)
            if _may_be_null(part):
                changes["missing"] = None
        operations[-1] = last.model_copy(update=changes)
    return Outcome(operations, "row", reads=reads_of(part), errors=["not_found"])


def _may_be_null(part: Part) -> bool:
    """True if the declared result may be null as a whole: there is no newest row of none."""
    schema = part.tool.output_schema or {}
    return bool(schema) and bool(Resolver(schema).plain(schema).get("nullable"))


def age_column(table: TablePlan) -> str:
    """The column by which rows are newer or older: a running number, else when they were made."""
    if table.column(table.id).type == ColumnType.INTEGER and table.id_style.value == "integer":
        return table.id
    if all(column.role != ColumnRole.CREATED for column in table.columns):
        made = table.plain("created_at", ColumnType.DATETIME, evidence="rows are newer or older by it")
        made.role = ColumnRole.CREATED
    return default_order(table)


def build_list(part: Part, _blueprint: Blueprint) -> Outcome:
    """Find the rows that match the filters, in order, cut to a page."""
    table = part.main()
    find = Find(
        op="find", into="rows", table=table.name, where=filters(part, table), order=orders(part, table), many=True
    )
    operations: list[Operation] = [*guards(part), find]
    paging = {role: part.one(role) for role in ("limit", "offset", "page", "cursor")}
    if not any(paging.values()):
        return Outcome(operations, "rows", reads=reads_of(part))
    operations.append(_page(paging))
    return Outcome(operations, "rows", page="page", reads=reads_of(part), errors=["invalid_argument"])


def _page(paging: dict[str, Use | None]) -> Page:
    limit = paging["limit"]
    schema = limit.field.schema if limit is not None else {}
    maximum = schema.get("maximum")
    default = schema.get("default")
    known = default if isinstance(default, int) and not isinstance(default, bool) and default > 0 else 0
    page = paging["page"]
    first = page.field.schema.get("minimum", page.field.schema.get("default", 1)) if page is not None else 1
    values: dict[str, Expr | None] = {role: _whole(use) for role, use in paging.items()}
    return Page(
        op="page",
        into="page",
        over="rows",
        limit=values["limit"],
        offset=values["offset"],
        page=values["page"],
        cursor=values["cursor"],
        default_limit=known or (50 if limit is not None else _SMALL_PAGE),
        maximum=int(maximum)
        if isinstance(maximum, int | float) and not isinstance(maximum, bool) and maximum >= 1
        else 1000,
        first_page=0 if first == 0 else 1,
    )


def _whole(use: Use | None) -> Expr | None:
    if use is None:
        return None
    value = argument(use.field)
    if use.role != "cursor" and use.field.type != ColumnType.INTEGER:
        return Cast(op="cast", of=value, to="integer")
    return value


def orders(part: Part, table: TablePlan) -> tuple[Order, ...]:
    """The sort keys of a list: the column that an argument names, in the direction that another says."""
    sort, direction = part.one("sort"), part.one("direction")
    if sort is None and direction is None:
        return ()
    down = _descending(direction) if direction is not None else None
    if sort is None:
        return (Order(column=default_order(table), descending=down),)
    names = sort.options.get("columns") or sort_names(table)
    value = argument(sort.field)
    combined = sort.options.get("descending", ())
    if down is None and combined:
        down = Choose(
            op="choose",
            condition=Compare(op="compare", test="in", left=value, right=const(list(combined))),
            then=const(True),
            otherwise=const(False),
        )
    return (Order(by=value, columns=names, descending=down),)


def _descending(use: Use) -> Expr:
    value = argument(use.field)
    if use.field.type == ColumnType.BOOLEAN:
        if "asc" in "".join(use.field.words) and "desc" not in "".join(use.field.words):
            condition: Condition = Not(op="not", of=Truthy(op="truthy", of=value))
            return Choose(op="choose", condition=condition, then=const(True), otherwise=const(False))
        return Choose(op="choose", condition=Truthy(op="truthy", of=value), then=const(True), otherwise=const(False))
    words = [item for item in use.field.enum if str(item).lower().startswith("desc") or str(item) == "-1"] or list(
        _DESC
    )
    return Choose(
        op="choose",
        condition=Compare(op="compare", test="in", left=value, right=const(words)),
        then=const(True),
        otherwise=const(False),
    )


def default_order(table: TablePlan) -> str:
    """The column that rows are ordered by when only a direction is given: creation, else a date, else the id."""
    for role in (ColumnRole.CREATED, ColumnRole.UPDATED):
        for column in table.columns:
            if column.role == role:
                return column.name
    return table.id


def sort_names(table: TablePlan) -> dict[str, str]:
    """Every spelling by which a caller may name a sortable column."""
    names: dict[str, str] = {}
    for column in table.columns:
        if column.type in _SORTABLE and not column.hidden:
            names.setdefault(column.name, column.name)
            names.setdefault(column.field, column.name)
    return names


def build_count(part: Part, _blueprint: Blueprint) -> Outcome:
    """Count the rows that match."""
    table = part.main()
    value = Aggregate(op="aggregate", table=table.name, fn="count", where=filters(part, table))
    shape = {
        "type": "object",
        "properties": {"count": {"type": "integer"}},
        "required": ["count"],
        "additionalProperties": False,
    }
    return Outcome(
        guards(part), "number", value=ObjectOf(op="object", fields={"count": value}), schema=shape, reads=reads_of(part)
    )


def build_totals(part: Part, _blueprint: Blueprint) -> Outcome:
    """Count the rows that match, in all and by status or another enumerated column."""
    table = part.main()
    where = filters(part, table)
    fields: dict[str, Expr] = {"total": Aggregate(op="aggregate", table=table.name, fn="count", where=where)}
    properties: dict[str, object] = {"total": {"type": "integer"}}
    for column in table.columns:
        if column.role == ColumnRole.STATUS or (column.enum and column.type == ColumnType.TEXT):
            fields[f"by_{column.name}"] = Aggregate(
                op="aggregate", table=table.name, fn="count", where=where, group_by=(column.name,)
            )
            properties[f"by_{column.name}"] = {"type": "array", "items": {"type": "object"}}
        elif column.type == ColumnType.NUMBER and part.intent.verb in ("average", "avg"):
            fields[f"average_{column.name}"] = Aggregate(
                op="aggregate", table=table.name, fn="avg", column=column.name, where=where
            )
            properties[f"average_{column.name}"] = {"type": ["number", "null"]}
        elif column.type == ColumnType.NUMBER:
            fields[f"sum_{column.name}"] = Aggregate(
                op="aggregate", table=table.name, fn="sum", column=column.name, where=where
            )
            properties[f"sum_{column.name}"] = {"type": ["number", "null"]}
    shape = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Outcome(
        guards(part), "value", value=ObjectOf(op="object", fields=fields), schema=shape, reads=reads_of(part)
    )


__all__ = ["build_count", "build_get", "build_list", "build_totals", "orders", "reads_of", "sort_names", "var"]
