"""Addressing the row that an action is about: which arguments name it, and where their values come from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.agents.rules.tasks.actions import Action, Parameter, argument_paths, table_of
from weft.agents.rules.tasks.drafting import Workshop
from weft.agents.rules.tasks.finding import Found, phrase_of, refers_to, told_by
from weft.agents.rules.tasks.words import also, label, noun
from weft.records.contract import Find, Operation
from weft.records.expression import Where
from weft.records.state import Row, Table
from weft.records.task import FromInput, Source


@dataclass(slots=True)
class Address:
    """How a row is named in a call.

    Attributes:
        phrase: how the texts name it.
        sources: argument path -> source.
        founds: ways to rows that have to be found first, the row itself first.
    """

    phrase: str = ""
    sources: dict[str, Source] = field(default_factory=dict)
    founds: list[Found] = field(default_factory=list)


def addressing(action: Action, table: Table) -> list[Parameter]:
    """Return the arguments that say which row of its table an action is about; empty for one that makes a row.

    They are those by which the contract looks the row up, and not those that it writes.
    """
    used = looked_up(action, table)
    mine = [
        item
        for item in action.parameters
        if item.use.table == table.name
        and item.column is not None
        and tuple(item.path.replace("[]", "").split(".")) in used
    ]
    if action.case.intent == "create":
        return []
    for item in action.by_role("identifier"):
        if item.use.table == table.name and item.column is not None and item not in mine:
            mine.append(item)
    return [item for item in mine if item.required] or mine[:1]


def looked_up(action: Action, table: Table) -> set[tuple[str, ...]]:
    """Return the argument paths by which an action finds rows of a table."""
    return set(_looked_up(action.case.operations, table.name))


def _looked_up(operations: Sequence[Operation], table: str) -> Iterator[tuple[str, ...]]:
    """Yield the argument paths by which operations find rows of a table."""
    for operation in operations:
        if isinstance(operation, Find) and operation.table == table:
            for where in operation.where:
                yield from _paths(where)
        for name in ("operations", "otherwise"):
            yield from _looked_up(getattr(operation, name, ()), table)


def _paths(where: Where) -> Iterator[tuple[str, ...]]:
    if where.value is not None and where.test in ("eq", "in"):
        for path in argument_paths(where.value.model_dump(mode="json")):
            yield tuple(step for step in path if isinstance(step, str))


def address(
    shop: Workshop,
    table: Table,
    row: Row,
    parameters: Sequence[Parameter],
    *,
    prefix: str = "",
    variant: int = 0,
    avoid: str = "",
) -> Address | None:
    """Return how a row is named by some arguments, or None when one of its values is not to be had."""
    found = Address()
    own: Found | None = None
    keys = [item for item in parameters if item.column is not None and _own_key(item, table)]
    if keys:
        own = shop.finder.find(table, row, prefix=prefix, prefer=shop.wanted, variant=variant, avoid=avoid)
        if own is None:
            return None
        found.founds.append(own)
        found.phrase = own.phrase
    for number, item in enumerate(parameters):
        column = item.column
        if column is None or row.get(column.name) is None:
            return None
        source = own.source(column.name) if own is not None else None
        if source is None:
            source = _outside(shop, table, row, item, found, prefix, number)
        if source is None:
            return None
        found.sources[item.path] = source
    if not found.phrase:
        found.phrase = f"the {noun(table)}"
    return found


def _own_key(item: Parameter, table: Table) -> bool:
    column = item.column
    return column is not None and column.name in table.key and column.references is None and len(table.key) == 1


def _outside(
    shop: Workshop, table: Table, row: Row, item: Parameter, found: Address, prefix: str, number: int
) -> Source | None:
    """Return the source of a value for which the row need not be found: a parent's key, or what the user knows."""
    column = item.column
    assert column is not None
    reference = refers_to(item, shop.schema)
    if reference is not None and reference != table.name:
        other_table = table_of(shop.schema, reference)
        if other_table is None:
            return None
        wanted = row[column.name]
        rows = shop.probe.rows.get(reference, ())
        other = next((entry for entry in rows if entry.get(other_table.key[0]) == wanted), None)
        above = (
            shop.finder.find(other_table, other, prefix=f"{prefix}up{number}_", prefer=shop.wanted, depth=1)
            if other
            else None
        )
        source = above.source(other_table.key[0]) if above is not None else None
        if above is None or source is None:
            return None
        found.founds.append(above)
        if above.phrase not in found.phrase:
            found.phrase = f"{found.phrase or 'the ' + noun(table)} of {above.phrase}"
        return source
    value = row[column.name]
    for way in found.founds:
        for entry in way.inputs:
            if entry.keyed == f"{table.name}.{column.name}" and entry.value == value:
                return FromInput(kind="input", name=entry.name)
    if isinstance(value, (dict, list)) or not str(value).strip() or "\n" in str(value) or '"' in str(value):
        return None
    known = told_by(column, table, row, prefix)
    said = phrase_of(column, table, row)
    if not found.phrase:
        found.phrase = said
    elif found.phrase.startswith(f"the {noun(table)} of "):
        found.phrase = said + found.phrase.removeprefix(f"the {noun(table)}")
    else:
        found.phrase += also(label(column, table), known.words, found.phrase)
    found.founds.append(Found(table, row, said, inputs=[known], stated=column.name))
    return FromInput(kind="input", name=known.name)
