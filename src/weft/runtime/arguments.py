"""Arguments of a call, checked against what the tool declares before anything runs (Weft 3.1.1; DESIGN section 5).

One rule for null, everywhere: under an optional property that does not allow null it counts as left out, also in nested
objects; under a required one the call is refused; where null is allowed it is a value. The texts ``"null"`` and ``""``
are values like any other. Nothing is coerced: ``"3"`` is no integer and ``true`` is none either. Declared defaults are
not filled in, because a contract says what an absent argument means.
"""

import copy
import math
from collections.abc import Iterable
from typing import Any

from jsonschema_rs import ValidationError, ValidationErrorKind

from weft.errors import ToolRejection
from weft.records.base import JSON
from weft.records.spec import ToolSpec
from weft.runtime.argument_messages import Step, describe, named, sent, spelled, where
from weft.runtime.dialects import MAX_DEPTH, compile_schema, unenforced_keywords
from weft.runtime.schemas import SchemaProblem, schema_problems, schema_warnings
from weft.runtime.values import INTEGER_MAX, INTEGER_MIN, type_name, unstorable

__all__ = [
    "ArgumentChecker",
    "SchemaProblem",
    "schema_problems",
    "schema_warnings",
    "unenforced_keywords",
]


class ArgumentChecker:
    """Checks the arguments of one tool."""

    def __init__(self, tool: ToolSpec) -> None:
        """Compile the tool's input schema.

        Raises:
            InputError: the schema cannot be enforced; the catalog refuses such a tool before.
        """
        self.tool = tool
        self._validator = compile_schema(tool.input_schema)
        self._is_valid = self._validator.is_valid

    def check(self, arguments: Any = None) -> dict[str, JSON]:
        """Return the arguments to run with: those given, without nulls that count as left out.

        Args:
            arguments: as the caller sent them; None and ``""`` (what models send for no arguments) count as ``{}``.

        Raises:
            ToolRejection: ``invalid_argument``, with the argument's path, what was sent and what is wanted.
        """
        if arguments is None or arguments == "":
            arguments = {}
        if not isinstance(arguments, dict):
            message = f"arguments must be an object, got {sent(arguments)}"
            raise ToolRejection("invalid_argument", message, {"argument": "arguments"})
        if not _plain(arguments, 1):
            raise _unusable(arguments)
        if self._is_valid(arguments):
            return arguments
        return self._without_stray_nulls(arguments)

    def _without_stray_nulls(self, arguments: dict[str, JSON]) -> dict[str, JSON]:
        errors = list(self._validator.iter_errors(arguments))
        nulls = {tuple(path) for path in _refused_nulls(errors)}
        if nulls:
            arguments = copy.deepcopy(arguments)
            for path in nulls:
                _drop(arguments, path)
            errors = list(self._validator.iter_errors(arguments))
            if not errors:
                return arguments
        problems = describe(errors, nulls, self.tool.input_schema)
        details: dict[str, object] = {"argument": where(errors[0]), "problems": problems}
        raise ToolRejection("invalid_argument", "; ".join(problems), details)


def _plain(value: Any, depth: int) -> bool:  # noqa: C901 - every call passes here, so it is one flat function
    """True if a container holds nothing but storable JSON, at most MAX_DEPTH levels deep."""
    if depth > MAX_DEPTH:
        return False
    items: Iterable[Any] = value
    if type(value) is dict:
        for key in value:
            if type(key) is not str or not (key.isascii() or _encodes(key)):
                return False
        items = value.values()
    for item in items:
        kind = type(item)
        if kind is str:
            if not (item.isascii() or _encodes(item)):
                return False
        elif kind is int:
            if not INTEGER_MIN <= item <= INTEGER_MAX:
                return False
        elif kind is float:
            if not math.isfinite(item):
                return False
        elif kind is dict or kind is list:
            if not _plain(item, depth + 1):
                return False
        elif kind is not bool and item is not None:
            return False
    return True


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unusable(arguments: dict[str, Any]) -> ToolRejection:
    path, reason = _first_unusable(arguments)
    name = named(path)
    return ToolRejection("invalid_argument", f"{name} holds {reason}; send plain JSON values", {"argument": name})


def _first_unusable(arguments: dict[str, Any]) -> tuple[list[Step], str]:
    """Find what :func:`_plain` stumbled over. Depth first, without recursion, since depth may be the trouble."""
    stack: list[tuple[list[Step], Any]] = [([], arguments)]
    while stack:
        path, value = stack.pop()
        if len(path) >= MAX_DEPTH and isinstance(value, (dict, list)):
            return path[:3], f"a value nested more than {MAX_DEPTH} levels deep"
        if type(value) is dict:
            for key in value:
                if type(key) is not str:
                    return path, f"an object key {spelled(key)} that is not text"
                if reason := unstorable(key):
                    return path, f"an object key that is {reason}"
            stack.extend(([*path, key], item) for key, item in reversed(value.items()))
        elif type(value) is list:
            stack.extend(([*path, index], item) for index, item in reversed(list(enumerate(value))))
        elif value is not None and type(value) not in (bool, int, float, str):
            return path, f"a value of type {type_name(value)}, which is not JSON"
        elif reason := unstorable(value):
            return path, reason
    raise AssertionError("the arguments are plain JSON")


def _refused_nulls(errors: Iterable[ValidationError]) -> Iterable[list[Step]]:
    """Yield the paths of nulls under properties that were refused for being null, also inside alternatives."""
    for error in errors:
        kind = error.kind
        if isinstance(kind, (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid)):
            for branch in kind.context:
                yield from _refused_nulls(branch)
        path = error.instance_path
        # A property that may not be there at all (FalseSchema) is not optional: null does not make it welcome.
        unwelcome = isinstance(kind, ValidationErrorKind.FalseSchema)
        if path and isinstance(path[-1], str) and error.instance is None and not unwelcome:
            yield path


def _drop(arguments: dict[str, Any], path: tuple[Step, ...]) -> None:
    holder: Any = arguments
    for step in path[:-1]:
        holder = holder[step]
    holder.pop(path[-1], None)
