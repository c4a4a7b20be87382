"""Following a reference: every argument and answer is taken from what was observed (Weft 3.2.1; DESIGN section 4).

The same resolver serves the certification of tasks and the scripted reference policy, so both really depend on what the
tools answered: a wrong answer of a tool gives a wrong next call, never the recorded one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from weft.records.base import JSON
from weft.records.task import (
    AtomicSolution,
    BuildList,
    BuildObject,
    FromInput,
    FromStep,
    FromSteps,
    Given,
    Source,
)
from weft.runtime.values import json_equal


class Unresolved(LookupError):
    """A source has no value in what was observed; the message says which."""


@lru_cache(maxsize=512)
def _parsed(text: str) -> JSON:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, (dict, list)) else text


def opened(value: JSON) -> JSON:
    """Return the object or array that a text holds as JSON, and any other value as it is.

    Many servers declare a text as their result and put JSON into it; whoever reads the answer reads through the text.
    """
    return _parsed(value) if isinstance(value, str) and value[:1] in ("{", "[") else value


def objects(value: JSON) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON value, depth first, parents before children, arrays in order.

    Texts that hold JSON are read through.
    """
    value = opened(value)
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)


def resolve(source: Source, inputs: Mapping[str, JSON], results: Mapping[str, JSON]) -> JSON:
    """Return the value of a source.

    Args:
        source: where the value comes from.
        inputs: the task's inputs by name (what the user knows).
        results: observed results of earlier steps by step id.

    Raises:
        Unresolved: an input or observation is not there.
    """
    match source:
        case Given():
            return source.value
        case FromInput():
            if source.name not in inputs:
                raise Unresolved(f"input {source.name!r} is not known")
            return inputs[source.name]
        case BuildObject():
            return {name: resolve(item, inputs, results) for name, item in source.fields.items()}
        case BuildList():
            return [resolve(item, inputs, results) for item in source.items]
        case FromStep():
            return _follow(next(_matching(source, inputs, results)), source)
        case FromSteps():
            return _fold(source, [found[source.field] for found in _matching(source, inputs, results)])


def _matching(
    source: FromStep | FromSteps, inputs: Mapping[str, JSON], results: Mapping[str, JSON]
) -> Iterator[dict[str, Any]]:
    if source.step not in results:
        raise Unresolved(f"step {source.step!r} has not been observed")
    wanted = {field: resolve(item, inputs, results) for field, item in source.match.items()}
    found = False
    for candidate in objects(results[source.step]):
        if source.field in candidate and all(
            field in candidate and json_equal(candidate[field], value) for field, value in wanted.items()
        ):
            found = True
            yield candidate
    if not found and isinstance(source, FromStep):
        raise Unresolved(f"step {source.step!r} shows no {source.field!r} where {wanted!r}"[:300])


def _follow(found: Mapping[str, Any], source: FromStep) -> JSON:
    value: JSON = found[source.field]
    for step in source.path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError) as error:
            raise Unresolved(f"{source.field!r} of step {source.step!r} has no {step!r}") from error
    return value


def _fold(source: FromSteps, values: Sequence[JSON]) -> JSON:
    if source.fn == "count":
        return len(values)
    if source.fn == "list":
        return list(values)
    if not values:
        raise Unresolved(f"step {source.step!r} shows nothing to take the {source.fn} of")
    if source.fn == "first":
        return values[0]
    known = [value for value in values if value is not None]
    if source.fn == "sum":
        total = sum((Decimal(str(value)) for value in known), Decimal(0))
        return (
            int(total)
            if total == total.to_integral_value() and all(isinstance(v, int) for v in known)
            else float(total)
        )
    if not known:
        raise Unresolved(f"step {source.step!r} shows only nulls to take the {source.fn} of")
    return min(known) if source.fn == "min" else max(known)


def said(value: JSON) -> str:
    """Return a value as a reply says it: yes/no for booleans, lists joined by commas, numbers and texts as they are."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(said(item) for item in value)
    return str(value)


def reply_of(solution: AtomicSolution, inputs: Mapping[str, JSON], results: Mapping[str, JSON]) -> str:
    """Return the reply that the reference gives, with every part taken from what was observed.

    Raises:
        Unresolved: a part has no value in what was observed.
    """
    text = solution.reply_text
    for part in solution.reply:
        text = text.replace("{" + part.name + "}", said(resolve(part.source, inputs, results)))
    return text
