"""Answers in the final reply: whether a value is stated, and whether a wrong one is stated instead (DESIGN section 5).

A reply is free text. What is looked for is the value, in any spelling that a person would take for it: 1,234.50 for
1234.5, ``3 March 2026`` for ``2026-03-03``, ``in progress`` for ``in_progress``. A reply that lists every value to
be on the safe side states rivals, and fails.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from weft.records.base import JSON
from weft.records.verdict import AnswerPart, CheckResult
from weft.runtime.values import instant

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")  # fmt: skip
UNITS = r"(?:%|k?g|mg|[ckm]m|km|m|l|ml|h|hrs?|min|ms|s|[KMGT]i?B|px|x|pts?|°[CF]?)"

NUMBER = re.compile(
    r"(?<![\w.,/:-])(?P<sign>[-−+]?)[$€£¥₹]?(?P<sign2>[-−]?)"
    r"(?P<body>\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?=(?:{UNITS})?(?![\w/:-]|[.,]\d)|-(?:[^\W\d]))"
)
NEGATION = re.compile(
    r"\b(?:not|no|never|none|cannot|without|unable|neither|nor|nothing|nobody|[a-z]+n['’]t)\b", re.IGNORECASE
)
CONTRAST = re.compile(
    r"\b(?:not|never|no longer|[a-z]+n['’]t|instead of|rather than|other than|except|unlike|from|was|were|previously|"
    r"formerly|before)(?:\s+[\w'’-]+){0,3}\s*[\"'“‘(]?$",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"\b(?:not|no|cannot|unable|never|none|nothing|nobody|neither|failed|fails|refused|rejected|impossible|denied|"
    r"[a-z]+n['’]t)\b",
    re.IGNORECASE,
)
YES = re.compile(r"\b(?:yes|true|indeed|correct|affirmative)\b", re.IGNORECASE)
NO = re.compile(r"\b(?:no|false|nope|negative)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Day:
    """A date in a text; ``year`` None when the text leaves it out."""

    year: int | None
    month: int
    day: int


def plain_text(text: str) -> str:
    """Return a text without its dress: Unicode compatibility forms, case, Markdown marks, kinds of quotes and gaps."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2013: "-", 0x2014: "-", 0x2212: "-"})
    return re.sub(r"[\s_*`-]+", " ", text).strip()


def numbers(text: str) -> list[Decimal]:
    """Return the number tokens of a text: thousands separators, currency signs, percent and units are understood.

    Digits inside dates, times, versions and identifiers are not numbers. Words up to twenty are.
    """
    found = []
    for match in NUMBER.finditer(text):
        body = re.sub(r"[,'’\u00a0\u202f]", "", match["body"])
        try:
            value = Decimal(body)
        except InvalidOperation:
            continue
        found.append(-value if match["sign"] in ("-", "−") or match["sign2"] else value)
    found += [Decimal(SMALL.index(word)) for word in re.findall(r"[a-z]+", text.casefold()) if word in SMALL]
    return found


def days(text: str) -> list[Day]:
    """Return the dates of a text: ISO, ``3 March 2026``, ``March 3rd, 2026``, ``Mar 3``; ``03/04/2026`` both ways."""
    names = "|".join(f"{month}|{month[:3]}" for month in MONTHS) + "|sept"
    low = text.casefold()
    found = [
        Day(int(y), int(m), int(d)) for y, m, d in re.findall(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", low)
    ]
    first = rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+({names})\b\.?(?:,?[\s-]+(\d{{4}})(?!\d))?"
    found += [Day(int(y) if y else None, _month(m), int(d)) for d, m, y in re.findall(first, low)]
    second = rf"\b({names})\b\.?[\s-]+(\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?[\s-]+(\d{{4}})(?!\d))?"
    found += [Day(int(y) if y else None, _month(m), int(d)) for m, d, y in re.findall(second, low)]
    for left, right, year in re.findall(r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.](\d{4})(?!\d)", low):
        found += [Day(int(year), int(left), int(right)), Day(int(year), int(right), int(left))]
    return found


def _month(name: str) -> int:
    return next(index for index, month in enumerate(MONTHS, 1) if month.startswith(name[:3]))


def times(text: str) -> set[tuple[int, int]]:
    """Return the times of day of a text as (hour, minute): ``14:30``, ``2:30 pm``, ``2 pm``, ``T14:30:00Z``."""
    found = set()
    for hour, minute, half in re.findall(
        r"(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\.\d+)?\s*([ap]\.?m)?", text.casefold()
    ):
        found.add((int(hour) % 12 + (12 if half.startswith("p") else 0) if half else int(hour), int(minute)))
    for hour, half in re.findall(r"(?<![\d:.])(\d{1,2})\s*([ap])\.?m\b", text.casefold()):
        found.add((int(hour) % 12 + (12 if half == "p" else 0), 0))
    return found


def _date_value(value: JSON) -> tuple[Day, tuple[int, int] | None] | None:
    match = re.match(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?", str(value))
    if match is None:
        return None
    clock = (int(match[4]), int(match[5])) if match[4] else None
    return Day(int(match[1]), int(match[2]), int(match[3])), clock


def _states_date(value: JSON, reply: str, *, timed: bool) -> bool:
    wanted = _date_value(value)
    if wanted is None:
        return states_text(value, reply)
    day, clock = wanted
    if not any(
        (seen.month, seen.day) == (day.month, day.day) and seen.year in (None, day.year) for seen in days(reply)
    ):
        return False
    return not (timed and clock is not None) or clock in times(reply)


def states_number(value: JSON, reply: str) -> bool:
    """Return whether a reply states a number; a long fraction may be rounded to two decimals or more."""
    try:
        wanted = Decimal(str(value))
    except InvalidOperation:
        return states_text(value, reply)
    stated = numbers(reply)
    if wanted == 0 and re.search(r"\b(?:no|none|nothing|nobody)\b", reply, re.IGNORECASE):
        return True
    exponent = wanted.normalize().as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    for token in stated:
        if token == wanted:
            return True
        shown = token.as_tuple().exponent
        places = -shown if isinstance(shown, int) else 0
        if decimals > 2 and 2 <= places < decimals and abs(token - wanted) <= Decimal(5).scaleb(-places - 1):
            return True
    return False


def states_text(value: JSON, reply: str) -> bool:
    """Return whether a reply holds a text on word boundaries, case, white space and dress ignored."""
    return next(_places(plain_text(str(value)), plain_text(reply)), None) is not None


def _places(needle: str, hay: str) -> Iterator[int]:
    if not needle:
        return
    left = r"(?<!\w)" if needle[0].isalnum() else ""
    right = r"(?!\w)" if needle[-1].isalnum() else ""
    for match in re.finditer(left + re.escape(needle) + right, hay):
        yield match.start()


def states_boolean(part: AnswerPart, reply: str) -> bool:
    """Return whether a reply answers yes or no as it should: by the word, or by the part's own words and a negation."""
    # The name of what is asked may hold such a word itself: "no shorting: yes".
    bare = plain_text(reply).replace(plain_text(part.name), " ")
    lead = re.match(r"\W*(yes|no)\b", bare)
    if lead is not None:
        return (lead[1] == "yes") is bool(part.value)
    yes, no = bool(YES.search(bare)), bool(NO.search(bare))
    if yes != no:
        return yes is bool(part.value)
    if yes:
        return False
    stems = [word[:5] for word in plain_text(part.name).split() if len(word) > 3 and word not in ("does", "have")]
    if not stems or not all(stem in plain_text(reply) for stem in stems):
        return False
    return (NEGATION.search(reply) is None) is bool(part.value)


def states_refusal(part: AnswerPart, reply: str) -> bool:
    """Return whether a reply says that it was not done, with one of the accepted reasons if there are any."""
    reasons: Sequence[JSON] = part.value if isinstance(part.value, (list, tuple)) else [part.value]
    named = [str(reason) for reason in reasons if reason not in (None, "")]
    plain = plain_text(reply)
    return REFUSING.search(reply) is not None and (not named or any(plain_text(reason) in plain for reason in named))


def states(part: AnswerPart, reply: str) -> bool:
    """Return whether a reply states a part's value."""
    if part.kind == "number":
        return states_number(part.value, reply)
    if part.kind == "date":
        wanted = _date_value(part.value)
        timed = wanted is not None and any(
            seen is not None and seen[0] == wanted[0] for seen in map(_date_value, part.rivals)
        )
        return _states_date(part.value, reply, timed=timed)
    if part.kind == "boolean":
        return states_boolean(part, reply)
    if part.kind == "refusal":
        return states_refusal(part, reply)
    return states_text(part.value, reply)


def stated_rival(part: AnswerPart, reply: str, right: Sequence[AnswerPart]) -> JSON:
    """Return a rival that the reply states, or None.

    A rival that only stands inside a right value, or that the reply sets aside ("not closed", "rather than 12"), is
    none.

    Args:
        part: whose rivals.
        reply: the final reply.
        right: every part of the answer; their values are no rivals of each other.
    """
    if part.kind == "number":
        seen = numbers(reply)
        own = {Decimal(str(item.value)) for item in right if item.kind == "number" and _numeric(item.value)}
        for rival in part.rivals:
            if _numeric(rival) and Decimal(str(rival)) in seen and Decimal(str(rival)) not in own:
                return rival
        return None
    if part.kind == "date":
        own_days = [_date_value(item.value) for item in right if item.kind == "date"]
        for rival in part.rivals:
            day = _date_value(rival)
            clash = any(known is not None and day is not None and known[0] == day[0] for known in own_days)
            if day is not None and not clash and day[0] in days(reply):
                return rival
        return None
    if part.kind != "text":
        return None
    plain = plain_text(reply)
    for value in sorted((plain_text(str(item.value)) for item in right if item.kind == "text"), key=len, reverse=True):
        for start in reversed(list(_places(value, plain))):
            plain = plain[:start] + "\0" * len(value) + plain[start + len(value) :]
    for rival in part.rivals:
        if any(not CONTRAST.search(plain[:start]) for start in _places(plain_text(str(rival)), plain)):
            return rival
    return None


def _numeric(value: JSON) -> bool:
    if isinstance(value, bool):
        return False
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def check_answer(parts: Sequence[AnswerPart], reply: str) -> list[CheckResult]:
    """Check every part of an answer."""
    results = []
    for part in parts:
        name = f"answer {part.name}"
        rival = stated_rival(part, reply, parts)
        if not states(part, reply):
            results.append(CheckResult(name=name, passed=False, detail=f"the reply does not state {part.value!r}"))
        elif rival is not None:
            results.append(
                CheckResult(name=name, passed=False, detail=f"the reply states {rival!r}, which is another's")
            )
        else:
            results.append(CheckResult(name=name, passed=True))
    return results


def same_instant(left: JSON, right: JSON) -> bool:
    """Return whether two texts name the same instant."""
    if not isinstance(left, str) or not isinstance(right, str):
        return False
    first, second = instant(left), instant(right)
    return first is not None and first == second
