"""Fields: the leaves of an input or output schema, with references and unions resolved."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.agents.rules.environment.words import listed, tokens
from weft.records.expression import Step
from weft.records.state import ColumnType

Schema = dict[str, Any]

_MAX_DEPTH = 4
_DATE_HINT = re.compile(r"iso[ -]?8601|rfc ?3339|yyyy-mm-dd|date-time|datetime", re.IGNORECASE)
_ONLY_DATE = re.compile(r"yyyy-mm-dd(?!\s*[t ]?\s*hh)", re.IGNORECASE)
_DATE_WORDS = frozenset(
    listed("at, date, time, timestamp, datetime, since, until, before, after, on, start, end, from, to, due, deadline ")
)


@dataclass(frozen=True)
class Field:
    """One leaf of a schema.

    Attributes:
        name: JSON name of the property.
        path: steps from the root object.
        schema: its schema, resolved, without the null branch.
        required: it and all its parents are required.
        nullable: null is legal.
        type: logical column type of its values.
        enum: allowed values, if listed.
        description: declared description.
        words: the name's words.
        alternative: a branch of the root's union requires it: every call gives one of the alternatives.
    """

    name: str
    path: tuple[Step, ...]
    schema: Schema
    required: bool
    nullable: bool
    type: ColumnType
    enum: tuple[Any, ...]
    description: str
    words: tuple[str, ...]
    alternative: bool = False

    @property
    def is_array(self) -> bool:
        """True if the value is an array."""
        return self.schema.get("type") == "array"

    @property
    def is_object(self) -> bool:
        """True if the value is an object."""
        return self.schema.get("type") == "object" or bool(self.schema.get("properties"))

    @property
    def is_text(self) -> bool:
        """True if the value is a text."""
        return self.type in (ColumnType.TEXT, ColumnType.DATETIME, ColumnType.DATE, ColumnType.TIME)

    @property
    def dotted(self) -> str:
        """The path in dots."""
        return ".".join(str(step) for step in self.path)


class Resolver:
    """Resolves the references inside one root schema. One that leads nowhere or to itself is the open schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def plain(self, schema: object, depth: int = 0) -> Schema:
        """The schema with its reference followed, ``allOf`` merged and null branches marked as ``nullable``."""
        if not isinstance(schema, Mapping):
            return {}
        found = self._follow(dict(schema))
        if depth > _MAX_DEPTH:
            return {key: value for key, value in found.items() if key in ("type", "description", "enum")}
        parts = found.pop("allOf", None)
        if isinstance(parts, list):
            for part in parts:
                found = _merged(found, self.plain(part, depth + 1))
        return self._union(_null_type(found), depth)

    def _follow(self, schema: Schema) -> Schema:
        seen: list[str] = []
        while isinstance(schema.get("$ref"), str):
            ref = schema["$ref"]
            if ref in seen:
                return {}
            seen.append(ref)
            target = self._target(ref)
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **rest}
        return schema

    def _target(self, ref: str) -> Schema:
        node: Any = self._root
        if not ref.startswith("#"):
            return {}
        for step in [part for part in ref[1:].split("/") if part]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isdigit() and int(step) < len(node):
                node = node[int(step)]
            else:
                return {}
        return dict(node) if isinstance(node, Mapping) else {}

    def _union(self, schema: Schema, depth: int) -> Schema:
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if not isinstance(branches, list) or not branches:
                continue
            plain = [self.plain(branch, depth + 1) for branch in branches]
            real = [branch for branch in plain if branch.get("type") != "null" and branch.get("const", 0) is not None]
            rest = {name: value for name, value in schema.items() if name != key}
            if len(real) < len(plain):
                rest["nullable"] = True
            if len(real) == 1:
                return _merged(real[0], rest)
            if real and all("enum" in branch or "const" in branch for branch in real):
                values = [value for branch in real for value in branch.get("enum", [branch.get("const")])]
                return {**rest, "enum": values, "type": real[0].get("type", "string")}
            rest[key] = real
            return rest
        return schema

    def properties(self, schema: Schema) -> list[tuple[str, Schema]]:
        """The properties of an object schema, in declared order, each with no reference left in it."""
        found = schema.get("properties")
        return [(name, self.whole(value)) for name, value in found.items()] if isinstance(found, Mapping) else []

    def whole(self, schema: object, depth: int = 0) -> Schema:
        """The schema with the references inside it followed too; below a depth only types are kept."""
        plain = self.plain(schema)
        if depth > _MAX_DEPTH:
            return {key: value for key, value in plain.items() if key in ("type", "enum", "nullable", "const")}
        result = dict(plain)
        if isinstance(plain.get("properties"), Mapping):
            result["properties"] = {name: self.whole(value, depth + 1) for name, value in plain["properties"].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(plain.get(key), Mapping):
                result[key] = self.whole(plain[key], depth + 1)
        for key in ("anyOf", "oneOf"):
            if isinstance(plain.get(key), list):
                result[key] = [self.whole(branch, depth + 1) for branch in plain[key]]
        if result.pop("nullable", None) and depth > 0:
            result = {"anyOf": [result, {"type": "null"}]}
        elif plain.get("nullable"):
            result["nullable"] = True
        for key in ("$defs", "definitions"):
            result.pop(key, None)
        return result


def _null_type(schema: Schema) -> Schema:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        real = [kind for kind in kinds if kind != "null"]
        changed = {**schema, "type": real[0] if len(real) == 1 else real}
        if not real:
            changed["type"] = "null"
        if len(real) < len(kinds):
            changed["nullable"] = True
        return changed
    return schema


def _merged(first: Schema, second: Schema) -> Schema:
    result = {**first, **second}
    for key in ("properties", "$defs"):
        if isinstance(first.get(key), Mapping) and isinstance(second.get(key), Mapping):
            result[key] = {**first[key], **second[key]}
    if isinstance(first.get("required"), list) and isinstance(second.get("required"), list):
        result["required"] = [
            *first["required"],
            *[name for name in second["required"] if name not in first["required"]],
        ]
    return result


def union_kinds(schema: Schema) -> set[str]:
    """The types of a union's branches; empty for a schema that is none."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return {str(item) for item in kind}
    branches = schema.get("anyOf") or schema.get("oneOf") or []
    return {str(branch.get("type")) for branch in branches if isinstance(branch, Mapping)}


def column_type(schema: Schema, words: tuple[str, ...] = ()) -> ColumnType:
    """The logical type of a column that holds values of this schema."""
    kind = schema.get("type")
    if "anyOf" in schema or "oneOf" in schema or isinstance(kind, list):
        kinds = union_kinds(schema)
        return ColumnType.TEXT if "string" in kinds and kinds <= {"string", "integer", "number"} else ColumnType.JSON
    if kind is None:
        kind = _implied_type(schema)
    if kind == "string":
        return _text_type(schema, words)
    simple = {"integer": ColumnType.INTEGER, "number": ColumnType.NUMBER, "boolean": ColumnType.BOOLEAN}
    return simple.get(str(kind), ColumnType.JSON)


def _implied_type(schema: Schema) -> str:
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if values and all(isinstance(value, str) for value in values):
        return "string"
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "integer"
    return "any"


def _text_type(schema: Schema, words: tuple[str, ...]) -> ColumnType:
    declared = {"date-time": ColumnType.DATETIME, "date": ColumnType.DATE, "time": ColumnType.TIME}
    if schema.get("format") in declared and not schema.get("enum"):
        return declared[schema["format"]]
    hint = str(schema.get("description", ""))
    if not schema.get("enum") and words and _DATE_WORDS & set(words) and _DATE_HINT.search(hint):
        only_date = _ONLY_DATE.search(hint) and not re.search(r"8601|3339|datetime|date-time|hh", hint, re.IGNORECASE)
        return ColumnType.DATE if only_date else ColumnType.DATETIME
    return ColumnType.TEXT


def make_field(name: str, path: Sequence[Step], schema: Schema, required: bool) -> Field:
    """A field of a resolved schema."""
    words = tokens(name)
    enum = schema.get("enum")
    values = tuple(value for value in enum if value is not None) if isinstance(enum, list) else ()
    if "const" in schema and not values:
        values = (schema["const"],)
    return Field(
        name=name,
        path=tuple(path),
        schema=schema,
        required=required,
        nullable=bool(schema.get("nullable")) or (isinstance(enum, list) and None in enum),
        type=column_type(schema, words),
        enum=values,
        description=str(schema.get("description") or ""),
        words=words,
    )


def input_fields(root: Schema, wrappers: frozenset[str]) -> list[Field]:
    """The argument fields of an input schema. Objects that only wrap attributes (see ``wrappers``) are opened."""
    resolver = Resolver(root)
    plain = resolver.plain(root)
    fields = _open(resolver, plain, (), True, wrappers, 0)
    return _with_branches(fields, resolver, plain, wrappers)


def _with_branches(
    fields: list[Field], resolver: Resolver, schema: Schema, wrappers: frozenset[str], depth: int = 0
) -> list[Field]:
    """The fields, and after them those that only a branch of the root declares (a union, ``if``, ``then``, ``else``).

    A field that every alternative requires is required; one that some alternative requires is marked as such.
    """
    for key in ("anyOf", "oneOf"):
        branches = [resolver.plain(branch) for branch in schema.get(key) or () if isinstance(branch, Mapping)]
        inside = [_with_branches(_open(resolver, one, (), True, wrappers, 0), resolver, one, wrappers, depth + 1)
                  for one in branches if depth < _MAX_DEPTH]  # fmt: skip
        fields = _joined(fields, inside, [set(one.get("required") or ()) for one in branches])
    for key in ("if", "then", "else"):
        if isinstance(schema.get(key), Mapping) and depth < _MAX_DEPTH:
            one = resolver.plain(schema[key])
            found = _with_branches(_open(resolver, one, (), True, wrappers, 0), resolver, one, wrappers, depth + 1)
            fields = _joined(fields, [[replace(field, required=False) for field in found]], [])
    return fields


def _joined(fields: list[Field], branches: list[list[Field]], required: list[set[str]]) -> list[Field]:
    """The fields with those of the branches after them, each name once."""
    out = list(fields)
    for field in [field for branch in branches for field in branch]:
        if all(known.path != field.path for known in out):
            out.append(replace(field, required=False))
    if not required:
        return out
    everywhere = set.intersection(*required)
    some = set.union(*required)
    return [
        replace(
            field,
            required=field.required or (len(field.path) == 1 and field.name in everywhere),
            alternative=field.alternative
            or (len(field.path) == 1 and field.name in some - everywhere and not field.required),
        )
        for field in out
    ]


def _open(
    resolver: Resolver, schema: Schema, path: tuple[Step, ...], required: bool, wrappers: frozenset[str], depth: int
) -> list[Field]:
    needed = schema.get("required")
    names = needed if isinstance(needed, list) else []
    fields: list[Field] = []
    for name, value in resolver.properties(schema):
        if path == () and name.startswith("$schema"):
            continue
        here = required and name in names
        field = make_field(name, (*path, name), value, here)
        inner = value.get("properties")
        opens = depth < 2 and isinstance(inner, Mapping) and bool(inner) and value.get("type", "object") == "object"
        if opens and field.words and field.words[-1] in wrappers and "anyOf" not in value and "oneOf" not in value:
            fields += _open(resolver, value, (*path, name), here, wrappers, depth + 1)
        else:
            fields.append(field)
    return fields
