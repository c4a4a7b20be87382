"""Words for entities, fields and values, as a person would say them (pure)."""

import re
from dataclasses import dataclass

from weft.records.base import JSON
from weft.records.state import Column, ColumnRole, ColumnType, Table

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
PEOPLE = frozenset({"user", "person", "customer", "contact", "member", "employee", "author", "patient", "guest",
                    "player", "student", "teacher", "teammate", "attendee", "owner", "driver", "doctor",
                    "agent"})  # fmt: skip
_MOMENT = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?(Z|[+-]\d{2}:?\d{2})?)?$")
MONEY = frozenset({"price", "amount", "total", "cost", "budget", "balance", "salary", "fee", "refund", "subtotal",
                   "rate"})  # fmt: skip
SHORT = {"id": "ID", "url": "link", "uri": "link", "ids": "IDs", "qty": "quantity", "desc": "description",
         "api": "API", "ai": "AI", "dag": "DAG", "cc": "CC", "bcc": "BCC", "ip": "IP", "isbn": "ISBN", "sku": "SKU",
         "html": "HTML", "pr": "pull request", "num": "number", "dob": "date of birth", "lat": "latitude",
         "lon": "longitude", "lng": "longitude"}  # fmt: skip
MOMENTS = {"created": "creation date", "updated": "last update", "modified": "last update", "changed": "last update",
           "edited": "last update", "starts": "start date", "ends": "end date", "begins": "start date",
           "expires": "expiry date", "expired": "expiry date", "paid": "payment date", "sent": "sending date",
           "deleted": "deletion date", "registered": "registration date",
           "delivered": "delivery date", "occurred": "date", "happened": "date", "expected": "expected date",
           "scheduled": "scheduled date", "planned": "planned date", "estimated": "estimated date",
           "requested": "requested date", "required": "required date", "promised": "promised date"}  # fmt: skip
"""What ``<participle>_at`` and ``<participle>_on`` are called where that is not ``<gerund> date``."""
AGENTS = {"created": "creator", "updated": "last editor", "modified": "last editor", "edited": "last editor",
          "authored": "author", "added": "adder"}  # fmt: skip
STATES = frozenset({"done", "active", "private", "public", "optional", "urgent", "open", "paid", "read", "unread",
                    "online", "available", "complete", "hidden", "visible", "free", "important", "sent", "muted",
                    "valid", "ready", "secret", "readonly", "default", "mandatory", "recurring", "new"})  # fmt: skip
UNLIKE_STATES = frozenset({"feed", "seed", "speed", "need", "embed", "bed", "table", "variable", "cable"})
UNCOUNTED = frozenset({"safety", "information", "feedback", "stock", "weather", "metadata", "equipment", "software",
                       "inventory", "advice", "availability", "progress", "presence", "mail", "usage", "data",
                       "news", "traffic"})  # fmt: skip
"""Nouns without a plural: one speaks of entries."""
UNITS = {"bytes": "bytes", "seconds": "seconds", "minutes": "minutes", "hours": "hours", "days": "days",
         "ms": "milliseconds", "km": "kilometres", "kg": "kilograms", "cm": "centimetres", "percent": "percent",
         "usd": "US dollars", "eur": "euros", "cents": "cents", "mb": "megabytes", "kb": "kilobytes", "m": "metres",
         "pct": "percent"}  # fmt: skip
IRREGULAR = {"person": "people", "child": "children", "status": "statuses", "address": "addresses",
             "series": "series", "news": "news", "data": "data", "media": "media", "information": "information",
             "analysis": "analyses",
             "man": "men", "woman": "women", "foot": "feet", "index": "indexes", "metadata": "metadata"}  # fmt: skip


def split(name: str) -> list[str]:
    """Split a field or tool name into lower-case words."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    words = [word.lower() for word in re.split(r"[^0-9A-Za-z]+", spaced) if word]
    # A lone s is what is left of a possessive: ``developer's replies``.
    return [word for place, word in enumerate(words) if word != "s" or not place]


def spoken(words: list[str]) -> str:
    """Join words as they are said, with the usual abbreviations."""
    return " ".join(SHORT.get(word, word) for word in words)


def label(column: Column, table: Table | None = None) -> str:
    """Return what a person calls a column: ``due date``, ``assignee`` for ``assignee_id``."""
    words = field_label(column.field, table, reference=column.role is ColumnRole.FOREIGN_KEY)
    if column.type is ColumnType.DATE and not set(words.split()) & {"date", "day", "birthday", "birth", "update"}:
        return f"{words} date"
    if column.type is ColumnType.DATETIME and not set(words.split()) & {
        "date",
        "time",
        "at",
        "moment",
        "deadline",
        "update",
    }:
        return f"{words} time"
    return words


def field_label(field: str, table: Table | None = None, *, reference: bool = False) -> str:
    """Return what a person calls a field."""
    words = split(field)
    if len(words) > 1 and words[0] in ("is", "has"):
        words = words[1:]
    if table is not None:
        own = split(table.entity)
        if len(words) > len(own) and words[: len(own)] == own:
            words = words[len(own) :]
    if reference and len(words) > 1 and words[-1] in ("id", "ids", "key", "uuid", "gid"):
        words = words[:-1]
    words = _noun_of(words)
    if len(words) > 1 and words[-1] in UNITS:
        return f"{spoken(words[:-1])} in {UNITS[words[-1]]}"
    return spoken(words) or field


def _noun_of(words: list[str]) -> list[str]:
    """Return a column's words as a noun: ``creator`` for ``created by``, ``shipping date`` for ``shipped at``."""
    if len(words) < 2:
        return words
    *head, last = words
    if last in ("at", "on") and head[-1] not in ("look", "log"):
        if head[-1] in MOMENTS:
            return (
                [*head[:-1], *MOMENTS[head[-1]].split()] if MOMENTS[head[-1]] != "last update" else ["last", "update"]
            )
        return [*head[:-1], gerund(head[-1]) or head[-1], "date"]
    if last == "by" and head[-1].endswith("ed"):
        return [*head[:-1], AGENTS.get(head[-1]) or re.sub(r"ed$", "er", head[-1])]
    if words[0] in ("from", "to") and len(words) == 2 and last not in ("date", "time", "be", "do"):
        return ["source" if words[0] == "from" else "destination", last]
    if words[-2:] == ["assigned", "to"]:
        return [*words[:-2], "assignee"]
    return ["reply-to"] if words in (["reply", "to"], ["in", "reply", "to"]) else words


def gerund(participle: str) -> str:
    """Return the gerund of a regular participle, ``shipping`` for ``shipped``; "" for other words."""
    return participle.removesuffix("ed") + "ing" if re.search(r"[^aeiou]ed$|[aeiouy]yed$|[ou]ed$", participle) else ""


def relation(field: str) -> str:
    """Return what a field says of its value where it is no noun: ``created by``, ``assigned to``, ``in reply to``."""
    words = split(field)
    if len(words) > 2 and words[-1] in ("id", "uuid", "key", "email", "user", "username"):
        words = words[:-1]
    if len(words) < 2 or words[-1] not in ("by", "to", "from"):
        return ""
    if words[-2] == "reply":
        return "in reply to"
    return " ".join(words[-2:]) if re.search(r"ed$|^sent$|^written$|^made$", words[-2]) else ""


def state(column: Column | None, field: str = "") -> str:
    """Return the adjective of a switch, ``pinned`` for ``is_pinned``, or "" when it reads as something else."""
    words = split(column.field if column is not None else field)
    if len(words) > 1 and words[0] == "is":
        return spoken(words[1:])
    last = words[-1] if words else ""
    fits = len(words) == 1 and (last in STATES or re.search(r"[^aeiou]ed$|able$|ible$", last) is not None)
    return last if fits and last not in UNLIKE_STATES else ""


def yes_words(said: str, value: bool) -> str:
    """Return a state as it is or is not: ``done``, ``not done``."""
    return said if value else f"not {said}"


def noun(table: Table) -> str:
    """Return the singular noun of a table's entity; what is no noun by itself is an entry of its kind."""
    words = split(table.entity) or split(table.name)
    if words and (words[-1] in UNCOUNTED or _participle(words[-1])):
        words = [*words, "entry"]
    return spoken(words) or "entry"


def _participle(word: str) -> bool:
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed") and word not in ("shed", "sled")


def is_are(words: str) -> str:
    """Return the verb that agrees with a label."""
    head = words.split(" in ")[0].split(" of ")[0].split(" ")[-1]
    return (
        "are"
        if re.search(r"[^siu]s$", head) and head not in ("series", "news", "canvas", "atlas", "alias", "bias", "gas")
        else "is"
    )


def plural(singular: str) -> str:
    """Return the plural of a noun phrase."""
    head, _, last = singular.rpartition(" ")
    if last in IRREGULAR:
        many = IRREGULAR[last]
    elif re.search(r"(?:[sxz]|ch|sh)$", last):
        many = last + "es"
    elif re.search(r"[^aeiou]y$", last):
        many = last[:-1] + "ies"
    else:
        many = last + "s"
    return f"{head} {many}".strip()


def article(phrase: str) -> str:
    """Return a phrase with its indefinite article."""
    first = phrase.split(" ")[0]
    sounded = bool(re.match(r"[aeio]|u(?!n[aeiou]|s[aei]|r[aeiou]|ti)", phrase.lower()))
    if first.isupper() and 1 < len(first) <= 4:
        sounded = first[0] in "AEFHILMNORSX"
    if phrase.lower().startswith(("one ", "hour", "honest")):
        sounded = phrase.lower().startswith(("hour", "honest"))
    return f"{'an' if sounded else 'a'} {phrase}"


def date_words(value: str) -> str:
    """Return an ISO date or date-time in words: ``12 May 2026``, ``12 May 2026 at 14:30 UTC``."""
    match = _MOMENT.match(value)
    if match is None or not 1 <= int(match[2]) <= 12:
        return value
    words = f"{int(match[3])} {MONTHS[int(match[2]) - 1]} {match[1]}"
    if match[4]:
        seconds = f":{match[6]}" if match[6] and match[6] != "00" else ""
        zone = match[7] or ""
        words += f" at {match[4]}:{match[5]}{seconds}" + (" UTC" if zone == "Z" else f" (UTC{zone})" if zone else "")
    return words


def value_words(value: JSON, column: Column | None = None, *, quoted: bool = True) -> str:
    """Return how a person says a value; free text and names stand in quotation marks."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return listed([value_words(item, column, quoted=quoted) for item in value])
    if not isinstance(value, str):
        return str(value)
    if (column is not None and column.enum and value in column.enum) or not quoted:
        return value.replace("_", " ") if re.fullmatch(r"[A-Za-z0-9_ ]+", value) else value
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?", value):
        return date_words(value)
    if re.fullmatch(r"[^\s@]+@[^\s@]+", value):
        return value
    return f'"{value}"'


SCOPES = frozenset({"workspace", "repository", "repo", "project", "namespace", "organization", "organisation",
                    "org", "team",
                    "account", "region", "cluster", "folder", "database", "schema", "space", "site", "server", "group",
                    "bucket", "tenant", "environment", "directory", "board", "channel", "catalog"})  # fmt: skip


def scoped(name: str) -> bool:
    """Return whether a field says where something is rather than what it is like."""
    words = name.split()
    return bool(words) and (
        words[-1] in SCOPES or (len(words) > 1 and words[-1] in ("name", "key") and words[-2] in SCOPES)
    )


def also(name: str, words: str, so_far: str) -> str:
    """Return how a further value joins a phrase: ``in the project "X"``, then ``and the folder "Y"``."""
    lead = "in" if scoped(name) else "with"
    joined = f" {lead} the " in so_far.rpartition('"')[0][-80:] and so_far.endswith('"')
    return f" and the {name} {words}" if joined else f" {lead} the {name} {words}"


def listed(items: list[str]) -> str:
    """Join items with commas and an "and"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + f" and {items[-1]}" if items else ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A column's semantic type and the kind of answer its values make."""

    semantic: str
    answer: str


def meaning(column: Column, table: Table) -> Meaning:
    """Return the semantic type of a column, for binding tasks to each other, and how a reply states its values."""
    words = set(split(column.field))
    kind = column.type
    if column.role is ColumnRole.ID:
        return Meaning(f"id:{table.name}", "text")
    if column.references:
        return Meaning(f"id:{column.references}", "text")
    if column.schema_.get("format") == "email" or "email" in words:
        return Meaning("email", "text")
    if kind is ColumnType.BOOLEAN:
        return Meaning("boolean", "boolean")
    if kind in (ColumnType.DATE, ColumnType.DATETIME):
        return Meaning(str(kind.value), "date")
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        return Meaning("money" if words & MONEY else "number", "number")
    if column.enum or column.role is ColumnRole.STATUS:
        return Meaning("enum", "text")
    for name in ("city", "country", "phone", "address", "company", "url", "language", "currency", "timezone"):
        if name in words:
            return Meaning(name, "text")
    if column.role is ColumnRole.NAME or words & {"name", "fullname"}:
        return Meaning(
            "person" if set(split(table.entity)) & PEOPLE else f"name:{noun(table).replace(' ', '_')}", "text"
        )
    return Meaning("text", "text")
