"""Changing rows: updates, state transitions, deletions with what hangs on the rows."""

from weft.agents.rules.environment.blueprint import Blueprint, TablePlan
from weft.agents.rules.environment.create import build_upsert, values_of, written
from weft.agents.rules.environment.identifiers import one_or_many
from weft.agents.rules.environment.moments import moments_of
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import argument
from weft.agents.rules.environment.selecting import (
    filters,
    find_one,
    guard,
    guards,
    need_selector,
    not_found,
    predicates,
    row_guards,
)
from weft.records.contract import Delete, Each, Find, Operation, Transition, Update
from weft.records.expression import Compare, Expr, Length, Where, const, var
from weft.records.spec import RefusalCode
from weft.records.state import IdStyle


def build_update(part: Part, blueprint: Blueprint) -> Outcome:
    """Set the given attributes on the row that the arguments name; what is left out stays."""
    table = part.main()
    bulk = part.one("bulk")
    if bulk is not None:
        return _bulk_update(part, blueprint)
    values = values_of([use for use in part.uses if use.role not in ("identifier", "parent")], defaults=False)
    if not values:
        raise nothing_to_write(part)
    many = _many(part, table)
    if many is not None:
        update = Update(op="update", into="rows", table=table.name, rows="rows", values=values)
        return Outcome(
            [*many, update],
            "rows",
            done="updated",
            reads=[table.name],
            writes=written(part, values),
            errors=["not_found"],
        )
    update = Update(op="update", into="row", table=table.name, rows="row", values=values)
    return Outcome(
        [*find_one(part), *row_guards(part), update],
        "row",
        done="updated",
        reads=[table.name],
        writes=written(part, values),
        errors=["not_found", "conflict"],
    )


def _bulk_update(part: Part, _blueprint: Blueprint) -> Outcome:
    table = part.main()
    bulk = part.one("bulk")
    assert bulk is not None
    inner = Part(
        part.tool, part.intent, [use.field for use in bulk.options["uses"]], table=table, uses=bulk.options["uses"]
    )
    need_selector(inner)
    values = values_of([use for use in inner.uses if use.role not in ("identifier", "parent")], defaults=False)
    if not values:
        raise nothing_to_write(part)
    error = not_found(table, part).model_copy(update={"message": f"no {table.entity} with the given id"})
    find = Find(op="find", into="row", table=table.name, where=predicates(inner, table), missing=error)
    update = Update(op="update", into="row", table=table.name, rows="row", values=values)
    each = Each(
        op="each", into="rows", over=argument(bulk.field), name="element", operations=(find, update), result=var("row")
    )
    return Outcome(
        [*guards(part), each],
        "rows",
        done="updated",
        reads=[table.name],
        writes=written(part, values),
        errors=["not_found"],
    )


def nothing_to_write(part: Part) -> Refused:
    """The refusal of a write that declares nothing to write."""
    return Refused(
        RefusalCode.NOTHING_TO_WRITE,
        f"{part.intent.verb} declares no attribute of {part.main().entity} to write",
        "declare the attributes that the tool changes as arguments",
        path="#/inputSchema/properties",
        value=", ".join(field.name for field in part.fields),
    )


def _many(part: Part, table: TablePlan) -> list[Operation] | None:
    """Find all rows that a list of ids names, or reject; None when one row is meant."""
    use = next((item for item in part.role("identifier") if item.options.get("many")), None)
    if use is None:
        return None
    value = argument(use.field)
    find = Find(op="find", into="rows", table=table.name, where=predicates(part, table), many=True)
    wanted: Expr = const(1) if one_or_many(use.field) else Length(op="length", of=value)
    enough = Compare(op="compare", test="gte", left=Length(op="length", of=var("rows")), right=wanted)
    check = guard(enough, "not_found", f"some of the {use.field.name} name no {table.entity}")
    return [*guards(part), find, check]


def build_transition(part: Part, _blueprint: Blueprint) -> Outcome:
    """Bring rows into another state, if their present state allows it."""
    table = part.main()
    column = table.column(part.options["column"])
    target = part.options["target"]
    values = values_of(
        [use for use in part.uses if use.role in ("attribute", "link", "status") and use.column is not column],
        defaults=False,
    )
    values = {**moments_of(part), **values}
    sources = tuple(part.options["sources"])
    step: list[Operation] = []
    if not sources and not part.options.get("repeats"):
        differs = Compare(op="compare", test="ne", left=var("row", column.name), right=const(target))
        step.append(guard(differs, "invalid_state", f"the {table.entity} is already {target}"))
    step.append(
        Transition(
            op="transition",
            into="row",
            table=table.name,
            row="row",
            column=column.name,
            to=const(target),
            sources=sources,
        )
    )
    if values:
        step.append(Update(op="update", into="row", table=table.name, rows="row", values=values))
    writes = written(part, {column.name: const(target), **values})
    many = _many(part, table)
    if many is None and not part.role("identifier", "parent"):
        unlike = Where(test="ne", column=column.name, value=const(target))
        find = Find(op="find", into="rows", table=table.name, where=(*filters(part, table), unlike), many=True)
        many = [*guards(part), find]
    if many is not None:
        each = Each(op="each", into="rows", over=var("rows"), name="row", operations=tuple(step), result=var("row"))
        return Outcome(
            [*many, each],
            "rows",
            done=str(part.options["done"]),
            reads=[table.name],
            writes=writes,
            errors=["not_found", "invalid_state"],
        )
    operations = [*find_one(part), *row_guards(part), *step]
    return Outcome(
        operations,
        "row",
        done=str(part.options["done"]),
        reads=[table.name],
        writes=writes,
        errors=["not_found", "invalid_state"],
    )


def hanging(table: TablePlan, blueprint: Blueprint) -> tuple[list[tuple[TablePlan, str]], list[str]]:
    """What references a table: columns to be set to null, and tables that lose their rows (with all below them)."""
    nulls: list[tuple[TablePlan, str]] = []
    lost: list[str] = []
    for other, column in blueprint.referencing(table.name):
        if column.nullable and other.name not in lost and column.name not in other.key:
            nulls.append((other, column.name))
        elif other.name not in lost:
            lost.append(other.name)
    for name in lost:
        lost += [
            other.name
            for other, _ in blueprint.referencing(name)
            if other.name not in lost and other.name != table.name
        ]
    return nulls, lost


def build_delete(part: Part, blueprint: Blueprint) -> Outcome:
    """Delete rows; optional references to them are cleared, rows that cannot be without them go too."""
    table = part.main()
    if part.intent.kind == "clear" and not (part.intent.bulk or part.intent.plural):
        raise Refused(
            RefusalCode.NOTHING_TO_WRITE,
            f"nothing declares what clearing one {table.entity} changes",
            "name the attribute that is cleared, or bind the real server",
        )
    bulk = part.intent.bulk or part.intent.kind == "clear"
    if not part.role("identifier", "parent") and not (bulk or part.role("filter")):
        need_selector(part)
    nulls, lost = hanging(table, blueprint)
    many = _many(part, table)
    single = (
        many is None
        and (bool(part.role("identifier")) or not part.intent.plural)
        and part.intent.kind != "clear"
        and bool(part.role("identifier", "parent"))
    )
    if single:
        operations = _with_filters(find_one(part), part, table) + row_guards(part)
    elif many is not None:
        operations = many
    else:
        operations = [
            *guards(part),
            Find(op="find", into="rows", table=table.name, where=filters(part, table), many=True),
        ]
    rows = "row" if single else "rows"
    operations += _clear(nulls, table, single)
    operations.append(Delete(op="delete", into="deleted", table=table.name, rows=rows, cascade=tuple(lost)))
    writes = [table.name, *[f"{other.name}.{column}" for other, column in nulls], *lost]
    writes += [
        f"{other.name}.{item.name}" for other, _ in nulls for item in other.columns if item.role.value == "updated"
    ]
    extra: dict[str, Expr] = {} if single else {"count": var("deleted")}
    shapes = {} if single else {"count": {"type": "integer"}}
    return Outcome(
        operations,
        "deleted",
        row="row" if single else "",
        done="deleted",
        reads=[table.name],
        extra=extra,
        extra_schema=shapes,
        writes=list(dict.fromkeys(writes)),
        errors=["not_found", "conflict"],
    )


def _with_filters(operations: list[Operation], part: Part, table: TablePlan) -> list[Operation]:
    last = operations[-1]
    if isinstance(last, Find) and part.role("filter"):
        return [*operations[:-1], last.model_copy(update={"where": filters(part, table)})]
    return operations


def _clear(nulls: list[tuple[TablePlan, str]], table: TablePlan, single: bool) -> list[Operation]:
    """Set optional references to the rows that go to null."""
    found: list[Operation] = []
    for number, (other, column) in enumerate(nulls):
        name = f"held_{number}"
        find = Find(
            op="find",
            into=name,
            table=other.name,
            where=(Where(test="eq", column=column, value=var("row", table.id)),),
            many=True,
        )
        update = Update(op="update", into=name, table=other.name, rows=name, values={column: const(None)})
        if single:
            found += [find, update]
        else:
            found.append(
                Each(op="each", into=name, over=var("rows"), name="row", operations=(find, update), result=const(None))
            )
    return found


def build_set(part: Part, blueprint: Blueprint) -> Outcome:
    """Set attributes of the row that generated ids name; where the caller names rows, make the missing one."""
    table = part.main()
    if (
        any(use.column is not None and use.column.name == table.id for use in part.role("identifier"))
        and table.id_style != IdStyle.NATURAL
    ):
        return build_update(part, blueprint)
    return build_upsert(part, blueprint)
