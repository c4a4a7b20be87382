"""Boundary calls of a tool: what its input schema or its state does not allow, and the edges of what they do.

Whether a call breaks the schema is asked of the schema, not assumed: a call is expected to be refused only when a
validator of the declared schema refuses it (Weft 3.1.1, boundary calls).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.agents.rules.seeds.argument_paths import MISSING, replaced, value_at
from weft.agents.rules.seeds.draw import uuid_text
from weft.agents.rules.seeds.references import as_schema, flatten
from weft.agents.rules.seeds.values import Unsatisfiable, ValueSchema
from weft.envs.arguments import Argument
from weft.envs.calls import CaseCalls
from weft.records.codec import canonical
from weft.records.spec import ToolSpec

MOST_CALLS = 14
WRONG: dict[str, Any] = {
    "string": 12345, "integer": "not a number", "number": "not a number", "boolean": "not a boolean",
    "array": "not a list", "object": "not an object",
}  # fmt: skip
NAMED_BY_CALLER = frozenset({"create", "add", "insert", "upsert", "list", "search", "count", "aggregate", "register"})
"""Intents for which an unknown id need not be an error: it names a new row, or nothing is found."""


@dataclass(frozen=True)
class BoundaryCall:
    """A boundary call and what must come of it.

    Attributes:
        name: a sentence.
        arguments: of the call.
        code: the error code that must come, or "" when anything but a fault may.
        argument: the path that it is about, or "".
    """

    name: str
    arguments: Any
    code: str = ""
    argument: str = ""


def boundary_calls(calls: CaseCalls, base: dict[str, Any], most: int = MOST_CALLS) -> list[BoundaryCall]:
    """Return the boundary calls around a normal call, without repeats.

    Args:
        calls: of the case that the normal call runs.
        base: a normal call's arguments that succeed.
        most: how many at most; the kinds take turns, so that each is there.
    """
    whole = ValueSchema(calls.tool.input_schema)
    kinds = [
        list(_missing(calls.tool, base)),
        list(_unknown_ids(calls, base)),
        list(_outside_enums(calls.arguments, base)),
        list(_wrong_types(calls.tool, base)),
        list(_beyond_limits(calls.arguments, base)),
        list(_nulls(calls.tool, base)),
        list(_strangers(calls.tool, base)),
        list(_empty_texts(calls.arguments, base)),
    ]
    found: list[BoundaryCall] = []
    seen: set[bytes] = set()
    for turn in range(max(map(len, kinds), default=0)):
        for kind in kinds:
            if turn >= len(kind) or len(found) >= most:
                continue
            call = kind[turn]
            if call.code == "invalid_argument" and whole.valid(call.arguments):
                call = BoundaryCall(call.name, call.arguments, "", call.argument)
            key = canonical(call.arguments)
            if key not in seen:
                seen.add(key)
                found.append(call)
    return found


def _missing(tool: ToolSpec, base: dict[str, Any]) -> Iterator[BoundaryCall]:
    for name in flatten(tool.input_schema, tool.input_schema).get("required") or ():
        if name in base:
            left = {key: value for key, value in base.items() if key != name}
            yield BoundaryCall(f"without the required argument {name}", left, "invalid_argument", str(name))


def _wrong_types(tool: ToolSpec, base: dict[str, Any]) -> Iterator[BoundaryCall]:
    root = flatten(tool.input_schema, tool.input_schema)
    for name, schema in as_schema(root.get("properties")).items():
        types = ValueSchema(schema, tool.input_schema).types
        wrong = WRONG.get(next((t for t in types if t != "null"), ""))
        if wrong is not None:
            call = {**base, name: wrong}
            yield BoundaryCall(f"{name} of a wrong type", call, "invalid_argument", name)


def _outside_enums(arguments: Sequence[Argument], base: dict[str, Any]) -> Iterator[BoundaryCall]:
    for argument in arguments:
        values = argument.schema.enum
        if values and all(isinstance(v, str) for v in values if v is not None):
            call = replaced(base, argument.steps, "no-such-value")
            if call is not None:
                yield BoundaryCall(f"{argument.path} outside its enum", call, "invalid_argument", argument.path)


def _beyond_limits(arguments: Sequence[Argument], base: dict[str, Any]) -> Iterator[BoundaryCall]:
    for argument in arguments:
        flat = argument.schema.flat
        tries: list[tuple[str, Any]] = []
        for key, step in (("minimum", -1), ("maximum", 1)):
            bound = flat.get(key)
            if isinstance(bound, (int, float)) and not isinstance(bound, bool) and abs(bound) < 2**53:
                tries.append((f"beyond its {key}", bound + step))
        least, most = flat.get("minLength"), flat.get("maxLength")
        if isinstance(least, int) and least > 0:
            tries.append(("shorter than allowed", "x" * (least - 1)))
        if isinstance(most, int) and most < 5000:
            tries.append(("longer than allowed", "x" * (most + 1)))
        if "pattern" in flat:
            tries.append(("against its pattern", "§ §"))
        for what, value in tries:
            call = replaced(base, argument.steps, value)
            if call is not None:
                yield BoundaryCall(f"{argument.path} {what}", call, "invalid_argument", argument.path)


def _nulls(tool: ToolSpec, base: dict[str, Any]) -> Iterator[BoundaryCall]:
    for name in flatten(tool.input_schema, tool.input_schema).get("required") or ():
        yield BoundaryCall(
            f"null for the required argument {name}", {**base, name: None}, "invalid_argument", str(name)
        )


def _strangers(tool: ToolSpec, base: dict[str, Any]) -> Iterator[BoundaryCall]:
    if flatten(tool.input_schema, tool.input_schema).get("additionalProperties") is False:
        call = {**base, "no_such_argument": "x"}
        yield BoundaryCall("with an argument that is not declared", call, "invalid_argument", "no_such_argument")


def _empty_texts(arguments: Sequence[Argument], base: dict[str, Any]) -> Iterator[BoundaryCall]:
    for argument in arguments:
        if "string" in argument.schema.types and value_at(base, argument.steps) is not MISSING:
            call = replaced(base, argument.steps, "")
            if call is not None:
                yield BoundaryCall(f"{argument.path} as empty text", call, "invalid_argument", argument.path)


def _unknown_ids(calls: CaseCalls, base: dict[str, Any]) -> Iterator[BoundaryCall]:
    """An id of the case's own table that no row has: must be ``not_found`` where the call needs the row."""
    case = calls.case
    if case.intent in NAMED_BY_CALLER or not case.table:
        return
    for argument in calls.arguments:
        use = argument.use
        if use.role != "identifier" or use.table != case.table or not argument.required or argument.many:
            continue
        value = unknown_value(calls, argument)
        call = None if value is MISSING else replaced(base, argument.steps, value)
        if call is not None:
            yield BoundaryCall(f"{argument.path} that names no row", call, "not_found", argument.path)


def unknown_value(calls: CaseCalls, argument: Argument) -> Any:
    """Return a value that fits the argument's schema and that no row has, or MISSING."""
    use, schema = argument.use, argument.schema
    known = {canonical(row.get(use.column)) for row in calls.candidates.links.of(use.table)}
    rng = calls.candidates.rng
    drawn: list[Any] = [987654321, "987654321", "no-such-row", uuid_text(rng), "zz" + uuid_text(rng).replace("-", "")]
    for index in range(3):
        try:
            drawn.append(schema.draw(rng, "id", calls.candidates.facts(50 + index, calls.case)))
        except Unsatisfiable:
            break
    for value in drawn:
        if schema.valid(value) and canonical(value) not in known and canonical(str(value)) not in known:
            return value
    return MISSING
