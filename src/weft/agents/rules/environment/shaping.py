"""Shaping: the result of a part built to the declared output schema. Properties of rows become columns."""

import re

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan
from weft.agents.rules.environment.columns import attribute
from weft.agents.rules.environment.fields import Field, Resolver, Schema, make_field
from weft.agents.rules.environment.fitting import fits, stricter
from weft.agents.rules.environment.identifiers import id_parts, names_main
from weft.agents.rules.environment.lexicon import singular_text
from weft.agents.rules.environment.neutral import neutral_value
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import (
    Outcome,
    as_text,
    empty_list,
    entity_label,
    is_free,
    own_result,
)
from weft.agents.rules.environment.rows import ABSENT, RowView, argument, present, said
from weft.agents.rules.environment.words import listed
from weft.records.expression import Cast, Choose, Coalesce, Concat, Expr, Length, ListOf, MapOver, ObjectOf, const, var
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnRole, ColumnType

_LISTS = frozenset(
    listed(
        "item, result, data, record, row, value, entry, response, list, match, hit, node, object, "
        "element, content, output "
    )
)
_WRAPS = frozenset(
    listed("data, result, item, record, response, object, resource, output, body, detail, value, content ")
)
_TRUE = frozenset({"success", "ok", "succeeded", "successful", "acknowledged", "valid", "found", "changed", "applied"})
_DONE = frozenset(
    listed("deleted, dropped, removed, created, updated, archived, sent, added, cancelled, saved, moved, copied ")
)
_CHANGED = _DONE | frozenset(
    listed("inserted, changed, affected, modified, processed, assigned, marked, succeeded, handled ")
)
_EMPTY = frozenset(
    listed(
        "error, errors, warning, warnings, note, notes, issues, skipped, failed, failures, hint, hints, "
        "suggestions, next_steps "
    )
)
_COUNTS = frozenset(
    listed(
        "count, total, total_count, totalcount, total_results, num_results, n, size, length, total_items, "
        "result_count, returned, item_count, matched, totalresults, totalitems, number, returned_count, "
        "total_matches, resultcount "
    )
)
_PAGE = {
    "has_more": "has_more",
    "hasmore": "has_more",
    "has_next": "has_more",
    "has_next_page": "has_more",
    "hasnextpage": "has_more",
    "more": "has_more",
    "truncated": "has_more",
    "next_cursor": "next_cursor",
    "nextcursor": "next_cursor",
    "next_token": "next_cursor",
    "next_page_token": "next_cursor",
    "nextpagetoken": "next_cursor",
    "cursor": "next_cursor",
    "end_cursor": "next_cursor",
    "next_page": "next_page",
    "nextpage": "next_page",
    "next_offset": "next_offset",
    "nextoffset": "next_offset",
    "offset": "offset",
    "limit": "limit",
    "page": "page",
    "current_page": "page",
    "per_page": "limit",
    "page_size": "limit",
    "pagesize": "limit",
    "total_pages": "pages",
    "pages": "pages",
    "page_count": "pages",
    "totalpages": "pages",
}
_NUMERIC_PAGE = ("offset", "limit", "page", "pages", "next_page", "next_offset")


class Shaper:
    """Builds the result of one part to a declared schema."""

    def __init__(self, part: Part, outcome: Outcome, blueprint: Blueprint, *, grow: bool) -> None:
        self._part = part
        self._outcome = outcome
        self._blueprint = blueprint
        self._grow = grow
        self._table = outcome.table or part.main()
        self._resolver = Resolver(part.tool.output_schema or {})
        self._listed = False
        self._carried = False
        self.invented: list[str] = []
        """Required properties for which only a constant could be given."""

    def result(self) -> Expr:
        """The whole result; raises :class:`Refused` when the schema cannot be met."""
        schema = self._resolver.plain(self._part.tool.output_schema or {})
        return self._any(schema, "result", top=True)

    def _own(self) -> Expr:
        return own_result(self._part, self._outcome, self._blueprint)[0]

    def _refuse(self, name: str, schema: Schema) -> Refused:
        return Refused(
            RefusalCode.RETURN_SCHEMA,
            f"the declared result needs {name!r}, which nothing in the state gives",
            "declare in the output schema what the server stores, or bind the real server",
            path=f"#/outputSchema/.../{name}",
            value=str(schema.get("type", "")),
        )

    def _any(self, schema: Schema, name: str, *, top: bool = False) -> Expr:
        """A value for a schema in the place where the whole result is wanted."""
        if is_free(schema):
            return self._own()
        kind = schema.get("type")
        for union in ("anyOf", "oneOf"):
            if schema.get(union):
                return self._any({**schema[union][0]}, name, top=top)
        if kind == "object" or schema.get("properties"):
            return self._object(schema, name)
        if kind == "array":
            return self._array(schema, name)
        if kind == "string":
            return self._text(schema, top=top)
        if kind == "boolean":
            return const(True)
        if kind in ("integer", "number"):
            return self._number(name, schema)
        raise self._refuse(name, schema)

    def _text(self, schema: Schema, *, top: bool) -> Expr:
        """A text: the attribute of the row that the description names (``Name of the last user``), else all as text."""
        named = re.match(r"\W*(?:the |returns? |gets? )*(\w+) of ", self._part.tool.description, re.IGNORECASE)
        column = self._table.find((named.group(1).lower(),)) if named and self._outcome.kind == "row" and top else None
        if column is None or column.type == ColumnType.JSON:
            return as_text(self._own())
        value = as_text(var(self._outcome.row, column.name))
        if not schema.get("nullable"):
            return value
        return Choose(op="choose", condition=present(var(self._outcome.row)), then=value, otherwise=const(None))

    def _number(self, name: str, schema: Schema) -> Expr:
        if (
            self._outcome.kind == "number"
            and self._outcome.value is not None
            and not isinstance(self._outcome.value, ObjectOf)
        ):
            return self._outcome.value
        if self._outcome.kind == "number" and isinstance(self._outcome.value, ObjectOf):
            return next(iter(self._outcome.value.fields.values()))
        if self._outcome.kind == "rows":
            return self._total()
        raise self._refuse(name, schema)

    def _total(self) -> Expr:
        return (
            var(self._outcome.page, "total") if self._outcome.page else Length(op="length", of=var(self._outcome.rows))
        )

    def _array(self, schema: Schema, name: str) -> Expr:
        items = self._resolver.plain(schema.get("items"))
        if self._outcome.kind == "rows":
            self._listed = True
            over = var(self._outcome.page, "items") if self._outcome.page else var(self._outcome.rows)
            return MapOver(op="map", over=over, name="item", value=self._row(items, "item"))
        if self._outcome.kind == "row":
            return ListOf(op="list", items=(self._row(items, self._outcome.row),))
        raise self._refuse(name, schema)

    def _row(self, schema: Schema, name: str) -> Expr:
        """One row as the schema wants it."""
        view = RowView(self._table, self._part, self._blueprint)
        for union in ("anyOf", "oneOf"):
            if schema.get(union):
                schema = self._resolver.plain(schema[union][0])
        if is_free(schema):
            return view.value(name)
        if schema.get("type") == "string":
            return as_text(var(name, self._label_column().name))
        if not schema.get("properties"):
            raise self._refuse(name, schema)
        return self._row_object(schema, name)

    def _label_column(self) -> ColumnPlan:
        roles = (ColumnRole.NAME, ColumnRole.KEY)
        return next((c for c in self._table.columns if c.role in roles), self._table.column(self._table.id))

    def _row_object(self, schema: Schema, name: str) -> Expr:
        required = schema.get("required") or []
        fields: dict[str, Expr] = {}
        for label, value in self._resolver.properties(schema):
            made = self._row_value(make_field(label, (label,), value, label in required), name)
            if made is not None:
                fields[label] = made
        return ObjectOf(op="object", fields=fields)

    def _row_value(self, field: Field, name: str) -> Expr | None:
        if "const" in field.schema:
            return const(field.schema["const"])
        column = self._column(field)
        if column is None:
            return self._missing(field)
        if column.constant and self._makes() and field.required:
            self.invented.append(field.name)
        value: Expr = var(name, column.name)
        if field.schema.get("type") == "string" and column.type in (ColumnType.INTEGER, ColumnType.NUMBER):
            value = Cast(op="cast", of=value, to="text")
        reshaped = self._reshape(value, column, field)
        return reshaped if column.role == ColumnRole.ID else self._non_null(value, reshaped, field)

    def _column(self, field: Field) -> ColumnPlan | None:
        table = self._table
        key = table.column(table.id)
        number = field.type in (ColumnType.INTEGER, ColumnType.NUMBER)
        if (
            names_main(field, table, self._blueprint) >= 2
            and table.find(field.words) is None
            and (key.type == ColumnType.INTEGER or not number)
        ):
            return key
        words = field.words
        found = table.find(words)
        if found is not None and found.role != ColumnRole.ID and not fits(found, field):
            if (
                self._grow
                and not found.written
                and found.type == ColumnType.JSON
                and field.type == ColumnType.JSON
                and stricter(field, found)
            ):
                found.schema = field.schema
            else:
                words = (*words, "shown")
                found = table.find(words)
                if not field.required and found is None:
                    return None
        elif found is not None and found.role == ColumnRole.ID and number and found.type != ColumnType.INTEGER:
            words = (*words, "shown")
            found = table.find(words)
        if found is None and self._grow:
            evidence = f"{self._part.tool.name}.outputSchema/{field.name}"
            found = attribute(
                field, table, self._blueprint, provenance=Provenance.DECLARED, evidence=evidence, words=words
            )
        elif found is not None and self._grow:
            found.support(Provenance.DECLARED, f"{self._part.tool.name}.outputSchema/{field.name}")
            if found.type == ColumnType.TEXT and field.enum and (found.enum or not found.written):
                _widen_enum(found, field)
        if found is not None and self._grow and field.required and not field.nullable and fits(found, field):
            found.shown = True
            if found.fallback is None and not found.references:
                found.fallback = _neutral(field)
        return found

    def _reshape(self, value: Expr, column: ColumnPlan, field: Field) -> Expr:
        """A stored scalar as the declared object, or stored texts as declared objects."""
        if field.schema.get("properties") and (column.type != ColumnType.JSON or column.schema.get("type") == "string"):
            return self._wrapped(value, field.schema, whole=column.type == ColumnType.INTEGER)
        items = self._resolver.plain(field.schema.get("items"))
        stored = column.schema.get("items")
        if field.is_array and items.get("properties") and isinstance(stored, dict) and stored.get("type") == "string":
            return MapOver(op="map", over=value, name="part", value=self._wrapped(var("part"), items))
        return value

    def _wrapped(self, value: Expr, schema: Schema, *, whole: bool = False) -> Expr:
        """``{id: value}`` or ``{name: value}`` for a declared object of which the state holds one scalar."""
        required = schema.get("required") or []
        fields: dict[str, Expr] = {}
        for label, inner in self._resolver.properties(schema):
            field = make_field(label, (label,), inner, label in required)
            if field.schema.get("type") == "integer" and not whole:
                if field.required:
                    fields[label] = const(None) if field.nullable else const(0)
                continue
            if id_parts(field)[1] or field.words[-1] in ("name", "title", "label", "value", "display", "email"):
                kind = field.schema.get("type")
                fields[label] = (
                    Cast(op="cast", of=value, to="text")
                    if kind == "string"
                    else Cast(op="cast", of=value, to="integer")
                    if kind == "integer"
                    else value
                )
            elif field.required:
                fields[label] = const(None) if field.nullable else self._constant(field, _neutral(field))
        return ObjectOf(op="object", fields=fields)

    def _non_null(self, value: Expr, reshaped: Expr, field: Field) -> Expr:
        if field.nullable:
            if reshaped is value:
                return value
            return Choose(op="choose", condition=present(value), then=reshaped, otherwise=const(None))
        otherwise: Expr = const(_neutral(field)) if field.required else ABSENT
        return Choose(op="choose", condition=present(value), then=reshaped, otherwise=otherwise)

    def _missing(self, field: Field) -> Expr | None:
        if not field.required:
            return None
        return const(None) if field.nullable else self._constant(field, _neutral(field))

    def _makes(self) -> bool:
        """True if the part makes the row that it gives back."""
        return self._part.intent.kind in ("create", "send", "add", "run")

    def _constant(self, field: Field, value: object) -> Expr:
        self.invented.append(field.name)
        return const(value)

    def _object(self, schema: Schema, name: str) -> Expr:
        """An envelope, or the row itself."""
        required = schema.get("required") or []
        properties = [
            make_field(label, (label,), value, label in required) for label, value in self._resolver.properties(schema)
        ]
        if not properties:
            raise self._refuse(name, schema)
        carrier = self._carrier(properties)
        self._carried = self._carried or bool(carrier)
        fields: dict[str, Expr] = {}
        for field in properties:
            made = self._envelope(field, carrier, len(properties))
            if made is not None:
                fields[field.name] = made
        return ObjectOf(op="object", fields=fields)

    def _carrier(self, properties: list[Field]) -> str:
        """The property that carries the rows or the row, or ``""``."""
        kind = self._outcome.kind
        if kind == "rows":
            arrays = [field for field in properties if field.is_array]
            for field in arrays:
                if singular_text(field.words) in _LISTS or entity_label(field.name, self._table):
                    return field.name
            if len(arrays) == 1 or arrays:
                return arrays[0].name
        if kind in ("rows", "row", "value", "deleted", "number"):
            for field in properties:
                wide = (
                    field.is_object
                    or is_free(field.schema)
                    or field.schema.get("type") == "string"
                    or "anyOf" in field.schema
                )
                if (
                    kind == "rows"
                    and field.is_object
                    and field.name.lower() in ("pagination", "paging", "meta", "page_info", "pageinfo")
                ):
                    continue
                named = singular_text(field.words) in _WRAPS or (
                    field.is_object and entity_label(field.name, self._table)
                )
                if wide and named and (field.schema.get("type") != "string" or len(properties) <= 2):
                    return field.name
        return ""

    def _envelope(self, field: Field, carrier: str, size: int) -> Expr | None:
        name = field.name.lower()
        flat = "_".join(field.words)
        kind = field.schema.get("type")
        if "const" in field.schema:
            return const(field.schema["const"])
        if field.name == carrier:
            if self._outcome.kind == "row" and field.schema.get("properties"):
                return self._row(field.schema, self._outcome.row)
            return self._any(field.schema, field.name)
        if kind == "boolean" and (
            flat in _TRUE or (flat in _DONE and (flat == self._outcome.done or self._outcome.kind == "deleted"))
        ):
            return const(True)
        if flat in _EMPTY and (field.nullable or not field.required or field.is_array):
            return (
                empty_list()
                if field.is_array and field.required
                else (const(None) if field.nullable and field.required else None)
            )
        if self._outcome.kind == "rows":
            return self._list_envelope(field, flat)
        if (
            kind == "string"
            and flat in ("message", "status_message", "msg", "info", "summary")
            and self._table.find(field.words) is None
        ):
            return self._message()
        if kind == "string" and flat == "status" and self._table.find(("status",)) is None and _of_the_call(field):
            return const(field.enum[0] if field.enum else "ok")
        if self._outcome.kind == "row":
            echoed = self._echo(field) if self._table.find(field.words) is None else None
            return echoed if echoed is not None else self._row_value(field, self._outcome.row)
        if self._outcome.kind == "deleted":
            return self._deleted(field)
        return self._other(field, name)

    def _list_envelope(self, field: Field, flat: str) -> Expr | None:
        kind = field.schema.get("type")
        if kind in ("integer", "number") and _counts_changes(field) and not self._part.intent.reads:
            return self._total()
        paged = _PAGE.get(flat)
        if kind in ("integer", "number") and (flat in _COUNTS or flat.endswith("_count") or flat.startswith("total")):
            return self._total()
        if paged and self._outcome.page and (kind == "boolean") == (paged == "has_more"):
            value: Expr = var(self._outcome.page, paged)
            if field.nullable or paged not in ("next_cursor", "next_page", "next_offset"):
                return Cast(op="cast", of=value, to="text") if kind == "string" and paged in _NUMERIC_PAGE else value
            return Choose(
                op="choose",
                condition=present(value),
                then=value,
                otherwise=ABSENT if not field.required else const(_neutral(field)),
            )
        if paged == "has_more" and kind == "boolean":
            return const(False)
        if (
            field.is_object
            and field.schema.get("properties")
            and flat in ("pagination", "paging", "meta", "page_info", "metadata", "links")
        ):
            inner = field.schema.get("required") or []
            made = {
                label: self._list_envelope(
                    make_field(label, (label,), value, label in inner),
                    "_".join(make_field(label, (), value, False).words),
                )
                for label, value in self._resolver.properties(field.schema)
            }
            return ObjectOf(op="object", fields={label: value for label, value in made.items() if value is not None})
        if kind == "string" and flat in ("message", "summary", "msg"):
            return self._message()
        return self._other(field, flat)

    def _deleted(self, field: Field) -> Expr | None:
        counted = field.schema.get("type") in ("integer", "number") and _counts_changes(field)
        if counted and self._table.find(field.words) is None:
            return var("deleted")
        column = self._table.find(field.words)
        if names_main(field, self._table, self._blueprint) >= 2:
            column = self._table.column(self._table.id)
        if column is not None and self._outcome.row:
            return self._non_null(var(self._outcome.row, column.name), var(self._outcome.row, column.name), field)
        return self._other(field, field.name)

    def _echo(self, field: Field) -> Expr | None:
        for item in self._part.fields:
            if item.words == field.words and item.schema.get("type") == field.schema.get("type"):
                value: Expr = argument(item)
                if not item.required and field.required:
                    fill = None if field.nullable else item.schema.get("default", _neutral(field))
                    value = Coalesce(op="coalesce", items=(value, const(fill)))
                return value
        return None

    def _other(self, field: Field, name: str) -> Expr | None:
        echoed = self._echo(field)
        if echoed is not None:
            return echoed
        if not field.required:
            return None
        if field.nullable:
            return const(None)
        if field.schema.get("type") == "string" and not field.enum:
            return self._message()
        if field.enum:
            return self._constant(field, field.enum[0])
        beside = self._carried or self._outcome.kind == "deleted"
        empty = field.is_array and not field.schema.get("minItems") and not self._part.intent.reads
        if beside and (empty or field.schema.get("type") in ("boolean", "integer", "number")):
            # Beside the rows that the state gives, and counted as invented.
            return self._constant(field, _neutral(field))
        raise self._refuse(name, field.schema)

    def _message(self) -> Expr:
        entity = self._table.entity
        if self._outcome.kind == "rows":
            return Concat(
                op="concat",
                items=(Cast(op="cast", of=self._total(), to="text"), const(f"{entity} rows")),
                separator=" ",
            )
        done = self._outcome.done or "done"
        if self._outcome.row:
            return said(f"{entity} {done}:", Cast(op="cast", of=var(self._outcome.row, self._table.id), to="text"))
        return const(f"{entity} {done}")


def _of_the_call(field: Field) -> bool:
    """True if a required ``status`` tells how the call went: a free text, or values such as ``ok`` and ``error``."""
    values = {str(value).lower() for value in field.enum}
    return field.required and (len(values) <= 1 or bool(values & {"ok", "success", "succeeded", "error", "failure"}))


def _counts_changes(field: Field) -> bool:
    """True if a number's name says how many rows the call changed (``deletedCount``, ``updated``)."""
    return set(field.words) <= _CHANGED | {"count", "number", "of", "total", "rows", "documents"}


def _widen_enum(column: ColumnPlan, field: Field) -> None:
    """Let a column hold every value that a declared result may show, however few an argument may set."""
    column.enum = [*column.enum, *[value for value in field.enum if value not in column.enum]]
    if isinstance(column.schema.get("enum"), list):
        column.schema = {**column.schema, "enum": list(column.enum)}


def _neutral(field: Field) -> object:
    """The neutral value of a field."""
    return neutral_value(field.schema)
