"""Intents: what one tool, or one value of its action enum, does to which noun."""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from weft.agents.rules.environment.lexicon import ABBREVIATIONS
from weft.agents.rules.environment.verbs import (
    AMBIGUOUS,
    KIND_OF_VERB,
    MARKS,
    PREPOSITIONS,
    READ_KINDS,
    STATE_VERBS,
    STOP_WORDS,
    WRITE_KINDS,
    StateVerb,
)
from weft.agents.rules.environment.words import is_plural, singular, tokens
from weft.records.spec import ToolSpec

Words = tuple[str, ...]


@dataclass(frozen=True)
class Intent:
    """A verb and its nouns.

    Attributes:
        kind: the operation family: create, get, list, search, update, delete, transition, link, ...
        verb: the word that says so.
        phrase: singular words of the main noun.
        complement: singular words of the noun after a preposition.
        preposition: that preposition.
        by: words after ``by``.
        group: words before a namespace separator.
        plural: the main noun was written in the plural.
        bulk: the name says bulk, batch, all or multiple.
        state: what a state verb does.
        said_by: ``name`` or ``description``.
        told: singular words of the description's noun, where the name holds no verb.
        end: ``last`` or ``first`` when the newest or the oldest row is meant.
    """

    kind: str
    verb: str
    phrase: Words
    complement: Words = ()
    preposition: str = ""
    by: Words = ()
    group: Words = ()
    plural: bool = False
    bulk: bool = False
    state: StateVerb | None = None
    said_by: str = "name"
    words: Words = field(default=())
    told: Words = ()
    end: str = ""

    @property
    def reads(self) -> bool:
        """True for the kinds that read."""
        return self.kind in READ_KINDS

    @property
    def writes(self) -> bool:
        """True for the kinds that write."""
        return self.kind in WRITE_KINDS


@lru_cache(maxsize=8192)
def noun(words: Words) -> Words:
    """Words as an entity phrase: last word in the singular, abbreviations written out."""
    long: list[str] = []
    for word in words:
        long += ABBREVIATIONS.get(singular(word), singular(word)).split("_")
    return tuple(long)


def is_verb(word: str) -> bool:
    """True if the word can be a verb of an operation."""
    return (
        word in KIND_OF_VERB or word in STATE_VERBS or word in ("mark", "toggle", "manage", "assign", "bulk", "batch")
    )


def server_prefix(names: list[str]) -> Words:
    """The leading words that at least 70 % of three or more tool names share, verbs excluded."""
    split = [tokens(name) for name in names]
    prefix: list[str] = []
    while len(split) >= 3:
        firsts = [
            words[len(prefix)]
            for words in split
            if len(words) > len(prefix) + 1 and list(words[: len(prefix)]) == prefix
        ]
        if not firsts:
            break
        best = max(firsts, key=lambda word: (firsts.count(word), -firsts.index(word)))
        if firsts.count(best) < 0.7 * len(split) or (is_verb(best) and best not in ("api",)):
            break
        prefix.append(best)
    return tuple(prefix)


def name_words(name: str, prefix: Words) -> tuple[Words, Words]:
    """The namespace words and the words of a tool name, without the server's prefix and a version suffix."""
    group: Words = ()
    rest = name
    parts = re.split(r"--|__|/|::|\.", name)
    last = tokens(parts[-1])
    if len(parts) > 1 and len(last) > 1 and any(is_verb(word) for word in last):
        group, rest = tokens(" ".join(parts[:-1])), parts[-1]
    else:
        head, _, tail = name.partition("_")
        if (
            tail
            and "_" not in tail
            and re.search(r"[a-z][A-Z]", tail)
            and not is_verb(tokens(head)[0] if tokens(head) else "")
        ):
            group, rest = tokens(head), tail
    words = tokens(rest)
    if not group and prefix and words[: len(prefix)] == prefix and len(words) > len(prefix):
        words = words[len(prefix) :]
    if len(words) > 1 and re.fullmatch(r"v\d+", words[-1]):
        words = words[:-1]
    if words and words[-1] in ("tool", "mcp") and len(words) > 1:
        words = words[:-1]
    return group[len(prefix) :] if prefix and group[: len(prefix)] == prefix else group, words


def parse_words(words: Words, group: Words = ()) -> Intent | None:
    """The intent that the words of a name say, or None when there is no verb in them."""
    bulk = any(word in ("bulk", "batch", "all", "multiple", "many") for word in words)
    words = tuple(word for word in words if word not in ("bulk", "batch", "multiple"))
    if words[:2] in (("check", "in"), ("check", "out")) and len(words) > 2:
        words = ("".join(words[:2]), *words[2:])
    compound = _compound(words, group, bulk)
    if compound is not None:
        return compound
    index = _verb_index(words)
    if index is None and len(words) > 1 and words[0] in _ENDS:
        return _intent("get", words[0], (), words[1:], group, bulk)
    if index is None:
        return None
    verb = words[index]
    before, after = words[:index], words[index + 1 :]
    if verb == "mark":
        return _mark(before, after, group, bulk)
    if verb == "assign":
        return _intent("assign", verb, before, after, group, bulk)
    state = STATE_VERBS.get(verb)
    if state is not None and not (after and after[0] in ("time", "date")):
        return replace(_intent("transition", verb, before, after, group, bulk), state=state)
    kind = KIND_OF_VERB.get(verb, "compute")
    after = _second_verb(kind, after)
    if kind in ("create", "send", "add") and after[:1] in (("search",), ("query",)):
        return _intent("search", after[0], before, after[1:], group, bulk)
    return _intent(kind, verb, before, after, group, bulk)


def _second_verb(kind: str, after: Words) -> Words:
    """Drop ``and wait``, ``or replace`` and the like."""
    for joiner in ("and", "or"):
        if joiner in after:
            at = after.index(joiner)
            if at + 1 < len(after) and is_verb(after[at + 1]) and kind != "compute":
                return after[:at] + after[at + 2 :]
    return after


def _compound(words: Words, group: Words, bulk: bool) -> Intent | None:
    for index in range(len(words) - 2):
        one, mid, two = words[index : index + 3]
        if mid == "or" and is_verb(one) and is_verb(two):
            kinds = {KIND_OF_VERB.get(one), KIND_OF_VERB.get(two)}
            if kinds & {"create", "add", "get"} and kinds & {"update", "create", "set"}:
                return _intent("upsert", one, words[:index], words[index + 3 :], group, bulk)
        if mid == "and" and two == "replace":
            return _intent("compute", one, words[:index], words[index + 3 :], group, bulk)
    return None


def _verb_index(words: Words) -> int | None:
    if not words:
        return None
    if words[0] == "place" and not {"order", "orders", "bid", "hold", "trade"} & set(words):
        # A place is a noun unless something is placed.
        return _verb_index(("thing", *words[1:])) if len(words) > 1 else None
    strong = [i for i, word in enumerate(words) if is_verb(word) and word not in AMBIGUOUS and singular(word) == word]
    if is_verb(words[0]) and words[0] not in AMBIGUOUS:
        return 0
    if words[0] == "set" and len(words) > 2:
        return 0
    if strong and strong[-1] == len(words) - 1:
        return strong[-1]
    if is_verb(words[0]):
        if (
            strong
            and words[0] not in ("post", "check", "run", "test", "set", "put", "start", "stop", "validate")
            and KIND_OF_VERB.get(words[strong[0]]) in (READ_KINDS | WRITE_KINDS)
        ):
            return strong[0]
        return 0
    if strong:
        return strong[0]
    weak = [i for i, word in enumerate(words) if is_verb(word)]
    if (
        weak
        and weak[-1] == len(words) - 1
        and words[-1] not in ("index", "record", "log", "message", "comment", "email", "issue", "all", "info")
    ):
        return weak[-1]
    return None


def _mark(before: Words, after: Words, group: Words, bulk: bool) -> Intent:
    words = tuple(word for word in after if word != "as")
    for word in reversed(words):
        if word in MARKS:
            rest = tuple(item for item in words if item != word)
            return replace(_intent("transition", "mark", before, rest, group, bulk), state=MARKS[word])
    return _intent("update", "mark", before, words, group, bulk)


def _intent(kind: str, verb: str, before: Words, after: Words, group: Words, bulk: bool) -> Intent:
    by: Words = ()
    if "by" in after:
        at = after.index("by")
        after, by = after[:at], after[at + 1 :]
    phrase: Words = after
    complement: Words = ()
    preposition = ""
    for index, word in enumerate(after):
        if word in PREPOSITIONS and (index > 0 or len(after) > 1):
            phrase, complement, preposition = after[:index], after[index + 1 :], word
            break
    phrase = _clean(phrase)
    complement = _clean(complement)
    if kind == "get" and len(phrase) > 1 and phrase[-1] in ("list", "lists"):
        kind, phrase = "list", phrase[:-1]
    if before:
        front = _clean(before)
        phrase = phrase if front and noun(phrase)[:1] == noun(front)[-1:] else front + phrase
    return Intent(
        kind=kind,
        verb=verb,
        phrase=noun(phrase),
        complement=noun(complement),
        preposition=preposition,
        by=by,
        group=group,
        plural=bool(phrase) and is_plural(phrase[-1]),
        bulk=bulk,
        words=phrase,
    )


def _clean(words: Words) -> Words:
    return tuple(word for word in words if word not in STOP_WORDS and word not in PREPOSITIONS)


_INFLECTED = re.compile(r"^(.+?)(?:s|es|ing|ed)$")


def base_verb(word: str) -> str:
    """The verb of an inflected form: ``retrieves`` -> ``retrieve``."""
    for candidate in (
        word,
        word[:-1] if word.endswith("s") else "",
        word[:-2] if word.endswith(("es", "ed")) else "",
        word[:-3] if word.endswith("ing") else "",
        word[:-3] + "e" if word.endswith("ing") else "",
        word[:-1] if word.endswith("d") else "",
        word[:-3] + "y" if word.endswith("ies") else "",
    ):
        if candidate and is_verb(candidate):
            return candidate
    return ""


def description_intent(description: str) -> Intent | None:
    """The intent that the first sentence of a description says."""
    sentence = re.split(r"[.;:\n(]", re.sub(r"https?://\S+", "", description.strip()), maxsplit=1)[0]
    words = tokens(sentence)[:14]
    for index, word in enumerate(words[:3]):
        verb = base_verb(word)
        if not verb:
            continue
        rest = words[index + 1 :]
        stop = next(
            (
                i
                for i, item in enumerate(rest)
                if item in ("and", "or", "that", "which", "with", "including", "using", "as", "when", "based")
            ),
            len(rest),
        )
        state = STATE_VERBS.get(verb)
        kind = "transition" if state else KIND_OF_VERB.get(verb, "compute")
        found = _intent(kind, verb, (), rest[:stop], (), False)
        return replace(found, state=state, said_by="description")
    return None


def tool_intent(tool: ToolSpec, prefix: Words) -> Intent | None:
    """The intent of a whole tool: by name, then by description, then by the shape of the name and the hints."""
    group, words = name_words(tool.name, prefix)
    said = description_intent(tool.description)
    found = parse_words(words, group)
    if found is not None and found.kind == "compute" and said is not None and (said.reads or said.writes):
        # A name that merely ends in a word that could be a computing verb (``page_type``) says less than the sentence.
        found = None if words[0] != found.verb and words[-1] == found.verb else found
    if found is None:
        kind = said.kind if said is not None else ("get" if tool.annotations.get("readOnlyHint") is True else "")
        if not kind:
            return None
        clean = _clean(words)
        found = Intent(
            kind=kind,
            verb=said.verb if said else "get",
            phrase=noun(clean),
            group=group,
            words=clean,
            plural=bool(clean) and is_plural(clean[-1]),
            state=said.state if said else None,
            said_by="description",
            told=said.phrase if said else (),
        )
    if not found.phrase and said is not None and said.phrase and len(said.phrase) <= 3:
        found = replace(
            found,
            phrase=said.phrase,
            plural=said.plural,
            complement=found.complement or said.complement,
            preposition=found.preposition or said.preposition,
            words=said.words,
        )
    if found.kind == "search" and found.by and not found.plural and found.verb in ("find", "lookup", "search"):
        found = replace(found, kind="get")
    return _with_end(_by_hint(found, said, tool), words)


_ENDS = {
    "last": "last", "latest": "last", "newest": "last", "recent": "last", "first": "first", "oldest": "first",
    "earliest": "first",
}  # fmt: skip


def _with_end(found: Intent, words: Words) -> Intent:
    """A single row that is called the last or the first one is the newest or the oldest."""
    named = [word for word in words if word in _ENDS]
    if found.kind != "get" or found.plural or not named:
        return found
    rest = tuple(word for word in found.phrase if word not in ("last", "latest", "newest", "recent", "first", "oldest"))
    return replace(found, end=_ENDS[named[0]], phrase=rest or found.phrase)


def _by_hint(found: Intent, said: Intent | None, tool: ToolSpec) -> Intent:
    """Let an explicit hint decide between the readings of an ambiguous verb."""
    hint = tool.annotations.get("readOnlyHint")
    if hint is True and found.writes and (found.verb in AMBIGUOUS or found.said_by == "description"):
        if said is not None and said.reads:
            return replace(found, kind=said.kind, state=None)
        return replace(found, kind="list" if found.plural else "get", state=None)
    if hint is False and found.reads and found.verb in AMBIGUOUS and said is not None and said.writes:
        return replace(found, kind=said.kind, state=said.state)
    if found.verb == "post" and said is not None and said.kind == "search":
        return replace(found, kind="search", phrase=found.phrase if found.phrase != ("search",) else said.phrase)
    return found
