"""The verb of an action, as a person would say it (pure)."""

from weft.agents.rules.tasks.actions import Action
from weft.agents.rules.tasks.words import split

VERBS = frozenset(
    (
        "accept activate add adjust apply approve archive assign attach authorize ban block book bookmark "
        "borrow buy cancel charge check checkout clear clone close collapse comment complete confirm connect "
        "copy create deactivate decline delete deploy detach disable disconnect dismiss dispatch downgrade "
        "duplicate edit enable end enroll escalate exclude expire extend favorite finish flag follow forward "
        "freeze grant hide hold import increase invite join kick label leave like link lock log mark merge "
        "modify move mute open order pause pay pin place play post publish purchase put rate record refund "
        "register reject release remove rename renew reopen reorder replace reply report request reschedule "
        "reserve reset resolve respond restart restore resume retry return review revoke run save schedule "
        "send set share ship snooze split star start stop submit subscribe suspend swap tag terminate toggle "
        "track transfer trash trigger unarchive unassign unban unblock unfollow unlink unlock unmark unmute "
        "unpin unpublish unstar unsubscribe update upgrade upload upvote void vote withdraw write "
    ).split()
)

EDITING = frozenset("add adjust change create edit modify put replace save set update write".split())
"""Verbs that say no more than that values are written."""

PLAIN = {"create": "add", "update": "update", "delete": "delete", "link": "add", "unlink": "remove", "upsert": "save",
         "transition": "move on", "move": "move", "toggle": "toggle", "append": "extend", "increment": "increase",
         "set": "set", "archive": "archive", "copy": "copy", "send": "send"}  # fmt: skip


def verb_of(action: Action) -> str:
    """Return the verb of an action: its own where the name or the case holds one, else that of its intent."""
    for words in (split(action.label), split(action.tool)):
        for word in words:
            if word in VERBS or (word[:2] in ("un", "re") and word[2:] in VERBS):
                return word
    return PLAIN.get(action.case.intent, "update")
