"""Drafts of tasks that ask: look-ups, counts, lists and figures (Weft 3.1.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.agents.reference import objects
from weft.agents.rules.tasks.actions import Action, Parameter, missing_required, table_of
from weft.agents.rules.tasks.addressing import Address, address
from weft.agents.rules.tasks.drafting import (
    Sketch,
    Workshop,
    finish,
    input_source,
    observed_outputs,
    rivals_of,
    told_value,
)
from weft.agents.rules.tasks.finding import Found, call_of, constant, refers_to
from weft.agents.rules.tasks.probing import aligned, shown_fields
from weft.agents.rules.tasks.words import (
    is_are,
    label,
    listed,
    meaning,
    noun,
    plural,
    relation,
    scoped,
    split,
    state,
    value_words,
    yes_words,
)
from weft.records.base import JSON
from weft.records.library import AtomicDraft
from weft.records.state import Column, ColumnRole, ColumnType, Row, Table
from weft.records.task import FromStep, FromSteps, Given, ReplyPart, Source, TaskOutput
from weft.runtime.values import json_equal

MOST_NAMES = 5
LISTING = 0.6
"""Share of selections that ask which rows there are rather than how many."""
NARROWING = ("filter", "parent", "link", "status", "search")
DULL = frozenset({"with", "from", "that", "this", "https", "http", "example", "team"})
TOTALS = ("total", "total_count", "totalCount", "count", "total_results", "totalResults")


@dataclass(slots=True)
class Asked:
    """The arguments of a read as they come together, with the rows' conditions in words."""

    values: dict[str, Source] = field(default_factory=dict)
    founds: list[Found] = field(default_factory=list)
    conditions: list[tuple[str, str]] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)


def read_draft(shop: Workshop, action: Action, *, tries: int = 4, variant: int = 0) -> AtomicDraft | None:
    """Return a draft for a read, or None when nothing sensible can be asked of it."""
    table = table_of(shop.schema, action.table) if action.table else None
    if table is None:
        return None
    for row in shop.rows(table.name)[:tries]:
        draft = (
            _look_up(shop, action, table, row, variant)
            or _single(shop, action, table)
            or _select(shop, action, table, row)
            or _figure(shop, action, table, row)
        )
        if draft is not None:
            return draft
    return None


def _look_up(shop: Workshop, action: Action, table: Table, row: Row, variant: int) -> AtomicDraft | None:
    """One row by what names it; the answer is a value of it that other rows do not share."""
    roles = ("identifier", "parent", "link")
    named = [
        item
        for item in action.by_role(*roles)
        if item.required and item.use.table == table.name and item.column is not None and not item.plural
    ]
    if not any(item.role == "identifier" for item in named):
        return None
    way = address(shop, table, row, named, variant=variant, avoid=action.tool)
    if way is None:
        return None
    sketch, asked = Sketch(kind="read"), Asked(values=dict(way.sources), founds=list(way.founds))
    if not _required(shop, action, table, row, sketch, asked, skip=tuple(named)):
        return None
    if any(missing_required(action, list(asked.values))):
        return None
    for found in asked.founds:
        sketch.take(found)
        sketch.outputs += observed_outputs(found)
    sketch.steps.append(call_of("look", shop.server, action, asked.values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or tried.changed:
        return None
    if asked.scope:
        way.phrase += f" {listed(asked.scope)}"
    shown = shown_fields(aligned(tried.results["look"], [row], table), table)
    seen = shown or shown_by_name(tried.results["look"], row, table)
    return _answer(shop, sketch, Shown(table, row, seen), way, named)


@dataclass(frozen=True, slots=True)
class Shown:
    """A row as the last step shows it."""

    table: Table
    row: Row
    fields: dict[str, str]


def shown_by_name(result: JSON, row: Row, table: Table) -> dict[str, str]:
    """Return the columns that some object shows under their own names, for rows without a key of their own."""
    for seen in objects(result):
        same = {
            column.name: column.field
            for column in table.columns
            if column.field in seen and json_equal(seen[column.field], row.get(column.name))
        }
        if len(same) > 1:
            return same
    return {}


def _answer(
    shop: Workshop, sketch: Sketch, shown: Shown, way: Address, named: Sequence[Parameter]
) -> AtomicDraft | None:
    """Ask for one of the shown values, best one that nothing before has shown."""
    table, row = shown.table, shown.row
    known = {item.keyed for item in sketch.inputs}
    before = {name for found in way.founds if found.steps and found.table.name == table.name for name in found.fields}
    plain = {item.name: item.references is None and item.role is not ColumnRole.CREATED for item in table.columns}
    order = sorted(shown.fields, key=lambda name: (not plain[name], name in before, shop.rng.random()))
    match = {
        shown.fields[item.column.name]: way.sources[item.path]
        for item in named
        if item.column is not None and item.column.name in shown.fields
    }
    for name in order:
        column = table.column(name)
        stated = any(json_equal(item.value, row.get(name)) for item in sketch.inputs)
        if f"{table.name}.{name}" in known or stated or not answerable(column, row, shop, table):
            continue
        source = FromStep(kind="step", step="look", field=shown.fields[name], match=match)
        means = meaning(column, table)
        part = "_".join(split(column.field)) or name
        sketch.reply = [ReplyPart.model_validate({"name": part, "source": source, "kind": means.answer})]
        sketch.rivals = {part: rivals_of(shop, table, column, [row[name]])}
        sketch.outputs = [TaskOutput(name=part, source=source, semantic=means.semantic), *sketch.outputs]
        wording = label(column, table)
        if means.answer == "boolean":
            sketch.reply_text = f"{wording}: {{{part}}}."
            said = state(column)
            slots = {"whether": f'whether "{wording}" is set for {way.phrase}'}
            if said:
                slots["whether"] = f"whether {way.phrase} is {said}"
            return finish(shop, sketch, "check", slots, founds=way.founds)
        sketch.reply_text = f"Here is the {wording}: {{{part}}}."
        return finish(shop, sketch, "read", _asking(wording, way.phrase), founds=way.founds)
    return None


def _asking(wording: str, phrase: str) -> dict[str, str]:
    return {"ask_of": f"the {wording} of {phrase}", "be": is_are(wording)}


def answerable(column: Column, row: Row, shop: Workshop, table: Table) -> bool:
    """Return whether a reply can state a value and be told from other rows' values."""
    value = row.get(column.name)
    if value is None or value == "" or isinstance(value, (dict, list)):
        return False
    if column.role in (ColumnRole.ID, ColumnRole.UPDATED):
        return False
    if isinstance(value, str) and (len(value) > 80 or "\n" in value):
        return False
    if set(split(column.field)) & {"token", "secret", "password", "hash", "etag", "cursor"}:
        return False
    others = {repr(other.get(column.name)) for other in shop.probe.rows.get(table.name, ())}
    return len(others) > 1


def _required(
    shop: Workshop,
    action: Action,
    table: Table,
    row: Row,
    sketch: Sketch,
    asked: Asked,
    *,
    skip: tuple[Parameter, ...] = (),
) -> bool:
    """Fill a read's required arguments with what belongs to the row; False when that cannot be."""
    for item in action.parameters:
        if not item.required or item in skip or item.path in asked.values:
            continue
        if not _narrow(shop, table, row, sketch, asked, item):
            value = constant(item)
            if value is None:
                return False
            asked.values[item.path] = Given(kind="given", value=value, reason="how the tool is to answer")
    return True


def _narrow(shop: Workshop, table: Table, row: Row, sketch: Sketch, asked: Asked, item: Parameter) -> bool:
    """Fill one argument with the row's own value and say the condition in words."""
    column = item.column
    if item.role == "search" and not item.plural:
        return _mention(shop, table, row, sketch, asked, item)
    if (
        column is None
        or item.plural
        or item.role not in ("filter", "identifier", "parent", "link", "status", "attribute")
    ):
        return False
    if item.use.table not in ("", table.name) and refers_to(item, shop.schema) is None:
        return False
    value = row.get(column.name)
    for way in asked.founds:
        for entry in way.inputs:
            if entry.keyed == f"{table.name}.{column.name}" and entry.value == value:
                asked.values[item.path] = input_source(entry.name)
                return True
    reference = refers_to(item, shop.schema)
    if reference is not None and reference != table.name:
        return _belongs(shop, row, asked, item, reference)
    if value is None or isinstance(value, (dict, list)) or column.name in table.key:
        return False
    if not isinstance(value, bool) and isinstance(value, str) and ("\n" in value or '"' in value or len(value) > 60):
        return False
    words = value_words(value, column)
    said = state(column) if isinstance(value, bool) else ""
    if said and isinstance(value, bool):
        words = yes_words(said, value)
    name = sketch.tell(told_value("_".join(split(column.field)), value, words, meaning(column, table).semantic))
    asked.values[item.path] = input_source(name)
    called = label(column, table)
    if said:
        asked.conditions.append(("are", words))
        asked.scope.append(f"that are {words}")
    elif relation(column.field):
        asked.conditions.append(("are", f"{relation(column.field)} {words}"))
        asked.scope.append(f"{relation(column.field)} {words}")
    elif isinstance(value, bool):
        asked.conditions.append(("have", f'"{called}" set to {words}'))
        asked.scope.append(f'with "{called}" set to {words}')
    else:
        asked.conditions.append(("are in" if scoped(called) else "have", f"the {called} {words}"))
        asked.scope.append(f"{'in' if scoped(called) else 'with'} the {called} {words}")
    return True


def _mention(shop: Workshop, table: Table, row: Row, sketch: Sketch, asked: Asked, item: Parameter) -> bool:
    """Fill a search term with a word of what the row is called."""
    for column in shop.finder.telling(table, row):
        words = [word for word in re.findall(r"[A-Za-z]{4,}", str(row[column.name])) if word.lower() not in DULL]
        if words:
            word = max(words, key=len)
            name = sketch.tell(told_value("_".join(split(item.leaf)), word, f'"{word}"', "text"))
            asked.values[item.path] = input_source(name)
            asked.conditions.append(("mention", f'"{word}"'))
            asked.scope.append(f'that mention "{word}"')
            return True
    return False


def _belongs(shop: Workshop, row: Row, asked: Asked, item: Parameter, reference: str) -> bool:
    other_table = table_of(shop.schema, reference)
    column = item.column
    if other_table is None or column is None:
        return False
    wanted = row.get(column.name) if column.references else None
    if wanted is None:
        return False
    other = next(
        (entry for entry in shop.probe.rows.get(reference, ()) if entry.get(other_table.key[0]) == wanted), None
    )
    if other is None:
        return False
    prefix = f"ref{len(asked.founds)}_"
    found = shop.finder.find(other_table, other, prefix=prefix, prefer=shop.wanted, depth=1)
    source = found.source(other_table.key[0]) if found is not None else None
    if found is None or source is None:
        return False
    asked.values[item.path] = source
    asked.founds.append(found)
    called = label(column)
    same = set(split(called)) & set(split(noun(other_table)))
    if relation(column.field):
        verb = relation(column.field)
        asked.conditions.append(("are", f"{verb} {found.phrase}"))
        asked.scope.append(f"{verb} {found.phrase}")
        return True
    asked.conditions.append(("belong to", found.phrase) if same else ("have", f"{found.phrase} as the {called}"))
    asked.scope.append(f"for {found.phrase}" if same else f"with {found.phrase} as the {called}")
    return True


def _select(shop: Workshop, action: Action, table: Table, row: Row) -> AtomicDraft | None:
    """Rows that meet a condition: how many there are, or which."""
    sketch, asked = Sketch(kind="list"), Asked()
    if not _required(shop, action, table, row, sketch, asked):
        return None
    optional = [item for item in action.parameters if not item.required and item.role in NARROWING]
    shop.rng.shuffle(optional)
    for item in optional:
        if len(asked.conditions) >= 1:
            break
        _narrow(shop, table, row, sketch, asked, item)
    if any(missing_required(action, list(asked.values))):
        return None
    for way in asked.founds:
        sketch.take(way)
        sketch.outputs += observed_outputs(way)
    sketch.steps.append(call_of("list", shop.server, action, asked.values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or tried.changed:
        return None
    rows = shop.probe.rows.get(table.name, [])
    pairs = aligned(tried.results["list"], rows, table)
    fields = shown_fields(pairs, table)
    matching = {repr(other[table.key[0]]): other for _, other in pairs}
    if not matching or (len(matching) == len(rows) and asked.conditions):
        return None
    found = Selected(table, list(matching.values()), fields, tried.results["list"])
    return _which(shop, sketch, asked, found)


@dataclass(frozen=True, slots=True)
class Selected:
    """The rows that a read selected, as its result shows them."""

    table: Table
    rows: list[Row]
    fields: dict[str, str]
    result: JSON


def _which(shop: Workshop, sketch: Sketch, asked: Asked, found: Selected) -> AtomicDraft | None:
    """Ask which rows meet the conditions, or how many."""
    conditions = told(asked.conditions)
    if not asked.conditions and len(found.rows) < 2:
        return None
    slots = {"many": plural(noun(found.table)), "conditions": conditions}
    if conditions and len(found.rows) <= MOST_NAMES and shop.rng.random() < LISTING:
        draft = _names(shop, sketch, asked, found, slots)
        if draft is not None:
            return draft
    key = found.table.key[0]
    if key not in found.fields:
        return None
    sketch.kind = "count"
    count = len(found.rows)
    total = _total_field(found.result, count)
    source: Source = FromSteps(kind="fold", step="list", fn="count", field=found.fields[key])
    if total:
        source = FromStep(kind="step", step="list", field=total)
    sketch.reply = [ReplyPart(name="number", source=source, kind="number")]
    sketch.rivals = {"number": tuple(value for value in (count - 1, count + 1) if value > 0)}
    sketch.reply_text = "There are {number}."
    return finish(shop, sketch, "count" if conditions else "count_all", slots, founds=asked.founds)


def _names(shop: Workshop, sketch: Sketch, asked: Asked, found: Selected, slots: dict[str, str]) -> AtomicDraft | None:
    """Ask for the names of the rows, by a column that tells each from the others and that the request does not say."""
    known = {repr(item.value) for item in sketch.inputs}
    for column in sorted(found.table.columns, key=lambda item: item.role not in (ColumnRole.NAME, ColumnRole.KEY)):
        names = [row.get(column.name) for row in found.rows]
        plain = all(isinstance(name, str) and name and "\n" not in name and len(name) <= 80 for name in names)
        usable = column.name in found.fields and column.type is ColumnType.TEXT and not column.enum
        if not usable or not plain or column.references or len(set(names)) != len(names):
            continue
        if known & {repr(name) for name in names} or not answerable(column, found.rows[0], shop, found.table):
            continue
        part = "_".join(split(column.field))
        source = FromSteps(kind="fold", step="list", fn="list", field=found.fields[column.name])
        sketch.reply = [ReplyPart(name=part, source=source, kind="text")]
        sketch.rivals = {part: rivals_of(shop, found.table, column, names)}
        sketch.reply_text = f"These are they: {{{part}}}."
        their = plural(label(column, found.table))
        slots["their"] = "the names" if their == slots["many"] else f"the {their}"
        return finish(shop, sketch, "list", slots, founds=asked.founds)
    return None


def told(conditions: Sequence[tuple[str, str]]) -> str:
    """Return conditions in words, those with the same verb together: ``have the status open and belong to Ann``."""
    verbs = dict.fromkeys(verb for verb, _ in conditions)
    return listed([f"{verb} {listed([said for other, said in conditions if other == verb])}" for verb in verbs])


def _total_field(result: JSON, count: int) -> str:
    """Return the name of the figure that tells how many there are, if the first object that has one tells that."""
    for seen in objects(result):
        for name in TOTALS:
            if name in seen:
                return name if type(seen[name]) is int and seen[name] == count else ""
    return ""


def computed(name: str, table: Table) -> bool:
    """Return whether a figure is one that the tool works out, not a column of some row nor an echo of the arguments."""
    words = split(name)
    echoed = {"limit", "offset", "page", "pages", "id", "size", "per", "index"} & set(words)
    return not echoed and all(column.field != name for column in table.columns)


def _single(shop: Workshop, action: Action, table: Table) -> AtomicDraft | None:
    """The one row that a read without arguments shows: one of its values."""
    if any(item.required for item in action.parameters):
        return None
    step = call_of("look", shop.server, action, {})
    tried = shop.probe.rehearse([step], {})
    if not tried.ok or tried.changed:
        return None
    pairs = aligned(tried.results["look"], shop.probe.rows.get(table.name, []), table)
    if len({repr(other[table.key[0]]) for _, other in pairs}) != 1:
        return None
    sketch = Sketch(kind="read", steps=[step], chain=[action.step])
    way = Address(phrase=f"the {noun(table)}")
    return _answer(shop, sketch, Shown(table, pairs[0][1], shown_fields(pairs, table)), way, [])


def _figure(shop: Workshop, action: Action, table: Table, row: Row) -> AtomicDraft | None:
    """A single figure that a read reports: a count, a sum, an average."""
    sketch, asked = Sketch(kind="aggregate"), Asked()
    if not _required(shop, action, table, row, sketch, asked):
        return None
    optional = [item for item in action.parameters if not item.required and item.role in NARROWING]
    shop.rng.shuffle(optional)
    for item in optional:
        if asked.conditions:
            break
        _narrow(shop, table, row, sketch, asked, item)
    if any(missing_required(action, list(asked.values))):
        return None
    for way in asked.founds:
        sketch.take(way)
    sketch.steps.append(call_of("measure", shop.server, action, asked.values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or tried.changed:
        return None
    figures = {name: value for seen in objects(tried.results["measure"]) for name, value in reversed(seen.items())}
    for name, value in reversed(figures.items()):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not computed(name, table):
            continue
        part = "_".join(split(name)) or "value"
        source = FromStep(kind="step", step="measure", field=name)
        sketch.reply = [ReplyPart(name=part, source=source, kind="number")]
        sketch.rivals = {part: (value + 1, value - 1)}
        words = " ".join(split(name))
        counted = words in ("count", "total", "value", "total count", "number", "result")
        measure = f"the number of {plural(noun(table))}" if counted else f"the {words} of the {plural(noun(table))}"
        sketch.reply_text = f"It is {{{part}}}."
        scope = f" {listed(asked.scope)}" if asked.scope else ""
        return finish(shop, sketch, "measure", {"measure": measure, "scope": scope}, founds=asked.founds)
    return None
