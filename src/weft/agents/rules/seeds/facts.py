"""The facts of one row: a person, a place, a company and moments that its columns share, so that they agree."""

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from weft.agents.rules.seeds.vocabulary.business import COMPANIES
from weft.agents.rules.seeds.vocabulary.people import FAMILY, GIVEN
from weft.agents.rules.seeds.vocabulary.places import PLACES, Place
from weft.agents.rules.seeds.vocabulary.topics import (
    CODE_LIKE,
    COMPANY_LIKE,
    ENTITY_TOPICS,
    LABEL_LIKE,
    PEOPLE,
    PLACE_LIKE,
    TOPICS,
    Topic,
)


def ascii_text(text: str) -> str:
    """Return the text without accents."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def slug(text: str) -> str:
    """Return lower-case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", ascii_text(text).lower()).strip("-") or "item"


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of an identifier: ``createdAt``, ``created_at`` and ``Created-At`` are alike."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(re.findall(r"[a-z]+|[0-9]+", spaced.lower()))


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """Return a plain English singular of a lower-case word."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def iso(moment: datetime) -> str:
    """Return RFC 3339 UTC with ``Z`` and whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_clock(clock: str) -> datetime:
    """Return the virtual now as an aware datetime in UTC."""
    return datetime.fromisoformat(clock.replace("Z", "+00:00")).astimezone(UTC)


@dataclass(frozen=True)
class EntityWords:
    """What the rows of an entity are called and written about."""

    entity: str
    style: str  # person, company, place, code, label or title
    topic: Topic

    @property
    def spoken(self) -> str:
        """The entity's singular in plain words."""
        return " ".join(singular(w) for w in words_of(self.entity)) or "item"


def entity_words(entity: str, domain: str, context: Sequence[str]) -> EntityWords:
    """Return the vocabulary for an entity.

    Args:
        entity: singular noun of the table.
        domain: label of the server's domain, or "".
        context: words of the server's name and tools, which decide where the entity alone says nothing.
    """
    tokens = [singular(word) for word in words_of(entity)]
    head = tokens[-1] if tokens else ""
    label = ENTITY_TOPICS.get(head) or next((ENTITY_TOPICS[t] for t in reversed(tokens) if t in ENTITY_TOPICS), "")
    if not label:
        votes = [ENTITY_TOPICS[word] for word in (*words_of(domain), *context) if word in ENTITY_TOPICS]
        label = max(sorted(set(votes)), key=votes.count) if votes else "general"
    style = "title"
    for name, members in (
        ("person", PEOPLE), ("company", COMPANY_LIKE), ("place", PLACE_LIKE), ("code", CODE_LIKE), ("label",
         LABEL_LIKE),
    ):  # fmt: skip
        if head in members:
            style = name
            break
    return EntityWords(entity, style, TOPICS[label])


@dataclass(frozen=True)
class Person:
    """A person with a login and an address that match the name."""

    given: str
    family: str
    company: str
    serial: int = 0

    @property
    def full(self) -> str:
        """Given and family name."""
        return f"{self.given} {self.family}"

    @property
    def login(self) -> str:
        """A user name."""
        tail = str(self.serial) if self.serial else ""
        return slug(self.given)[0] + slug(self.family).replace("-", "") + tail

    @property
    def email(self) -> str:
        """An address at the company."""
        tail = str(self.serial) if self.serial else ""
        return f"{slug(self.given)}.{slug(self.family)}{tail}@{slug(self.company)}.example.com"


def person_at(index: int, offset: int) -> Person:
    """Return the ``index``-th person of an order that starts at ``offset``; numbered after 2,500."""
    place = index + offset
    cycle, inner = divmod(index, len(GIVEN) * len(FAMILY))
    given = GIVEN[place % len(GIVEN)]
    family = FAMILY[(place * 7 + inner // len(GIVEN)) % len(FAMILY)]
    return Person(given, family, COMPANIES[place % 6], cycle)


SUBJECTS_IN_USE = 8


class RowFacts:
    """Facts of the row at ``index`` of a table; every choice comes from ``rng``.

    Args:
        index: position of the row.
        words: of the table's entity.
        rng: the row's own stream.
        now: the virtual clock.
        count: rows of the table, by which created moments are spread.
        offset: start in the lists of names, so that tables differ.
    """

    def __init__(
        self, index: int, words: EntityWords, rng: random.Random, now: datetime, count: int, offset: int
    ) -> None:
        self.index, self.words, self.rng, self.now, self.count, self.offset = index, words, rng, now, count, offset
        self.person = person_at(index, offset)
        self.place: Place = PLACES[(index * 5 + offset) % len(PLACES)]
        self.company = COMPANIES[(index + offset) % len(COMPANIES)]
        # Older rows first, denser towards now: the k-th of n rows is about 180 * (1 - k/n)^1.5 days old.
        age = 180.0 * max(0.0, 1.0 - (index + 0.5) / max(1, count)) ** 1.5 + rng.uniform(0.02, 0.9)
        self.created = (now - timedelta(days=age)).replace(microsecond=0)
        share = rng.choice((0.0, 0.1, 0.35, 0.6, 0.9))
        self.updated = self.created + timedelta(seconds=int((now - self.created).total_seconds() * share))
        # About a third of planned moments lie in the future.
        self.starts = (now + timedelta(days=rng.uniform(-40, 25))).replace(
            minute=rng.choice((0, 15, 30, 45)), second=0, microsecond=0
        )
        self.lasts = timedelta(minutes=rng.choice((30, 45, 60, 90, 120)))
        self.due = (now + timedelta(days=rng.randint(-20, 40))).replace(hour=17, minute=0, second=0, microsecond=0)
        topic = words.topic
        # Every eighth row takes up a subject again in another form, so that a search finds several rows.
        cycle, place = divmod(index, SUBJECTS_IN_USE)
        self.subject = topic.subjects[(place + offset) % len(topic.subjects)]
        form = topic.forms[(place + offset + cycle) % len(topic.forms)]
        title = form.format(self.subject)
        self.title = title if cycle < len(topic.forms) else f"{title} {cycle + 1}"
        self.name = self._name()

    def _name(self) -> str:
        style, topic, index = self.words.style, self.words.topic, self.index
        place = index + self.offset
        if style == "person":
            return self.person.full
        if style == "company":
            cycle = index // len(COMPANIES)
            return self.company + (f" {('Group', 'Europe', 'Holdings', 'Partners')[cycle % 4]}" if cycle else "")
        if style == "place":
            return self.place.city if index < len(PLACES) else f"{self.place.city} {index // len(PLACES) + 1}"
        base = topic.names[place % len(topic.names)]
        cycle = index // len(topic.names)
        if style == "code":
            return slug(base) + (f"-{cycle + 1}" if cycle else "")
        if style == "label":
            return base + (f" {cycle + 1}" if cycle else "")
        return self.title

    def sentences(self, count: int, rng: random.Random) -> str:
        """Return ``count`` sentences about the row's subject."""
        chosen = rng.sample(self.words.topic.sentences, min(count, len(self.words.topic.sentences)))
        subject = self.subject if self.words.topic is TOPICS["media"] else self.subject.lower()
        return " ".join(text.format(subject) for text in chosen)
