"""What a field's name says about its value: an address, a price, a moment, a sentence ...

:func:`guess` gives a believable value of the wanted JSON type from the facts of the row; the schema decides whether it
may stay.
"""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from weft.agents.rules.seeds.draw import letters, uuid_text
from weft.agents.rules.seeds.facts import RowFacts, ascii_text, iso, singular, slug, words_of
from weft.agents.rules.seeds.vocabulary.business import POOLS
from weft.agents.rules.seeds.vocabulary.people import DEPARTMENTS, JOB_TITLES, ROLES
from weft.agents.rules.seeds.vocabulary.places import STREETS

Text = Callable[[RowFacts, random.Random], str]
HEX = "0123456789abcdef"

TEXTS: dict[str, Text] = {
    "email": lambda f, _: f.person.email,
    "mail": lambda f, _: f.person.email,
    "email address": lambda f, _: f.person.email,
    "first name": lambda f, _: f.person.given,
    "given name": lambda f, _: f.person.given,
    "firstname": lambda f, _: f.person.given,
    "last name": lambda f, _: f.person.family,
    "family name": lambda f, _: f.person.family,
    "lastname": lambda f, _: f.person.family,
    "surname": lambda f, _: f.person.family,
    "full name": lambda f, _: f.person.full,
    "username": lambda f, _: f.person.login,
    "user name": lambda f, _: f.person.login,
    "login": lambda f, _: f.person.login,
    "handle": lambda f, _: f.person.login,
    "nickname": lambda f, _: f.person.given,
    "author": lambda f, _: f.person.full,
    "assignee": lambda f, _: f.person.login,
    "owner": lambda f, _: f.person.login,
    "user": lambda f, _: f.person.login,
    "creator": lambda f, _: f.person.full,
    "created by": lambda f, _: f.person.full,
    "updated by": lambda f, _: f.person.full,
    "modified by": lambda f, _: f.person.full,
    "sender": lambda f, _: f.person.email,
    "recipient": lambda f, _: f.person.email,
    "from": lambda f, _: f.person.email,
    "to": lambda f, _: f.person.email,
    "cc": lambda f, _: f.person.email,
    "bcc": lambda f, _: f.person.email,
    "attendee": lambda f, _: f.person.email,
    "organizer": lambda f, _: f.person.email,
    "contact": lambda f, _: f.person.full,
    "manager": lambda f, _: f.person.full,
    "artist": lambda f, _: f.person.full,
    "director": lambda f, _: f.person.full,
    "name": lambda f, _: f.name,
    "display name": lambda f, _: f.name,
    "friendly name": lambda f, _: f.name,
    "title": lambda f, _: f.title,
    "subject": lambda f, _: f.title,
    "headline": lambda f, _: f.title,
    "topic": lambda f, _: f.subject,
    "question": lambda f, _: f"What is the status of the {f.subject.lower()}?",
    "job title": lambda _, r: r.choice(JOB_TITLES),
    "occupation": lambda _, r: r.choice(JOB_TITLES),
    "department": lambda _, r: r.choice(DEPARTMENTS),
    "team": lambda _, r: r.choice(DEPARTMENTS),
    "role": lambda _, r: r.choice(ROLES),
    "phone": lambda f, r: f"+{f.place.dialling}{r.randint(200000000, 899999999)}",
    "mobile": lambda f, r: f"+{f.place.dialling}{r.randint(200000000, 899999999)}",
    "fax": lambda f, r: f"+{f.place.dialling}{r.randint(200000000, 899999999)}",
    "phone number": lambda f, r: f"+{f.place.dialling}{r.randint(200000000, 899999999)}",
    "company": lambda f, _: f.company,
    "organization": lambda f, _: f.company,
    "vendor": lambda f, _: f.company,
    "supplier": lambda f, _: f.company,
    "employer": lambda f, _: f.company,
    "publisher": lambda f, _: f.company,
    "merchant": lambda f, _: f.company,
    "city": lambda f, _: f.place.city,
    "town": lambda f, _: f.place.city,
    "location": lambda f, _: f"{f.place.city}, {f.place.country}",
    "place": lambda f, _: f"{f.place.city}, {f.place.country}",
    "destination": lambda f, _: f.place.city,
    "origin": lambda f, _: f.place.city,
    "venue": lambda f, _: f"{f.place.city} Conference Centre",
    "country": lambda f, _: f.place.country,
    "country code": lambda f, _: f.place.code,
    "region": lambda f, _: f.place.region,
    "province": lambda f, _: f.place.region,
    "county": lambda f, _: f.place.region,
    "postal code": lambda f, _: f.place.postal,
    "postcode": lambda f, _: f.place.postal,
    "zip": lambda f, _: f.place.postal,
    "zip code": lambda f, _: f.place.postal,
    "street": lambda _, r: f"{r.randint(1, 180)} {r.choice(STREETS)}",
    "address": lambda f, r: f"{r.randint(1, 180)} {r.choice(STREETS)}, {f.place.city}",
    "timezone": lambda f, _: f.place.timezone,
    "time zone": lambda f, _: f.place.timezone,
    "tz": lambda f, _: f.place.timezone,
    "coordinates": lambda f, _: f"{f.place.latitude},{f.place.longitude}",
    "latitude": lambda f, _: str(f.place.latitude),
    "longitude": lambda f, _: str(f.place.longitude),
    "currency": lambda f, _: f.place.currency,
    "language": lambda f, _: f.place.language,
    "locale": lambda f, _: f"{f.place.language}-{f.place.code}",
    "url": lambda f, _: f"https://www.{slug(f.company)}.example.com/{slug(f.subject)}-{f.index + 1}",
    "uri": lambda f, _: f"https://www.{slug(f.company)}.example.com/{slug(f.subject)}-{f.index + 1}",
    "link": lambda f, _: f"https://www.{slug(f.company)}.example.com/{slug(f.subject)}-{f.index + 1}",
    "href": lambda f, _: f"https://www.{slug(f.company)}.example.com/{slug(f.subject)}-{f.index + 1}",
    "website": lambda f, _: f"https://www.{slug(f.company)}.example.com",
    "homepage": lambda f, _: f"https://www.{slug(f.company)}.example.com",
    "endpoint": lambda f, _: f"https://api.{slug(f.company)}.example.com/v1/{slug(f.subject)}",
    "webhook": lambda f, _: f"https://hooks.{slug(f.company)}.example.com/{slug(f.subject)}",
    "avatar": lambda f, _: f"https://img.example.com/{f.person.login}.png",
    "image": lambda f, _: f"https://img.example.com/{slug(f.subject)}-{f.index + 1}.png",
    "thumbnail": lambda f, _: f"https://img.example.com/{slug(f.subject)}-{f.index + 1}-small.png",
    "logo": lambda f, _: f"https://img.example.com/{slug(f.company)}.svg",
    "domain": lambda f, _: f"{slug(f.company)}.example.com",
    "hostname": lambda f, _: f"{slug(f.name)}.example.com",
    "host": lambda f, _: f"{slug(f.name)}.example.com",
    "ip": lambda f, r: f"192.0.2.{1 + (f.index * 7 + r.randint(0, 6)) % 250}",
    "ip address": lambda f, r: f"192.0.2.{1 + (f.index * 7 + r.randint(0, 6)) % 250}",
    "mac": lambda _, r: ":".join(f"{r.randint(0, 255):02x}" for _ in range(6)),
    "slug": lambda f, _: slug(f.title),
    "code": lambda f, _: f"{slug(f.subject)[:3].upper()}-{100 + f.index}",
    "sku": lambda f, _: f"{slug(f.subject)[:3].upper()}-{1000 + f.index * 7}",
    "key": lambda f, _: f"{slug(f.subject).split('-')[0]}_{f.index + 1}",
    "reference": lambda f, _: f"REF-{2400 + f.index * 3}",
    "number": lambda f, _: f"{1001 + f.index}",
    "tracking number": lambda _, r: f"TRK{r.randint(10**9, 10**10 - 1)}",
    "isbn": lambda _, r: f"978{r.randint(10**9, 10**10 - 1)}",
    "barcode": lambda _, r: f"{r.randint(10**12, 10**13 - 1)}",
    "sha": lambda _, r: letters(r, 40, HEX),
    "commit": lambda _, r: letters(r, 40, HEX),
    "hash": lambda _, r: letters(r, 40, HEX),
    "checksum": lambda _, r: letters(r, 64, HEX),
    "etag": lambda _, r: letters(r, 16, HEX),
    "fingerprint": lambda _, r: letters(r, 32, HEX),
    "uuid": lambda _, r: uuid_text(r),
    "guid": lambda _, r: uuid_text(r),
    "id": lambda _, r: letters(r, 12),
    "token": lambda _, r: letters(r, 24),
    "cursor": lambda _, r: letters(r, 12),
    "password": lambda _, r: letters(r, 14),
    "secret": lambda _, r: letters(r, 24),
    "version": lambda f, r: f"{1 + f.index // 6}.{f.index % 6}.{r.randint(0, 9)}",
    "branch": lambda f, r: r.choice(("main", "develop", f"feature/{slug(f.subject)}", f"fix/{slug(f.subject)}")),
    "ref": lambda f, r: r.choice(("main", "develop", f"feature/{slug(f.subject)}")),
    "path": lambda f, r: f"{r.choice(('docs', 'reports', 'src', 'data'))}/{slug(f.title)}.md",
    "file": lambda f, _: f"{slug(f.title)}.md",
    "file path": lambda f, r: f"{r.choice(('docs', 'reports', 'src', 'data'))}/{slug(f.title)}.md",
    "filename": lambda f, r: f"{slug(f.title)}.{r.choice(('pdf', 'csv', 'md', 'png'))}",
    "file name": lambda f, r: f"{slug(f.title)}.{r.choice(('pdf', 'csv', 'md', 'png'))}",
    "folder": lambda _, r: r.choice(("docs", "reports", "src", "data")),
    "directory": lambda _, r: r.choice(("docs", "reports", "src", "data")),
    "extension": lambda _, r: r.choice(("pdf", "csv", "md", "png")),
    "content type": lambda _, r: r.choice(POOLS["mime"]),
    "mime type": lambda _, r: r.choice(POOLS["mime"]),
    "query": lambda f, _: f.subject.lower(),
    "search": lambda f, _: f.subject.lower(),
    "keyword": lambda f, _: f.subject.split()[0].lower(),
    "sql": lambda f, _: f"SELECT * FROM {slug(f.subject).replace('-', '_')}",
    "command": lambda f, _: f"make {slug(f.subject).split('-')[0]}",
    "cron": lambda _, r: f"{r.choice((0, 15, 30))} {r.randint(0, 23)} * * *",
    "schedule": lambda _, r: f"{r.choice((0, 15, 30))} {r.randint(0, 23)} * * *",
    "duration": lambda f, _: f"{int(f.lasts.total_seconds()) // 60}m",
    "isrc": lambda _, r: f"QZ{r.randint(10**9, 10**10 - 1)}",
    "regex": lambda f, _: f"^{slug(f.subject).split('-')[0]}",
    "pattern": lambda f, _: f"*{slug(f.subject).split('-')[0]}*",
    "range": lambda f, _: f"A{1 + f.index}:C{4 + f.index}",
    "cell": lambda f, _: f"B{2 + f.index}",
    "formula": lambda f, _: f"=SUM(A1:A{3 + f.index})",
    "label": lambda _, r: r.choice(POOLS["label"]),
    "caption": lambda f, _: f.title,
    "value": lambda f, _: f.subject,
    "alias": lambda f, _: slug(f.subject),
    "airport": lambda f, _: ascii_text(f.place.city)[:3].upper(),
    "flight number": lambda _, r: f"NW{r.randint(100, 999)}",
}  # fmt: skip
"""Last words of a field's name -> text."""

LONG_TEXT = frozenset({
    "description", "body", "content", "text", "comment", "note", "notes", "message", "summary", "details", "bio",
    "about",
    "abstract", "instructions", "excerpt", "snippet", "transcript", "feedback", "prompt", "markdown", "html", "review",
    "explanation", "remark", "remarks", "memo", "preview", "answer", "definition", "context", "purpose", "goal",
    "agenda",
})  # fmt: skip
"""Words of fields that hold sentences."""

MOMENTS = frozenset({
    "at", "date", "time", "datetime", "timestamp", "deadline", "due", "since", "until", "when", "expires", "expiry",
    "start", "end", "begin", "created", "updated", "modified", "birthday", "on", "after", "before", "starts", "ends",
})  # fmt: skip
"""Last words of fields that hold a moment."""


def is_moment(words: tuple[str, ...]) -> bool:
    """True if a field's words name a moment in time."""
    return bool(words) and (words[-1] in MOMENTS or "date" in words or "datetime" in words or "timestamp" in words)


def moment(words: tuple[str, ...], facts: RowFacts, rng: random.Random) -> datetime:
    """Return the aware datetime that a field of these words holds in this row."""
    have = set(words)
    if have & {"birth", "birthday", "birthdate", "dob"}:
        return facts.now - timedelta(days=rng.randint(20 * 365, 70 * 365))
    if have & {
        "created",
        "added",
        "joined",
        "registered",
        "opened",
        "received",
        "sent",
        "published",
        "order",
        "ordered",
    }:
        return facts.created
    if have & {"updated", "modified", "edited", "changed", "seen", "last", "accessed", "synced"}:
        return facts.updated
    if have & {
        "completed",
        "closed",
        "finished",
        "resolved",
        "merged",
        "cancelled",
        "deleted",
        "archived",
        "delivered",
        "paid",
    }:
        return facts.updated
    if have & {"start", "starts", "begin", "from", "departure", "checkin", "after", "since", "scheduled", "event"}:
        return facts.starts
    if have & {"end", "ends", "finish", "arrival", "checkout", "until", "before"}:
        return facts.starts + facts.lasts
    if have & {"due", "deadline", "expires", "expiry", "expiration", "valid", "renewal", "next", "delivery"}:
        return facts.due
    return facts.created + timedelta(hours=rng.randint(1, 20))


def text(name: str, facts: RowFacts, rng: random.Random) -> str | None:
    """Return a believable text for a field called ``name``, or None when the name says nothing."""
    words = words_of(name)
    single = tuple(singular(w) for w in words)
    for size in (3, 2, 1):
        key = " ".join(single[-size:])
        if len(single) >= size and key in TEXTS and not (key in ("name", "title") and _names_another(single)):
            return TEXTS[key](facts, rng)
    if not words:
        return None
    if words[-1] in LONG_TEXT or single[-1] in LONG_TEXT:
        return facts.sentences(rng.randint(1, 3), rng)
    if is_moment(words):
        when = moment(words, facts, rng)
        return str(when.strftime("%Y-%m-%d")) if words[-1] in ("date", "birthday", "on", "day") else iso(when)
    for word in reversed(single):
        if word in POOLS:
            return rng.choice(POOLS[word])
    for word in reversed(single):
        if word in TEXTS and word not in ("to", "from", "name", "id", "number", "value"):
            return TEXTS[word](facts, rng)
    return None


def _names_another(words: tuple[str, ...]) -> bool:
    """True for ``company_name`` and the like, which name something other than the row."""
    return len(words) > 1 and words[-2] in TEXTS and words[-2] not in ("display", "friendly")


Bounds = tuple[float, float, int]

NUMBERS: dict[str, Bounds] = {
    **dict.fromkeys(("price", "cost", "fee", "charge", "fare", "rent"), (4.0, 240.0, 2)),
    **dict.fromkeys(("amount", "total", "subtotal", "balance", "revenue", "budget", "income", "payment", "spend",
        "expense",
                     "tax", "discount", "refund", "value"), (12.0, 4800.0, 2)),
    **dict.fromkeys(("salary",), (28000.0, 140000.0, 0)),
    **dict.fromkeys(("quantity", "qty", "stock", "units", "items", "seats", "guests", "people", "inventory"), (1, 40,
        0)),
    **dict.fromkeys(("count", "views", "likes", "downloads", "followers", "plays", "clicks", "impressions", "votes",
        "stars",
                     "citations", "replies", "members"), (0, 900, 0)),
    **dict.fromkeys(("percent", "percentage", "progress", "humidity", "completion", "battery"), (0, 100, 0)),
    **dict.fromkeys(("rate", "ratio", "probability", "confidence", "similarity", "threshold", "opacity"), (0.05,
        0.98, 2)),
    **dict.fromkeys(("score", "points"), (1, 100, 0)),
    **dict.fromkeys(("rating",), (1, 5, 1)),
    **dict.fromkeys(("age",), (18, 79, 0)),
    **dict.fromkeys(("year",), (1998, 2026, 0)),
    **dict.fromkeys(("month",), (1, 12, 0)),
    **dict.fromkeys(("day", "days"), (1, 28, 0)),
    **dict.fromkeys(("hour", "hours"), (1, 23, 0)),
    **dict.fromkeys(("minute", "minutes", "duration"), (10, 180, 0)),
    **dict.fromkeys(("second", "seconds"), (20, 5400, 0)),
    **dict.fromkeys(("ms", "milliseconds", "latency"), (12, 2400, 0)),
    **dict.fromkeys(("width", "height", "px"), (120, 1920, 0)),
    **dict.fromkeys(("bytes", "size"), (512, 4_000_000, 0)),
    **dict.fromkeys(("distance", "km", "miles", "meters"), (0.5, 84.0, 1)),
    **dict.fromkeys(("weight", "kg"), (0.2, 92.0, 1)),
    **dict.fromkeys(("temperature", "celsius"), (-8.0, 34.0, 1)),
    **dict.fromkeys(("altitude", "elevation"), (3, 2400, 0)),
    **dict.fromkeys(("calories", "kcal"), (80, 900, 0)),
    **dict.fromkeys(("protein", "carbs", "fat", "grams"), (1.0, 90.0, 1)),
    **dict.fromkeys(("port",), (1024, 9999, 0)),
    **dict.fromkeys(("priority", "level", "severity", "tier"), (1, 4, 0)),
    **dict.fromkeys(("volume", "shares"), (100, 9000, 0)),
    **dict.fromkeys(("cpu", "cores"), (1, 16, 0)),
    **dict.fromkeys(("memory", "ram", "disk"), (512, 16384, 0)),
    **dict.fromkeys(("pages", "lines", "words", "rows"), (1, 320, 0)),
}  # fmt: skip
"""Last word of a field's name -> least, greatest, decimals."""

SEQUENTIAL = frozenset(
    {"number", "index", "position", "order", "iid", "rank", "sequence", "sort", "line", "step", "id"}
)


def number(name: str, facts: RowFacts, rng: random.Random, *, whole: bool) -> int | float | None:
    """Return a believable number for a field called ``name``, or None when the name says nothing."""
    words = words_of(name)
    if not words:
        return None
    last = words[-1]
    if last in ("latitude", "lat"):
        return None if whole else facts.place.latitude
    if last in ("longitude", "lng", "lon"):
        return None if whole else facts.place.longitude
    if is_moment(words) and last not in ("time", "start", "end", "before", "after", "on"):
        seconds: int = int(moment(words, facts, rng).timestamp())
        return seconds * 1000 if "ms" in words or "millis" in words else seconds
    if last in SEQUENTIAL:
        return facts.index + 1
    for word in reversed(words):
        for form in (word, singular(word)):
            if form in NUMBERS:
                return draw_number(NUMBERS[form], rng, whole=whole)
    return None


def draw_number(bounds: Bounds, rng: random.Random, *, whole: bool) -> int | float:
    """Return a number within bounds, on a logarithmic scale where they are wide; money ends as prices do."""
    low, high, places = bounds
    if high > 50 * max(1.0, low) and low >= 0:
        drawn = float(max(low, 1.0) * (high / max(low, 1.0)) ** rng.random())
    else:
        drawn = rng.uniform(low, high)
    if whole or places == 0:
        return int(min(high, max(low, round(drawn))))
    if places == 2 and high > 2:
        return round(int(drawn) + rng.choice((0.0, 0.5, 0.9, 0.99, 0.25)), 2)
    return round(drawn, places)


def guess(name: str, kind: str, facts: RowFacts, rng: random.Random) -> Any:
    """Return a believable value of JSON type ``kind`` for a field called ``name``, or None when the name says nothing.

    Args:
        name: the field's name.
        kind: ``string``, ``integer`` or ``number``.
        facts: of the row.
        rng: for what the facts leave open.
    """
    if kind == "string":
        return text(name, facts, rng)
    if kind in ("integer", "number"):
        return number(name, facts, rng, whole=kind == "integer")
    return None
