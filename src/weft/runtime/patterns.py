r"""Text that matches a regular expression of the plain kind that JSON Schemas give for ids (pure).

Understood: literals, escapes (``\d \w \s`` and escaped punctuation), classes with ranges, ``.``, groups, alternation,
anchors at the ends, and the quantifiers ``? * + {n} {n,} {n,m}``. Everything else (look-around, back references, class
complements of classes) is not: :func:`matching_text` then returns None.
"""

import re
import string
from collections.abc import Callable

Draw = Callable[[int], int]
"""``draw(n)`` gives the next number in ``range(n)``."""

OPEN_ENDED_REPEATS = 8
"""Repetitions of ``+`` and ``{n,}`` beyond their least number are kept within this; ``*`` gives this many at most."""

_DIGITS = string.digits
_WORD = string.ascii_lowercase + string.digits
_PRINTABLE = string.ascii_letters + string.digits + "-_"


class _Unsupported(Exception):
    pass


def matching_text(pattern: str, draw: Draw) -> str | None:
    """Return a text that ``pattern`` finds a match in, drawn with ``draw``; None if the pattern is not understood."""
    reader = _Reader(pattern, draw)
    try:
        text = reader.alternatives()
        if reader.position != len(pattern):
            return None
        return text if re.search(pattern, text) else None
    except (_Unsupported, re.error, RecursionError):
        return None


class _Reader:
    """Reads a pattern once from left to right and writes a matching text as it goes."""

    def __init__(self, pattern: str, draw: Draw) -> None:
        self.pattern = pattern
        self.draw = draw
        self.position = 0

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def take(self) -> str:
        letter = self.peek()
        if not letter:
            raise _Unsupported
        self.position += 1
        return letter

    def alternatives(self) -> str:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        return branches[self.draw(len(branches))]

    def sequence(self) -> str:
        pieces: list[str] = []
        while (letter := self.peek()) and letter not in "|)":
            if letter in "^$":
                self.take()
                continue
            pieces.append(self.repeated())
        return "".join(pieces)

    def repeated(self) -> str:
        start = self.position
        first = self.atom()
        end = self.position
        least, most = self.quantifier()
        count = least + self.draw(most - least + 1)
        after = self.position
        pieces = [first] if count else []
        for _ in range(1, count):  # draw each repetition anew
            self.position = start
            pieces.append(self.atom())
            assert self.position == end
        self.position = after
        return "".join(pieces)

    def quantifier(self) -> tuple[int, int]:
        letter = self.peek()
        if letter in ("?", "*", "+"):
            self.take()
            bounds = {"?": (0, 1), "*": (0, OPEN_ENDED_REPEATS), "+": (1, OPEN_ENDED_REPEATS)}[letter]
        elif letter == "{" and (match := re.compile(r"\{(\d+)(,(\d*))?\}").match(self.pattern, self.position)):
            self.position = match.end()
            least = int(match[1])
            most = least if match[2] is None else int(match[3] or max(least, OPEN_ENDED_REPEATS))
            if most < least or most > 1000:
                raise _Unsupported
            bounds = (least, most)
        else:
            return 1, 1
        if self.peek() in ("?", "+"):  # lazy and possessive forms match the same texts here
            self.take()
        return bounds

    def atom(self) -> str:
        letter = self.take()
        if letter == "(":
            if self.pattern.startswith("?:", self.position):
                self.position += 2
            elif self.peek() == "?":
                raise _Unsupported
            text = self.alternatives()
            if self.take() != ")":
                raise _Unsupported
            return text
        if letter == "[":
            return self.one_of(self.members())
        if letter == "\\":
            return self.one_of(self.escaped())
        if letter == ".":
            return self.one_of(_PRINTABLE)
        if letter in "*+?{":
            raise _Unsupported
        return letter

    def one_of(self, letters: str) -> str:
        if not letters:
            raise _Unsupported
        return letters[self.draw(len(letters))]

    def escaped(self) -> str:
        letter = self.take()
        classes = {"d": _DIGITS, "w": _WORD, "s": " ", "n": "\n", "t": "\t"}
        if letter in classes:
            return classes[letter]
        if letter.isalnum():
            raise _Unsupported
        return letter

    def members(self) -> str:
        """The letters of a class, its opening bracket already taken."""
        negated = self.peek() == "^"
        if negated:
            self.take()
        letters: list[str] = []
        while self.peek() != "]":
            letter = self.take()
            options = self.escaped() if letter == "\\" else letter
            if len(options) == 1 and self.peek() == "-" and self.pattern[self.position + 1 : self.position + 2] != "]":
                self.take()
                last = self.take()
                last = self.escaped() if last == "\\" else last
                if len(last) != 1 or ord(last) - ord(options) not in range(512):
                    raise _Unsupported
                options = "".join(map(chr, range(ord(options), ord(last) + 1)))
            letters.append(options)
        self.take()
        found = "".join(dict.fromkeys("".join(letters)))
        return "".join(letter for letter in _PRINTABLE if letter not in found) if negated else found
