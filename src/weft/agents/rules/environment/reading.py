"""Arguments of tools that read: selecting, filtering, paging, ordering, projecting."""

import re
from dataclasses import replace

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.columns import attribute, matching, same_kind
from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.identifiers import id_list, id_parts, names_main, refers, scalar_id
from weft.agents.rules.environment.intents import Words
from weft.agents.rules.environment.lexicon import (
    control_reason,
    is_level,
    is_projection,
    is_search,
    order_role,
    paging_role,
    range_side,
)
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.words import listed
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnRole, ColumnType

_SHOW = frozenset(
    listed("include, with, show, expand, return, load, fetch, includes, embed, exclude, omit, skip, hide, without ")
)
_HIDE = frozenset({"exclude", "omit", "skip", "hide", "without"})
_STATES = frozenset(
    listed(
        "archived, deleted, inactive, closed, completed, trashed, disabled, hidden, draft, drafts, "
        "resolved, expired, cancelled, private, trash, spam, deactivated, removed, suspended, merged, "
        "done, paused, read, public, system, internal, muted, all "
    )
)
_DATES = (ColumnType.DATETIME, ColumnType.DATE)
_FREE_LIMIT = 3


def assign_read(part: Part, blueprint: Blueprint) -> None:
    """Say what each argument of a reading part is for; adds the columns that only filters name."""
    table = part.main()
    lists = part.intent.kind in ("list", "search", "count", "aggregate") or _reads_many(part)
    for field in part.fields:
        use = (
            _main_key(field, part.intent.phrase, table, blueprint)
            or (_list_use(field, part) if lists else _get_use(field))
            or _shape_use(field, part)
        )
        part.uses.append(use or _filter(field, part, table, blueprint))
    if part.intent.kind == "get" and lists:
        part.intent = replace(part.intent, kind="list")


def _reads_many(part: Part) -> bool:
    """True if a ``get`` gives several rows: a plural noun, paging arguments, or nothing that selects one row."""
    if part.intent.kind != "get":
        return False
    table = part.main()
    selects = any(
        (field.required or field.alternative or part.when) and scalar_id(field) and _selects(field, table)
        for field in part.fields
    )
    pages = any(paging_role(field) in ("limit", "page", "offset", "cursor") for field in part.fields)
    if part.intent.plural and not part.rest:
        return not selects or any(field.required and not _selects(field, table) for field in part.fields) or pages
    if any(field.required and id_list(field) for field in part.fields):
        return True
    return pages and not selects


def _selects(field: Field, table: TablePlan) -> bool:
    key = table.column(table.id)
    base, suffix = id_parts(field)
    return key.key == table.normal(field.words) or (bool(suffix) and (not base or base == table.phrase))


def _main_key(field: Field, phrase: Words, table: TablePlan, blueprint: Blueprint) -> Use | None:
    key = table.column(table.id)
    grade = names_main(field, table, blueprint)
    answered = table.find(("reply", "to", "id"))
    if answered is not None and grade >= 2 and scalar_id(field) and phrase[-1:] in (("reply",), ("response",)):
        return Use(field, "filter", table, answered, "eq", Provenance.DECLARED, "names what is answered")
    same = key.key == table.normal(field.words) and not order_role(field)
    if scalar_id(field) and (grade >= 2 or (same and not (paging_role(field) or is_search(field)))):
        other = table.find(field.words)
        if not same and other is not None and other is not key and grade < 3:
            return Use(field, "identifier", table, other, "eq", Provenance.INFERRED, _evidence(other))
        if not same and id_parts(field)[1] not in key.key and grade < 3 and key.key not in (("id",),):
            return None
        either = "or" in field.words
        return Use(field, "identifier", table, key, "eq", Provenance.DECLARED, "names the row", {"either": either})
    if id_list(field) and (
        (id_parts(field)[1] and (not id_parts(field)[0] or refers(id_parts(field)[0], table.phrase)))
        or noun_is(field, table)
    ):
        return Use(field, "identifier", table, key, "in", Provenance.DECLARED, "names the rows", {"many": True})
    return None


def noun_is(field: Field, table: TablePlan) -> bool:
    """True if an array argument is called as the entity or its natural key in the plural."""
    return id_parts(field)[0] == table.phrase or table.normal(field.words) == table.column(table.id).key


def _list_use(field: Field, part: Part) -> Use | None:
    role = paging_role(field)
    if role and part.one(role) is None and not (field.required and role == "cursor"):
        return Use(field, role, evidence="paging argument")
    role = order_role(field)
    if role and part.one(role) is None:
        return Use(field, role, evidence="ordering argument")
    if is_search(field) and part.one("search") is None:
        return Use(
            field, "search", part.table, None, "search", Provenance.INFERRED, "free text over the text attributes"
        )
    return None


def _get_use(field: Field) -> Use | None:
    role = paging_role(field)
    if role and not field.required:
        return Use(field, "inert", provenance=Provenance.INERT, evidence="client_hint: one row is not paged")
    return None


def _shape_use(field: Field, part: Part) -> Use | None:
    if is_projection(field) and not field.required and part.one("projection") is None:
        return Use(field, "projection", part.table, evidence="names the returned fields")
    if is_level(field) and not field.required and part.one("level") is None and part.one("projection") is None:
        return Use(field, "level", part.table, evidence="chooses how much of a row comes back")
    reason = control_reason(field)
    known = part.main().find(field.words)
    if reason and (known is None or reason in ("format", "timeout", "verbosity")):
        return Use(field, "inert", provenance=Provenance.INERT, evidence=reason)
    if field.words[0] in _SHOW and len(field.words) > 1:
        return _include(field, part)
    if field.words in (("expand",), ("include",), ("embed",), ("includes",)) and not field.required:
        return Use(field, "include", part.table, evidence="names what to embed", options={"list": True})
    return None


def _include(field: Field, part: Part) -> Use | None:
    words = tuple(word for word in field.words[1:] if word not in ("only",))
    if field.type != ColumnType.BOOLEAN or not words or field.required:
        return None
    if words[-1] in _STATES or words[0] in _STATES:
        state = words[0] if words[0] in _STATES else words[-1]
        return Use(
            field,
            "include_state",
            part.table,
            evidence="keeps rows of a state in the result",
            options={"state": state, "hide": field.words[0] in _HIDE},
        )
    return Use(
        field,
        "include",
        part.table,
        evidence="adds a part to the result",
        options={"words": words, "hide": field.words[0] in _HIDE},
    )


def _filter(field: Field, part: Part, table: TablePlan, blueprint: Blueprint) -> Use:
    ranged = _range(field, part, table)
    if ranged is not None:
        return ranged
    words = _filter_words(field)
    if field.type == ColumnType.BOOLEAN and "only" in field.words:
        words = tuple(word for word in field.words if word != "only") or field.words
        column = table.find(words) or attribute(
            field, table, blueprint, provenance=Provenance.INVENTED, evidence=_from(part, field), words=words
        )
        if column.type == ColumnType.BOOLEAN:
            return Use(field, "filter", table, column, "only", _level(column), _evidence(column))
    column_found = matching(field, table, blueprint, words)
    if column_found is not None:
        return Use(
            field,
            "filter",
            table,
            column_found,
            _test(field, column_found),
            _level(column_found),
            _evidence(column_found),
        )
    _refuse_invented(field, part, table, blueprint)
    return _invented(field, part, table, blueprint, words)


def _filter_words(field: Field) -> tuple[str, ...]:
    words = field.words
    if len(words) > 1 and words[0] in ("filter", "by", "search", "match", "matching"):
        words = words[1:]
    if len(words) > 1 and words[-1] in listed(
        "filter, contains, like, pattern, prefix, equals, eq, query, any, in, all, regex "
    ):
        words = words[:-1]
    if len(words) > 1 and words[0] == "by":
        words = words[1:]
    return words


def _test(field: Field, column: ColumnPlan) -> str:
    last, hint = field.words[-1], field.description.lower()
    if column.type == ColumnType.JSON:
        if field.is_array:
            return "has_all" if last == "all" else "has_any"
        return (
            "eq" if field.is_object or "properties" in column.schema or column.schema.get("type") == "object" else "has"
        )
    if field.is_array:
        return "in"
    if (
        column.type == ColumnType.TEXT
        and field.type == ColumnType.TEXT
        and not field.enum
        and column.role not in (ColumnRole.ID, ColumnRole.FOREIGN_KEY)
    ):
        if last == "prefix" or "start with" in hint or "starts with" in hint:
            return "prefix"
        if last in ("contains", "like", "pattern", "query", "regex") or re.search(
            r"partial|substring|contain|fuzzy|match(es|ing)? ", hint
        ):
            return "contains"
    if field.type == ColumnType.DATE and column.type == ColumnType.DATETIME:
        return "day"
    return "eq"


def _range(field: Field, part: Part, table: TablePlan) -> Use | None:
    side, rest = range_side(field.words, field.description)
    if not side or field.is_array or field.enum or field.type in (ColumnType.BOOLEAN, ColumnType.JSON):
        return None
    dated = field.type in _DATES or (
        field.is_text
        and re.search(
            r"date|time|iso|since|yyyy|day|timestamp|rfc", f"{field.description} {' '.join(field.words)}", re.IGNORECASE
        )
    )
    numeric = field.type in (ColumnType.INTEGER, ColumnType.NUMBER)
    if not (dated or numeric):
        return None
    column = _range_column(field, rest, table, bool(dated))
    if column is None:
        if numeric and not rest:
            return None
        kind = field.type if numeric else (field.type if field.type in _DATES else ColumnType.DATETIME)
        words = rest or ("created", "at")
        if words in (("date",), ("time",)):
            words = ("date",) if kind == ColumnType.DATE else ("created", "at")
        shaped = replace(
            field, type=kind, name="_".join(words), words=words, schema={"type": "number" if numeric else "string"}
        )
        column = table.find(words)
        if column is None or not same_kind(column, shaped):
            column = table.add(
                words, shaped, provenance=Provenance.INFERRED, evidence=f"{part.tool.name} bounds it by {field.name}"
            )
    return Use(field, "range", table, column, side, _level(column), _evidence(column))


def _range_column(field: Field, rest: tuple[str, ...], table: TablePlan, dated: bool) -> ColumnPlan | None:
    whole = table.find(field.words)
    if whole is not None and same_kind(whole, field) and (whole.type in _DATES) == dated:
        return whole
    if rest:
        endings = ((), ("at",), ("on",), ("date",), ("time",)) if dated else ((),)
        options = [table.find((*rest, *ending)) for ending in endings]
        if dated:
            options += [column for column in table.columns if column.type in _DATES and _akin(rest, column)]
        found = next((column for column in options if column is not None and same_kind(column, field)), None)
        if found is not None and same_kind(found, field) and found.role not in (ColumnRole.ID, ColumnRole.FOREIGN_KEY):
            return found
    if dated and (not rest or set(rest) <= {"date", "time", "datetime", "timestamp", "day", "range"}):
        dates = [column for column in table.columns if column.type in _DATES and (field.is_text)]
        first = [column for column in dates if column.role == ColumnRole.ATTRIBUTE] or dates
        return first[0] if first else None
    return None


def _akin(words: tuple[str, ...], column: ColumnPlan) -> bool:
    """True if a date column's name begins as the words do (``publish`` and ``published_on``)."""
    key = [word for word in column.key if word not in ("at", "on", "date", "time")]
    return (
        bool(key)
        and len(key) == len(words)
        and all(one[:5] == two[:5] and len(one) > 3 for one, two in zip(words, key, strict=True))
    )


def _refuse_invented(field: Field, part: Part, table: TablePlan, blueprint: Blueprint) -> None:
    """A required argument needs support: an id, another entity, a scope, or a description that speaks of the entity."""
    if not field.required:
        return
    base, suffix = id_parts(field)
    hint = field.description.lower()
    spoken = len(hint.split()) >= 2 or blueprint.by_phrase(base) is not None
    if field.name in part.options.get("account", ()):
        return
    if suffix or spoken or (scalar_id(field) and part.intent.kind == "get"):
        return
    if scalar_id(field) and any(other.required and other is not field for other in part.fields):
        return
    raise Refused(
        RefusalCode.INVENTED_ARGUMENT,
        f"the required argument {field.name!r} matches no attribute of {table.entity!r} and nothing describes it",
        "describe the argument, or name it as an attribute that another tool writes or returns",
        path=f"#/properties/{field.name}",
        value=field.name,
    )


def _invented(field: Field, part: Part, table: TablePlan, blueprint: Blueprint, words: tuple[str, ...]) -> Use:
    described = len(field.description.split()) >= 3 or field.required
    provenance = Provenance.INFERRED if described else Provenance.INVENTED
    source = field
    if field.is_array:
        items = field.schema.get("items")
        source = _element(field, items if isinstance(items, dict) else {})
    clash = table.find(words)
    if clash and not same_kind(clash, source):
        words = ("filter", *words)
    column = attribute(source, table, blueprint, provenance=provenance, evidence=_from(part, field), words=words)
    if column.role == ColumnRole.ID:
        return Use(
            field, "identifier", table, column, "in" if field.is_array else "eq", Provenance.DECLARED, "names the row"
        )
    return Use(
        field,
        "filter",
        table,
        column,
        _test(field, column),
        provenance,
        f"description of {field.name}" if described else "nothing else speaks of it",
    )


def _element(field: Field, items: dict) -> Field:  # type: ignore[type-arg]
    kinds = {"string": ColumnType.TEXT, "integer": ColumnType.INTEGER, "number": ColumnType.NUMBER}
    kind = kinds.get(str(items.get("type")), ColumnType.JSON)
    enum = items.get("enum")
    return replace(field, schema=dict(items), type=kind, enum=tuple(enum) if isinstance(enum, list) else ())


def _from(part: Part, field: Field) -> str:
    return f"{part.tool.name}.inputSchema/{field.dotted}"


def _level(column: ColumnPlan) -> Provenance:
    return Provenance.INFERRED if column.provenance != Provenance.INVENTED else Provenance.INVENTED


def _evidence(column: ColumnPlan) -> str:
    return column.evidence or column.name
