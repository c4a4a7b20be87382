"""Strings that match a regular expression: a bounded generator over Python's own parse trees.

JSON Schema patterns are ECMA 262 expressions searched for anywhere in the text. They are translated where the two
dialects differ, generated from, and every result is checked by matching; look-around is only checked.
"""

import random
import re
import string
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

PLAIN = string.ascii_lowercase + string.digits + string.ascii_uppercase + "_-. "
PRINTABLE = "".join(chr(code) for code in range(32, 127))
CATEGORIES: dict[str, str] = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_lowercase + string.digits + string.ascii_uppercase + "_",
    "CATEGORY_SPACE": " ",
}
PROPERTIES = {
    "L": "A-Za-z", "Letter": "A-Za-z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "Nd": "0-9", "P": "!-/",
    "Alphabetic": "A-Za-z",
}  # fmt: skip
ATTEMPTS = 48


class PatternNotSupported(ValueError):
    """The pattern cannot be parsed or no match was found within the bound."""


def translate(pattern: str) -> str:
    """Return an ECMA 262 pattern in Python's dialect: named groups, Unicode property and code point escapes."""

    def prop(match: re.Match[str]) -> str:
        inside = PROPERTIES.get(match.group(2).split("=")[-1], "A-Za-z0-9")
        return f"[^{inside}]" if match.group(1) == "P" else f"[{inside}]"

    text = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    text = re.sub(r"\\u\{([0-9A-Fa-f]+)\}", lambda m: re.escape(chr(int(m.group(1), 16))), text)
    in_class = re.compile(r"\[([^\]\\]*(?:\\.[^\]\\]*)*)\]")

    def inner(match: re.Match[str]) -> str:
        body = re.sub(
            r"\\p\{(\^?[^}]*)\}", lambda m: PROPERTIES.get(m.group(1).split("=")[-1], "A-Za-z0-9"), match.group(1)
        )
        return f"[{body}]"

    text = in_class.sub(inner, text)
    return re.sub(r"\\([pP])\{([^}]*)\}", prop, text)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile an ECMA pattern for searching (ASCII classes).

    Raises:
        PatternNotSupported: Python cannot read it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(translate(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternNotSupported(f"pattern {pattern!r}: {error}") from error


@lru_cache(maxsize=1024)
def read_pattern(pattern: str) -> tuple[re.Pattern[str], Any]:
    """Return an ECMA pattern compiled and as a parse tree; a spec repeats its few patterns hundreds of times.

    Raises:
        PatternNotSupported: Python cannot read it.
    """
    compiled = compile_pattern(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compiled, parser.parse(translate(pattern), re.ASCII)


class PatternSampler:
    """Draws strings that match one pattern.

    Args:
        pattern: ECMA 262 expression, as JSON Schema has it.
        low: least length in characters.
        high: greatest length in characters, or None.

    Raises:
        PatternNotSupported: the pattern cannot be parsed.
    """

    def __init__(self, pattern: str, low: int = 0, high: int | None = None) -> None:
        self.pattern = pattern
        self.low, self.high = low, high
        self.exact = False
        self.compiled, self.tree = read_pattern(pattern)
        anchored = pattern.startswith(("^", "(^", "(?:^"))
        self.open_end = not (anchored and pattern.endswith("$"))

    def draw(self, rng: random.Random) -> str:
        """Return a match within the length bounds.

        Raises:
            PatternNotSupported: none was found in a bounded number of attempts.
        """
        for attempt in range(ATTEMPTS):
            # Half of the attempts repeat up to `extra` times, the others exactly so often: narrow lengths need it.
            self.exact = attempt % 16 >= 8
            usual = (1, 3, 5, 0, 8, 12, self.low, self.high or 2)[attempt % 8]
            extra = self.low + attempt % 8 if self.exact else usual
            groups: dict[int, str] = {}
            text = "".join(self.node(op, value, rng, extra, groups) for op, value in self.tree)
            if self.open_end and len(text) < self.low:
                text += "".join(rng.choice(string.ascii_lowercase) for _ in range(self.low - len(text)))
            if self.fits(text):
                return text
        raise PatternNotSupported(f"pattern {self.pattern!r}: no match found with length {self.low}..{self.high}")

    def fits(self, text: str) -> bool:
        """True if the text matches and keeps the length bounds."""
        return (
            len(text) >= self.low
            and (self.high is None or len(text) <= self.high)
            and self.compiled.search(text) is not None
        )

    def sequence(self, items: Iterable[Any], rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Return texts of the nodes, joined."""
        return "".join(self.node(op, value, rng, extra, groups) for op, value in items)

    def node(self, op: Any, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Return a text for one node of the parse tree."""
        handler = HANDLERS.get(str(op))
        if handler is None:
            raise PatternNotSupported(f"pattern {self.pattern!r}: {op} is not generated")
        return handler(self, value, rng, extra, groups)

    def branch(self, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Take one alternative."""
        return self.sequence(rng.choice(value[1]), rng, extra, groups)

    def group(self, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Return the group's text and remember it for back references."""
        text = self.sequence(value[3], rng, extra, groups)
        if value[0] is not None:
            groups[value[0]] = text
        return text

    def repeat(self, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Repeat between the least count and a little more."""
        least, most, items = value
        top = min(int(most), int(least) + extra)
        count = max(int(least), min(top, extra)) if self.exact else rng.randint(int(least), top)
        return "".join(self.sequence(items, rng, max(1, extra // 2), groups) for _ in range(count))

    def one_of(self, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Take a character of the class."""
        return rng.choice(class_members(value))

    def other(self, value: Any, rng: random.Random, extra: int, groups: dict[int, str]) -> str:
        """Take a character that is not the excluded one."""
        return rng.choice([c for c in PLAIN if ord(c) != value])


def class_members(items: Iterable[Any]) -> str:
    """Return characters that a class accepts, letters and digits before others; printable ASCII where negated."""
    negate, found = False, ""
    for op, value in items:
        kind = str(op)
        if kind == "NEGATE":
            negate = True
        elif kind == "LITERAL":
            found += chr(value)
        elif kind == "RANGE":
            found += "".join(chr(code) for code in range(value[0], min(value[1], value[0] + 128) + 1))
        elif kind == "CATEGORY":
            name = str(value)
            plain = CATEGORIES.get(name.replace("NOT_", ""), PLAIN)
            found += "".join(c for c in PRINTABLE if c not in plain) if "NOT_" in name else plain
    if negate:
        return "".join(c for c in PLAIN if c not in found) or "".join(c for c in PRINTABLE if c not in found) or "é"
    common = "".join(c for c in found if c.isalnum())
    # Words read better than punctuation: where both are allowed, one character in eight is of the rest.
    rest = "".join(c for c in found if not c.isalnum() and c.isprintable())
    return common * max(1, 8 * len(rest) // len(common)) + rest if common and rest else common or found or "a"


Handler = Callable[[PatternSampler, Any, random.Random, int, dict[int, str]], str]

HANDLERS: dict[str, Handler] = {
    "LITERAL": lambda _s, value, _r, _e, _g: chr(value),
    "NOT_LITERAL": PatternSampler.other,
    "ANY": lambda _s, _v, rng, _e, _g: rng.choice(string.ascii_lowercase),
    "IN": PatternSampler.one_of,
    "BRANCH": PatternSampler.branch,
    "SUBPATTERN": PatternSampler.group,
    "ATOMIC_GROUP": lambda s, value, rng, extra, groups: s.sequence(value, rng, extra, groups),
    "MAX_REPEAT": PatternSampler.repeat,
    "MIN_REPEAT": PatternSampler.repeat,
    "POSSESSIVE_REPEAT": PatternSampler.repeat,
    "GROUPREF": lambda _s, value, _r, _e, groups: groups.get(value, ""),
    "AT": lambda _s, _v, _r, _e, _g: "",
    "ASSERT": lambda _s, _v, _r, _e, _g: "",
    "ASSERT_NOT": lambda _s, _v, _r, _e, _g: "",
    "CATEGORY": lambda _s, value, rng, _e, _g: rng.choice(class_members([("CATEGORY", value)])),
}
"""Node kind of the parse tree -> generator."""
