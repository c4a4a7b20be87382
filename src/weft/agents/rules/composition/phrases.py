"""Speaking of a value without saying it: ``the email of Ana Lima from step 3`` (pure)."""

import random
import re
from dataclasses import dataclass

from weft.agents.composition import BoundWords

LEADING = frozenset(
    {"a", "about", "an", "and", "are", "as", "at", "be", "by", "called", "contains", "count", "equals", "for", "from"}
    | {
        "has",
        "have",
        "in",
        "into",
        "is",
        "it",
        "like",
        "mark",
        "named",
        "of",
        "on",
        "or",
        "out",
        "reads",
        "says",
        "set",
    }
    | {"should", "take", "than", "that", "to", "under", "until", "was", "we", "were", "with", "without", "you"}
)
"""Words after which a value stands by itself; after a noun phrase, the phrase names it already."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

QUOTES = "\"'“”‘’`"


@dataclass(frozen=True, slots=True)
class Pointing:
    """How the texts point at something that an earlier request brings out.

    Attributes:
        noun: of the value.
        phrase: the whole phrase: ``the email of Ana Lima from step 3``.
        whole: the value stands for the thing itself.
        keyed: the value tells which thing is meant, rather than what it should be.
    """

    noun: str
    phrase: str
    whole: bool
    keyed: bool


def pointing(bound: BoundWords, place: int, rng: random.Random, *, numbered: bool) -> Pointing:
    """Return how a request points at what an earlier one brings out.

    Args:
        bound: the input.
        place: of the request that speaks, from 0.
        rng: chooses the wording.
        numbered: the requests are numbered in one brief; else they are turns of a conversation.
    """
    clause = rng.choice(_numbered(bound, place) if numbered else _spoken(bound, place))
    return Pointing(bound.noun, f"{_what(bound)} {clause}", bound.whole, bool(bound.input.keyed))


def _what(bound: BoundWords) -> str:
    if bound.asked or bound.whole:
        return f"the {bound.noun}"
    if bound.made:
        return f"the {bound.noun} of the {bound.entity}"
    return f"the {bound.noun} of {bound.owner}" if bound.owner else f"the {bound.noun} of the {bound.entity}"


def _numbered(bound: BoundWords, place: int) -> list[str]:
    step = f"step {bound.source + 1}"
    clauses = [f"created in {step}", f"from {step}"] if bound.made else [f"from {step}"]
    return [*clauses, "from the step before"] if bound.source == place - 1 else clauses


def _spoken(bound: BoundWords, place: int) -> list[str]:
    first = "the first thing I asked" if bound.source == 0 else f"my {ordinal(bound.source + 1)} request"
    if bound.source == place - 1:
        return ["you just created"] if bound.made else ["you just found", "from just now"]
    if bound.made:
        return [f"you created for {first}"]
    return [f"you found for {first}", f"from {first}"]


def ordinal(number: int) -> str:
    """Return an ordinal number, in words up to ten and in figures beyond."""
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def point(text: str, said: str, how: Pointing) -> str | None:
    """Return a text in which a value is pointed at instead of said, or None if the text does not say it.

    Where a label stands before the value (``with the owner email ana@...``), the phrase takes its place and the label
    follows (``with the email from step 3 as the owner email``), unless it says the same or only tells which thing is
    meant.
    """
    bare = said.strip(QUOTES)
    value = rf"[{QUOTES}]?(?<!\w){re.escape(bare)}(?!\w)[{QUOTES}]?"
    own = re.escape(how.noun)
    patterns = (
        [rf"\b(?:the|an?) {own} with the \w+(?: \w+)? {value}", rf"\b(?:the )?{own} {value}"] if how.whole else []
    )
    patterns += [rf"\b(?P<called>called|named) {value}"]
    patterns += [rf"\bthe (?P<label>(?:(?!the\b)[\w'-]+ ){{1,4}}){value}", value]
    if not bare or re.search(value, text, re.IGNORECASE) is None:
        return None

    def replaced(match: re.Match[str]) -> str:
        label = (match.groupdict().get("label") or "").strip()
        if any(word in LEADING for word in label.casefold().split()):
            return match.group()
        phrase = how.phrase
        if match.groupdict().get("called"):
            phrase = f"with the name of {phrase}" if how.whole else f"with {phrase} as its name"
        own_name = how.whole and "name" in label.casefold().split()
        if own_name:
            phrase = f"the name of {phrase}"
        if label and not how.keyed and label.casefold() != ("name" if own_name else how.noun.casefold()):
            phrase += f" as the {label}"
        before, after = text[: match.start()].rstrip(), text[match.end() :]
        if not before or before.endswith((".", "?", "!", ":")):
            phrase = phrase[:1].upper() + phrase[1:]
        # The value may have brought the full stop of the sentence with it.
        ended = bare.endswith((".", "?", "!")) and re.match(r"\s*(?:$|[A-Z])", after) is not None
        return phrase + "." if ended else phrase

    for pattern in patterns:
        text = re.sub(pattern, replaced, text, flags=re.IGNORECASE)
    return re.sub(r" {2,}", " ", text)
