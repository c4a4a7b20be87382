"""Finding a row by what the user knows: which read shows it, and by which of its values (Weft 3.1.2).

An id is never known beforehand unless it is a name that people use. It is observed: a step of the reference shows
the row, told from the others by a value that the request states.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.agents.rules.tasks.actions import IDLE, Action, Parameter, assemble, missing_required, table_of
from weft.agents.rules.tasks.fresh import statable
from weft.agents.rules.tasks.probing import Probe, aligned, shown_fields
from weft.agents.rules.tasks.words import also, article, label, meaning, noun, relation, split, value_words
from weft.records.base import JSON
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, IdStyle, Row, Table
from weft.records.task import FromInput, FromStep, Given, ReferenceStep, Source, TaskInput

READING = ("list", "search", "get", "find", "query", "lookup")
TELLING = ("name", "title", "email", "username", "login", "handle", "subject", "slug", "code", "number", "symbol",
"phone",
           "label", "sku", "isbn", "text", "summary", "description", "url", "path", "key")  # fmt: skip

POOR = frozenset({"currency", "status", "state", "type", "kind", "category", "language", "locale", "timezone",
                  "country", "topic", "city", "color", "colour", "priority", "role", "unit", "visibility",
                  "level", "gender",
                  "plan", "tier", "stage", "presence", "reason", "resolution", "region", "mode", "format"})  # fmt: skip
"""Words of columns by which nobody tells one row from another, even where just one has the value."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A read that shows rows of a table.

    Attributes:
        action: the read.
        table: what it shows.
        fields: column -> field in its result.
        own: required arguments filled with the wanted row's own values.
        parents: required arguments filled with the key of a row that it refers to.
        fixed: required arguments with a constant.
        narrowing: optional arguments that the wanted row's values may fill.
    """

    action: Action
    table: Table
    fields: Mapping[str, str]
    own: tuple[Parameter, ...] = ()
    parents: tuple[Parameter, ...] = ()
    fixed: tuple[tuple[Parameter, JSON], ...] = ()
    narrowing: tuple[Parameter, ...] = ()


@dataclass(slots=True)
class Found:
    """A way to a row.

    Attributes:
        table: of the row.
        row: the row.
        steps: calls that show it, the last one showing the row itself.
        chain: their names.
        inputs: what the user states.
        phrase: how the texts name the row: ``the order "steel hinge"``.
        key: source of the row's key, or of the column that is asked for.
        fields: column -> field as the last step shows it.
        match: fields that tell the row in the last step.
    """

    table: Table
    row: Row
    phrase: str
    steps: list[ReferenceStep] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)
    inputs: list[TaskInput] = field(default_factory=list)
    fields: Mapping[str, str] = field(default_factory=dict)
    match: dict[str, Source] = field(default_factory=dict)
    stated: str = ""

    def source(self, column: str) -> Source | None:
        """Return where a column's value is to be had, or None when nothing shows it."""
        for item in self.inputs:
            if item.keyed == f"{self.table.name}.{column}" and self.stated == column:
                return FromInput(kind="input", name=item.name)
        if self.steps and column in self.fields:
            return FromStep(kind="step", step=self.steps[-1].id, field=self.fields[column], match=dict(self.match))
        return None


class Finder:
    """Knows how rows of an environment can be found."""

    def __init__(self, probe: Probe, actions: Sequence[Action], rng: random.Random) -> None:
        self._probe, self._rng = probe, rng
        self._schema: DatabaseSchema = probe.environment.contracts.schema_
        self._reads = [action for action in actions if not action.writes and action.contract.effect == "read"]
        self._readers: dict[str, list[Reader]] = {}
        self.server = probe.environment.name
        self.stating = True
        """Whether a generated id may be stated where nothing leads to it; builders first try without."""

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table."""
        return self._probe.rows.get(table, [])

    def readers(self, table: Table) -> list[Reader]:
        """Return the reads that show rows of a table, those that need least first."""
        if table.name not in self._readers:
            found = [reader for action in self._reads if (reader := self._reader(action, table)) is not None]
            found.sort(key=lambda item: (len(item.parents), len(item.own), item.action.table != table.name))
            self._readers[table.name] = found
        return self._readers[table.name]

    def _reader(self, action: Action, table: Table) -> Reader | None:
        if action.table != table.name and table.name not in action.case.reads:
            return None
        own: list[Parameter] = []
        parents: list[Parameter] = []
        fixed: list[tuple[Parameter, JSON]] = []
        narrowing: list[Parameter] = []
        for item in action.parameters:
            mine = item.use.table == table.name and item.column is not None
            reference = refers_to(item, self._schema)
            if not item.required:
                if (
                    mine and reference is None and item.role in ("filter", "search", "identifier") and not item.plural
                ) or (item.role == "search" and item.use.table in ("", table.name) and not item.plural):
                    narrowing.append(item)
            elif reference is not None and reference != table.name and not item.plural:
                parents.append(item)
            elif (mine or item.role == "search") and not item.plural:
                own.append(item)
            elif (value := constant(item)) is not None:
                fixed.append((item, value))
            else:
                return None
        paths = [item.path for item in (*own, *parents)] + [item.path for item, _ in fixed]
        if any(missing_required(action, paths)):
            return None
        draft = Reader(action, table, {}, tuple(own), tuple(parents), tuple(fixed), tuple(narrowing))
        fields = self._probed(draft)
        return replace(draft, fields=fields) if fields else None

    def _probed(self, reader: Reader) -> dict[str, str]:
        """Return the fields that a reader shows, by calling it for up to three rows."""
        rows = self.rows(reader.table.name)
        pairs = []
        for row in rows[:3] if reader.own or reader.parents else rows[:1]:
            values = {item.path: _plain(item, row) for item in (*reader.own, *reader.parents)}
            if any(value is None for value in values.values()):
                continue
            given = {path: _given(value) for path, value in values.items()}
            given.update({item.path: _given(value) for item, value in reader.fixed})
            shown = self._probe.rehearse([call_of("probe", self.server, reader.action, given)], {})
            if shown.ok:
                pairs += aligned(shown.results["probe"], rows, reader.table)
        return shown_fields(pairs, reader.table)

    def telling(self, table: Table, row: Row, shown: Mapping[str, str] | None = None) -> list[Column]:
        """Return the columns by whose value a person could name this row, best first."""
        found: list[tuple[int, Column]] = []
        rows = self.rows(table.name)
        for place, column in enumerate(table.columns):
            value = row.get(column.name)
            if (shown is not None and column.name not in shown) or not isinstance(value, str) or not statable(value):
                continue
            rank = _rank(column, table)
            same = [other for other in rows if _folded(other.get(column.name)) == value.casefold()]
            if rank is None or len(same) != 1 or len(value) > 90:
                continue
            found.append((rank * 100 + place, column))
        return [column for _, column in sorted(found, key=lambda item: item[0])]

    def find(
        self,
        table: Table,
        row: Row,
        *,
        prefix: str,
        prefer: Sequence[str] = (),
        depth: int = 2,
        variant: int = 0,
        avoid: str = "",
    ) -> Found | None:
        """Return a way to a row by what a person knows of it, or None.

        Args:
            table: of the row.
            row: to be found.
            prefix: of step ids and of input names that would clash.
            prefer: tools that are still to be covered.
            depth: most references that may have to be found first.
            variant: 0 takes the best way, higher numbers others.
            avoid: a tool that must not be used, because it is the one that is asked for.
        """
        options: list[tuple[Reader, Column]] = []
        for reader in self.readers(table):
            if (reader.parents and depth < 1) or reader.action.tool == avoid:
                continue
            options += [
                (reader, column)
                for column in self.telling(table, row, reader.fields)[:2]
                if table.key[0] in reader.fields and self._askable(reader, column, row)
            ]
        options.sort(key=lambda item: (item[0].action.step not in prefer, len(item[0].parents), len(item[0].own)))
        for reader, column in [*options[variant:], *options[:variant]][:6]:
            found = self._through(reader, column, row, prefix=prefix, depth=depth)
            if found is not None:
                return found
        return self._stated(table, row, prefix)

    def _askable(self, reader: Reader, column: Column, row: Row) -> bool:
        """Return whether a reader's own required arguments are things that the user knows."""
        return all(
            item.role == "search"
            or item.column is None
            or item.column.name == column.name
            or _human(item.column, reader.table)
            for item in reader.own
        )

    def _through(self, reader: Reader, column: Column, row: Row, *, prefix: str, depth: int) -> Found | None:
        known = told_by(column, reader.table, row, prefix)
        found = Found(reader.table, row, phrase_of(column, reader.table, row), inputs=[known], fields=reader.fields)
        values: dict[str, Source] = {item.path: _given(value) for item, value in reader.fixed}
        for number, item in enumerate(reader.parents):
            parent = self._parent(item, row, prefix=f"{prefix}p{number}_", depth=depth - 1)
            if parent is None:
                return None
            above, source = parent
            found.steps += above.steps
            found.chain += above.chain
            found.inputs += [entry for entry in above.inputs if entry.name not in {one.name for one in found.inputs}]
            found.phrase += f" of {above.phrase}"
            values[item.path] = source
        for item in reader.own:
            if item.column is not None and item.column.name != column.name and item.role != "search":
                if not statable(row.get(item.column.name)) or isinstance(row[item.column.name], (dict, list)):
                    return None
                more = told_by(item.column, reader.table, row, prefix)
                found.inputs.append(more)
                found.phrase += also(label(item.column, reader.table), more.words, found.phrase)
                values[item.path] = FromInput(kind="input", name=more.name)
            else:
                values[item.path] = FromInput(kind="input", name=known.name)
        narrow = next(
            (item for item in reader.narrowing if item.column is not None and item.column.name == column.name), None
        )
        narrow = narrow or next((item for item in reader.narrowing if item.role == "search"), None)
        if narrow is not None and not reader.own:
            values[narrow.path] = FromInput(kind="input", name=known.name)
        step = call_of(f"{prefix}find", self.server, reader.action, values)
        found.match = {reader.fields[column.name]: FromInput(kind="input", name=known.name)}
        inputs = {item.name: item.value for item in found.inputs}
        for attempt in (step, self._without(step, narrow)):
            if attempt is None:
                continue
            shown = self._probe.rehearse([*found.steps, attempt], inputs)
            if shown.ok and any(
                seen is not None for seen, other in aligned(shown.results[attempt.id], [row], reader.table)
            ):
                found.steps = [*found.steps, attempt]
                found.chain = [*found.chain, reader.action.step]
                return found
        return None

    def _without(self, step: ReferenceStep, narrow: Parameter | None) -> ReferenceStep | None:
        if narrow is None or "." in narrow.path or narrow.path not in step.arguments:
            return None
        kept = {name: source for name, source in step.arguments.items() if name != narrow.path}
        return step.model_copy(update={"arguments": kept})

    def _parent(self, item: Parameter, row: Row, *, prefix: str, depth: int) -> tuple[Found, Source] | None:
        """Return the way to the row that this row refers to by a parameter's column."""
        name = refers_to(item, self._schema)
        table = table_of(self._schema, name) if name else None
        column = _referring(item, row)
        if table is None or column is None:
            return None
        wanted = row.get(column)
        other = next((entry for entry in self.rows(table.name) if entry.get(table.key[0]) == wanted), None)
        found = self.find(table, other, prefix=prefix, depth=depth) if other is not None else None
        source = found.source(table.key[0]) if found is not None else None
        return (found, source) if found is not None and source is not None else None

    def _stated(self, table: Table, row: Row, prefix: str) -> Found | None:
        """Return the way to a row whose key the user states: a natural key, or an id that nothing else leads to."""
        key = table.column(table.key[0])
        value = row[key.name]
        if not self.stating and key.role is ColumnRole.ID and table.id_style is not IdStyle.NATURAL:
            return None
        if isinstance(value, (dict, list)) or len(table.key) != 1 or not statable(value):
            return None
        known = told_by(key, table, row, prefix)
        return Found(table, row, phrase_of(key, table, row), inputs=[known], stated=key.name)


def _rank(column: Column, table: Table) -> int | None:
    """Return how likely a person knows a row by this column, lower is likelier; None for never."""
    if column.role is ColumnRole.ID:
        return 4 if table.id_style is IdStyle.NATURAL else None
    if column.references or column.role in (ColumnRole.CREATED, ColumnRole.UPDATED, ColumnRole.STATUS):
        return None
    if column.type is not ColumnType.TEXT or column.enum:
        return None
    if column.role is ColumnRole.NAME:
        return 0
    words = set(split(column.field))
    if words & {"id", "uuid", "token", "hash", "cursor", "etag", "sha", "secret", "gid"}:
        return None
    if words & POOR or relation(column.field):
        return None
    if words & set(TELLING[:4]):
        return 1
    if column.role is ColumnRole.KEY:
        return 2
    return 3 if words & set(TELLING) else 5


def _human(column: Column, table: Table) -> bool:
    return column.role not in (ColumnRole.ID, ColumnRole.FOREIGN_KEY) or table.id_style is IdStyle.NATURAL


def _folded(value: JSON) -> str:
    return value.casefold() if isinstance(value, str) else ""


def _given(value: JSON) -> Given:
    return Given(kind="given", value=value, reason="required by the tool and implied by the request")


def call_of(name: str, server: str, action: Action, values: Mapping[str, Source]) -> ReferenceStep:
    """Return the reference step that calls an action with sources by argument path."""
    return ReferenceStep(id=name, server=server, tool=action.tool, arguments={**action.fixed(), **assemble(values)})


def refers_to(item: Parameter, schema: DatabaseSchema) -> str | None:
    """Return the table whose key an argument holds, or None when it is no reference."""
    if item.column is None:
        return None
    if item.column.references:
        return item.column.references
    table = table_of(schema, item.use.table)
    if (
        table is not None
        and item.column.name in table.key
        and item.role in ("identifier", "parent", "link", "bulk", "filter")
    ):
        return table.name
    return None


def _referring(item: Parameter, row: Row) -> str | None:
    if item.column is None:
        return None
    return item.column.name if item.column.name in row else None


def _plain(item: Parameter, row: Row) -> JSON:
    if item.column is not None:
        return row.get(item.column.name)
    return next((value for value in row.values() if isinstance(value, str) and len(value) > 3), None)


def constant(item: Parameter) -> JSON:
    """Return a constant for a required argument that no text needs to state, or None."""
    if "default" in item.schema:
        return item.schema["default"]
    if item.enum and (len(item.enum) == 1 or item.role in IDLE):
        return item.enum[0]
    if item.role in ("limit",):
        top = item.schema.get("maximum", 50)
        return min(50, int(top)) if isinstance(top, (int, float)) else 50
    if item.role in ("offset",):
        return 0
    if item.role in ("page",):
        return item.schema.get("minimum", 1)
    if item.role in IDLE and item.schema.get("type") == "boolean":
        return False
    return None


def told_by(column: Column, table: Table, row: Row, prefix: str) -> TaskInput:
    """Return the input by which the user names a row."""
    value = row[column.name]
    means = meaning(column, table)
    bare = means.semantic == "person" or (column.role is ColumnRole.ID and table.id_style is not IdStyle.NATURAL)
    words = str(value) if bare else value_words(value, column)
    stem = "_".join(split(noun(table))) + "_" + "_".join(split(column.field))
    return TaskInput(
        name=f"{prefix}{stem}" if prefix else stem,
        value=value,
        words=words,
        semantic=means.semantic,
        keyed=f"{table.name}.{column.name}",
    )


def phrase_of(column: Column, table: Table, row: Row) -> str:
    """Return how a person names a row by one of its values."""
    value = row[column.name]
    means = meaning(column, table)
    if means.semantic == "person" and column.role is ColumnRole.NAME:
        return str(value)
    if column.role is ColumnRole.NAME:
        return f"the {noun(table)} {value_words(value, column)}"
    if column.role is ColumnRole.ID:
        if table.id_style is not IdStyle.NATURAL:
            return f"the {noun(table)} with the ID {value}"
        return f"the {noun(table)} {value_words(value, column)}"
    said = value_words(value, column)
    if relation(column.field):
        return f"the {noun(table)} {relation(column.field)} {said}"
    return f"the {noun(table)} with the {label(column, table)} {said}"


def some(table: Table) -> str:
    """Return the indefinite noun phrase of a table's entity."""
    return article(noun(table))
