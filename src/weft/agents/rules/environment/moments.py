"""Moments of what happened to a row: ``placed_at`` is set when it is placed, ``closed_at`` when it is closed.

A moment that no create argument gives is never a constant. One that is called as the making of the row (or as the only
thing that can have happened to a new row) comes from the clock when the row is made; one that is called as a state is
empty until a tool brings the row into that state.
"""

from weft.agents.rules.environment.blueprint import ColumnPlan, TablePlan
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.verbs import MARKS, STATE_VERBS
from weft.agents.rules.environment.words import listed
from weft.records.expression import Coalesce, Expr, Now
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType

_DATES = (ColumnType.DATETIME, ColumnType.DATE)
_ENDINGS = frozenset({"at", "on", "date", "time", "datetime", "timestamp"})
_MADE = frozenset(
    listed(
        "created, made, added, posted, sent, placed, booked, registered, submitted, opened, issued, logged, recorded, "
        "uploaded, joined, written, entered, requested, received, announced, ordered, reported, filed, raised, taken, "
        "inserted, saved, linked, invited, enrolled, started, captured, scheduled, granted, given, hired, rated "
    )
)
_SEND = frozenset({"sent", "posted"})
"""Participles that a tool with a sending verb makes true."""
MAKING = ("create", "send", "add", "upsert", "set", "link", "run", "copy")


def participle(column: ColumnPlan) -> str:
    """The past participle in the name of a date column (``closed_at`` -> ``closed``), or ``""``."""
    words = column.key
    if column.type not in _DATES or column.role not in (ColumnRole.ATTRIBUTE, ColumnRole.CREATED) or not words:
        return ""
    if len(words) > 1 and words[-1] in _ENDINGS:
        words = words[:-1]
    last = words[-1]
    known = last in _MADE or last.endswith("ed") or any(verb.state == last for verb in STATE_VERBS.values())
    return last if known else ""


def _state_of(part: Part) -> set[str]:
    """The words by which the state that a transition sets is called."""
    names = {str(part.options.get("done", "")), str(part.options.get("target", ""))}
    verb = part.intent.state
    if verb is not None:
        names |= {verb.state, verb.flag, *verb.aliases}
    for mark, state in MARKS.items():
        if verb is not None and state.state == verb.state:
            names.add(mark)
    return {name.lower() for name in names if name and name != "True"}


def settle_moments(table: TablePlan, parts: list[Part]) -> None:
    """Say for each moment of a table that no argument gives what sets it.

    Args:
        table: whose columns are settled.
        parts: every served part of the server.
    """
    mine = [part for part in parts if part.problem is None and part.table is table]
    moves = [part for part in mine if part.intent.kind == "transition"]
    makers = [part for part in mine if part.intent.kind in MAKING]
    for column in table.columns:
        word = participle(column)
        if column.written and column.shown and column.fallback is not None and column.type in _DATES:
            # A moment that the caller may leave out and every result shows is that of the call.
            for part in makers:
                part.options.setdefault("moments", []).append(column.name)
            continue
        if column.written or column.role == ColumnRole.CREATED or column.type not in _DATES:
            continue
        moved = [part for part in moves if word and word in _state_of(part)]
        for part in moved:
            part.options.setdefault("moments", []).append(column.name)
        sends = [part for part in makers if part.intent.kind == "send" and word in _SEND]
        if sends and len(sends) < len(makers):
            for part in sends:
                part.options.setdefault("moments", []).append(column.name)
            moved = moved or sends
        if moved and not _must_show(column):
            column.nullable, column.default, column.fallback = True, None, None
            continue
        if word in _MADE or (column.shown and column.fallback is not None) or (moved and _must_show(column)):
            _from_clock(column, makers, table)


def _must_show(column: ColumnPlan) -> bool:
    """True if a declared result wants a moment that is not null."""
    return column.shown


def _from_clock(column: ColumnPlan, makers: list[Part], table: TablePlan) -> None:
    """Let the clock set the column when a row is made."""
    if table.readers and not makers:
        return
    if column.type == ColumnType.DATETIME:
        column.role = ColumnRole.CREATED
    else:
        for part in makers:
            part.options.setdefault("moments", []).append(column.name)
    column.default = None
    if column.provenance == Provenance.INVENTED:
        column.provenance, column.evidence = Provenance.INFERRED, "the clock when the row is made"


def with_moments(part: Part, values: dict[str, Expr]) -> dict[str, Expr]:
    """The values of a new row and the moments that the clock sets; a value that the caller gives goes first."""
    found = moments_of(part)
    given = {name: value for name, value in values.items() if name not in found}
    for name, now in found.items():
        given[name] = Coalesce(op="coalesce", items=(values[name], now)) if name in values else now
    return given


def moments_of(part: Part) -> dict[str, Expr]:
    """The values of the moments that a part sets from the clock."""
    table = part.main()
    found: dict[str, Expr] = {}
    for name in part.options.get("moments", []):
        form = "date" if table.column(name).type == ColumnType.DATE else "datetime"
        found[name] = Now(op="now", form=form)  # type: ignore[arg-type]
    return found
