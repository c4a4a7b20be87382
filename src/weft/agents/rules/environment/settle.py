"""Settling: what arguments need once every tool's columns are known."""

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.intents import noun
from weft.agents.rules.environment.lexicon import singular_text
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.read import age_column, sort_names
from weft.agents.rules.environment.selecting import text_columns
from weft.agents.rules.environment.states import settle_state
from weft.agents.rules.environment.words import tokens
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType

_NEUTRAL_SORTS = frozenset(
    {"relevance", "best match", "best_match", "default", "none", "auto", "random", "score", "rank"}
)
_SORTABLE = frozenset(
    {ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATETIME, ColumnType.DATE, ColumnType.BOOLEAN}
)


def settle_part(part: Part, blueprint: Blueprint) -> None:
    """Resolve the options of a part's arguments against the tables as they are now."""
    table = part.main()
    if part.intent.kind == "transition":
        settle_state(part)
    if part.intent.end:
        age_column(table)
    for use in part.uses:
        settle = _SETTLERS.get(use.role)
        if settle is not None:
            settle(use, part, table, blueprint)


def _include(use: Use, part: Part, table: TablePlan, blueprint: Blueprint) -> None:
    names = _asked_names(use)
    targets: dict[str, object] = {}
    labels: dict[str, object] = {}
    for name in names:
        target = _target(name, use, part, table, blueprint)
        if target is None:
            continue
        label, value = target
        targets[label] = value
        labels[label] = name
    use.options |= {"targets": targets, "labels": labels}
    if not targets:
        use.role, use.provenance, use.evidence = "inert", Provenance.INERT, "verbosity: nothing stored can be added"


def _asked_names(use: Use) -> list[str]:
    if not use.options.get("list"):
        return ["_".join(use.options["words"])]
    items = use.field.schema.get("items")
    enum = use.field.enum or (items.get("enum", ()) if isinstance(items, dict) else ())
    return [str(value) for value in enum]


def _target(name: str, use: Use, part: Part, table: TablePlan, blueprint: Blueprint) -> tuple[str, object] | None:
    words = noun(tokens(name))
    for child, column in blueprint.referencing(table.name):
        if child.phrase in (words, (*table.phrase, *words)) and child is not table:
            label = name if table.find(tokens(name)) is None else f"{name}_included"
            return label, (child, column)
    if part.tool.output_schema is not None and (part.tool.output_schema or {}).get("properties"):
        return None
    column_found = table.find(words)
    if column_found is None:
        column_found = table.plain(
            "_".join(words) or "extra", ColumnType.TEXT, evidence=f"{part.tool.name}.inputSchema/{use.field.dotted}"
        )
        column_found.hidden = True
    return (column_found.field, column_found) if column_found.hidden else None


def _include_state(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    state = use.options["state"]
    for words in ((state,), ("is", state)):
        found = table.find(words)
        if found is not None and found.type == ColumnType.BOOLEAN:
            use.column = found
            use.options["column"] = found.name
            return
    name = state if table.find((state,)) is None else f"is_{state}_row"
    column = table.plain(
        name, ColumnType.BOOLEAN, evidence=f"{part.tool.name} hides such rows", provenance=Provenance.INFERRED
    )
    if column.default is None:
        column.default = False
    use.column = column
    use.options["column"] = column.name


def _precondition(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    field = use.field
    words = tuple(word for word in field.words if word not in ("expected", "if", "match")) or ("etag",)
    found = table.find(words)
    if found is None or found.type == ColumnType.JSON:
        kind = field.type if field.type in (ColumnType.INTEGER, ColumnType.TEXT) else ColumnType.TEXT
        found = table.plain(
            "_".join(words) if found is None else "version_tag",
            kind,
            evidence=f"{part.tool.name}.inputSchema/{field.dotted}",
            provenance=Provenance.INFERRED,
        )
    use.column = found


def _force(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    column = table.find(("protected",))
    if column is None or column.type != ColumnType.BOOLEAN:
        column = table.plain(
            "deletion_protected", ColumnType.BOOLEAN, evidence=f"{part.tool.name}.inputSchema/{use.field.dotted}"
        )
    if column.default is None:
        column.default = False
    use.column = column
    use.provenance = Provenance.INVENTED
    use.options["column"] = column.name


def _sort(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    columns: dict[str, str] = {}
    down: list[str] = []
    if not use.field.enum:
        for name, target in sort_names(table).items():
            columns[name] = target
            for pattern in (f"{name}:desc", f"-{name}", f"{name} desc", f"{name} DESC", f"{name}_desc"):
                columns.setdefault(pattern, target)
                down.append(pattern)
            for pattern in (f"{name}:asc", f"+{name}", f"{name} asc", f"{name} ASC", f"{name}_asc"):
                columns.setdefault(pattern, target)
    for value in use.field.enum:
        text = str(value)
        words, descends = _sort_words(text)
        if descends:
            down.append(text)
        columns[text] = table.id if text.lower() in _NEUTRAL_SORTS else _sort_column(words, use, part, table).name
    use.options |= {"columns": columns, "descending": tuple(down)}


def _sort_words(text: str) -> tuple[tuple[str, ...], bool]:
    words = tokens(text)
    descends = (
        text.startswith("-")
        or (len(words) > 1 and words[-1] in ("desc", "descending"))
        or words[:1] in (("newest",), ("latest",), ("recent",), ("highest",))
    )
    words = tuple(word for word in words if word not in ("asc", "desc", "ascending", "descending", "by"))
    if words in (
        ("newest",),
        ("latest",),
        ("oldest",),
        ("recent",),
        ("recency",),
        ("new",),
        ("most", "recent"),
        ("old",),
    ):
        words = ("created", "at")
    return words or ("created", "at"), descends


def _sort_column(words: tuple[str, ...], use: Use, part: Part, table: TablePlan) -> ColumnPlan:
    for candidate in (words, (*words, "at"), (*words, "date"), ("date", *words)):
        found = table.find(candidate)
        if found is not None and found.type in _SORTABLE and not found.hidden:
            return found
    evidence = f"{part.tool.name}.inputSchema/{use.field.dotted}"
    dated = words[0] in ("created", "updated", "modified", "date", "time") or words[-1] in (
        "at",
        "date",
        "time",
        "created",
        "updated",
    )
    kind = (
        ColumnType.DATETIME
        if dated
        else (
            ColumnType.TEXT
            if words[-1] in ("name", "title", "key", "type", "status", "priority", "email", "subject")
            else ColumnType.INTEGER
        )
    )
    if words in (("created",), ("updated",)):
        words = (*words, "at")
    column = table.plain("_".join(words) or "rank", kind, evidence=evidence, provenance=Provenance.DECLARED)
    if column.type == ColumnType.JSON:
        column = table.plain(
            "_".join((*words, "rank")), ColumnType.INTEGER, evidence=evidence, provenance=Provenance.DECLARED
        )
    if (
        kind == ColumnType.DATETIME
        and words[0] in ("created", "updated")
        and column.role == ColumnRole.ATTRIBUTE
        and not column.written
    ):
        column.role = ColumnRole.CREATED if words[0] == "created" else ColumnRole.UPDATED
    return column


def _search(_use: Use, _part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    text_columns(table)


def _level(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    if part.tool.output_schema is not None and (part.tool.output_schema or {}).get("properties"):
        use.role, use.provenance, use.evidence = "inert", Provenance.INERT, "verbosity"
    elif sum(not column.hidden for column in table.columns) < 2:
        table.plain("description", ColumnType.TEXT, evidence=f"{singular_text(use.field.words)} leaves it out")


def _projection(use: Use, part: Part, table: TablePlan, _blueprint: Blueprint) -> None:
    if part.tool.output_schema is not None and (part.tool.output_schema or {}).get("properties"):
        use.role, use.provenance, use.evidence = "inert", Provenance.INERT, "format: the declared result is whole"
    elif sum(not column.hidden for column in table.columns) < 2:
        table.plain("description", ColumnType.TEXT, evidence=f"{use.field.name} leaves it out")


_SETTLERS = {
    "include": _include,
    "include_state": _include_state,
    "precondition": _precondition,
    "force": _force,
    "sort": _sort,
    "search": _search,
    "level": _level,
    "projection": _projection,
}
