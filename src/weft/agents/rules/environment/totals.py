"""Totals: counts, sums and averages of the rows that match, in all or per group, shaped to the declared result."""

from dataclasses import replace

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field, Resolver, Schema, make_field
from weft.agents.rules.environment.intents import Words, noun
from weft.agents.rules.environment.plan import Part
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.rows import argument, present
from weft.agents.rules.environment.words import listed
from weft.records.expression import Aggregate, Choose, Coalesce, Expr, MapOver, ObjectOf, Where, const, var
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnRole, ColumnType

_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)
_FUNCTIONS = {
    "avg": frozenset(listed("avg, average, mean ")),
    "sum": frozenset(listed("sum, total, overall, combined ")),
    "min": frozenset(listed("min, minimum, lowest, smallest, least, earliest, oldest ")),
    "max": frozenset(listed("max, maximum, highest, largest, most, latest, newest ")),
}
_COUNTS = frozenset(listed("count, n, number, size, quantity, amount, frequency, value "))
_FILLER = frozenset({"of", "by", "per", "the", "number", "num"})
_VALUES = frozenset({"total", "value", "result", "sum", "amount"})


class Totals:
    """Builds the declared result of a part that counts or adds up rows.

    Args:
        part: the part.
        table: whose rows are counted.
        where: the predicates of its filtering arguments.
        blueprint: all tables.
        grow: make the columns that a result groups by or adds up and the table lacks.
    """

    def __init__(
        self, part: Part, table: TablePlan, where: tuple[Where, ...], blueprint: Blueprint, *, grow: bool = False
    ) -> None:
        self._part, self._table, self._where, self._blueprint, self._grow = part, table, where, blueprint, grow
        self._resolver = Resolver(part.tool.output_schema or {})

    def result(self) -> Expr:
        """The whole result; raises :class:`Refused` when the rows do not give it."""
        schema = self._resolver.plain(self._part.tool.output_schema or {})
        return self._value(schema, "result", required=True)

    def _value(self, schema: Schema, name: str, *, required: bool) -> Expr:
        kind = schema.get("type")
        if kind in ("integer", "number"):
            made = self._measure(make_field(name, (name,), schema, required), self._where)
            return made if made is not None else self._count(self._where)
        if kind == "array":
            return self._groups(schema, name)
        if schema.get("properties"):
            return self._object(schema)
        raise self._refuse(name, schema)

    def _refuse(self, name: str, schema: Schema) -> Refused:
        return Refused(
            RefusalCode.RETURN_SCHEMA,
            f"the declared result needs {name!r}, which totals of {self._table.entity!r} rows do not give",
            "declare counts, sums or averages of stored attributes, or bind the real server",
            path=f"#/outputSchema/.../{name}",
            value=str(schema.get("type", "")),
        )

    def _object(self, schema: Schema) -> Expr:
        required = schema.get("required") or []
        fields: dict[str, Expr] = {}
        for label, value in self._resolver.properties(schema):
            field = make_field(label, (label,), value, label in required)
            made = self._property(field)
            if made is not None:
                fields[label] = made
            elif field.required:
                raise self._refuse(label, value)
        return ObjectOf(op="object", fields=fields)

    def _property(self, field: Field) -> Expr | None:
        if "const" in field.schema:
            return const(field.schema["const"])
        for item in self._part.fields:
            if item.words == field.words and item.schema.get("type") == field.schema.get("type"):
                value: Expr = argument(item)
                if item.required or not field.required:
                    return value
                return Coalesce(op="coalesce", items=(value, const(None))) if field.nullable else None
        if field.type in _NUMBERS:
            return self._of_value(field) or self._measure(field, self._where)
        if field.is_array or field.schema.get("properties"):
            try:
                return self._value(field.schema, field.name, required=field.required)
            except Refused:
                if field.required:
                    raise
        return None

    def _of_value(self, field: Field) -> Expr | None:
        """The number of rows of one listed value (``open``, ``closed_count``)."""
        words = tuple(word for word in field.words if word not in ("count", "total", "num", "number"))
        for column in self._table.columns:
            for value in column.enum:
                if str(value).lower().replace("-", "_") == "_".join(words):
                    return self._count((*self._where, Where(test="eq", column=column.name, value=const(value))))
        return None

    def _count(self, where: tuple[Where, ...]) -> Aggregate:
        return Aggregate(op="aggregate", table=self._table.name, fn="count", where=where)

    def _measure(self, field: Field, where: tuple[Where, ...]) -> Expr | None:
        """The number that a property's name means over some rows, or None."""
        words = tuple(word for word in noun(field.words) if word not in _FILLER)
        fn = next((name for name, known in _FUNCTIONS.items() if set(words) & known), "")
        rest = tuple(word for word in words if all(word not in known for known in _FUNCTIONS.values()))
        entity = self._table.phrase
        counts = not rest or rest in ((), entity, entity[-1:], (*entity, "count"), (*entity[-1:], "count"), ("count",))
        verb = self._part.intent.verb
        if rest[-1:] == ("count",) or (counts and fn in ("", "sum") and self._counts_rows(field, rest)):
            return self._count(where)
        if not fn:
            fn = "avg" if verb in ("average", "avg") else "sum"
        column = self._number(rest, field)
        if column is None:
            return self._count(where) if counts or set(rest) <= _COUNTS else None
        value: Expr = Aggregate.model_validate(
            {"op": "aggregate", "table": self._table.name, "fn": fn, "column": column.name, "where": where}
        )
        if field.nullable:
            return value
        fill = field.schema.get("minimum", 0)
        zero = const(fill if isinstance(fill, int | float) and fill > 0 and fn != "sum" else 0)
        return Choose(op="choose", condition=present(value), then=value, otherwise=zero)

    def _counts_rows(self, field: Field, rest: Words) -> bool:
        """True if a plain ``total`` or ``count`` is a number of rows, not a sum."""
        if self._part.intent.kind == "count" or set(field.words) & {"count", "number", "num", "n"} or rest:
            return True
        return self._part.intent.verb in ("stats", "statistics", "tally")

    def _number(self, words: Words, field: Field) -> ColumnPlan | None:
        """The column that is added up: of the words, of a shared word, or the only number of the table."""
        table = self._table
        numbers = [
            column
            for column in table.columns
            if column.type in _NUMBERS and column.role == ColumnRole.ATTRIBUTE and not column.references
        ]
        found = table.find(words) if words else None
        if found is not None and found in numbers:
            return found
        close = [column for column in numbers if words and set(words) & set(column.key)]
        if close:
            return close[0]
        if not set(words) - _VALUES and len(numbers) == 1:
            return numbers[0]
        if words and self._grow and not set(words) <= _COUNTS and words != table.phrase:
            shaped = replace(field, words=words, name="_".join(words), schema={"type": field.schema.get("type")})
            evidence = f"{self._part.tool.name}.outputSchema/{field.name}"
            return table.add(words, shaped, provenance=Provenance.INFERRED, evidence=evidence)
        return numbers[0] if len(numbers) == 1 and (not words or set(words) <= _VALUES) else None

    def _groups(self, schema: Schema, name: str) -> Expr:
        """One object per group that occurs: the values grouped by, and a number for each."""
        items = self._resolver.plain(schema.get("items"))
        if not items.get("properties"):
            raise self._refuse(name, schema)
        required = items.get("required") or []
        fields = [
            make_field(label, (label,), value, label in required) for label, value in self._resolver.properties(items)
        ]
        keys = {field.name: found for field in fields if (found := self._group_column(field)) is not None}
        if not keys:
            raise self._refuse(name, schema)
        columns = tuple(dict.fromkeys(column.name for column in keys.values()))
        shown = [Where(test="not_null", column=column.name) for column in keys.values() if column.nullable]
        where = (*self._where, *shown)
        inside = (*where, *[Where(test="eq", column=column, value=var("group", column)) for column in columns])
        made: dict[str, Expr] = {}
        for field in fields:
            value = var("group", keys[field.name].name) if field.name in keys else self._inside(field, inside)
            if value is not None:
                made[field.name] = value
            elif field.required:
                raise self._refuse(field.name, field.schema)
        over = Aggregate(op="aggregate", table=self._table.name, fn="count", where=where, group_by=columns)
        return MapOver(op="map", over=over, name="group", value=ObjectOf(op="object", fields=made))

    def _inside(self, field: Field, where: tuple[Where, ...]) -> Expr | None:
        return self._measure(field, where) if field.type in _NUMBERS else None

    def _group_column(self, field: Field) -> ColumnPlan | None:
        """The column that a property of a group names: by its name, or as ``by`` in the tool's name says."""
        if field.is_array or field.type == ColumnType.JSON:
            return None
        words = noun(field.words)
        measured = {word for known in _FUNCTIONS.values() for word in known} | _COUNTS
        found = self._table.find(field.words)
        by = noun(self._part.intent.by)
        if found is not None and (found.type != ColumnType.JSON) and not (set(words) & measured and words != by):
            return found
        if by and field.type not in (ColumnType.NUMBER,) and not set(words) & measured:
            close = [c for c in self._table.columns if set(by) & set(c.key) and c.type != ColumnType.JSON]
            if close:
                return close[0]
        if field.type in _NUMBERS or not self._grow or set(words) & measured:
            return None
        evidence = f"{self._part.tool.name}.outputSchema/{field.name}"
        return self._table.add(field.words, field, provenance=Provenance.DECLARED, evidence=evidence)


__all__ = ["Totals"]
