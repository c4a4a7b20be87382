"""Saying a long phrase once where a request looks something up and then acts on it (pure)."""

import re
from collections.abc import Sequence

from weft.agents.rules.tasks.words import PEOPLE

_KIND = re.compile(r"the ([a-z][a-z ]*?)(?= (?:with|called|of|for|in|created|assigned)\b| [\"0-9A-Z])")


def pronounced(text: str, phrases: Sequence[str]) -> str:
    """Return a text in which what is looked up is named once.

    ``Delete X. Look up X first.`` becomes ``Delete X. Look it up first.``, and ``Look up X first. Delete X.`` becomes
    ``Look up X first. Delete it.``.

    Args:
        text: with the sentence that :func:`looking` makes of the phrases.
        phrases: what is looked up.
    """
    if not phrases:
        return text
    look = looking(phrases)
    before, mark, after = text.partition(look)
    if not mark:
        return text
    if all(phrase.casefold() in before.casefold() for phrase in phrases):
        return before + _short(before, phrases) + after
    if len(phrases) == 1:
        return before + look + _after(after, phrases[0])
    return text


def looking(phrases: Sequence[str]) -> str:
    """Return the sentence that says what to look up first, or "" for nothing."""
    return f"Look up {' and '.join(phrases)} first." if phrases else ""


def _short(before: str, phrases: Sequence[str]) -> str:
    """Return the sentence about what the text has just named."""
    if len(phrases) > 1:
        return "Look both up first." if len(phrases) == 2 else "Look them up first."
    phrase = phrases[0]
    # After a preposition it is not what the sentence is about, so "it" would be something else.
    if re.search(rf"\b(?:of|for|to|with|from|in|by) {re.escape(phrase)}", before, re.IGNORECASE):
        return f"Look {_that(phrase)} up first."
    return f"Look {'it' if _thing(phrase) else 'them'} up first."


def _thing(phrase: str) -> bool:
    kind = _KIND.match(phrase)
    return phrase.startswith("the ") and not (kind and kind[1] in PEOPLE)


def _that(phrase: str) -> str:
    kind = _KIND.match(phrase)
    return f"that {kind[1]}" if kind else "it" if _thing(phrase) else "them"


def _after(text: str, phrase: str) -> str:
    """Return a text in which pronouns stand for a phrase that was just said."""
    named = re.escape(phrase) + r"(?!\w)"
    thing = _thing(phrase)
    whose, one, subject = ("its", "it", "it is") if thing else ("their", "them", "they are")
    that = _that(phrase)
    if re.search(r'[.!?]"$', phrase):
        # Its quotation ended the sentence; the pronoun needs a full stop of its own.
        text = re.sub(re.escape(phrase) + r"(?=\s+[A-Z]|\s*$)", lambda match: match.group() + ".", text)
    text = re.sub(rf"\bwhether {named} is\b", f"whether {subject}", text)
    text = re.sub(
        rf"\b[Tt]he ((?:(?!the |of )[a-z-]+ ){{1,5}})of {named}", lambda match: f"{whose} {match[1].strip()}", text
    )
    text = re.sub(rf"\b(of|for|to|with|from|in|and|by) {named}", rf"\1 {that}", text)
    text = re.sub(rf"^(\s*){named}", lambda match: match[1] + (that[:1].upper() + that[1:]), text)
    return re.sub(r"  +", " ", re.sub(named, one, text))
