"""Entities: which noun each part is about, and the tables that follow."""

from collections.abc import Sequence
from dataclasses import replace

from weft.agents.rules.environment.blueprint import Blueprint, TablePlan
from weft.agents.rules.environment.fields import Field, Resolver
from weft.agents.rules.environment.identifiers import REPLIES, id_parts, refers
from weft.agents.rules.environment.intents import Words, noun
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.verbs import ASPECTS
from weft.agents.rules.environment.words import tokens
from weft.records.spec import RefusalCode

_MAKERS = ("create", "send", "add", "upsert", "copy")
_ASPECTS = ASPECTS | {"history", "log", "stat", "statistics", "value"}
_TO = ("to", "into", "in", "on", "onto", "with", "from")


def make_tables(parts: Sequence[Part], blueprint: Blueprint) -> None:
    """Give each part its table. Parts without a noun, and links, are settled after the others."""
    universe = _Universe(parts)
    for part in parts:
        if part.problem is None:
            try:
                _settle(part, universe, blueprint)
            except Refused as problem:
                part.problem = problem


class _Universe:
    """All noun phrases of the server, and which of them have makers, writers or readers of their own."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.makers: list[tuple[Words, Words]] = []
        self.known: list[tuple[Words, Words]] = []
        live = [part for part in parts if part.problem is None]
        for part in live:
            intent = part.intent
            if not intent.phrase:
                continue
            entry = (intent.phrase, intent.group)
            if intent.kind in _MAKERS and not _links(part):
                self.makers.append(entry)
            if intent.kind in (*_MAKERS, "list", "search", "get", "delete", "update"):
                self.known.append(entry)
        self.phrases = [phrase for phrase, _ in self.known]
        self.looked = [part.intent.phrase for part in live if part.intent.kind in ("list", "search", "get", "delete")]
        self.made = [phrase for phrase, _ in self.makers]
        self.linked: list[tuple[Words, Words]] = []
        self.linked = [(holder, thing) for part in live for holder, thing in [_linked(part, self)] if thing]
        self.sent = [part for part in live if part.intent.kind == "send" and part.intent.phrase]
        answers = [part for part in live if part.intent.verb in REPLIES]
        self.answers = [found for part in answers if (found := part.intent.phrase or self.like_sent(part))]

    def like_sent(self, part: Part) -> Words:
        """The entity of the sending tool that shares most required arguments with a reply."""
        needed = {field.name for field in part.fields if field.required}
        scored = [
            (len(needed & {field.name for field in other.fields if field.required}), other) for other in self.sent
        ]
        best = max(scored, key=lambda pair: pair[0], default=None)
        return best[1].intent.phrase if best is not None and best[0] > 0 else ()

    def is_made(self, phrase: Words) -> bool:
        """True if some tool makes this entity."""
        return phrase in self.made

    def count(self, phrase: Words) -> int:
        """How many tools are about this entity."""
        return self.phrases.count(phrase)

    def is_known(self, phrase: Words) -> bool:
        """True if some tool is about this entity."""
        return phrase in self.phrases


def _links(part: Part) -> bool:
    """True if an ``add`` names two nouns and holds the id of the first."""
    intent = part.intent
    if intent.kind not in ("add", "link", "assign") or not intent.phrase:
        return False
    if not (intent.complement and intent.preposition in _TO):
        return False
    return (
        any(id_parts(field)[1] and refers(id_parts(field)[0], intent.phrase) for field in part.fields)
        or intent.kind == "link"
    )


def _settle(part: Part, universe: _Universe, blueprint: Blueprint) -> None:
    intent = part.intent
    told = intent.told
    if told and not set(told) & set(intent.phrase) and universe.count(intent.phrase) <= 1 and universe.is_known(told):
        # The name is no noun of this server; the description speaks of one that is.
        part.intent = intent = replace(intent, phrase=told)
    phrase, rest = _shown(part, universe) or _resolve(part, universe)
    if not phrase:
        raise Refused(
            RefusalCode.NO_ENTITY,
            "neither the name nor the description says what this tool acts on",
            "name the entity in the tool's name (verb_noun), or bind the real server",
            value=part.tool.name,
        )
    part.table = _table(blueprint, phrase, intent.group)
    part.rest = rest
    pair = _link_pair(part, universe)
    if pair is not None:
        near, far, value = pair
        near_table = _table(blueprint, near, intent.group)
        far_table = _table(blueprint, far, intent.group) if far else None
        part.link = (near_table, far_table, value)
        part.table = near_table
    if intent.reads:
        part.table.readers += 1
    else:
        part.table.writers += 1


def _shown(part: Part, universe: _Universe) -> tuple[Words, Words] | None:
    """The entity whose row a write declares to give back, where its own noun is looked up by no tool.

    ``create_draft`` that gives an ``email`` with its ``email_id`` makes an email, and ``update_draft`` by ``email_id``
    changes one: the draft is a state of it.
    """
    phrase, schema = part.intent.phrase, part.tool.output_schema
    if part.intent.reads or not schema or not phrase or part.when:
        return None
    bases = [id_parts(field)[0] for field in part.fields if field.required and id_parts(field)[1]]
    # ``change_payment_method`` with the ids of an order and a method, and nothing else, changes the order.
    refers_only = len(part.fields) == len(bases) == 2 and phrase in bases and part.intent.kind == "update"
    if phrase in universe.looked and not refers_only:
        return None
    resolver = Resolver(schema)
    for name, inner in resolver.properties(resolver.plain(schema)):
        words = noun(tokens(name))
        if words == phrase or words not in universe.looked or not inner.get("properties"):
            continue
        if any(tokens(label) == (*tokens(name), "id") for label, _ in resolver.properties(inner)):
            single = part.intent.kind in ("create", "update") and not refers(words, phrase) and len(phrase) == 1
            if single or (refers_only and words in bases):
                return words, ()
    return None


def _table(blueprint: Blueprint, phrase: Words, group: Words) -> TablePlan:
    return blueprint.by_phrase(phrase, group) or blueprint.new_table(phrase, group)


def _resolve(part: Part, universe: _Universe) -> tuple[Words, Words]:
    """The entity phrase of a part, and the words that name a side or an attribute of it."""
    phrase = part.intent.phrase
    if not phrase:
        return _resolve_nameless(part, universe)
    if part.intent.reads and phrase[-1] in ("reply", "response") and not universe.is_made(phrase) and universe.answers:
        return universe.answers[0], ()
    if part.intent.kind in ("update", "set", "move", "transition", "assign", "run", "clear"):
        return _resolve_change(part, universe)
    if universe.is_made(phrase) or part.intent.kind in _MAKERS:
        return phrase, ()
    if phrase[-1] in _ASPECTS and len(phrase) > 1 and universe.is_known(phrase[:-1]):
        return phrase[:-1], phrase[-1:]
    for cut in range(1, len(phrase)):
        # What a list of one thing in another holds are rows of the one, joined by what links the two.
        if universe.is_made(phrase[cut:]) or (phrase[:cut], phrase[cut:]) in universe.linked:
            return phrase[cut:], phrase[:cut]
    return _resolve_aspect(part, universe)


def _resolve_nameless(part: Part, universe: _Universe) -> tuple[Words, Words]:
    complement = part.intent.complement
    if part.intent.kind == "send" and not universe.is_made(complement):
        return universe.like_sent(part) or complement, ()
    return complement, ()


def _resolve_aspect(part: Part, universe: _Universe) -> tuple[Words, Words]:
    """A phrase that nothing makes: the part of a made entity, a side of the complement, or an entity of its own."""
    phrase, complement = part.intent.phrase, part.intent.complement
    if part.intent.reads:
        for made in universe.made:
            if len(made) > len(phrase) and made[-len(phrase) :] == phrase:
                owner = made[: -len(phrase)]
                if any(refers(id_parts(field)[0], owner) for field in part.fields):
                    return made, ()
    known = bool(complement) and universe.is_known(complement)
    if phrase[-1] in _ASPECTS and complement and (len(phrase) == 1 or known):
        return complement, phrase
    return phrase, ()


def _resolve_change(part: Part, universe: _Universe) -> tuple[Words, Words]:
    phrase, complement = part.intent.phrase, part.intent.complement
    named = _only_id(part, universe)
    if part.intent.kind == "transition" and named and not _has_id(part, phrase):
        # ``check_in_guest`` by a booking's id: the state is the booking's.
        return named, ()
    candidates = [phrase] if universe.is_made(phrase) or (universe.is_known(phrase) and _has_id(part, phrase)) else []
    for cut in range(1, len(phrase)):
        for piece, rest in ((phrase[:-cut], phrase[-cut:]), (phrase[cut:], phrase[:cut])):
            if not candidates and (universe.is_made(piece) or (universe.is_known(piece) and piece != phrase)):
                return piece, rest
    if candidates:
        return phrase, ()
    if complement and (universe.is_made(complement) or universe.is_known(complement)):
        return complement, phrase
    for field in part.fields:
        base, suffix = id_parts(field)
        if (
            suffix
            and base
            and universe.is_known(base)
            and base != phrase
            and field.required
            and phrase not in universe.looked
        ):
            return base, phrase
    return phrase, ()


def _only_id(part: Part, universe: _Universe) -> Words:
    """The known entity of the only required id, or ``()``."""
    bases = [id_parts(field)[0] for field in part.fields if field.required and id_parts(field)[1]]
    return bases[0] if len(bases) == 1 and universe.is_known(bases[0]) else ()


def _has_id(part: Part, phrase: Words) -> bool:
    return any(
        id_parts(field)[1] and (not id_parts(field)[0] or refers(id_parts(field)[0], phrase)) for field in part.fields
    )


def _link_pair(part: Part, universe: _Universe) -> tuple[Words, Words, Words] | None:
    """For a link or unlink: (holder phrase, linked phrase or ``()``, words of the linked values)."""
    intent = part.intent
    if intent.kind not in ("add", "link", "unlink", "delete", "assign", "move"):
        return None
    thing, holder = intent.phrase, intent.complement
    if intent.kind == "move" or not thing:
        return None
    if not holder or intent.preposition not in _TO:
        for cut in range(1, len(thing)):
            left, right = thing[:cut], thing[cut:]
            if (
                universe.is_made(left)
                and universe.is_made(right)
                and not universe.is_made(thing)
                and _both_ids(part, left, right)
            ):
                return left, right, right
        return None
    if not (universe.is_known(holder) or _named(part.fields, holder)):
        return None
    if not universe.is_known(thing) or not _both_ids(part, holder, thing):
        return None
    if intent.kind == "delete" and not universe.is_made(thing) and (holder, thing) not in universe.linked:
        return None
    return holder, thing, thing


def _linked(part: Part, universe: _Universe) -> tuple[Words, Words]:
    """The holder and the thing that a link part joins, or two empty phrases."""
    if part.intent.kind not in ("add", "link", "assign"):
        return (), ()
    pair = _link_pair(part, universe)
    return (pair[0], pair[1]) if pair is not None else ((), ())


def _named(fields: Sequence[Field], phrase: Words) -> bool:
    return any(refers(id_parts(field)[0], phrase) for field in fields)


def _both_ids(part: Part, one: Words, two: Words) -> bool:
    """True if the arguments hold an id of each of two entities (one of them may be plain ``id``)."""
    bases = [id_parts(field) for field in part.fields]
    has_one = any(suffix and refers(base, one) for base, suffix in bases)
    has_two = any(refers(base, two) and (suffix or base == noun(two)) for base, suffix in bases)
    plain = any(suffix and not base for base, suffix in bases)
    return (has_one and has_two) or (plain and (has_one or has_two))
