"""Checking a task's texts: they say what the user knows, and leak nothing of the machinery (Weft 3.1.3, pure)."""

import re
from collections.abc import Iterator

from weft.records.environment import Environment
from weft.records.task import TaskInput, Texts
from weft.runtime.values import fold
from weft.verify.answers import plain_text

SNAKE = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
GAPS = re.compile(r"\s{2,}|\s[,.;:?!](?:\s|$)|\.\.(?!\.)|,,|\ba (?=[aeio]\w)|\ban (?=[bcdfgjklmnpqrstvwxz]\w)")


def words_of(item: TaskInput) -> str:
    """Return how the texts say an input."""
    return item.words or ("" if item.value is None else str(item.value))


def text_problems(texts: Texts, inputs: tuple[TaskInput, ...], intent: str, environment: Environment) -> list[str]:
    """Return what is wrong with a task's texts, empty when nothing is.

    Args:
        texts: the request at the three levels.
        inputs: every input must be in every level, in its own words.
        intent: one sentence; leaks count, missing inputs do not.
        environment: whose tool, table and field names must not show.
    """
    found = []
    for level in ("vague", "partial", "full"):
        text = getattr(texts, level)
        found += [f"{level}: {problem}" for problem in _problems(text, inputs, environment)]
        plain = plain_text(text)
        for item in inputs:
            said = words_of(item)
            if plain_text(said) not in plain:
                found.append(f"{level}: does not say {item.name} ({said!r})")
    found += [f"intent: {problem}" for problem in _problems(intent, inputs, environment)]
    return found


def _problems(text: str, inputs: tuple[TaskInput, ...], environment: Environment) -> Iterator[str]:
    if not text.strip():
        yield "is empty"
        return
    bare = text
    for item in sorted(inputs, key=lambda entry: -len(words_of(entry))):
        if words_of(item):
            bare = bare.replace(words_of(item), "…")
    quoted = re.sub(r"\"[^\"]*\"|“[^”]*”", "…", bare)
    for match in PLACEHOLDER.finditer(quoted):
        yield f"holds the placeholder {match.group()}"
    for pattern, kind in ((SNAKE, "an identifier"), (CAMEL, "an identifier")):
        for match in pattern.finditer(quoted):
            yield f"holds {kind}, {match.group()!r}"
    folded = fold(quoted)
    for tool in environment.spec.tools:
        if len(tool.name) > 3 and ("_" in tool.name or "-" in tool.name) and fold(tool.name) in folded:
            yield f"names the tool {tool.name!r}"
    for gap in GAPS.finditer(quoted):
        yield f"reads badly at {quoted[max(0, gap.start() - 12) : gap.end() + 12]!r}"
    if not text.strip()[0].isupper() and text.strip()[0].isalpha():
        yield "does not begin with a capital"
    if not text.strip().endswith((".", "?", "!", '"', "”", "`")):
        yield "does not end as a sentence"
