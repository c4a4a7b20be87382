"""Creating rows: one, or one per element of a bulk argument; the row that is there already; copies."""

from weft.agents.rules.environment.blueprint import Blueprint
from weft.agents.rules.environment.moments import with_moments
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import ABSENT, argument, use_value
from weft.agents.rules.environment.selecting import coalesced, find_one, guards, predicates
from weft.agents.rules.environment.states import starting_state
from weft.records.contract import Each, Find, Insert, Operation, Update, When
from weft.records.expression import Choose, Coalesce, Expr, Present, Where, var
from weft.records.state import ColumnRole, IdStyle

VALUE_ROLES = ("attribute", "link", "status", "parent")


def values_of(uses: list[Use], *, defaults: bool) -> dict[str, Expr]:
    """Column values that arguments give."""
    values: dict[str, Expr] = {}
    for use in uses:
        if use.column is not None and use.role in VALUE_ROLES and use.column.name not in values:
            values[use.column.name] = coalesced(use) if defaults else use_value(use)
    return values


def written(part: Part, values: dict[str, Expr], *, inserted: bool = False) -> list[str]:
    """The ``writes`` of a part: the table when rows come or go, and the columns set."""
    table = part.main()
    updated = [column.name for column in table.columns if column.role == ColumnRole.UPDATED]
    names = [f"{table.name}.{name}" for name in [*values, *[name for name in updated if name not in values]]]
    return [table.name, *names] if inserted else names


def build_create(part: Part, blueprint: Blueprint) -> Outcome:
    """Insert a row from the arguments; a bulk argument gives one row for each of its elements."""
    table = part.main()
    bulk = part.one("bulk")
    shared = {**starting_state(part), **with_moments(part, values_of(part.uses, defaults=True))}
    if bulk is not None:
        items = values_of(bulk.options["uses"], defaults=True)
        insert = Insert(op="insert", into="row", table=table.name, values={**shared, **items})
        each = Each(
            op="each", into="rows", over=argument(bulk.field), name="element", operations=(insert,), result=var("row")
        )
        return Outcome(
            [*guards(part), each],
            "rows",
            done="created",
            writes=written(part, {**shared, **items}, inserted=True),
            errors=["conflict", "not_found"],
        )
    above, inherited = inherit(part, blueprint, shared)
    shared = {**shared, **inherited}
    exists = "update" if part.intent.kind == "upsert" else "error"
    insert = Insert.model_validate(
        {"op": "insert", "into": "row", "table": table.name, "values": shared, "exists": exists}
    )
    reads = [column.references for column in table.columns if column.references and column.name in shared]
    return Outcome(
        [*guards(part), *above, insert],
        "row",
        done=_done(part),
        reads=[name for name in reads if name],
        writes=written(part, shared, inserted=True),
        errors=["conflict", "not_found"],
    )


def inherit(part: Part, blueprint: Blueprint, given: dict[str, Expr]) -> tuple[list[Operation], dict[str, Expr]]:
    """What a new row takes from the row that it belongs to: a forwarder is in the order that its mailbox is in.

    Only references by which reading tools look rows up, which no argument gives.
    """
    table = part.main()
    scopes = [column for words in table.scope if (column := table.find(words)) is not None]
    missing = [column for column in scopes if column.references and column.name not in given and not column.written]
    operations: list[Operation] = []
    values: dict[str, Expr] = {}
    for column in missing:
        for use in part.uses:
            up = use.column.references if use.column is not None and use.role in VALUE_ROLES else None
            if not up or up == table.name or up == column.references or use.field.is_array or use.column is None:
                continue
            parent = blueprint.table(up)
            same = [item for item in parent.columns if item.references == column.references]
            if not same:
                continue
            name = f"above_{len(operations)}"
            where = (Where(test="eq", column=parent.id, value=use_value(use)),)
            operations.append(Find(op="find", into=name, table=up, where=where))
            has = Present(op="present", of=var(name))
            values[column.name] = Choose(op="choose", condition=has, then=var(name, same[0].name), otherwise=ABSENT)
            break
    return operations, values


def _done(part: Part) -> str:
    return {"send": "sent", "add": "added", "upsert": "saved"}.get(part.intent.kind, "created")


def build_upsert(part: Part, blueprint: Blueprint) -> Outcome:
    """Update the row that the selecting arguments name, or insert it."""
    table = part.main()
    selectors = part.role("identifier", "parent")
    values = values_of([use for use in part.uses if use.role not in ("identifier", "parent")], defaults=False)
    keys = {use.column.name: use_value(use) for use in selectors if use.column is not None}
    if not keys or (table.id_style == IdStyle.NATURAL and set(keys) == {table.id}):
        part.uses = [use if use.role != "identifier" else _as_attribute(use) for use in part.uses]
        return build_create(part, blueprint)
    new_keys = {name: value for name, value in keys.items() if name != table.id or table.id_style == IdStyle.NATURAL}
    find = Find(op="find", into="row", table=table.name, where=predicates(part, table))
    update = Update(op="update", into="row", table=table.name, rows="row", values=values)
    made = with_moments(part, {**new_keys, **values})
    insert = Insert(op="insert", into="row", table=table.name, values=made)
    branch = When(op="when", condition=Present(op="present", of=var("row")), operations=(update,), otherwise=(insert,))
    return Outcome(
        [*guards(part), find, branch],
        "row",
        done="saved",
        reads=[table.name],
        writes=written(part, made, inserted=True),
        errors=["not_found"],
    )


def _as_attribute(use: Use) -> Use:
    return Use(use.field, "attribute", use.table, use.column, "", use.provenance, use.evidence, use.options)


def build_copy(part: Part, _blueprint: Blueprint) -> Outcome:
    """Insert a copy of the row that the arguments name, with what they change."""
    table = part.main()
    changed = values_of([use for use in part.uses if use.role not in ("identifier", "parent")], defaults=False)
    kept: dict[str, Expr] = {}
    for column in table.columns:
        if (
            column.role in (ColumnRole.ID, ColumnRole.CREATED, ColumnRole.UPDATED)
            or column.unique
            or column.name in changed
        ):
            continue
        kept[column.name] = var("source", column.name)
    insert: Operation = Insert(op="insert", into="row", table=table.name, values={**kept, **_or_source(changed)})
    return Outcome(
        [*find_one(part, "source"), insert],
        "row",
        done="copied",
        reads=[table.name],
        writes=written(part, {**kept, **changed}, inserted=True),
        errors=["not_found", "conflict"],
    )


def _or_source(changed: dict[str, Expr]) -> dict[str, Expr]:
    return {name: Coalesce(op="coalesce", items=(value, var("source", name))) for name, value in changed.items()}
