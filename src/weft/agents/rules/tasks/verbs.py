"""The verb of an action, as a person would say it (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.agents.rules.tasks.actions import Action
from weft.agents.rules.tasks.words import PEOPLE, article, field_label, split
from weft.records.base import JSON
from weft.records.contract import Operation, Transition, Update
from weft.records.expression import Const

VERBS = frozenset([
    "accept", "acknowledge", "activate", "add", "adjust", "admit", "advance", "allocate", "answer",
    "apply", "appoint", "approve", "archive", "assign", "attach", "authorize", "award", "ban", "begin",
    "bill", "block", "book", "bookmark", "borrow", "buy", "call", "cancel", "change", "charge", "check",
    "checkout", "claim", "clear", "clone", "close", "collapse", "comment", "complete", "confirm",
    "connect", "convert", "copy", "correct", "create", "deactivate", "decline", "delete", "deliver",
    "demote", "deny", "deploy", "deposit", "detach", "disable", "discharge", "disconnect", "dismiss",
    "dispatch", "downgrade", "draft", "drop", "duplicate", "edit", "enable", "end", "enroll", "escalate",
    "exclude", "expire", "extend", "fail", "favorite", "finalize", "finish", "fix", "flag", "follow",
    "forward", "freeze", "fulfil", "fulfill", "give", "grant", "hide", "hire", "hold", "ignore", "import",
    "increase", "install", "invite", "invoice", "issue", "join", "kick", "label", "launch", "leave",
    "lift", "like", "link", "lock", "log", "lose", "lower", "mail", "mark", "merge", "migrate", "miss",
    "modify", "move", "mute", "notify", "open", "order", "pack", "pause", "pay", "pick", "pin", "place",
    "plan", "play", "post", "postpone", "prescribe", "process", "promote", "prune", "publish", "purchase",
    "put", "quote", "raise", "rate", "reactivate", "reassign", "recall", "receive", "record", "redeem",
    "refund", "register", "reject", "release", "relocate", "remove", "rename", "renew", "rent", "reopen",
    "reorder", "replace", "reply", "report", "request", "requeue", "reschedule", "reserve", "reset",
    "resolve", "respond", "restart", "restore", "resume", "retry", "return", "review", "revoke", "rotate",
    "route", "run", "save", "schedule", "sell", "send", "set", "settle", "share", "ship", "sign",
    "silence", "skip", "snooze", "split", "star", "start", "stop", "submit", "subscribe", "suspend",
    "swap", "sync", "tag", "take", "terminate", "test", "toggle", "track", "transfer", "trash", "trigger",
    "turn", "unarchive", "unassign", "unban", "unblock", "unfollow", "unlink", "unlist", "unlock",
    "unmark", "unmute", "unpin", "unpublish", "unsnooze", "unstar", "unsubscribe", "update", "upgrade",
    "upload", "upvote", "validate", "verify", "void", "vote", "waive", "win", "withdraw", "write"
])  # fmt: skip

EDITING = frozenset(
    ["add", "adjust", "change", "create", "edit", "modify", "put", "replace", "save", "set", "update", "write"]
)
"""Verbs that say no more than that values are written."""

PLAIN = {"create": "add", "update": "update", "delete": "delete", "link": "add", "unlink": "remove", "upsert": "save",
         "transition": "move on", "move": "move", "toggle": "toggle", "append": "extend", "increment": "increase",
         "set": "set", "archive": "archive", "copy": "copy", "send": "send"}  # fmt: skip

PARTICLES = frozenset({"out", "off", "up", "down", "back", "away"})
PLACED = {"in": frozenset({"check", "sign", "log", "clock", "opt", "fill", "phase", "cash", "turn"}),
          "on": frozenset({"turn", "switch"}), "over": frozenset({"hand", "carry", "take", "turn"})}  # fmt: skip
"""Particles that are prepositions after other verbs."""

OUTCOMES = frozenset({"win", "lose", "fail", "miss", "expire"})
"""Verbs of what happens to something: nobody asks for it, people ask to note it."""

COUNTED = frozenset({"no show", "duplicate", "favorite", "favourite", "draft", "template", "lead", "winner"})
"""States that are nouns and take an article."""


@dataclass(frozen=True, slots=True)
class Saying:
    """How an action is asked for: ``{verb} {target}{tail}``.

    Attributes:
        verb: with its particle: ``check in``.
        tail: what follows the target: `` as delivered``.
        whose: the thing of the target that is acted on, where that is another one: ``patient``.
    """

    verb: str
    tail: str = ""
    whose: str = ""


def verb_of(action: Action) -> str:
    """Return the verb of an action: its own where the name or the case holds one, else that of its intent."""
    return saying(action).verb


def saying(action: Action, entities: Sequence[str] = ()) -> Saying:
    """Return how an action is asked for.

    Args:
        action: of whose name the first verb counts; a noun that is a verb elsewhere never wins over it.
        entities: nouns of the server's other tables, which may stand for what is acted on.
    """
    own = split(action.spec.name)
    thing = _thing(action)
    case = split(action.label)[:1]
    if case and is_verb(case[0]):
        own = case
    place = _place(own, thing)
    if place is None:
        state = target_state(action)
        return Saying("mark", f" as {state}") if state else Saying(PLAIN.get(action.case.intent, "update"))
    verb, rest = own[place], own[place + 1 :]
    if verb in ("checkin", "checkout"):
        verb, rest = "check", [verb.removeprefix("check"), *rest]
    if verb == "mark":
        state = _marked(rest, thing) or target_state(action)
        return Saying("mark", f" as {state}" if state else "")
    if verb in OUTCOMES and (state := target_state(action)):
        return Saying("mark", f" as {state}")
    if rest and (rest[0] in PARTICLES or verb in PLACED.get(rest[0], ())):
        verb, rest = f"{verb} {rest[0]}", rest[1:]
    if goal := _goal(rest, thing):
        return Saying(verb, goal)
    other = " ".join(rest)
    stands = len(rest) == 1 and other not in thing and (other in PEOPLE or other in entities)
    return Saying(verb, "", other if stands else "")


def _goal(rest: Sequence[str], thing: Sequence[str]) -> str:
    """Return what a name says it is for, at its end: `` for review``, `` to trash``."""
    words = [word for word in rest if word not in thing]
    return (
        f" {words[0]} {words[1]}" if len(words) == 2 and words[0] in ("for", "to") and words == list(rest[-2:]) else ""
    )


def is_verb(word: str) -> bool:
    """Return whether a word is a verb of the list, or one of them undone or done again."""
    return word in VERBS or (word[:2] in ("un", "re") and word[2:] in VERBS) or word in ("checkin",)


def _thing(action: Action) -> list[str]:
    """Return the words of what an action is about, in singular and plural."""
    words = split(action.table)
    return [*words, *(word.removesuffix("s") for word in words if word.endswith("s"))]


def _place(own: Sequence[str], thing: Sequence[str]) -> int | None:
    """Return where the verb stands in the words of a name."""
    if own and is_verb(own[0]):
        return 0
    # What comes before may be the name of the service or of the entity, whose own words are nouns.
    for place, word in enumerate(own[1:4], 1):
        if is_verb(word) and word not in thing:
            return place
    # A verb that the list does not know stands right before what it acts on.
    return 0 if len(own) > 1 and own[0].isalpha() and own[0] not in thing and own[1] in thing else None


def _marked(rest: Sequence[str], thing: Sequence[str]) -> str:
    """Return the state that a name gives after ``mark`` and the entity."""
    words = [word for word in rest if word not in ("as", "a", "an", "the", "all")]
    while words and words[0] in thing:
        words = words[1:]
    return state_words(" ".join(words)) if words else ""


def state_words(value: JSON) -> str:
    """Return how a state is said after ``as``: ``delivered``, ``a no-show``."""
    said = " ".join(split(str(value)))
    return article(said.replace("no show", "no-show")) if said in COUNTED else said


def target_state(action: Action) -> str:
    """Return the state in which an action always leaves its row, or "" when there is none."""
    for operation in _operations(action.case.operations):
        if isinstance(operation, Transition) and isinstance(operation.to, Const) and operation.table == action.table:
            return state_words(operation.to.value)
    for operation in _operations(action.case.operations):
        if isinstance(operation, Update) and operation.table == action.table:
            flags = [
                name for name, value in operation.values.items() if isinstance(value, Const) and value.value is True
            ]
            if len(flags) == 1:
                return field_label(flags[0])
    return ""


def _operations(operations: Sequence[Operation]) -> Iterator[Operation]:
    for operation in operations:
        yield operation
        for name in ("operations", "otherwise"):
            yield from _operations(getattr(operation, name, ()))
