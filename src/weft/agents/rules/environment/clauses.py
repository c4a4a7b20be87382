"""Clauses: the rules of behaviour that a description states beyond the schema (Weft 3.1.1, execution contracts)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["fails", "order", "case", "partial", "filters", "other"]

_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n+")
_CODES = "not_found|conflict|invalid_argument|invalid_state|outside_workspace|limit_exceeded|forbidden"
_FAILS = re.compile(r"\b(?:fails?|rejects?|(?:returns?|raises?|throws?) an? \w*\s?error)\b", re.IGNORECASE)
_WITH = re.compile(rf"\b(?:with\s+)?`?({_CODES})`?\b", re.IGNORECASE)
_ORDER = re.compile(
    r"\b(?:(newest|latest|most recent|oldest|earliest|largest|highest|smallest|lowest|biggest)\b[\w ]{0,20}\bfirst\b"
    r"|last (?:changed|updated|modified) first|in (?:the )?order (?:of|they)|(?:sorted|ordered) by|in [\w-]+ order\b)",
    re.IGNORECASE,
)
_CASE = re.compile(r"\b(?:ignoring case|case[- ]insensitive(?:ly)?|case is ignored)\b", re.IGNORECASE)
_PARTIAL = re.compile(r"\bonly the (?:fields|values|attributes) (?:that are )?given\b", re.IGNORECASE)
_FILTERS = re.compile(r"\ball filters given must hold\b", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:can ?not|can't|can only|may only|must|unless|only (?:an? )?[\w ]+? (?:can|may)|defaults? to|default is)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:unless|not|isn't|aren't|other than)\b", re.IGNORECASE)
_ELSE = re.compile(r"\b(?:otherwise|any other (?:state|status))\b", re.IGNORECASE)
_BECOMES = re.compile(r"([\w, -]+?)\s+becomes?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Clause:
    """One rule that a description states.

    Attributes:
        text: the sentence, or the part of it that states the rule.
        kind: what the rule is about.
        code: error code of a failure, "" when none is named.
        condition: the words after the code: when the failure comes.
        before: the sentence before, which ``otherwise`` refers to.
    """

    text: str
    kind: Kind
    code: str = ""
    condition: str = ""
    before: str = ""


def clauses_of(description: str) -> list[Clause]:
    """The rules that a description states, in order; a sentence that states several failures gives one for each."""
    found: list[Clause] = []
    before = ""
    for sentence in (part.strip() for part in _SENTENCE.split(description)):
        if not sentence:
            continue
        found += _clauses(sentence, before)
        before = f"{before} {sentence}" if before.endswith(";") else sentence
    return found


def _clauses(sentence: str, before: str) -> list[Clause]:
    failing = _FAILS.search(sentence)
    if failing is not None:
        return _failures(sentence, failing.end(), before)
    for kind, pattern in (
        ("partial", _PARTIAL),
        ("filters", _FILTERS),
        ("case", _CASE),
        ("order", _ORDER),
        ("other", _OTHER),
    ):
        if pattern.search(sentence):
            return [Clause(sentence, kind, before=before)]  # type: ignore[arg-type]
    return []


def _failures(sentence: str, start: int, before: str) -> list[Clause]:
    codes = list(_WITH.finditer(sentence, start))
    if not codes:
        return [Clause(sentence, "fails", "", sentence[start:], before)]
    found = []
    for number, code in enumerate(codes):
        end = codes[number + 1].start() if number + 1 < len(codes) else len(sentence)
        condition = re.sub(r"[,\s]+(?:and|or)\s*$", "", sentence[code.end() : end]).strip(" ,.;")
        text = sentence if len(codes) == 1 else f"Fails with {code[1].lower()} {condition}".strip()
        found.append(Clause(text, "fails", code[1].lower(), condition, before))
    return found


def plain(text: str) -> str:
    """Words in lower case, with single spaces for everything else."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def named(text: str, values: Sequence[Any]) -> list[Any]:
    """The values whose words the text holds; the words of a longer value are not read as a shorter one."""
    left = f" {plain(text)} "
    found = []
    for value in sorted(values, key=lambda item: (-len(plain(str(item))), str(item))):
        words = plain(str(value))
        if words and f" {words} " in left:
            found.append(value)
            left = left.replace(f" {words} ", " | ")
    return [value for value in values if value in found]


def allowed_states(clause: Clause, column: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """The states that an ``invalid_state`` clause lets pass, in the order of ``values``; empty when it names none.

    Args:
        clause: a failure.
        column: name of the status column, whose own words are no state.
        values: all states.
    """
    condition = plain(clause.condition).replace(plain(column), " ")
    if _ELSE.search(condition):
        turned = _BECOMES.search(clause.before)
        states = named(turned[1], values) if turned is not None else []
        if not states:
            states = named(plain(clause.before).replace(plain(column), " "), values)
            # What a row becomes, or is closed as, is no state that it comes from.
            after = re.search(r"(?:becomes?|\bas) ([\w ]+)$", plain(clause.before))
            target = named(after[1], values) if after is not None else []
            states = [state for state in states if state not in target]
        return tuple(states)
    states = named(condition, values)
    if not states:
        return ()
    if _NEGATED.search(condition):
        return tuple(states)
    return tuple(value for value in values if value not in states)
