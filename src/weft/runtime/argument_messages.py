"""Words for what is wrong with the arguments of a call: where, what was sent, what is wanted (pure).

The caller is a model that has to mend its call, so each sentence names the argument by its path and the type or value
on both sides. Only the display is shortened (a long enum shows a few values and how many there are); checking never is.
"""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from weft.runtime.values import type_name

Kind = ValidationErrorKind
Step = str | int

SHOWN_VALUES: Final = 8
SHOWN_PROBLEMS: Final = 3

_FORMATS: Final = {
    "date-time": "a date-time with its offset, like 2026-03-02T09:00:00Z",
    "date": "a date like 2026-03-02",
    "time": "a time with its offset, like 09:00:00Z",
    "email": "an e-mail address like ada@example.org",
    "uri": "an absolute URI like https://example.org/a",
    "uuid": "a UUID like 3f2b8c1e-5d4a-4e6f-9a7b-0c1d2e3f4a5b",
}


def spelled(value: Any, limit: int = 60) -> str:
    """Return a value as JSON, shortened for display."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        text = ascii(value) if isinstance(value, (str, float, int)) else type_name(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def named(path: Sequence[Step]) -> str:
    """Return the name of an argument by its path: ``query.tags[2]``; ``arguments`` for the whole."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text or "arguments"


def sent(value: Any) -> str:
    """Return the type and value that were sent."""
    if value is None:
        return "null"
    return f"{type_name(value)} {spelled(value)}"


def listed(values: Sequence[Any], given: Any = None) -> str:
    """Return the allowed values for display: all of a few, else the nearest or first ones and how many there are."""
    if len(values) <= SHOWN_VALUES:
        return ", ".join(spelled(value) for value in values)
    near: list[Any] = []
    if isinstance(given, str):
        near = get_close_matches(given, [value for value in values if isinstance(value, str)], SHOWN_VALUES)
    some = near or list(values[:SHOWN_VALUES])
    return f"{', '.join(spelled(value) for value in some)} … ({len(values)} values)"


def describe(errors: Sequence[ValidationError], dropped_nulls: set[tuple[Step, ...]], schema: Any) -> list[str]:
    """Return one sentence per problem, the first few of them.

    Args:
        errors: of the checked arguments.
        dropped_nulls: paths where null was sent and taken as absent.
        schema: that was checked against, for the names of known arguments.
    """
    sentences = [_sentence(error, dropped_nulls, schema) for error in errors]
    unique = list(dict.fromkeys(sentences))
    more = len(unique) - SHOWN_PROBLEMS
    return unique[:SHOWN_PROBLEMS] + ([f"{more} more"] if more > 0 else [])


def where(error: ValidationError) -> str:
    """Return the name of the argument that an error is about."""
    path: list[Step] = list(error.instance_path)
    if isinstance(error.kind, Kind.Required):
        path.append(error.kind.property)
    return named(path)


def _sentence(error: ValidationError, dropped_nulls: set[tuple[Step, ...]], schema: Any) -> str:
    kind, value, name = error.kind, error.instance, where(error)
    if isinstance(kind, Kind.Required):
        if (*error.instance_path, kind.property) in dropped_nulls:
            return f"{name} is required and must not be null"
        return f"{name} is required"
    if isinstance(kind, (Kind.AdditionalProperties, Kind.UnevaluatedProperties)):
        return _unknown(error, kind.unexpected, schema)
    if isinstance(kind, (Kind.AnyOf, Kind.OneOfNotValid)):
        return _no_branch(error, kind.context, dropped_nulls, schema)
    if isinstance(kind, Kind.FalseSchema) and error.schema_path[-1:] == ["additionalProperties"]:
        return f"{name} takes no properties, got {sent(value)}"
    return f"{name} must {_demand(kind, value, error.message)}, got {sent(value)}"


def _demand(kind: ValidationErrorKind, value: Any, message: str) -> str:
    match kind:
        case Kind.Type():
            return f"be {_one_of(kind.types)}"
        case Kind.Enum():
            return f"be one of {listed(kind.options, value)}"
        case Kind.Constant():
            return f"be {spelled(kind.expected_value)}"
        case Kind.Format():
            return f"be {_FORMATS.get(kind.format, f'a valid {kind.format}')}"
        case Kind.Pattern():
            return f"match the pattern {spelled(kind.pattern, 120)}"
        case Kind.FalseSchema():
            return "not be given"
        case Kind.OneOfMultipleValid():
            return f"fit exactly one of the {len(kind.context)} allowed forms but fits several"
        case Kind.Not():
            return f"not fit {spelled(kind.schema)}"
        case Kind.UniqueItems():
            return "not hold a value twice"
        case Kind.Contains():
            return "hold a value of the kind that the schema's contains names"
        case Kind.PropertyNames():
            return f"have other property names ({kind.error.message[:120]})"
    return _limit(kind) or f"fit the schema ({message[:160]})"


def _limit(kind: ValidationErrorKind) -> str:
    words = {
        Kind.Minimum: "be at least {}",
        Kind.Maximum: "be at most {}",
        Kind.ExclusiveMinimum: "be more than {}",
        Kind.ExclusiveMaximum: "be less than {}",
        Kind.MinLength: "have at least {} characters",
        Kind.MaxLength: "have at most {} characters",
        Kind.MinItems: "have at least {} elements",
        Kind.MaxItems: "have at most {} elements",
        Kind.AdditionalItems: "have at most {} elements",
        Kind.MinProperties: "have at least {} properties",
        Kind.MaxProperties: "have at most {} properties",
        Kind.MultipleOf: "be a multiple of {}",
    }
    phrase = words.get(type(kind))
    if phrase is None:
        return ""
    bound = kind.multiple_of if isinstance(kind, Kind.MultipleOf) else getattr(kind, "limit", "")
    return phrase.format(bound)


def _one_of(types: Sequence[str]) -> str:
    return " or ".join(types) if len(types) < 3 else f"{', '.join(types[:-1])} or {types[-1]}"


def _unknown(error: ValidationError, unexpected: Sequence[str], schema: Any) -> str:
    inside = f" in {named(error.instance_path)}" if error.instance_path else ""
    names = ", ".join(spelled(name) for name in unexpected[:SHOWN_VALUES])
    known = _known_names(error, schema)
    return f"unknown argument{inside}: {names}" + (f"; known are {listed(known, unexpected[0])}" if known else "")


def _known_names(error: ValidationError, schema: Any) -> list[str]:
    holder = schema
    for step in error.schema_path[:-1]:
        try:
            holder = holder[step]
        except (LookupError, TypeError):  # the path starts at an inner resource of the schema
            return []
    properties = holder.get("properties") if isinstance(holder, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _no_branch(
    error: ValidationError,
    context: list[list[ValidationError]],
    dropped_nulls: set[tuple[Step, ...]],
    schema: Any,
) -> str:
    """Say what the nearest of the allowed forms wants; of forms that differ in type alone, say all types."""
    types: list[str] = []
    shaped: list[list[ValidationError]] = []
    for branch in context:
        kind = branch[0].kind
        if len(branch) == 1 and isinstance(kind, Kind.Type) and branch[0].instance_path == error.instance_path:
            types += [name for name in kind.types if name not in types]
        elif not any(isinstance(e.kind, Kind.Type) and e.instance_path == error.instance_path for e in branch):
            shaped.append(branch)
    if shaped:
        # The form whose trouble lies deepest, and then the one with the least of it, is what the caller had in mind.
        nearest = min(shaped, key=lambda branch: (-max(len(e.instance_path) for e in branch), len(branch)))
        told = " and ".join(_sentence(e, dropped_nulls, schema) for e in nearest[:2])
        return told if len(context) - len(types) <= 1 else f"{told} (or one of {len(context) - 1} other forms)"
    if types:
        return f"{where(error)} must be {_one_of(types)}, got {sent(error.instance)}"
    return f"{where(error)} fits none of the {len(context)} allowed forms, got {sent(error.instance)}"
