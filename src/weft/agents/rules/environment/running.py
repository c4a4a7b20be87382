"""Running: a request that something be run is a new row of what was run, tied to what it ran on."""

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.columns import attribute
from weft.agents.rules.environment.create import values_of, written
from weft.agents.rules.environment.fields import make_field
from weft.agents.rules.environment.identifiers import id_parts, names_main, scalar_id
from weft.agents.rules.environment.lexicon import control_reason
from weft.agents.rules.environment.moments import with_moments
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.rows import fitted
from weft.agents.rules.environment.selecting import guards
from weft.records.contract import ErrorSpec, Find, Insert, Operation
from weft.records.expression import Expr, Where, arg, var
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType, IdStyle

_NOUNS = {
    "run": ("run", "execution", "job", "build"),
    "trigger": ("run", "execution", "job", "build", "pipeline"),
    "execute": ("execution", "run"),
    "launch": ("launch", "run"),
    "invoke": ("invocation", "run"),
    "deploy": ("deployment",),
    "redeploy": ("deployment",),
    "sync": ("sync", "operation"),
    "scan": ("scan",),
    "backup": ("backup",),
    "restart": ("restart",),
    "reboot": ("reboot",),
    "install": ("installation",),
    "snapshot": ("snapshot",),
    "rerun": ("run", "job"),
    "retry": ("retry", "run", "job"),
    "replay": ("replay",),
    "rebuild": ("rebuild", "build"),
    "dispatch": ("dispatch", "run"),
    "apply": ("application",),
    "process": ("processing",),
    "perform": ("run",),
    "recreate": ("recreation",),
    "reload": ("reload",),
    "power": ("power_action",),
}


def make_run_table(part: Part, blueprint: Blueprint) -> None:
    """Point the part at the table of runs; the table that it ran on stays in the options."""
    subject = part.main()
    names = _NOUNS.get(part.intent.verb, (part.intent.verb,))
    for name in names:
        found = blueprint.by_phrase((*subject.phrase, name), subject.group) or (
            blueprint.by_phrase((name,), subject.group) if subject.phrase != (name,) else None
        )
        if found is not None and not found.relation:
            part.options["subject"] = subject
            part.table = found
            return
    if subject.phrase[-1] in names:
        return
    table = blueprint.new_table((*subject.phrase, *names[0].split("_")), subject.group)
    table.provenance = Provenance.INFERRED
    table.id_style = IdStyle.INTEGER
    table.columns.append(_key())
    table.id = "id"
    part.options["subject"] = subject
    part.table = table


def _key() -> ColumnPlan:
    return ColumnPlan(
        name="id",
        field="id",
        key=("id",),
        type=ColumnType.INTEGER,
        nullable=False,
        role=ColumnRole.ID,
        schema={"type": "integer"},
        provenance=Provenance.INFERRED,
        evidence="a run is told from others by it",
    )


def assign_run(part: Part, blueprint: Blueprint) -> None:
    """The id of what is run becomes a reference; everything else is stored on the run."""
    table = part.main()
    subject: TablePlan | None = part.options.get("subject")
    for field in part.fields:
        reason = control_reason(field)
        if reason in ("timeout", "verbosity") or (
            reason == "client_hint" and field.type != ColumnType.TEXT and not field.required
        ):
            part.uses.append(Use(field, "inert", provenance=Provenance.INERT, evidence=reason))
            continue
        if (
            subject is not None
            and part.one("subject") is None
            and scalar_id(field)
            and names_main(field, subject, blueprint) >= 1
        ):
            column = _reference(subject, table)
            role = "subject" if field.required or part.when else "attribute"
            part.uses.append(
                Use(
                    field,
                    role,
                    table,
                    column,
                    "",
                    Provenance.DECLARED,
                    "names what is run",
                    {"needed": role == "subject"},
                )
            )
            continue
        evidence = f"{part.tool.name}.inputSchema/{field.dotted}"
        column = attribute(field, table, blueprint, provenance=Provenance.DECLARED, evidence=evidence)
        if column.role == ColumnRole.ID:
            column = table.add(
                ("requested", *id_parts(field)[0], "id"), field, provenance=Provenance.DECLARED, evidence=evidence
            )
        column.written = True
        part.uses.append(
            Use(field, "link" if column.references else "attribute", table, column, "", Provenance.DECLARED, evidence)
        )
    created = table.find(("created", "at")) or table.plain(
        "requested_at", ColumnType.DATETIME, evidence="when it was asked for", provenance=Provenance.INFERRED
    )
    if created.type == ColumnType.DATETIME and not created.written:
        created.role = ColumnRole.CREATED


def _reference(subject: TablePlan, table: TablePlan) -> ColumnPlan:
    words = (*subject.phrase, "id")
    found = table.find(words)
    key = subject.column(subject.id)
    if found is not None and found.type == key.type:
        return found
    field = make_field(
        "_".join(words),
        ("_".join(words),),
        {"type": "integer" if key.type == ColumnType.INTEGER else "string"},
        required=True,
    )
    column = table.add(
        words,
        field,
        provenance=Provenance.DECLARED,
        evidence="names what is run",
        field_name=table.fresh_field("_".join(words)),
    )
    column.role, column.references, column.type = ColumnRole.FOREIGN_KEY, subject.name, key.type
    column.schema, column.enum = key.schema, []
    return column


def build_run(part: Part, _blueprint: Blueprint) -> Outcome:
    """Insert the run, after what it runs on was found."""
    table = part.main()
    values = with_moments(part, values_of(part.uses, defaults=True))
    operations: list[Operation] = guards(part)
    reads: list[str] = []
    use = part.one("subject")
    subject: TablePlan | None = part.options.get("subject")
    if use is not None and subject is not None and use.column is not None:
        value: Expr = fitted(arg(*use.field.path), use.field, subject.column(subject.id))
        error = ErrorSpec(code="not_found", message=f"no {subject.entity} with {use.field.name} {{{use.field.dotted}}}")
        where = (Where(test="eq", column=subject.id, value=value),)
        operations.append(Find(op="find", into="subject", table=subject.name, where=where, missing=error))
        values = {**values, use.column.name: var("subject", subject.id)}
        reads.append(subject.name)
    operations.append(Insert(op="insert", into="row", table=table.name, values=values))
    return Outcome(
        operations,
        "row",
        done="requested",
        reads=reads,
        writes=written(part, values, inserted=True),
        errors=["not_found"],
    )
