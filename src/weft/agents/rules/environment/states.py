"""States: the column and value that a state verb means, and the states a row may come from."""

import re
from typing import Any

from weft.agents.rules.environment.blueprint import ColumnPlan, TablePlan
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.verbs import StateVerb
from weft.agents.rules.environment.words import listed
from weft.records.expression import Expr, const
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnRole, ColumnType

_INITIAL = {
    "closed": "open",
    "open": "closed",
    "approved": "pending",
    "rejected": "pending",
    "declined": "pending",
    "denied": "pending",
    "accepted": "pending",
    "cancelled": "active",
    "aborted": "active",
    "completed": "open",
    "finished": "running",
    "finalized": "draft",
    "resolved": "open",
    "acknowledged": "triggered",
    "escalated": "open",
    "published": "draft",
    "draft": "published",
    "running": "stopped",
    "stopped": "running",
    "paused": "active",
    "active": "paused",
    "suspended": "active",
    "merged": "open",
    "refunded": "paid",
    "shipped": "pending",
    "fulfilled": "open",
    "confirmed": "pending",
    "revoked": "active",
    "expired": "active",
    "voided": "open",
    "dismissed": "open",
    "snoozed": "open",
    "halted": "running",
    "terminated": "running",
    "killed": "running",
    "unsubscribed": "subscribed",
    "paid": "open",
    "done": "open",
}
STARTING = listed(
    "open, draft, active, pending, new, created, todo, to do, queued, enabled, opened, running, "
    "backlog, inactive, scheduled, unread, triggered, paused, private, subscribed "
)


def _same(one: object, two: str) -> bool:
    return "".join(c for c in str(one).lower() if c.isalnum()) == "".join(c for c in two.lower() if c.isalnum())


def match_state(column: ColumnPlan, verb: StateVerb) -> Any:
    """The value of an enumerated column that means the verb's state."""
    for name in (verb.state, *verb.aliases):
        for value in column.enum:
            if _same(value, name):
                return value
    return None


def settle_state(part: Part) -> None:
    """Choose the column, target and source states of a transition; makes the column when there is none."""
    table = part.main()
    verb = part.intent.state
    assert verb is not None
    part.options["done"] = verb.state
    if not part.rest:
        listed_states = [column for column in table.columns if column.type == ColumnType.TEXT and column.enum]
        usual = [column for column in listed_states if column.key in (("status",), ("state",))]
        # A flag goes before other enumerated attributes, and a status before the flag.
        others = [] if verb.flag else [column for column in listed_states if column not in usual]
        for column in (*usual, *others):
            value = match_state(column, verb)
            if value is not None:
                _use(part, column, value, sources_of(column, value, part.tool.description))
                column.role = ColumnRole.STATUS
                return
    if verb.flag:
        flag = _flag(table, part, verb)
        _use(part, flag, verb.value, [not verb.value])
        return
    column = _status(table, part)
    value = match_state(column, verb) or _described(column, part)
    if value is None:
        if column.enum and column.provenance == Provenance.DECLARED:
            raise Refused(
                RefusalCode.NOTHING_TO_WRITE,
                f"none of the declared states of {table.entity} means {verb.state!r}",
                "declare the state, or say in the description which state the tool sets",
                value=", ".join(str(item) for item in column.enum),
            )
        value = verb.state
        if column.enum:
            column.enum.append(value)
    _use(part, column, value, sources_of(column, value, part.tool.description) if column.enum else [])


def sources_of(column: ColumnPlan, target: Any, description: str) -> list[Any]:
    """The states that a row may come from: those that the description names, else all but the target."""
    others = [item for item in column.enum if item != target]
    named: list[Any] = []
    for pattern in (
        rf"([\w, -]+?)\s+becomes?\s+[`'\"]?{re.escape(str(target))}\b",
        r"(?:unless|only)\b([^.;]*)",
        r"invalid_state when[^.;]* is not ([^.;]*)",
    ):
        for found in re.findall(pattern, description, re.IGNORECASE):
            text = found.lower().replace("-", "_").replace(" ", "_")
            named = [item for item in others if re.search(rf"(?<![a-z]){re.escape(str(item).lower())}(?![a-z])", text)]
            if named:
                return named
    return others


def _described(column: ColumnPlan, part: Part) -> Any:
    """The one declared state that the description names."""
    text = "".join(c for c in part.tool.description.lower() if c.isalnum())
    named = [item for item in column.enum if "".join(c for c in str(item).lower() if c.isalnum()) in text]
    return named[-1] if named else None


def _use(part: Part, column: ColumnPlan, target: object, sources: list[object]) -> None:
    part.options |= {"column": column.name, "target": target, "sources": sources}


def _flag(table: TablePlan, part: Part, verb: StateVerb) -> ColumnPlan:
    rest = tuple(word for word in part.rest if word not in ("status", "state"))
    for words in ((*rest, verb.flag), ("is", verb.flag)) if rest else ((verb.flag,),):
        found = table.find(words)
        if found is not None and found.type == ColumnType.BOOLEAN and not (rest and words[0] == "is"):
            return _defaulted(found, verb)
    column = table.plain(
        "_".join((*rest, verb.flag)),
        ColumnType.BOOLEAN,
        evidence=f"{part.tool.name} sets it",
        provenance=Provenance.INFERRED,
    )
    if column.type != ColumnType.BOOLEAN:
        column = table.plain(
            "_".join(("is", *rest, verb.flag, "now")),
            ColumnType.BOOLEAN,
            evidence=f"{part.tool.name} sets it",
            provenance=Provenance.INFERRED,
        )
    return _defaulted(column, verb)


def _defaulted(column: ColumnPlan, verb: StateVerb) -> ColumnPlan:
    if column.default is None:
        column.default = verb.flag in ("enabled", "active")
    if not column.written:
        column.nullable = False
    return column


def _status(table: TablePlan, part: Part) -> ColumnPlan:
    verb = part.intent.state
    assert verb is not None
    name = "_".join((*part.rest, "status"))
    found = table.find((*part.rest, "status")) or (
        table.find((*part.rest, "state")) if part.rest else table.find(("state",))
    )
    if (
        found is not None
        and found.type == ColumnType.TEXT
        and found.role not in (ColumnRole.ID, ColumnRole.FOREIGN_KEY)
    ):
        return found
    column = table.plain(
        name if found is None else f"{name}_now",
        ColumnType.TEXT,
        evidence=f"{part.tool.name} sets it",
        provenance=Provenance.INFERRED,
    )
    column.role = ColumnRole.STATUS
    column.nullable = False
    initial = _INITIAL.get(verb.state, "open")
    column.enum = [initial, verb.state]
    column.default = initial
    return column


_PARTICIPLES = {"send": "sent", "post": "posted", "book": "booked", "place": "placed", "submit": "submitted",
                "schedule": "scheduled", "draft": "draft", "pay": "paid", "publish": "published"}  # fmt: skip


def starting_state(part: Part) -> dict[str, Expr]:
    """The state of a new row that the tool's own words name: ``create_draft`` makes a draft."""
    table = part.main()
    names = [_PARTICIPLES.get(part.intent.verb, ""), *part.intent.words, *part.intent.phrase]
    for column in table.columns:
        if column.role != ColumnRole.STATUS or any(use.column is column for use in part.uses):
            continue
        for name in names:
            value = next((item for item in column.enum if name and _same(item, name)), None)
            if value is not None:
                return {column.name: const(value)}
    return {}


def settle_defaults(table: TablePlan) -> None:
    """Give status columns a state for new rows."""
    for column in table.columns:
        if column.role == ColumnRole.STATUS and column.enum and column.default is None:
            column.default = next(
                (value for start in STARTING for value in column.enum if _same(value, start)), column.enum[0]
            )
