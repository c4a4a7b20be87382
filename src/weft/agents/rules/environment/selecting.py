"""Selecting: the predicates and errors by which a part finds its rows."""

import re

from weft.agents.rules.environment.blueprint import TablePlan
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.rows import ABSENT, argument, is_true, present, use_value
from weft.records.contract import ErrorSpec, Find, Guard, Operation, When
from weft.records.expression import (
    AllOf,
    AnyOf,
    Choose,
    Coalesce,
    Compare,
    Concat,
    Condition,
    Expr,
    Not,
    Order,
    Truthy,
    Where,
    const,
    var,
)
from weft.records.spec import RefusalCode
from weft.records.state import ColumnRole, ColumnType

_ANY = ("all", "any", "both", "either", "*", "none_filter")


def not_found(table: TablePlan, part: Part) -> ErrorSpec:
    """The error of a row that is not there, with the arguments that named it."""
    uses = part.role("identifier", "parent")
    names = ", ".join(f"{use.field.name} {{{use.field.dotted}}}" for use in uses[:4])
    return ErrorSpec(
        code="not_found", message=f"no {table.entity} with {names}" if names else f"there is no {table.entity}"
    )


def predicates(part: Part, table: TablePlan, roles: tuple[str, ...] = ("identifier", "parent")) -> tuple[Where, ...]:
    """The predicates of the selecting arguments; optional arguments that are absent match all."""
    found: list[Where] = []
    for use in part.role(*roles):
        if use.column is None or use.table is not table:
            continue
        optional = not use.field.required
        found.append(
            Where(
                test="in" if use.options.get("many") else "eq",
                column=use.column.name,
                value=use_value(use),
                optional=optional,
            )
        )
    return tuple(found)


def filters(part: Part, table: TablePlan) -> tuple[Where, ...]:
    """The predicates of all filtering arguments of a part on one table."""
    found = list(predicates(part, table))
    found += [_filter(use) for use in part.role("filter", "range") if use.column is not None and use.table is table]
    found += [_state(use, table) for use in part.role("include_state")]
    search = part.one("search")
    if search is not None:
        columns = text_columns(table)
        found.append(
            Where(test="search", columns=columns, value=argument(search.field), optional=not search.field.required)
        )
    for use in part.role("link_filter"):
        relation = use.options["relation"]
        found.append(
            Where(
                test="link",
                through=relation.table,
                near=relation.near,
                far=relation.far,
                value=argument(use.field),
                optional=not use.field.required,
            )
        )
    return tuple(found)


def text_columns(table: TablePlan) -> tuple[str, ...]:
    """The columns that a free-text search looks into; a name is added to a table without text."""
    kinds = (ColumnRole.ATTRIBUTE, ColumnRole.NAME, ColumnRole.KEY, ColumnRole.STATUS)
    found = [c for c in table.columns if c.type == ColumnType.TEXT and c.role in kinds and not c.enum and not c.hidden]
    key = table.column(table.id)
    if key.type == ColumnType.TEXT and table.id_style.value == "natural":
        found.insert(0, key)
    if not found:
        name = "name" if table.find(("name",)) is None else "description"
        column = table.plain(name, ColumnType.TEXT, evidence="free text needs a text to search")
        found = [column]
    return tuple(column.name for column in found)


def _filter(use: Use) -> Where:
    assert use.column is not None
    value: Expr = use_value(use)
    name = use.column.name
    optional = not use.field.required
    anys = [item for item in use.field.enum if str(item).lower() in _ANY]
    if anys:
        asked = Compare(op="compare", test="in", left=value, right=const(anys))
        value, optional = Choose(op="choose", condition=asked, then=ABSENT, otherwise=value), True
    if use.test == "only":
        value = Choose(op="choose", condition=is_true(use.field), then=const(True), otherwise=ABSENT)
        return Where(test="eq", column=name, value=value, optional=True)
    if use.role == "range" and use.test in ("lte", "gt") and _day_for_moment(use):
        # A day as the last one, or as the one after which, is meant to its end.
        whole = Concat(op="concat", items=(value, const("T23:59:59.999999999Z")))
        value = Choose(op="choose", condition=present(value), then=whole, otherwise=ABSENT)
    test = (
        use.test
        if use.test in ("eq", "in", "has", "has_any", "has_all", "contains", "prefix", "day", "gte", "lte", "gt", "lt")
        else "eq"
    )
    return Where.model_validate({"test": test, "column": name, "value": value, "optional": optional})


def _day_for_moment(use: Use) -> bool:
    """True if an argument that is a calendar day bounds a moment."""
    day = use.field.type == ColumnType.DATE and use.field.schema.get("format") == "date"
    return day and use.column is not None and use.column.type == ColumnType.DATETIME


def _state(use: Use, table: TablePlan) -> Where:
    column = table.column(use.options["column"])
    asked = is_true(use.field)
    if use.options.get("hide"):
        asked = Not(op="not", of=asked)
    return Where(
        test="eq",
        column=column.name,
        value=Choose(op="choose", condition=asked, then=ABSENT, otherwise=const(False)),
        optional=True,
    )


def need_selector(part: Part) -> None:
    """Refuse a part that changes rows without saying which."""
    if part.role("identifier", "parent"):
        return
    raise Refused(
        RefusalCode.NO_ENTITY,
        f"nothing in the arguments says which {part.main().entity} is meant",
        "require an identifier argument, e.g. an id",
        path="#/required",
    )


def find_one(part: Part, into: str = "row") -> list[Operation]:
    """Find the row that the selecting arguments name, or reject with ``not_found``."""
    table = part.main()
    use = next((item for item in part.role("identifier") if item.options.get("either")), None)
    error = not_found(table, part)
    checks = guards(part)
    by_name = next(
        (c for c in table.columns if c.role in (ColumnRole.NAME, ColumnRole.KEY) and c.type == ColumnType.TEXT), None
    )
    if use is None or by_name is None or use.column is by_name:
        order = newest_first(table) if table.made and not part.role("identifier") else ()
        find = Find(op="find", into=into, table=table.name, where=predicates(part, table), order=order, missing=error)
        return [*checks, find]
    other = tuple(
        Where(test="eq", column=by_name.name, value=argument(use.field)) if where.column == use.column.name else where  # type: ignore[union-attr]
        for where in predicates(part, table)
    )
    first = Find(op="find", into=into, table=table.name, where=predicates(part, table))
    second = Find(op="find", into=into, table=table.name, where=other, missing=error)
    return [*checks, first, When(op="when", condition=Not(op="not", of=present(var(into))), operations=(second,))]


def newest_first(table: TablePlan) -> tuple[Order, ...]:
    """The order by which a row that nothing names by its id is the newest one of its scope."""
    number = table.column(table.id).type == ColumnType.INTEGER and table.id_style.value == "integer"
    made = next((column.name for column in table.columns if column.role == ColumnRole.CREATED), "")
    name = table.id if number else made
    return (Order(column=name, descending=const(True)),) if name else ()


def guards(part: Part) -> list[Operation]:
    """What an action value needs that the schema does not require, and confirmations."""
    found: list[Operation] = []
    for use in part.uses:
        if use.options.get("needed") and not use.field.required:
            case = ", ".join(f"{name} {value}" for name, value in part.when.items())
            message = f"{use.field.name} is required" + (f" for {case}" if case else "")
            found.append(guard(present(argument(use.field)), "invalid_argument", placeholder(message)))
    for use in part.role("confirm"):
        condition = is_true(use.field)
        if not use.field.required and use.field.schema.get("default") is not False:
            # Only a declared default of false makes leaving it out a refusal.
            condition = Compare(
                op="compare",
                test="ne",
                left=Coalesce(op="coalesce", items=(argument(use.field), const(True))),
                right=const(False),
            )
        found.append(guard(condition, "invalid_state", f"not confirmed: set {use.field.name} to true"))
    return found


def guard(condition: Condition, code: str, message: str) -> Guard:
    """Reject the call unless the condition holds."""
    return Guard(op="guard", condition=condition, error=ErrorSpec.model_validate({"code": code, "message": message}))


def row_guards(part: Part, row: str = "row") -> list[Operation]:
    """Preconditions on the row that was found: versions that must match, protection that must be lifted."""
    found: list[Operation] = []
    for use in part.role("precondition"):
        if use.column is not None:
            same = Compare(op="compare", test="eq", left=use_value(use), right=var(row, use.column.name))
            condition = AnyOf(op="any", of=(Not(op="not", of=present(argument(use.field))), same))
            found.append(
                guard(
                    condition,
                    "conflict",
                    f"{use.field.name} {{{use.field.dotted}}} is not the current {use.column.field}",
                )
            )
    forces = [use for use in part.role("force") if use.options.get("column")]
    if forces:
        column = part.main().column(forces[0].options["column"])
        free = Not(op="not", of=Truthy(op="truthy", of=var(row, column.name)))
        lifted = tuple(is_true(use.field) for use in forces)
        message = f"the {part.main().entity} is protected; set {forces[0].field.name} to true"
        found.append(guard(AnyOf(op="any", of=(free, AllOf(op="all", of=lifted))), "conflict", message))
    return found


def coalesced(use: Use) -> Expr:
    """The argument's value, or its declared default."""
    default = use.field.schema.get("default")
    if default is None or use.field.required:
        return use_value(use)
    return Coalesce(op="coalesce", items=(use_value(use), const(default)))


def placeholder(text: str) -> str:
    """Text without braces, safe in an error message template."""
    return re.sub(r"[{}]", "", text)
