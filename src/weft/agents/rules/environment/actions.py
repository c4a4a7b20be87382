"""Action enums: a tool that does several things, one of which an argument chooses; one part per value."""

import re
from dataclasses import replace

from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.intents import Intent, Words, is_verb, noun, parse_words
from weft.agents.rules.environment.words import tokens

_NAMES = frozenset(
    {
        "action",
        "operation",
        "method",
        "op",
        "command",
        "sub command",
        "subcommand",
        "mode",
        "kind of action",
        "action type",
        "operation type",
        "do",
        "tool action",
        "verb",
    }
)
_GENERIC = ("retrieve", "me", "read", "details", "info", "current", "status")


def action_values(fields: list[Field]) -> tuple[Field, tuple[str, ...]] | None:
    """The argument that chooses the action, and its values, if the tool has one."""
    for field in fields:
        if " ".join(field.words) not in _NAMES or not field.is_text:
            continue
        values = tuple(str(value) for value in field.enum) or _described(field.description)
        verbs = [value for value in values if tokens(value) and any(is_verb(word) for word in tokens(value))]
        if (
            values
            and len(values) >= (1 if field.required and field.enum else 2)
            and len(verbs) >= max(1, 0.6 * len(values))
        ):
            return field, values
    return None


def _described(description: str) -> tuple[str, ...]:
    quoted = re.findall(r"['\"`“]([a-z][a-z_]{1,30})['\"`”]", description)
    found = [word for word in dict.fromkeys(quoted) if any(is_verb(part) for part in tokens(word))]
    return tuple(found) if len(found) >= 2 else ()


def action_intent(value: str, owner: Words, group: Words) -> Intent | None:
    """The intent of one action value of a tool about ``owner``."""
    words = tokens(value)
    found = parse_words(words, group)
    if found is None:
        if words and words[0] in _GENERIC:
            return Intent(kind="get", verb=words[0], phrase=owner, group=group, words=owner)
        return None
    if not found.phrase:
        kind = found.kind
        return replace(found, kind=kind, phrase=owner, plural=kind in ("list", "search"), words=owner, group=group)
    phrase = found.phrase
    if owner and phrase != owner and phrase[: len(owner)] != owner and owner[-len(phrase) :] != phrase:
        nested = (*owner, *phrase)
        found = replace(found, phrase=noun(nested))
    elif owner and owner[-len(phrase) :] == phrase:
        found = replace(found, phrase=owner)
    return replace(found, group=group)


def needed_for(field: Field, value: str) -> bool:
    """True if the description says that the argument is required for this action."""
    text = field.description.lower()
    match = re.search(r"(required|needed|mandatory)( for| when| if| with|:)?([^.;)]*)", text)
    if match is None or "not required" in text:
        return False
    return re.search(rf"\b{re.escape(value.lower())}\b", match.group(3)) is not None


def used_by(field: Field, value: str, values: tuple[str, ...]) -> bool:
    """False if the description ties the argument to other actions only."""
    text = field.description.lower()
    said = [item for item in values if re.search(rf"(?<![a-z_]){re.escape(item.lower())}(?![a-z_])", text)]
    return not said or value in said
