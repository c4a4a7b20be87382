"""Where an argument path of a contract (``query.limit``, ``items[].name``) leads, in a schema and in a value."""

import copy
from typing import Any

from weft.agents.rules.seeds.references import Schema, as_schema, flatten

ELEMENT = "[]"
Steps = tuple[str, ...]
"""Property names, and ``[]`` for any element of an array."""

MISSING = object()
"""Stands for a value that is not there."""


def locate(root: Schema, path: str) -> tuple[Steps, Schema] | None:
    """Return the steps of a dotted path and the schema there, or None when it is not declared.

    Property names may hold dots themselves: the longest declared name that fits is taken.
    """
    here, rest = flatten(root, root), path
    steps: Steps = ()
    declared: Schema = here
    for _ in range(60):
        if not rest:
            return steps, declared
        inner = _inside(here, rest, root)
        if inner is None:
            return None
        if rest.startswith(ELEMENT):
            declared, rest, steps = as_schema(inner.get("items")), rest[2:].lstrip("."), (*steps, ELEMENT)
        else:
            properties = as_schema(inner.get("properties"))
            name = _longest(properties, rest) or ""
            declared, rest, steps = as_schema(properties[name]), rest[len(name) :].lstrip("."), (*steps, name)
        here = flatten(declared, root)
    return None


def _inside(here: Schema, rest: str, root: Schema, depth: int = 0) -> Schema | None:
    """Return the schema itself or the alternative of its union in which the next step exists."""
    array = rest.startswith(ELEMENT)
    if (array and isinstance(here.get("items"), dict)) or (
        not array and _longest(as_schema(here.get("properties")), rest)
    ):
        return here
    if depth > 4:
        return None
    for key in ("anyOf", "oneOf"):
        for branch in here.get(key) or ():
            found = _inside(flatten(as_schema(branch), root), rest, root, depth + 1)
            if found is not None:
                return found
    return None


def _longest(properties: Schema, rest: str) -> str | None:
    names = [n for n in properties if n and (rest == n or rest.startswith((f"{n}.", f"{n}[]")))]
    return max(names, key=len) if names else None


def value_at(arguments: Any, steps: Steps) -> Any:
    """Return the value at the steps (of the first element of arrays), or MISSING."""
    here = arguments
    for step in steps:
        if step == ELEMENT:
            if not isinstance(here, list) or not here:
                return MISSING
            here = here[0]
        elif isinstance(here, dict) and step in here:
            here = here[step]
        else:
            return MISSING
    return here


def replaced(arguments: dict[str, Any], steps: Steps, value: Any) -> dict[str, Any] | None:
    """Return a copy of the arguments with the value at the steps replaced, or left out when it is MISSING.

    An array step changes its first element. None when the steps lead through something that is not there, except that
    missing objects on the way are made.
    """
    changed = copy.deepcopy(arguments)
    here: Any = changed
    for place, step in enumerate(steps[:-1]):
        following = steps[place + 1]
        if step == ELEMENT:
            if not isinstance(here, list) or not here:
                return None
            here = here[0]
            continue
        if not isinstance(here, dict):
            return None
        if step not in here:
            if value is MISSING or following == ELEMENT:
                return None
            here[step] = {}
        here = here[step]
    last = steps[-1]
    if last == ELEMENT:
        if not isinstance(here, list) or not here or value is MISSING:
            return None
        here[0] = value
    elif not isinstance(here, dict):
        return None
    elif value is MISSING:
        here.pop(last, None)
    else:
        here[last] = value
    return changed
