"""Links: joining rows of two tables, or taking the join away, through a relation table."""

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, Relation, TablePlan
from weft.agents.rules.environment.columns import attribute
from weft.agents.rules.environment.create import values_of
from weft.agents.rules.environment.fields import Field, Resolver, make_field
from weft.agents.rules.environment.identifiers import id_list, id_parts, names_main, refers, scalar_id
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import argument, fitted
from weft.agents.rules.environment.selecting import guards
from weft.records.contract import Delete, Each, ErrorSpec, Find, Insert, Operation
from weft.records.expression import Expr, Where, var
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnRole, IdStyle


def make_relation(part: Part, blueprint: Blueprint) -> Relation:
    """The relation of a link part, its table made when it is missing."""
    assert part.link is not None
    near, far = part.link[0], part.link[1]
    assert far is not None
    found = find_relation(near, far, blueprint)
    if found is not None:
        return found
    phrase = (*near.phrase, *far.phrase)
    table = blueprint.new_table(phrase, near.group)
    table.relation = True
    table.id_style = IdStyle.NATURAL
    near_name = _key(table, near, "")
    far_name = _key(table, far, "linked" if near is far else "")
    table.key = (near_name, far_name)
    table.id = near_name
    label = near.fresh_field("_".join((*far.phrase, "ids")))
    relation = Relation(table.name, near_name, far_name, label, far.phrase)
    near.relations.append(relation)
    return relation


def _key(table: TablePlan, target: TablePlan, prefix: str) -> str:
    key = target.column(target.id)
    words = (*target.phrase, "id") if not prefix else (prefix, *target.phrase, "id")
    column = ColumnPlan(
        name=table.fresh("_".join(words)),
        field=table.fresh_field("_".join(words)),
        key=words,
        type=key.type,
        nullable=False,
        role=ColumnRole.FOREIGN_KEY,
        references=target.name,
        schema=key.schema,
        provenance=Provenance.INFERRED,
        evidence="tools join the two entities",
    )
    table.columns.append(column)
    return column.name


def find_relation(near: TablePlan, far: TablePlan, blueprint: Blueprint) -> Relation | None:
    """The relation from one table to another, if some tool joins them."""
    for relation in near.relations:
        table = blueprint.table(relation.table)
        if table.column(relation.far).references == far.name:
            return relation
    return None


def assign_link(part: Part, blueprint: Blueprint) -> None:
    """Say which argument names the holder, which names what is linked, and what else is stored on the link."""
    assert part.link is not None
    near, far = part.link[0], part.link[1]
    assert far is not None
    relation = make_relation(part, blueprint)
    table = blueprint.table(relation.table)
    part.options["relation"] = relation
    for field in part.fields:
        base, suffix = id_parts(field)
        one = scalar_id(field)
        if part.one("near") is None and one and (refers(base, near.phrase) or (not base and suffix)):
            part.uses.append(
                Use(field, "near", near, near.column(near.id), "eq", Provenance.DECLARED, "names the holder")
            )
        elif (
            part.one("far") is None
            and (one or id_list(field))
            and (refers(base, far.phrase) or names_main(field, far, blueprint) >= 2 or (not base and bool(suffix)))
        ):
            part.uses.append(
                Use(
                    field,
                    "far",
                    far,
                    far.column(far.id),
                    "eq",
                    Provenance.DECLARED,
                    "names what is linked",
                    {"many": id_list(field)},
                )
            )
        elif part.intent.kind in ("add", "link", "assign"):
            column = attribute(
                field,
                table,
                blueprint,
                provenance=Provenance.DECLARED,
                evidence=f"{part.tool.name}.inputSchema/{field.dotted}",
            )
            part.uses.append(Use(field, "attribute", table, column, "", Provenance.DECLARED, "stored on the link"))
        else:
            part.uses.append(Use(field, "inert", provenance=Provenance.INERT, evidence="client_hint: the link is gone"))
    if part.one("near") is None or part.one("far") is None:
        raise Refused(
            RefusalCode.NO_ENTITY, f"the arguments do not name both a {near.entity} and a {far.entity}", "name both ids"
        )


def build_link(part: Part, blueprint: Blueprint) -> Outcome:
    """Join two rows; a join that is there already is a conflict."""
    relation, near_row, near, far = _sides(part, blueprint)
    table = blueprint.table(relation.table)
    values = values_of(part.uses, defaults=False)
    row: dict[str, Expr] = {relation.near: var("row", near.id), **values}
    steps = _per_far(part, relation, far, row, table)
    after = Find(
        op="find", into="row", table=near.name, where=(Where(test="eq", column=near.id, value=var("row", near.id)),)
    )
    own = link_shown(part, blueprint) is table
    return Outcome(
        [*guards(part), near_row, *steps, *([] if own else [after])],
        "row",
        row="link_row" if own else "row",
        done="linked",
        table=table if own else near,
        reads=[near.name, far.name, table.name],
        writes=[table.name, *[f"{table.name}.{name}" for name in (*row, relation.far)]],
        errors=["not_found", "conflict"],
    )


def link_shown(part: Part, blueprint: Blueprint) -> TablePlan | None:
    """The table of the row that a link or unlink gives back: the link's where its declared result holds both ids."""
    if part.link is None or part.link[1] is None:
        return None
    near, far = part.link[0], part.link[1]
    relation = find_relation(near, far, blueprint)
    schema = part.tool.output_schema
    if relation is None or not schema or part.intent.kind not in ("link", "unlink"):
        return near
    if part.intent.kind == "unlink" or any(u.options.get("many") for u in part.uses):
        return near
    resolver = Resolver(schema)
    shown = [(label,) for label, _ in resolver.properties(resolver.plain(schema))]
    bases = [id_parts(make_field(label, (label,), {}, False)) for (label,) in shown]
    both = [table for table in (near, far) if any(suffix and refers(base, table.phrase) for base, suffix in bases)]
    named = any(refers(base, near.phrase) and not suffix for base, suffix in bases)
    return blueprint.table(relation.table) if len(both) == 2 and not named else near


def build_unlink(part: Part, blueprint: Blueprint) -> Outcome:
    """Take a join away; one that is not there is not found."""
    relation, near_row, near, far = _sides(part, blueprint)
    table = blueprint.table(relation.table)
    steps = _per_far(part, relation, far, None, table)
    return Outcome(
        [*guards(part), near_row, *steps],
        "row",
        done="unlinked",
        table=near,
        reads=[near.name, far.name, table.name],
        writes=[table.name],
        errors=["not_found"],
    )


def _sides(part: Part, _blueprint: Blueprint) -> tuple[Relation, Find, TablePlan, TablePlan]:
    assert part.link is not None
    assert part.link[1] is not None
    near, far = part.link[0], part.link[1]
    use = part.one("near")
    assert use is not None
    assert use.column is not None
    value = fitted(argument(use.field), use.field, use.column)
    error = ErrorSpec(code="not_found", message=f"no {near.entity} with {use.field.name} {{{use.field.dotted}}}")
    find = Find(
        op="find", into="row", table=near.name, where=(Where(test="eq", column=near.id, value=value),), missing=error
    )
    return part.options["relation"], find, near, far


def _per_far(
    part: Part, relation: Relation, far: TablePlan, row: dict[str, Expr] | None, table: TablePlan
) -> list[Operation]:
    """The operations for each linked row: insert with ``row``, or delete without."""
    use = part.one("far")
    assert use is not None
    assert use.column is not None
    many = bool(use.options.get("many"))
    value: Expr = var("far_id") if many else fitted(argument(use.field), use.field, use.column)
    step: list[Operation] = []
    missing = f"no {far.entity} with {use.field.name} {{{use.field.dotted}}}"
    if row is not None:
        there = ErrorSpec(code="not_found", message=missing)
        step.append(
            Find(
                op="find",
                into="far_row",
                table=far.name,
                where=(Where(test="eq", column=far.id, value=value),),
                missing=there,
            )
        )
        step.append(
            Insert(op="insert", into="link_row", table=table.name, values={**row, relation.far: var("far_row", far.id)})
        )
    else:
        where = (
            Where(test="eq", column=relation.near, value=var("row", part.main().id)),
            Where(test="eq", column=relation.far, value=value),
        )
        gone = ErrorSpec(
            code="not_found", message=f"the {part.main().entity} holds no {far.entity} {{{use.field.dotted}}}"
        )
        step.append(Find(op="find", into="link_row", table=table.name, where=where, missing=gone))
        step.append(Delete(op="delete", into="deleted", table=table.name, rows="link_row"))
    if not many:
        return step
    return [
        Each(
            op="each",
            into="far_rows",
            over=argument(use.field),
            name="far_id",
            operations=tuple(step),
            result=var("far_id"),
        )
    ]


__all__ = ["Field", "assign_link", "build_link", "build_unlink", "find_relation", "make_relation"]
