"""Columns: the column that an argument or a result property means, made when the server has none yet."""

from weft.agents.rules.environment.blueprint import Blueprint, ColumnPlan, TablePlan
from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.identifiers import id_parts, names_main, refers
from weft.agents.rules.environment.intents import Words
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType

_AIMS = frozenset(
    {"to", "target", "destination", "dest", "source", "from", "old", "initial", "default", "current", "to_move"}
)
_NUMBERS = (ColumnType.INTEGER, ColumnType.NUMBER)


def same_kind(column: ColumnPlan, field: Field) -> bool:
    """True if the argument's values can equal the column's."""
    if column.type == field.type:
        return True
    texts = (ColumnType.TEXT, ColumnType.DATE, ColumnType.DATETIME, ColumnType.TIME)
    return (column.type in texts and field.type in texts) or (column.type in _NUMBERS and field.type in _NUMBERS)


def reference_target(field: Field, table: TablePlan, blueprint: Blueprint) -> TablePlan | None:
    """The table whose id the argument holds, if the server has one and the types agree."""
    base, suffix = id_parts(field)
    if not base:
        return None
    words = base[1:] if len(base) > 1 and base[0] in _AIMS | {"parent"} else base
    if base == ("parent",) and suffix:
        return None if table.relation else table
    found = blueprint.by_phrase(words, table.group)
    if found is None and suffix:
        close = [
            item
            for item in blueprint.tables
            if not item.relation and refers(words, item.phrase) and item.group == table.group
        ]
        found = close[0] if len(close) == 1 else None
    if found is None or (not suffix and words != found.phrase):
        return None
    key = found.column(found.id)
    number = field.type in _NUMBERS
    if (key.type == ColumnType.INTEGER) != number or field.type not in (*_NUMBERS, ColumnType.TEXT) or field.enum:
        return None
    if not suffix and found.id_style.value != "natural":
        return None
    # ``project_key`` is not the id of a table whose rows are known by ``id``.
    if suffix and suffix in ("key", "slug", "code", "number", "handle", "name") and suffix not in key.key:
        return None
    return found


def attribute(
    field: Field,
    table: TablePlan,
    blueprint: Blueprint,
    *,
    provenance: Provenance,
    evidence: str,
    words: Words | None = None,
) -> ColumnPlan:
    """The column of a written or returned attribute; a foreign key when it holds another entity's id."""
    found = table.spelled(field.name, table.find(words or field.words))
    target = reference_target(field, table, blueprint)
    if found is not None and found.role == ColumnRole.ID and target is not None and target is not table:
        found = None
    if found is None:
        if target is not None and (target is not table or id_parts(field)[0] != table.phrase):
            return _foreign_key(field, table, target, provenance, evidence, words)
        return table.add(words or field.words, field, provenance=provenance, evidence=evidence)
    return table.widened(found, field, provenance, evidence) if found.role != ColumnRole.ID else found


def _foreign_key(
    field: Field, table: TablePlan, target: TablePlan, provenance: Provenance, evidence: str, words: Words | None
) -> ColumnPlan:
    column = table.add(
        words or field.words, field, provenance=provenance, evidence=evidence, field_name=table.fresh_field(field.name)
    )
    column.role = ColumnRole.FOREIGN_KEY
    column.references = target.name
    column.type = target.column(target.id).type
    column.schema = target.column(target.id).schema
    column.enum = []
    return column


def matching(field: Field, table: TablePlan, blueprint: Blueprint, words: Words | None = None) -> ColumnPlan | None:
    """The existing column that the argument filters by, if the types can meet."""
    if names_main(field, table, blueprint) >= 2 and not (words and words != field.words):
        return table.column(table.id)
    column = table.spelled(field.name, table.find(words or field.words))
    if column is None:
        target = reference_target(field, table, blueprint)
        ups = [item for item in table.columns if target is not None and item.references == target.name]
        return ups[0] if len(ups) == 1 and not field.is_array else None
    if field.is_array or column.type == ColumnType.JSON or same_kind(column, field):
        return column
    if column.type in _NUMBERS and field.type == ColumnType.TEXT:
        return column
    return column if column.type == ColumnType.TEXT and field.type in _NUMBERS else None
