"""Words of identifiers: tokens, singular and plural, SQL and Python names."""

import keyword
import re
import unicodedata
from functools import lru_cache

_IRREGULAR = {
    "people": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "indices": "index",
    "indexes": "index",
    "statuses": "status",
    "analyses": "analysis",
    "aliases": "alias",
    "matrices": "matrix",
    "vertices": "vertex",
    "criteria": "criterion",
    "media": "media",
    "data": "data",
    "series": "series",
    "news": "news",
    "species": "species",
    "caches": "cache",
    "movies": "movie",
    "cookies": "cookie",
    "headers": "header",
    "bus": "bus",
    "gas": "gas",
    "canvas": "canvas",
    "dns": "dns",
    "https": "https",
    "aws": "aws",
    "sms": "sms",
    "vms": "vm",
    "ids": "id",
    "kubernetes": "kubernetes",
    "metadata": "metadata",
    "axes": "axis",
    "quizzes": "quiz",
    "searches": "search",
    "always": "always",
    "has": "has",
    "is": "is",
    "this": "this",
    "previous": "previous",
    "css": "css",
    "gps": "gps",
    "os": "os",
    "tls": "tls",
    "ssl": "ssl",
    "rss": "rss",
    "cors": "cors",
    "vps": "vps",
    "does": "does",
    "as": "as",
    "lens": "lens",
    "yes": "yes",
    "plus": "plus",
    "apis": "api",
    "uuids": "uuid",
    "urls": "url",
    "uris": "uri",
    "heroes": "hero",
    "lives": "life",
    "leaves": "leave",
    "knives": "knife",
    "shelves": "shelf",
    "moves": "move",
}


@lru_cache(maxsize=8192)
def tokens(name: str) -> tuple[str, ...]:
    """Split an identifier of any style into lower-case words: ``getIssueIDs`` -> get, issue, ids."""
    text = unicodedata.normalize("NFKC", name)
    words: list[str] = []
    current = ""
    for index, char in enumerate(text):
        if not char.isalnum():
            words.append(current)
            current = ""
            continue
        before = text[index - 1] if index else ""
        after = text[index + 1] if index + 1 < len(text) else ""
        starts = char.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower()))
        # A plural after an acronym stays with it: ``teamIDs``.
        if starts and before.isupper() and after == "s" and not text[index + 2 : index + 3].islower():
            starts = False
        if starts and current:
            words.append(current)
            current = ""
        current += char
    words.append(current)
    return tuple(word.lower() for word in words if word)


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """The singular of an English noun; other words come back as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is", "ics", "ous")) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


def plural(word: str) -> str:
    """The plural of an English noun."""
    for many, one in _IRREGULAR.items():
        if one == word and many != word and many not in ("indexes",):
            return many
    if word in _IRREGULAR.values() and singular(word) == word and word in _IRREGULAR:
        return word
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "i", "o", "u"):
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "ch", "sh", "z")):
        return word + "es"
    return word + "s"


def is_plural(word: str) -> bool:
    """True if the word is a plural noun."""
    return singular(word) != word


def singular_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Every word in the singular."""
    return tuple(singular(word) for word in words)


def sql_name(words: tuple[str, ...], fallback: str) -> str:
    """A lower-case ASCII identifier of the words, or ``fallback`` when nothing of them is left."""
    text = "_".join(words)
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = re.sub(r"[^a-z0-9_]+", "_", text.lower()).strip("_")[:60].strip("_")
    if not text:
        return fallback
    return f"n_{text}" if text[0].isdigit() else text


def function_name(tool: str, taken: set[str]) -> str:
    """A Python identifier for a tool that is not in ``taken``, which gets it."""
    base = sql_name(tokens(tool), "tool")
    if keyword.iskeyword(base) or keyword.issoftkeyword(base):
        base = f"{base}_tool"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name


def unique_name(base: str, taken: set[str]) -> str:
    """``base``, or ``base_2`` and so on when it is taken (case ignored); ``taken`` gets it."""
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name.lower())
    return name


def camel_like(name: str) -> bool:
    """True if the identifier is in camel case."""
    return "_" not in name and "-" not in name and name[:1].islower() and any(c.isupper() for c in name)


def listed(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list, in order: how the lexicons are written down."""
    return tuple(entry.strip() for entry in text.replace("\n", " ").split(",") if entry.strip())
