"""Identifiers: which argument names which entity, and the primary key of each table."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field, Resolver, Schema, make_field, union_kinds
from weft.agents.rules.environment.intents import Words, noun
from weft.agents.rules.environment.lexicon import ID_WORDS, NATURAL_WORDS, STRONG_IDS, order_role, paging_role
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.words import singular
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType, IdStyle

REPLIES = ("reply", "respond")
_SELECTING = (
    "get",
    "update",
    "delete",
    "transition",
    "copy",
    "move",
    "run",
    "set",
    "upsert",
    "assign",
    "clear",
    "unlink",
    "link",
    "add",
)


def id_parts(field: Field) -> tuple[Words, str]:
    """The noun and the id word of an identifier's name: ``issue_ids`` -> ((issue,), id); no id word gives ``""``."""
    words = field.words
    if "or" in words:
        at = words.index("or")
        head = words[:at]
        words = head if head and head[-1] in ID_WORDS else (*head, "id")
    if words and words[-1] in ID_WORDS:
        return noun(words[:-1]), singular(words[-1])
    return noun(words), ""


def refers(base: Words, phrase: Words) -> bool:
    """True if a noun names an entity: the same words, or the end of them."""
    if not base or not phrase:
        return False
    return (
        base == phrase
        or (len(base) < len(phrase) and phrase[-len(base) :] == base)
        or (len(base) > len(phrase) and base[-len(phrase) :] == phrase and len(phrase) > 1)
    )


def scalar_id(field: Field) -> bool:
    """True if the value can be an id: text, whole number, or a union of both."""
    if field.type in (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER):
        return not field.enum
    kinds = field.schema.get("type")
    branches = field.schema.get("anyOf") or field.schema.get("oneOf") or []
    names = (
        kinds if isinstance(kinds, list) else [branch.get("type") for branch in branches if isinstance(branch, dict)]
    )
    return bool(names) and set(names) <= {"string", "integer", "number"}


def one_or_many(field: Field) -> bool:
    """True if the value is one text or number, or an array of them."""
    branches = field.schema.get("anyOf") or field.schema.get("oneOf") or []
    kinds = [branch.get("type") for branch in branches if isinstance(branch, dict)]
    return "array" in kinds and len(kinds) > 1 and set(kinds) <= {"string", "integer", "number", "array"}


def id_list(field: Field) -> bool:
    """True if the value is an array of texts or numbers."""
    items = field.schema.get("items")
    if one_or_many(field):
        return True
    return (
        field.is_array
        and isinstance(items, dict)
        and items.get("type") in ("string", "integer", "number", None)
        and "properties" not in items
    )


def names_main(field: Field, table: TablePlan, blueprint: Blueprint) -> int:
    """How well a scalar argument names a row of ``table``: 0 not at all, 3 best."""
    base, suffix = id_parts(field)
    if suffix and not base:
        return 3 if suffix in STRONG_IDS else 2
    other = blueprint.by_phrase(base, table.group)
    if suffix and base == table.phrase:
        return 3 if suffix in STRONG_IDS else 2
    if other is not None and other is not table:
        return 0
    if suffix and refers(base, table.phrase):
        return 3 if suffix in STRONG_IDS else 2
    if suffix and table.phrase[: len(base)] == base:
        return 1
    return (
        1
        if base == table.phrase or (len(base) > 1 and base[-1] in NATURAL_WORDS and refers(base[:-1], table.phrase))
        else 0
    )


def choose_keys(parts: Sequence[Part], blueprint: Blueprint, generated: Collection[str] = ()) -> None:
    """Choose the primary key of every table from the arguments that select its rows and from declared results.

    Args:
        parts: of all tools.
        blueprint: all tables.
        generated: tools whose rows get a generated key whatever the caller names.
    """
    common = account_scope(parts)
    for table in blueprint.tables:
        if table.id:
            continue
        mine = [part for part in parts if part.problem is None and part.table is table]
        if any(part.tool.name in generated for part in mine):
            _synthetic(table)
            continue
        found = _strong(mine, table, blueprint) or _from_output(mine, table) or _natural(mine, table, blueprint, common)
        found = found or _from_output(mine, table, ("code", "key", "number", "slug"))
        if found is None:
            _synthetic(table)
        else:
            _set_key(table, found[0], found[1], mine)
            if table.id_style == IdStyle.NATURAL:
                table.within = _companions(mine, found[0], blueprint, table)


def account_scope(parts: Sequence[Part]) -> set[str]:
    """Argument names that half of the tools require: whose account it is, not which row."""
    tools = {part.tool.name for part in parts}
    counts: dict[str, set[str]] = {}
    for part in parts:
        for field in part.fields:
            if field.required:
                counts.setdefault(field.name, set()).add(part.tool.name)
    return {name for name, users in counts.items() if len(tools) > 4 and len(users) >= 0.5 * len(tools)}


def _strong(parts: Sequence[Part], table: TablePlan, blueprint: Blueprint) -> tuple[Field, str] | None:
    votes: dict[tuple[str, str], list[Field]] = {}
    for part in parts:
        replies = part.intent.verb in REPLIES
        if (part.intent.kind not in _SELECTING and not replies) or (
            part.link is not None and part.link[0] is not table
        ):
            continue
        for field in part.fields:
            grade = names_main(field, table, blueprint) if scalar_id(field) else 0
            suffix = id_parts(field)[1]
            if id_list(field) and field.required and suffix and id_parts(field)[0] in ((), table.phrase):
                grade, field = 2, replace(field, type=_element_type(field))
            if grade >= 2 and (field.required or part.when) and not paging_role(field):
                votes.setdefault((suffix, str(3 - grade)), []).append(field)
    if not votes:
        return None
    best = min(
        votes, key=lambda key: (key[1], -len(votes[key]), STRONG_IDS.index(key[0]) if key[0] in STRONG_IDS else 99)
    )
    fields = votes[best]
    texts = [field for field in fields if field.type not in (ColumnType.INTEGER, ColumnType.NUMBER)]
    strict = [field for field in texts if not union_kinds(field.schema)]
    shown = _from_output(parts, table)
    if not strict and shown is not None and shown[0].type in (ColumnType.INTEGER, ColumnType.NUMBER):
        return replace(fields[0], type=ColumnType.INTEGER), best[0]
    numbers = [field for field in fields if field not in texts]
    return (strict[0] if strict else numbers[0] if numbers else fields[0]), best[0]


def _element_type(field: Field) -> ColumnType:
    items = field.schema.get("items")
    return (
        ColumnType.INTEGER
        if isinstance(items, dict) and items.get("type") in ("integer", "number")
        else ColumnType.TEXT
    )


def _from_output(
    parts: Sequence[Part], table: TablePlan, kinds: Sequence[str] = STRONG_IDS
) -> tuple[Field, str] | None:
    """An id among the properties of a declared result; of the weaker kinds only one that carries the entity's name."""
    for part in parts:
        schema = part.tool.output_schema
        if not schema:
            continue
        resolver = Resolver(schema)
        for name, value in _row_properties(resolver, resolver.plain(schema)):
            field = make_field(name, (name,), value, required=True)
            base, suffix = id_parts(field)
            if suffix not in kinds or not scalar_id(field):
                continue
            if refers(base, table.phrase) or (not base and suffix in STRONG_IDS):
                return field, suffix
    return None


def _row_properties(resolver: Resolver, schema: Schema) -> list[tuple[str, Schema]]:
    found = list(resolver.properties(schema))
    for _, value in list(found):
        inner = resolver.plain(value.get("items")) if value.get("type") == "array" else value
        found += resolver.properties(inner)
    return found


def _natural(
    parts: Sequence[Part], table: TablePlan, blueprint: Blueprint, common: set[str]
) -> tuple[Field, str] | None:
    """The last required text or number that selects a row and names no other entity."""
    counts: dict[str, list[Field]] = {}
    scopes = _list_scopes(parts)
    for part in parts:
        if part.intent.kind not in ("get", "delete", "update", "transition", "set", "upsert", "run", "copy", "clear"):
            continue
        if _lists(part):
            continue
        usable = [f for f in part.fields if f.required and scalar_id(f) and f.name not in common and not paging_role(f)]
        # What a list requires says where rows are; another required argument tells them apart.
        usable = [f for f in usable if f.name not in scopes] or usable
        named = [f for f in usable if f.words[-1] in NATURAL_WORDS or names_main(f, table, blueprint) >= 1]
        others = [
            f
            for f in usable
            if part.intent.kind in ("get", "delete")
            and not order_role(f)
            and blueprint.by_phrase(id_parts(f)[0]) in (None, table)
        ]
        for field in named or others[-1:]:
            counts.setdefault(field.name, []).append(field)
    if not counts:
        return None
    best = max(counts, key=lambda name: (len(counts[name]), -list(counts).index(name)))
    return counts[best][0], ""


def _lists(part: Part) -> bool:
    """True if a ``get`` gives a page of rows: what it asks for says where they are, not which one is meant."""
    pages = any(paging_role(field) in ("limit", "page", "offset", "cursor") for field in part.fields)
    if part.intent.kind == "get" and part.intent.end:
        return True
    return part.intent.kind == "get" and pages and (part.intent.plural or not part.intent.by)


def _list_scopes(parts: Sequence[Part]) -> set[str]:
    """The names of arguments that lists of a table require."""
    lists = [part for part in parts if part.intent.kind in ("list", "search") or _lists(part)]
    return {field.name for part in lists for field in part.fields if field.required and scalar_id(field)}


def _companions(parts: Sequence[Part], key: Field, blueprint: Blueprint, table: TablePlan) -> list[Words]:
    """The ids of other entities (or list scopes) without which no tool makes or selects a row by its natural key.

    A tag is unique on its note, a database in its account: the same name may occur in another one.
    """
    kinds = ("create", "add", "send", "delete", "update", "get", "transition", "set", "upsert")
    mine = [part for part in parts if part.intent.kind in kinds and _names(part, key)]
    if not any(part.intent.kind in ("create", "add", "send") for part in mine):
        return []
    scopes = _list_scopes(parts)
    first = mine[0].fields
    others = [f for f in first if f.required and scalar_id(f) and f.words != key.words and not f.enum]
    named = [
        f
        for f in others
        if f.name in scopes or (id_parts(f)[1] and blueprint.by_phrase(id_parts(f)[0]) not in (None, table))
    ]
    return [f.words for f in named if all(_names(part, f) for part in mine)]


def _names(part: Part, field: Field) -> bool:
    return any(other.required and other.words == field.words for other in part.fields)


def _set_key(table: TablePlan, field: Field, suffix: str, parts: Sequence[Part]) -> None:
    number = field.type in (ColumnType.INTEGER, ColumnType.NUMBER)
    words = (suffix,) if suffix else table.normal(field.words)
    name = "_".join(words) or "id"
    label = field.name if not id_parts(field)[0] else _label(field.name, name, suffix)
    made = [part for part in parts if part.intent.kind in ("create", "send", "upsert", "add")]
    given = bool(made) and all(_gives(part, field) for part in made)
    column = ColumnPlan(
        name=table.fresh(name),
        field=label,
        key=tuple(words) or ("id",),
        type=ColumnType.INTEGER if number else ColumnType.TEXT,
        nullable=False,
        role=ColumnRole.ID,
        schema=_key_schema(field, number, parts, table),
        provenance=Provenance.DECLARED,
        evidence=f"argument or result {field.name}",
    )
    table.columns.insert(0, column)
    table.id = column.name
    table.id_style = _style(suffix, number, given, natural=not suffix, made=bool(made))
    table.id_prefix = (
        (table.phrase[-1][:3] if table.phrase else "row") + "_" if table.id_style == IdStyle.PREFIXED else ""
    )


def _key_schema(field: Field, number: bool, parts: Sequence[Part], table: TablePlan) -> Schema:
    """The schema of a key: of the declared result where one agrees, else of the argument."""
    shown = _from_output(parts, table)
    source = shown[0].schema if shown is not None and id_parts(shown[0])[1] == id_parts(field)[1] else field.schema
    wanted = "integer" if number else "string"
    if source.get("type") not in (wanted, "number" if number else wanted):
        return {"type": wanted}
    kept = ("pattern", "format", "minimum", "maximum", "minLength", "maxLength")
    return {"type": wanted, **{name: source[name] for name in kept if name in source}}


def _label(name: str, short: str, suffix: str) -> str:
    if not suffix:
        return name
    for ending in (suffix, suffix.upper(), suffix.capitalize()):
        if name.endswith(ending):
            return ending.lower() if ending != suffix.capitalize() or name[:1].islower() else ending
    return short


def _gives(part: Part, key: Field) -> bool:
    return any(field.required and field.words == key.words for field in part.fields)


def _style(suffix: str, number: bool, given: bool, *, natural: bool, made: bool) -> IdStyle:
    if given or (natural and not made):
        return IdStyle.NATURAL
    if number:
        return IdStyle.INTEGER
    if suffix in ("uuid", "guid"):
        return IdStyle.UUID
    return IdStyle.PREFIXED if suffix in ("id", "") else IdStyle.HEX


def _synthetic(table: TablePlan) -> None:
    column = ColumnPlan(
        name="id",
        field="id",
        key=("id",),
        type=ColumnType.INTEGER,
        nullable=False,
        role=ColumnRole.ID,
        schema={"type": "integer"},
        provenance=Provenance.INVENTED,
        evidence="no tool names an id for this entity",
    )
    table.columns.insert(0, column)
    table.id = "id"
    table.id_style = IdStyle.INTEGER
