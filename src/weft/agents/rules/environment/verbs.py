"""The verb lexicon: what kind of operation a word in a tool's name or an action value stands for."""

from dataclasses import dataclass

from weft.agents.rules.environment.words import listed

KIND_OF_VERB: dict[str, str] = {}


def _add(kind: str, words: str) -> None:
    for word in words.split():
        KIND_OF_VERB.setdefault(word, kind)


# Order matters: the first kind given to a word keeps it.
_add("list", "list browse ls listing enumerate index all")
_add("search", "search find query filter lookup discover locate suggest explore")
_add("count", "count")
_add("aggregate", "aggregate stats statistics totals sum average avg tally")
_add("get", "get fetch read retrieve show view describe load inspect detail details peek whoami info")
_add("upsert", "upsert ensure")
_add(
    "create",
    "create insert register make schedule place book draft compose record log buy purchase invite "
    "submit provision build open raise request issue announce onboard enroll rent hire",
)
_add("send", "send post publishmessage reply respond comment say tweet email notify forward message")
_add("add", "add append attach new")
_add(
    "update",
    "update edit modify patch change rename adjust configure customize amend revise reorder resize "
    "reschedule reset redo increment decrement rotate tune upgrade downgrade renew extend refresh reassign rate",
)
_add("set", "set put save store write replace")
_add("delete", "delete remove destroy drop purge erase rm del uninstall unregister unschedule wipe prune discard")
_add("clear", "clear empty flush")
_add("copy", "copy duplicate clone fork")
_add("move", "move transfer relocate migrate")
_add("link", "link associate bind connect")
_add("unlink", "unlink detach disassociate unbind disconnect unassign untag unlabel")
_add(
    "run",
    "run trigger execute launch invoke perform dispatch rerun retry replay recreate rebuild redeploy deploy sync "
    "apply process provisioning install scan backup restart reboot reload power snapshot",
)
_add(
    "compute",
    "validate check test analyze analyse convert format calculate compute render preview optimize optimise parse "
    "explain compare diff estimate generate translate summarize summarise plan verify evaluate predict recommend "
    "diagnose audit debug profile simulate benchmark detect extract classify transform encode decode hash expand "
    "wait poll ping health echo think help measure inspectdom lint cite trace download export upload import "
    "screenshot capture navigate click hover type press scroll drag fill watch monitor subscribe tail stream",
)


@dataclass(frozen=True)
class StateVerb:
    """What a state verb does to a row: a lifecycle state, or a flag set true or false.

    Attributes:
        state: past participle that names the state, e.g. ``closed``.
        flag: word of a boolean attribute, or ``""`` for lifecycle states.
        value: what the flag becomes.
        aliases: other spellings of the state in enums.
    """

    state: str
    flag: str = ""
    value: bool = True
    aliases: tuple[str, ...] = ()


STATE_VERBS: dict[str, StateVerb] = {
    "close": StateVerb("closed", aliases=("close", "done")),
    "reopen": StateVerb("open", aliases=("reopened", "opened", "reopen")),
    "approve": StateVerb("approved", aliases=("approve", "accepted", "active")),
    "reject": StateVerb("rejected", aliases=("reject", "declined", "denied")),
    "decline": StateVerb("declined", aliases=("rejected", "decline", "denied")),
    "deny": StateVerb("denied", aliases=("rejected", "declined")),
    "accept": StateVerb("accepted", aliases=("approved", "accept")),
    "cancel": StateVerb("cancelled", aliases=("canceled", "cancel")),
    "abort": StateVerb("aborted", aliases=("cancelled", "canceled")),
    "complete": StateVerb("completed", aliases=("complete", "done", "finished", "closed")),
    "finish": StateVerb("finished", aliases=("completed", "complete", "done")),
    "finalize": StateVerb("finalized", aliases=("final", "completed")),
    "resolve": StateVerb("resolved", aliases=("resolve", "closed")),
    "unresolve": StateVerb("open", aliases=("unresolved", "reopened")),
    "acknowledge": StateVerb("acknowledged", aliases=("ack",)),
    "escalate": StateVerb("escalated"),
    "publish": StateVerb("published", aliases=("publish", "public", "live")),
    "unpublish": StateVerb("draft", aliases=("unpublished", "private")),
    "start": StateVerb("running", aliases=("started", "active", "in_progress", "on")),
    "stop": StateVerb("stopped", aliases=("inactive", "off", "stop", "shutdown")),
    "shutdown": StateVerb("stopped", aliases=("shutdown", "off", "inactive")),
    "shut": StateVerb("stopped", aliases=("shutdown", "off")),
    "pause": StateVerb("paused", aliases=("pause", "suspended")),
    "unpause": StateVerb("active", aliases=("running", "unpaused")),
    "resume": StateVerb("active", aliases=("running", "resumed")),
    "suspend": StateVerb("suspended", aliases=("paused", "inactive")),
    "unsuspend": StateVerb("active"),
    "merge": StateVerb("merged"),
    "refund": StateVerb("refunded"),
    "ship": StateVerb("shipped"),
    "fulfill": StateVerb("fulfilled"),
    "fulfil": StateVerb("fulfilled"),
    "confirm": StateVerb("confirmed"),
    "revoke": StateVerb("revoked"),
    "expire": StateVerb("expired"),
    "void": StateVerb("voided", aliases=("void",)),
    "dismiss": StateVerb("dismissed"),
    "snooze": StateVerb("snoozed"),
    "halt": StateVerb("halted", aliases=("stopped",)),
    "terminate": StateVerb("terminated"),
    "kill": StateVerb("killed", aliases=("terminated", "stopped")),
    "archive": StateVerb("archived", "archived", True, ("archive",)),
    "unarchive": StateVerb("active", "archived", False),
    "restore": StateVerb("active", "deleted", False, ("restored",)),
    "undelete": StateVerb("active", "deleted", False),
    "untrash": StateVerb("active", "trashed", False),
    "trash": StateVerb("trashed", "trashed", True),
    "pin": StateVerb("pinned", "pinned", True),
    "unpin": StateVerb("unpinned", "pinned", False),
    "lock": StateVerb("locked", "locked", True),
    "unlock": StateVerb("unlocked", "locked", False),
    "star": StateVerb("starred", "starred", True),
    "unstar": StateVerb("unstarred", "starred", False),
    "favorite": StateVerb("favorite", "favorite", True),
    "unfavorite": StateVerb("normal", "favorite", False),
    "enable": StateVerb("enabled", "enabled", True, ("active",)),
    "disable": StateVerb("disabled", "enabled", False, ("inactive",)),
    "activate": StateVerb("active", "active", True, ("activated", "enabled")),
    "deactivate": StateVerb("inactive", "active", False, ("deactivated", "disabled")),
    "mute": StateVerb("muted", "muted", True),
    "unmute": StateVerb("unmuted", "muted", False),
    "block": StateVerb("blocked", "blocked", True),
    "unblock": StateVerb("unblocked", "blocked", False),
    "ban": StateVerb("banned", "banned", True),
    "unban": StateVerb("unbanned", "banned", False),
    "hide": StateVerb("hidden", "hidden", True),
    "unhide": StateVerb("visible", "hidden", False),
    "protect": StateVerb("protected", "protected", True),
    "unprotect": StateVerb("unprotected", "protected", False),
    "follow": StateVerb("followed", "followed", True),
    "unfollow": StateVerb("unfollowed", "followed", False),
    "like": StateVerb("liked", "liked", True),
    "unlike": StateVerb("unliked", "liked", False),
    "unsubscribe": StateVerb("unsubscribed", aliases=("unsubscribe",)),
    "freeze": StateVerb("frozen", "frozen", True),
    "unfreeze": StateVerb("active", "frozen", False),
    "flag": StateVerb("flagged", "flagged", True),
    "unflag": StateVerb("unflagged", "flagged", False),
    "bookmark": StateVerb("bookmarked", "bookmarked", True),
    "receive": StateVerb("received", aliases=("arrived",)),
    "deliver": StateVerb("delivered"),
    "win": StateVerb("won", aliases=("closed_won",)),
    "lose": StateVerb("lost", aliases=("closed_lost",)),
    "withdraw": StateVerb("withdrawn"),
    "redeem": StateVerb("redeemed"),
    "claim": StateVerb("claimed"),
    "settle": StateVerb("settled", aliases=("paid",)),
    "retire": StateVerb("retired"),
    "checkin": StateVerb("checked_in", aliases=("in_house", "arrived", "seated", "checkedin")),
    "checkout": StateVerb("checked_out", aliases=("departed", "left", "checkedout")),
    "hold": StateVerb("held", "held", True),
    "unhold": StateVerb("active", "held", False),
    "unwatch": StateVerb("unwatched", "watched", False),
}
"""Verbs that change one status or flag of a row."""

MARKS: dict[str, StateVerb] = {
    "read": StateVerb("read", "read", True),
    "unread": StateVerb("unread", "read", False),
    "seen": StateVerb("seen", "seen", True),
    "complete": StateVerb("completed", aliases=("complete", "done")),
    "done": StateVerb("done", aliases=("completed",)),
    "spam": StateVerb("spam", "spam", True),
    "paid": StateVerb("paid"),
    "favorite": StateVerb("favorite", "favorite", True),
    "resolved": StateVerb("resolved"),
}
"""What ``mark X as ...`` means."""

AMBIGUOUS = frozenset(
    listed(
        "post, query, check, test, validate, open, record, log, request, process, message, email, "
        "comment, info, index, all, build, run, execute, apply, put, load, view, read, follow, watch, "
        "like, start, stop, resolve, issue, manage, handle, control, set, verify, sync, scan, trigger, "
        "power "
    )
)
"""Words that read as a write or as a read; a hint decides, and so does what follows them."""

READ_KINDS = frozenset({"get", "list", "search", "count", "aggregate"})
WRITE_KINDS = frozenset(
    listed("create, send, add, update, set, upsert, delete, clear, copy, move, link, unlink, run, transition, mark ")
)

STOP_WORDS = frozenset(
    listed(
        "a, an, the, my, your, our, all, any, some, single, specific, multiple, many, each, every, "
        "current, existing, given, detailed, details, detail, info, information, full, complete, new, "
        "recent, latest, own, based, available, particular, certain, authenticated, user's, more, about, "
        "batch, bulk, by, id, ids, via, using, and, or, one, additional, raw, custom, mine, me "
    )
)
PREPOSITIONS = frozenset(
    listed(
        "for, of, in, from, to, on, at, with, within, into, under, inside, onto, between, across, per, "
        "against, without, near "
    )
)
ASPECTS = frozenset(
    listed(
        "detail, details, info, information, metadata, summary, content, contents, overview, data, "
        "status, profile, configuration, config, settings, setting, state, text, record, description, "
        "count, history, body, property, properties, full, result, results, list, entry "
    )
)
"""Trailing nouns that name a side of an entity, not another entity, when the rest is an entity of its own."""
