"""Planning: from a spec to tables and parts with every argument's use, before any operation is written."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from weft.agents.rules.environment.actions import action_intent, action_values, needed_for, used_by
from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, Relation, TablePlan
from weft.agents.rules.environment.bulk import bulk_field, element_fields, usable
from weft.agents.rules.environment.engines import BIND, check_engine
from weft.agents.rules.environment.entities import make_tables
from weft.agents.rules.environment.fields import Field, input_fields, union_kinds
from weft.agents.rules.environment.files import assign_file, file_tools
from weft.agents.rules.environment.identifiers import account_scope, choose_keys, id_list, id_parts, refers, scalar_id
from weft.agents.rules.environment.intents import Intent, name_words, noun, server_prefix, tool_intent
from weft.agents.rules.environment.ladder import climb, generated_keys
from weft.agents.rules.environment.lexicon import WRAPPERS
from weft.agents.rules.environment.links import assign_link, find_relation, link_shown, make_relation
from weft.agents.rules.environment.moments import MAKING, settle_moments
from weft.agents.rules.environment.plan import Part, ToolPlan, Use
from weft.agents.rules.environment.reading import assign_read
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.rereading import reread
from weft.agents.rules.environment.returns import Outcome
from weft.agents.rules.environment.running import assign_run, make_run_table
from weft.agents.rules.environment.settle import settle_part
from weft.agents.rules.environment.shaping import Shaper
from weft.agents.rules.environment.states import settle_defaults
from weft.agents.rules.environment.totals import Totals
from weft.agents.rules.environment.verbs import READ_KINDS
from weft.agents.rules.environment.writing import SELECTS, assign_write, note_scopes
from weft.records.spec import McpSpec, RefusalCode, ToolSpec
from weft.records.state import ColumnRole, ColumnType

_SERVED = READ_KINDS | {
    "create",
    "send",
    "add",
    "update",
    "set",
    "upsert",
    "delete",
    "clear",
    "copy",
    "move",
    "link",
    "unlink",
    "run",
    "transition",
    "assign",
}


@dataclass
class ServerPlan:
    """Everything that is known about a server before its operations are written."""

    spec: McpSpec
    blueprint: Blueprint
    tools: list[ToolPlan]
    rungs: dict[str, int] = dataclasses.field(default_factory=dict)
    """How many other readings each argument and tool has."""

    @property
    def parts(self) -> list[Part]:
        """The parts of all tools, in order."""
        return [part for tool in self.tools for part in tool.parts]


def plan_server(spec: McpSpec, readings: Mapping[str, int] | None = None) -> ServerPlan:
    """Infer entities, keys, relations and the use of every argument from the whole tool set.

    Args:
        spec: the server's tools.
        readings: other readings than the first ones that validation asked for.
    """
    readings = readings or {}
    prefix = server_prefix([tool.name for tool in spec.tools])
    plan = ServerPlan(spec, Blueprint(spec.name), [_plan_tool(tool, prefix) for tool in spec.tools])
    for tool in file_tools(plan.tools):
        assign_file(tool)
        # An argument without effect on files refuses the tool; it is no row of a table either.
        tool.problem = tool.parts[0].problem
    parts = [part for part in plan.parts if "file" not in part.options]
    make_tables(parts, plan.blueprint)
    _each(parts, _bare_create, plan.blueprint)
    live = [part for part in parts if part.problem is None and part.table is not None]
    for part in live:
        if part.intent.kind == "run":
            make_run_table(part, plan.blueprint)
    choose_keys(live, plan.blueprint, generated_keys(readings))
    note_scopes(live)
    common = account_scope(live)
    for part in live:
        part.options["account"] = common
    _each(live, _make_link, plan.blueprint)
    _each([part for part in live if not part.intent.reads], _assign_writing, plan.blueprint)
    _each(live, _grow, plan.blueprint)
    _each([part for part in live if part.intent.reads], _assign_reading, plan.blueprint)
    for part in live:
        if part.problem is None:
            plan.rungs |= climb(part, readings)
    _each(live, _needs, plan.blueprint)
    _each(live, settle_part, plan.blueprint)
    for table in plan.blueprint.tables:
        settle_moments(table, live)
    _finish_tables(live, plan.blueprint)
    return plan


def _each(parts: list[Part], step: Callable[[Part, Blueprint], None], blueprint: Blueprint) -> None:
    for part in parts:
        if part.problem is None:
            try:
                step(part, blueprint)
            except Refused as problem:
                part.problem = problem


def _plan_tool(tool: ToolSpec, prefix: tuple[str, ...]) -> ToolPlan:
    intent = tool_intent(tool, prefix)
    own = _own_wrapper(tool, intent)
    fields = _entries(input_fields(tool.input_schema, WRAPPERS | own))
    plan = ToolPlan(tool, fields)
    try:
        choice = action_values(fields)
        if choice is not None:
            _split(plan, choice[0], choice[1], intent, prefix)
        else:
            plan.parts = [_whole(tool, intent, fields)]
    except Refused as problem:
        plan.problem = problem
    return plan


def _own_wrapper(tool: ToolSpec, intent: Intent | None) -> set[str]:
    """The last word of the entity: an object that is called so wraps the entity's attributes.

    Where the call names a row of something else (``order_id`` with ``shipping_address``), the object is that row's.
    """
    if intent is None or intent.reads or not intent.phrase:
        return set()
    if intent.kind in ("update", "set", "transition", "assign", "move"):
        plain = input_fields(tool.input_schema, WRAPPERS)
        ids = [id_parts(field)[0] for field in plain if field.required and scalar_id(field) and id_parts(field)[1]]
        if any(base and not refers(base, intent.phrase) for base in ids):
            return set()
    return set(intent.phrase[-1:])


def _entries(fields: list[Field]) -> list[Field]:
    """Tell the key of a key-value pair from the id of the row that holds it."""
    pair = any(field.words == ("value",) for field in fields)
    others = any(field.required and id_parts(field)[1] and field.words != ("key",) for field in fields)
    if not (pair and others):
        return fields
    return [replace(field, words=("entry", "key")) if field.words == ("key",) else field for field in fields]


def _whole(tool: ToolSpec, intent: Intent | None, fields: list[Field]) -> Part:
    check_engine(tool, intent, fields)
    if intent is not None and intent.kind == "compute":
        intent = _stored(intent)
    if intent is not None:
        intent = reread(tool, intent, fields)
    if intent is None or intent.kind not in _SERVED:
        raise Refused(
            RefusalCode.STATELESS,
            "no word of the name or the description says what it reads or writes",
            BIND,
            value=tool.name,
        )
    bare = intent.kind in ("create", "add")
    if intent.writes and not fields and not intent.bulk and not intent.plural and not bare:
        raise Refused(
            RefusalCode.NOTHING_TO_WRITE,
            "a write without arguments declares nothing to write",
            "declare the attributes that it writes",
            path="#/properties",
        )
    return Part(tool, intent, fields)


def _bare_create(part: Part, _blueprint: Blueprint) -> None:
    """A create without arguments makes a row of id and defaults, which means something where other tools read it."""
    if part.intent.kind in ("create", "add") and not part.fields and not part.when and not part.main().readers:
        raise Refused(
            RefusalCode.NOTHING_TO_WRITE,
            "a write without arguments declares nothing to write, and no tool reads what it would make",
            "declare the attributes that it writes",
            path="#/properties",
        )


def _stored(intent: Intent) -> Intent:
    """The stored reading of a verb that is otherwise computing."""
    kinds = {
        "upload": "create",
        "import": "create",
        "download": "get",
        "export": "get",
        "extract": "get",
        "manage": "update",
        "toggle": "update",
        "subscribe": "create",
        "watch": "create",
        "monitor": "create",
    }
    return replace(intent, kind=kinds.get(intent.verb, intent.kind))


def _split(
    plan: ToolPlan, action: Field, values: tuple[str, ...], intent: Intent | None, prefix: tuple[str, ...]
) -> None:
    """One part per value of the action argument."""
    group, words = name_words(plan.tool.name, prefix)
    owner = noun(
        tuple(word for word in words if word not in ("manage", "management", "crud", "admin", "handle", "control"))
    )
    if intent is not None and intent.phrase and intent.said_by == "name":
        owner = intent.phrase
    plan.action = action
    for value in values:
        found = action_intent(value, owner, group)
        fields = [field for field in plan.fields if field is not action and used_by(field, value, values)]
        part = Part(
            plan.tool, found or Intent(kind="compute", verb=value, phrase=owner), fields, when={action.name: value}
        )
        try:
            check_engine(plan.tool, part.intent, [field for field in fields if field.required])
            if part.intent.kind == "compute":
                part.intent = _stored(part.intent)
            if part.intent.kind not in _SERVED or len(action.path) != 1:
                raise Refused(
                    RefusalCode.STATELESS,
                    f"the action {value!r} neither reads nor writes a stored row",
                    BIND,
                    value=value,
                )
        except Refused as problem:
            part.problem = problem
        part.options["guarded"] = [field.name for field in fields if needed_for(field, value)]
        plan.parts.append(part)


def _make_link(part: Part, blueprint: Blueprint) -> None:
    if part.link is not None and part.link[1] is not None and part.intent.kind in ("add", "link", "assign"):
        part.intent = replace(part.intent, kind="link")
        make_relation(part, blueprint)


def _assign_writing(part: Part, blueprint: Blueprint) -> None:
    if part.link is not None and part.link[1] is not None:
        if part.intent.kind != "link":
            if find_relation(part.link[0], part.link[1], blueprint) is None:
                part.table = part.link[1]
                part.link = None
                assign_write(part, blueprint)
                return
            part.intent = replace(part.intent, kind="unlink")
        assign_link(part, blueprint)
        return
    if part.intent.kind in ("link", "unlink"):
        # No pair of entities: a link is a row of its own, and unlinking deletes that row.
        part.intent = replace(part.intent, kind="create" if part.intent.kind == "link" else "delete")
    if part.intent.kind == "run":
        assign_run(part, blueprint)
        return
    _bulk(part, blueprint)
    assign_write(part, blueprint)


def _bulk(part: Part, blueprint: Blueprint) -> None:
    """Take a bulk argument out of the fields and assign its elements' fields."""
    if part.intent.kind not in ("create", "add", "send", "update", "set", "upsert"):
        return
    field = bulk_field(part)
    if field is None:
        return
    fields = element_fields(part, field)
    if not fields or not usable(part, fields):
        return
    inner = Part(part.tool, part.intent, fields, table=part.table)
    assign_write(inner, blueprint)
    part.uses.append(Use(field, "bulk", part.table, options={"uses": inner.uses}))
    part.fields = [item for item in part.fields if item is not field]


def _assign_reading(part: Part, blueprint: Blueprint) -> None:
    kept: list[Field] = []
    for field in part.fields:
        relation = _through(field, part, blueprint)
        if relation is None:
            kept.append(field)
        else:
            holder = blueprint.table(relation.table)
            part.uses.append(
                Use(
                    field,
                    "link_filter",
                    holder,
                    holder.column(relation.far),
                    evidence="joined by a relation",
                    options={"relation": relation},
                )
            )
    everything, part.fields = part.fields, kept
    linked = bool(part.uses)
    if linked and part.intent.kind == "get":
        part.intent = replace(part.intent, kind="list")
    assign_read(part, blueprint)
    part.fields = everything


def _through(field: Field, part: Part, blueprint: Blueprint) -> Relation | None:
    """The relation by which an argument that names a holder selects linked rows."""
    base, suffix = id_parts(field)
    if not suffix or not base or not scalar_id(field):
        return None
    table = part.main()
    for holder in blueprint.tables:
        if holder is not table and not holder.relation and refers(base, holder.phrase):
            relation = find_relation(holder, table, blueprint)
            if relation is not None and table.find(field.words) is None:
                return replace_sides(relation)
            back = find_relation(table, holder, blueprint)
            if back is not None and table.find(field.words) is None:
                return back
    return None


def replace_sides(relation: Relation) -> Relation:
    """The relation seen from its far side."""
    return replace(relation, near=relation.far, far=relation.near)


def _grow(part: Part, blueprint: Blueprint) -> None:
    """Let the declared result add columns."""
    if not part.tool.output_schema or part.when:
        return
    kind = "row"
    if part.intent.reads:
        kind = (
            "rows"
            if part.intent.kind in ("list", "search") or (part.intent.plural and part.intent.kind == "get")
            else "row"
        )
        if part.intent.kind in ("count", "aggregate"):
            Totals(part, part.main(), (), blueprint, grow=True).result()
            return
    elif part.intent.kind in ("delete", "clear"):
        kind = "deleted"
    elif any(use.options.get("many") for use in part.role("identifier")) or part.one("bulk") is not None:
        kind = "rows"
    table = link_shown(part, blueprint)
    Shaper(part, Outcome([], kind, table=table, page="page"), blueprint, grow=True).result()


def _needs(part: Part, _blueprint: Blueprint) -> None:
    """Mark the optional arguments without which a part cannot run."""
    named = part.options.get("guarded", [])
    for use in part.uses:
        if use.field.name in named and not use.field.required:
            use.options["needed"] = True
    selectors = [use for use in part.role("identifier", "parent") if not use.options.get("many") or use.field.required]
    if any(use.field.alternative for use in selectors):
        return
    optional = [use for use in selectors if not use.field.required]
    if part.intent.kind in ("delete", "clear") and part.intent.bulk:
        return
    if optional and not any(use.field.required for use in selectors):
        if part.intent.kind in SELECTS and part.intent.kind != "upsert":
            for use in optional[:1]:
                use.options["needed"] = True
        elif part.intent.kind == "get" and part.when:
            optional[0].options["needed"] = True
    if part.when and part.intent.kind in ("create", "send", "add"):
        _need_name(part)


def _need_name(part: Part) -> None:
    table = part.main()
    for use in part.uses:
        if (use.column is not None and use.column.role == ColumnRole.ID and table.id_style.value == "natural") or (
            use.column is not None and use.column.name == "name" and use.role == "attribute" and not use.field.required
        ):
            use.options["needed"] = True


def _is_scope(column: ColumnPlan, table: TablePlan) -> bool:
    """True if the column says where a row is: reading tools require it, and it is neither id, name nor listed value."""
    if column.role != ColumnRole.ATTRIBUTE or column.references or column.enum:
        return False
    if column.type not in (ColumnType.TEXT, ColumnType.INTEGER):
        return False
    return any(table.find(words) is column for words in table.scope)


def _moments(parts: list[Part], table: TablePlan) -> set[str]:
    """The columns of a table that tools set from the clock."""
    mine = [part for part in parts if part.table is table and part.intent.kind in MAKING]
    return {name for part in mine for name in part.options.get("moments", [])}


def _always_given(column: ColumnPlan, table: TablePlan, parts: list[Part]) -> bool:
    """True if every tool that makes rows requires the column's value, and none can set it to null."""
    if column.role not in (ColumnRole.ATTRIBUTE, ColumnRole.NAME, ColumnRole.STATUS, ColumnRole.KEY):
        return False
    for part in parts:
        if part.problem is not None or part.table is not table:
            continue
        uses = [use for use in part.uses if use.column is column and use.role not in ("filter", "range")]
        if any(use.field.nullable or "null" in union_kinds(use.field.schema) for use in uses):
            return False
        if part.intent.kind in ("upsert", "set", "run") and not any(use.field.required for use in uses):
            return False
    return True


def _finish_tables(parts: list[Part], blueprint: Blueprint) -> None:
    for table in blueprint.tables:
        settle_defaults(table)
        plain = [column for column in table.columns if column.role != ColumnRole.ID and not column.hidden]
        if not plain and not table.relation:
            name = "name" if table.find(("name",)) is None else "description"
            column = table.plain(name, ColumnType.TEXT, evidence="nothing declares what the entity holds")
            column.role = ColumnRole.NAME if name == "name" else ColumnRole.ATTRIBUTE
        made = [
            part
            for part in parts
            if part.problem is None and part.table is table and part.intent.kind in ("create", "send", "add")
        ]
        table.made = bool(made)
        for column in table.columns:
            given = all(any(use.column is column and use.field.required for use in part.uses) for part in made)
            scoped = any(table.find(words) is column for words in table.scope)
            always = given and (made or scoped) and _every_insert_gives(column, table, parts)
            if column.references and column.references != table.name and always:
                column.nullable = False
            kept = (ColumnRole.ID, ColumnRole.CREATED, ColumnRole.UPDATED)
            if column.shown and column.role not in kept and (given or column.fallback is not None):
                column.nullable = False
                if not given and column.default is None and column.name not in _moments(parts, table):
                    column.default = column.fallback
                    column.constant = column.type not in (ColumnType.BOOLEAN, ColumnType.JSON) and not column.enum
            if given and made and not column.references and _always_given(column, table, parts):
                column.nullable = False
            if given and _is_scope(column, table) and _every_insert_gives(column, table, parts):
                column.role = ColumnRole.KEY
                column.nullable = False
        _scope_key(table, blueprint)
        _scope_defaults(table, parts, made)
    blueprint.ordered()


def _every_insert_gives(column: ColumnPlan, table: TablePlan, parts: list[Part]) -> bool:
    """True if no tool that runs something or sets a row makes one without the column's value."""
    inserts = [p for p in parts if p.problem is None and p.table is table and p.intent.kind in ("run", "upsert", "set")]
    return all(any(use.column is column and use.field.required for use in part.uses) for part in inserts)


def _scope_key(table: TablePlan, blueprint: Blueprint) -> None:
    """Make a natural key unique inside its scope, where every tool that makes or selects a row gives the scope too."""
    found = [table.find(words) for words in table.within]
    columns = [column for column in found if column is not None and column.type != ColumnType.JSON]
    if not columns or len(columns) < len(found) or table.key or blueprint.referencing(table.name):
        return
    if any(column.nullable or column.role == ColumnRole.ID for column in columns):
        return
    table.key = (*[column.name for column in columns], table.id)


def _scope_defaults(table: TablePlan, parts: list[Part], made: list[Part]) -> None:
    """Start an attribute that lists require and no tool gives with a documented value, so that new rows are seen."""
    if not made:
        return
    for part in parts:
        if part.problem is not None or part.table is not table or part.intent.kind not in ("list", "search"):
            continue
        for use in part.role("filter"):
            column = use.column
            if column is None or not use.field.required or column.default is not None or column.references:
                continue
            given = any(other.column is column for maker in made for other in maker.uses)
            if given or column.type != ColumnType.TEXT or use.test != "eq":
                continue
            quoted = re.findall(r"['`\"]([A-Za-z][\w-]*)['`\"]", use.field.description)
            values = column.enum or [word for word in quoted if word.lower() not in ("all", "any", "both")]
            if values:
                column.default = values[0]


__all__ = ["ServerPlan", "id_list", "plan_server"]
