"""Speaking of a value without saying it: ``the customer with the email address you found`` (pure)."""

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
"""Words after which a value stands by itself; after any other word of its phrase that word already names it."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

QUOTES = "\"'“”‘’`"


@dataclass(frozen=True, slots=True)
class Pointing:
    """How the texts point at something that an earlier request brings out.

    Attributes:
        found: clause that follows a noun: ``you found``, ``from step 3``.
        alone: whole phrase where no noun stands: ``the email address you found``.
        noun: of the value.
    """

    found: str
    alone: str
    noun: str


def pointing(bound: BoundWords, place: int, rng: random.Random, *, numbered: bool) -> Pointing:
    """Return how a request points at what an earlier one brings out.

    Args:
        bound: the input.
        place: of the request that speaks, from 0.
        rng: chooses the wording.
        numbered: the requests are numbered in one brief; else they are turns of a conversation.
    """
    number = bound.source + 1
    if bound.source == place - 1:
        clauses = ["you just created", "from just now"] if bound.made else ["you just found", "from just now"]
        if numbered:
            clauses = ["from the step before", f"from step {number}"]
    elif numbered:
        clauses = [f"from step {number}"]
    else:
        verb = "created" if bound.made else "found"
        first = "the first thing I asked" if bound.source == 0 else f"my {ordinal(number)} request"
        clauses = [f"you {verb} for {first}", f"from {first}"]
    clause = rng.choice(clauses)
    return Pointing(clause, f"the {bound.noun} {clause}", bound.noun)


def ordinal(number: int) -> str:
    """Return an ordinal number, in words up to ten and in figures beyond."""
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    tail = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def point(text: str, said: str, how: Pointing) -> str | None:
    """Return a text in which a value is pointed at instead of said, or None if the text does not say it.

    Where the words before the value name it already (``the email address ana@...``, ``the product "Mug"``), only the
    clause follows them; else the whole phrase stands for it.
    """
    bare = said.strip(QUOTES)
    own = re.escape(how.noun.split(" ")[-1])
    pattern = re.compile(
        rf"(?:\b(?:the )?(?P<noun>{own}) )?[{QUOTES}]?(?<!\w){re.escape(bare)}(?!\w)[{QUOTES}]?", re.IGNORECASE
    )
    if not bare or pattern.search(text) is None:
        return None

    def replaced(match: re.Match[str]) -> str:
        before = text[: match.start()].rstrip()
        word = re.search(r"([\w'-]+)$", before)
        named = match["noun"] is None and word is not None and _in_noun_phrase(before)
        named = named and word is not None and word[1].casefold() not in LEADING
        said_now = how.found if named else how.alone
        starts = not before or before.endswith((".", "?", "!", ":"))
        said_now = said_now[:1].upper() + said_now[1:] if starts else said_now
        # The value may have brought the full stop of the sentence with it.
        after = text[match.end() :]
        ended = bare.endswith((".", "?", "!")) and re.match(r"\s*(?:$|[A-Z])", after) is not None
        return said_now + "." if ended else said_now

    return _tidied(pattern.sub(replaced, text))


def _in_noun_phrase(before: str) -> bool:
    """Return whether a text ends inside a phrase like ``the email address``: a "the" and at most four words."""
    return re.search(r"\b(?:the|this|that)(?:\s+[\w'-]+){1,4}$", before, re.IGNORECASE) is not None and not re.search(
        r"\b(?:the|this|that)(?:\s+[\w'-]+)*\s+(?:to|is|as|of|for|with|by|at|on|in|and|from|has)(?:\s+[\w'-]+)?$",
        before,
        re.IGNORECASE,
    )


def _tidied(text: str) -> str:
    return re.sub(r"\b(\w+) the \1\b", r"the \1", re.sub(r" {2,}", " ", text))
