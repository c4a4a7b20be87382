"""The ladder of readings: what else an argument or a tool may mean, in the order in which it is tried.

Validation runs a draft and names an argument without effect, a write that no read shows or a call that cannot
succeed. The next draft takes the next reading of that argument or tool; when its list is used up, the tool is refused.
Each round takes a rung from a list of fixed length, so that revision ends.
"""

from collections.abc import Callable, Mapping

from weft.agents.rules.environment.blueprint import ColumnPlan, TablePlan
from weft.agents.rules.environment.columns import same_kind
from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.intents import noun
from weft.agents.rules.environment.lexicon import control_reason, range_side
from weft.agents.rules.environment.moments import MAKING
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.words import tokens
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType

Rung = Callable[[Part], None]
"""Changes a part to another reading."""

LADDER_CHECKS = ("argument_effect", "write_visible", "normal_call")
_PAGING = ("limit", "offset", "page", "cursor", "sort", "direction")
_ORDERED = (ColumnType.DATETIME, ColumnType.DATE, ColumnType.INTEGER, ColumnType.NUMBER)
_FREE = frozenset({"by", "filter", "only", "with", "id", "name", "the", "of", "in", "at", "on", "date", "time"})


def ladder_key(tool: str, check: str, argument: str) -> str:
    """Where the rungs that were tried are counted: per argument, or per tool and check."""
    return f"{tool}/{argument}" if check == "argument_effect" else f"{tool}//{check}"


def climb(part: Part, readings: Mapping[str, int]) -> dict[str, int]:
    """Apply the readings that earlier rounds asked for, and say how many each argument of the part has.

    Args:
        part: a part whose arguments have their first readings.
        readings: rungs asked for, by :func:`ladder_key`.
    """
    lengths: dict[str, int] = {}
    table = part.main()
    for use in list(part.uses):
        key = ladder_key(part.tool.name, "argument_effect", use.field.dotted)
        rungs = _argument_rungs(use, part, table)
        lengths[key] = len(rungs)
        _take(rungs, readings.get(key, 0), part)
    shown = ladder_key(part.tool.name, "write_visible", "")
    rungs = _visible_rungs(part, table)
    lengths[shown] = len(rungs)
    _take(rungs, readings.get(shown, 0), part)
    called = ladder_key(part.tool.name, "normal_call", "")
    lengths[called] = int(part.intent.kind in MAKING and table.id_style.value == "natural" and not table.relation)
    return lengths


def generated_keys(readings: Mapping[str, int]) -> set[str]:
    """The tools whose rows get a generated key, because the caller's names were taken in every call that was tried."""
    return {key.split("//", 1)[0] for key, rung in readings.items() if key.endswith("//normal_call") and rung}


def _take(rungs: list[Rung], number: int, part: Part) -> None:
    if 0 < number <= len(rungs):
        rungs[number - 1](part)


def _argument_rungs(use: Use, part: Part, table: TablePlan) -> list[Rung]:
    """The other readings of one argument, best first."""
    field = use.field
    rungs: list[Rung] = []
    if part.intent.reads and use.role in _PAGING:
        rungs += [_as_scope(other) for other in part.role("identifier") if _can_be_scope(other, table)]
    if part.intent.reads and use.role in ("filter", "range", "search", "include", "include_state", "level"):
        rungs += [_mapped(use, column) for column in _akin(use, table)]
        rungs += [_ranged(use, column, side) for column, side in _bounded(use, table)]
        if _names_columns(field, table) and not field.required:
            rungs += [_role(use, role) for role in ("sort", "projection") if part.one(role) is None]
        if use.role == "filter" and use.column is not None and _free_text(field, use.column):
            rungs.append(_tested(use, "contains"))
    if not part.intent.reads and use.role in ("attribute", "link", "status"):
        rungs += [_stored(use, column) for column in _akin(use, table) if column.role == ColumnRole.ATTRIBUTE]
    reason = control_reason(field)
    if reason and not field.required and use.role != "inert":
        rungs.append(_inert(use, reason))
    return rungs


def _akin(use: Use, table: TablePlan) -> list[ColumnPlan]:
    """Other columns that share a word with the argument and can hold its values."""
    words = set(noun(use.field.words)) - _FREE
    found = [
        column
        for column in table.columns
        if column is not use.column and not column.hidden and column.role not in (ColumnRole.ID, ColumnRole.FOREIGN_KEY)
    ]
    return [column for column in found if words & set(column.key) and same_kind(column, use.field)]


def _bounded(use: Use, table: TablePlan) -> list[tuple[ColumnPlan, str]]:
    """Ordered columns that the argument may bound, with the side."""
    side, _ = range_side(use.field.words, use.field.description)
    if not side or use.field.enum or use.field.is_array:
        return []
    columns = [c for c in table.columns if c is not use.column and c.type in _ORDERED and not c.references]
    return [(c, side) for c in columns if c.role != ColumnRole.ID and same_kind(c, use.field)]


def _names_columns(field: Field, table: TablePlan) -> bool:
    """True if the argument's listed values are names of columns."""
    items = field.schema.get("items")
    values = field.enum or (items.get("enum") or () if isinstance(items, dict) else ())
    return bool(values) and all(table.find(tokens(str(value))) is not None for value in values)


def _free_text(field: Field, column: ColumnPlan) -> bool:
    text = field.type == column.type == ColumnType.TEXT
    return text and not field.enum and not column.enum and not column.references


def _can_be_scope(use: Use, table: TablePlan) -> bool:
    return use.field.required and not use.options.get("many") and use.column is table.column(table.id)


def _as_scope(use: Use) -> Rung:
    """A list that an id selects holds the rows that belong to the id, not the one row of that id."""

    def rung(part: Part) -> None:
        table = part.main()
        own = next((c for c in table.columns if c.references == table.name), None)
        key = table.column(table.id)
        if own is None:
            own = table.plain(
                "_".join(("parent", *table.phrase, key.name)),
                key.type,
                evidence=f"{part.tool.name} lists what belongs to it",
                provenance=Provenance.INFERRED,
            )
        use.role, use.column, use.test = "filter", own, "eq"
        use.provenance, use.evidence = Provenance.INFERRED, "names what the rows belong to"

    return rung


def _change(use: Use, **changes: object) -> Rung:
    def rung(part: Part) -> None:
        left = use.column
        for name, value in changes.items():
            setattr(use, name, value)
        _forget(left, part)

    return rung


def _forget(column: ColumnPlan | None, part: Part) -> None:
    """Drop a column that only the reading that was given up had made."""
    table = part.main()
    if column is None or column.provenance != Provenance.INVENTED or column.written:
        return
    if column.evidence.startswith(f"{part.tool.name}.") and all(use.column is not column for use in part.uses):
        table.columns = [item for item in table.columns if item is not column]


def _mapped(use: Use, column: ColumnPlan) -> Rung:
    test = "in" if use.field.is_array else "eq"
    if column.type == ColumnType.JSON:
        test = "has_any" if use.field.is_array else "has"
    level, evidence = Provenance.INFERRED, column.evidence
    return _change(use, role="filter", column=column, test=test, provenance=level, evidence=evidence)


def _ranged(use: Use, column: ColumnPlan, side: str) -> Rung:
    level, evidence = Provenance.INFERRED, column.evidence
    return _change(use, role="range", column=column, test=side, provenance=level, evidence=evidence)


def _tested(use: Use, test: str) -> Rung:
    return _change(use, test=test)


def _role(use: Use, role: str) -> Rung:
    return _change(use, role=role, column=None, test="", evidence="its values are names of attributes")


def _stored(use: Use, column: ColumnPlan) -> Rung:
    def rung(part: Part) -> None:
        _change(use, role="attribute", column=column, evidence=column.evidence)(part)
        column.written = True

    return rung


def _inert(use: Use, reason: str) -> Rung:
    return _change(use, role="inert", column=None, test="", provenance=Provenance.INERT, evidence=reason)


def _visible_rungs(part: Part, table: TablePlan) -> list[Rung]:
    """Other columns for what a write sets: those that declared results show, of a shared word, per attribute."""
    if part.intent.reads:
        return []
    rungs: list[Rung] = []
    for use in part.role("attribute", "status"):
        if use.column is None or use.column.shown:
            continue
        rungs += [_stored(use, column) for column in _akin(use, table) if column.shown]
    return rungs


__all__ = ["LADDER_CHECKS", "Rung", "climb", "generated_keys", "ladder_key"]
