"""Layout of rendered Python: expressions as documents that fit on a line or open up, texts as literals (pure).

Small on purpose: rendered code is reviewed and diffed by people, so it is laid out like theirs, and rendering must not
depend on a formatter that the next release formats differently.
"""

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from weft.errors import InputError

WIDTH: Final = 100
INDENT: Final = 4

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Atom:
    """Text that is never broken."""

    text: str

    @property
    def flat(self) -> str:
        """The text on one line."""
        return self.text


@dataclass(frozen=True)
class Text:
    """A text literal; a long one is broken between words into literals that follow each other."""

    value: str

    @cached_property
    def flat(self) -> str:
        """The literal on one line."""
        return text_literal(self.value)


@dataclass(frozen=True)
class Group:
    """Items between brackets.

    Broken, those of a call stand on one line of their own if they fit there; else each stands on its own line, with a
    trailing comma where ``comma`` is set.
    """

    opening: str
    items: tuple["Doc", ...]
    closing: str
    comma: bool = True

    @cached_property
    def flat(self) -> str:
        """The text on one line."""
        return self.opening + ", ".join(item.flat for item in self.items) + self.closing


@dataclass(frozen=True)
class Label:
    """A document behind a label: ``name=`` in a call, ``"name": `` in a dictionary."""

    label: str
    doc: "Doc"

    @cached_property
    def flat(self) -> str:
        """The text on one line."""
        return self.label + self.doc.flat


@dataclass(frozen=True)
class Chain:
    """Parts that follow each other, each behind a word: ``a if b else c``, ``a and b``, ``x for y in z``.

    Broken, each part begins a line; parentheses are put around unless ``bare`` says that brackets are there already.
    """

    parts: tuple[tuple[str, "Doc"], ...]
    bare: bool = False

    @cached_property
    def flat(self) -> str:
        """The text on one line."""
        return " ".join(f"{word} {doc.flat}" if word else doc.flat for word, doc in self.parts)


Doc = Atom | Text | Group | Label | Chain


def call(function: str, *items: Doc) -> Group:
    """A call."""
    return Group(f"{function}(", items, ")")


def keyword(name: str, doc: Doc) -> Label:
    """A keyword argument."""
    return Label(f"{name}=", doc)


def parenthesised(doc: Doc) -> Doc:
    """The document in parentheses."""
    return Group("(", (Chain(doc.parts, bare=True) if isinstance(doc, Chain) else doc,), ")", comma=False)


def lines(doc: Doc, indent: int = 0, before: str = "", after: str = "", *, inside: bool = False) -> list[str]:
    """Lay out ``before`` + document + ``after``, at most WIDTH characters a line where that can be done.

    Args:
        doc: what to lay out.
        indent: columns.
        before: what precedes it on its first line.
        after: what follows it on its last line.
        inside: it stands between brackets, so that its lines need none of their own.
    """
    one = f"{' ' * indent}{before}{doc.flat}{after}"
    if len(one) <= WIDTH or isinstance(doc, Atom):
        return [one]
    match doc:
        case Label():
            return lines(doc.doc, indent, before + doc.label, after)
        case Text():
            return _text_lines(doc, indent, before, after, inside)
        case Chain():
            return _chain_lines(doc, indent, before, after)
    if not doc.items:
        return [one]
    found = [f"{' ' * indent}{before}{doc.opening}"]
    together = " " * (indent + INDENT) + ", ".join(item.flat for item in doc.items)
    is_call = doc.opening.endswith("(") and doc.opening != "("
    if (is_call or not doc.comma) and len(together) <= WIDTH:
        return [*found, together, f"{' ' * indent}{doc.closing}{after}"]
    for item in doc.items:
        found += lines(item, indent + INDENT, after="," if doc.comma else "", inside=True)
    return [*found, f"{' ' * indent}{doc.closing}{after}"]


def _chain_lines(doc: Chain, indent: int, before: str, after: str) -> list[str]:
    if len(doc.parts) == 1:
        word, part = doc.parts[0]
        return lines(part, indent, f"{before}{word} " if word else before, after)
    if not doc.bare:
        inner = lines(Chain(doc.parts, bare=True), indent + INDENT)
        return [f"{' ' * indent}{before}(", *inner, f"{' ' * indent}){after}"]
    found: list[str] = []
    for index, (word, part) in enumerate(doc.parts):
        head = (before if index == 0 else "") + (f"{word} " if word else "")
        found += lines(part, indent, head, after if index == len(doc.parts) - 1 else "")
    return found


def _text_lines(doc: Text, indent: int, before: str, after: str, inside: bool) -> list[str]:
    if not inside or before:
        inner = _text_lines(doc, indent + INDENT, "", "", True)
        if len(inner) == 1:
            return [f"{' ' * indent}{before}{doc.flat}{after}"]
        return [f"{' ' * indent}{before}(", *inner, f"{' ' * indent}){after}"]
    room = WIDTH - indent - len(after)
    pieces = [""]
    for word in re.findall(r"\s*\S+|\s+$", doc.value):
        if pieces[-1] and len(text_literal(pieces[-1] + word)) > room:
            space = len(word) - len(word.lstrip())
            pieces[-1] += word[:space]
            pieces.append(word[space:])
        else:
            pieces[-1] += word
    told = [f"{' ' * indent}{text_literal(piece)}" for piece in pieces]
    return [*told[:-1], told[-1] + after]


def text_literal(text: str) -> str:
    """Return a text as a double-quoted literal; everything that does not show is escaped."""
    if text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return '"' + "".join(_ESCAPES.get(letter) or _visible(letter) for letter in text) + '"'


def _visible(letter: str) -> str:
    # Besides control characters this escapes the marks that reverse the reading order of the line they are in.
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def literal(value: Any) -> Doc:
    """Return a JSON value as a Python literal.

    Raises:
        InputError: it is no JSON value.
    """
    if value is None or isinstance(value, bool):
        return Atom(repr(value))
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return Atom(repr(value))
    if isinstance(value, (list, tuple)):
        return Group("[", tuple(map(literal, value)), "]")
    if isinstance(value, dict):
        return Group("{", tuple(Label(f"{text_literal(str(k))}: ", literal(v)) for k, v in value.items()), "}")
    raise InputError(f"a contract holds the constant {value!r}, which is not JSON; use a JSON value")


def tuple_of(docs: Sequence[Doc]) -> Doc:
    """Return a tuple display."""
    if len(docs) == 1:
        return Atom(f"({docs[0].flat},)")
    return Group("(", tuple(docs), ")")


def docstring(paragraphs: Sequence[str], indent: int) -> list[str]:
    """Return a docstring: one paragraph on one line where it fits, else a summary, a blank line and the rest.

    A paragraph may hold line breaks; each of its lines is wrapped, with a hanging indent below a leading dash.
    """
    space = " " * indent
    told = [_in_docstring(paragraph) for paragraph in paragraphs if paragraph.strip()]
    quotes = 'r"""' if any("\\" in paragraph for paragraph in told) else '"""'
    if len(told) == 1 and len(told[0]) + indent + 3 + len(quotes) <= WIDTH and "\n" not in told[0]:
        return [f'{space}{quotes}{told[0]}"""']
    found: list[str] = []
    for number, paragraph in enumerate(told):
        if number:
            found.append("")
        for line in paragraph.split("\n"):
            found += textwrap.wrap(
                line,
                WIDTH,
                initial_indent=space + (quotes if not found else ""),
                subsequent_indent=space + ("  " if line.startswith("- ") else ""),
                break_long_words=False,
                break_on_hyphens=False,
            )
    return [*found, f'{space}"""']


def _in_docstring(text: str) -> str:
    # Three quotes would end the docstring, and so would a quote or a backslash right before its end.
    plain = text.replace('"""', "'''")
    if not plain.replace("\n", "").isprintable():
        plain = "".join(letter if letter == "\n" or letter.isprintable() else " " for letter in plain)
    return plain + "." if plain.endswith(('"', "\\")) else plain
