"""The expression part of the contract language: values, row predicates and conditions.

Everything is data. Evaluation lives in :mod:`weft.runtime.interpreter`, rendering to Python in
:mod:`weft.runtime.render`; both must give the same result, which validation proves by running.

A value that is not there (an optional argument left out) is ABSENT, which is not null: it is dropped
from objects, skipped by partial updates, and makes an ``optional`` predicate true.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from weft.records.base import Record

Step = str | int


class Const(Record):
    """A JSON constant."""

    op: Literal["const"]
    value: Any


class Arg(Record):
    """A value of the call's arguments by path; ABSENT when a step is missing."""

    op: Literal["arg"]
    path: tuple[Step, ...]


class Var(Record):
    """A variable bound by an operation (or by ``map``/``each``), and a path inside it."""

    op: Literal["var"]
    name: str
    path: tuple[Step, ...] = ()


class Now(Record):
    """The virtual clock. ``date`` gives ``YYYY-MM-DD``, else RFC 3339 UTC with ``Z``."""

    op: Literal["now"]
    form: Literal["datetime", "date"] = "datetime"


class Coalesce(Record):
    """The first item that is not ABSENT (null counts as there)."""

    op: Literal["coalesce"]
    items: tuple["Expr", ...]


class Concat(Record):
    """Text of the items joined by ``separator``; ABSENT and null items are left out."""

    op: Literal["concat"]
    items: tuple["Expr", ...]
    separator: str = ""


class ObjectOf(Record):
    """A JSON object; fields whose value is ABSENT are left out."""

    op: Literal["object"]
    fields: dict[str, "Expr"]


class ListOf(Record):
    """A JSON array of the items that are not ABSENT."""

    op: Literal["list"]
    items: tuple["Expr", ...]


class MapOver(Record):
    """``value`` for each element of ``over`` (null or ABSENT counts as empty), bound to ``name``."""

    op: Literal["map"]
    over: "Expr"
    name: str
    value: "Expr"


class Length(Record):
    """Number of elements or characters of ``of``; 0 for null or ABSENT."""

    op: Literal["length"]
    of: "Expr"


class Arithmetic(Record):
    """``left fn right`` on numbers; decimal-exact on money-like decimals. ABSENT gives ABSENT, null gives null.

    Division by zero rejects the call with code ``invalid_argument``.
    """

    op: Literal["arithmetic"]
    fn: Literal["add", "subtract", "multiply", "divide", "min", "max"]
    left: "Expr"
    right: "Expr"


class Cast(Record):
    """``of`` as text, integer or number; ABSENT and null pass through; a value that does not fit rejects the call.

    As text, an object or array becomes its JSON text, and a boolean ``true`` or ``false``: many declared results are
    one text.
    """

    op: Literal["cast"]
    of: "Expr"
    to: Literal["text", "integer", "number"]


class Choose(Record):
    """``then`` if the condition holds, else ``otherwise``."""

    op: Literal["choose"]
    condition: "Condition"
    then: "Expr"
    otherwise: "Expr"


class Absent(Record):
    """The value that is not there."""

    op: Literal["absent"]


class Merge(Record):
    """Objects merged left to right; later fields win. ABSENT items are skipped."""

    op: Literal["merge"]
    items: tuple["Expr", ...]


class ProjectFields(Record):
    """Of an object, or of each object of an array, keep the fields named by ``fields`` (a list or comma text).

    ABSENT or empty ``fields`` keeps all. ``always`` are kept in any case. An unknown field name rejects the call
    with code ``invalid_argument`` and the known names.
    """

    op: Literal["project"]
    of: "Expr"
    fields: "Expr"
    known: tuple[str, ...]
    always: tuple[str, ...] = ()


class Order(Record):
    """One sort key. ``column`` is a column; or ``by`` is an expression whose text is looked up in ``columns``.

    ``descending`` is an expression: true, or a text in ``desc``/``descending``/``-1`` (case ignored) means descending.
    """

    column: str = ""
    by: "Expr | None" = None
    columns: dict[str, str] = Field(default_factory=dict)
    descending: "Expr | None" = None


class Select(Record):
    """Rows of a table as a list of objects keyed by column name, ordered by ``order`` then by primary key."""

    op: Literal["select"]
    table: str
    where: tuple["Where", ...] = ()
    order: tuple[Order, ...] = ()
    limit: "Expr | None" = None


class Aggregate(Record):
    """A number over the rows that match: count, sum, avg, min, max (null over no rows, 0 for count).

    With ``group_by`` columns: a list of ``{column: value, ..., "value": n}`` ordered by the group.
    """

    op: Literal["aggregate"]
    table: str
    fn: Literal["count", "sum", "avg", "min", "max"]
    column: str = ""
    where: tuple["Where", ...] = ()
    group_by: tuple[str, ...] = ()


class ReadFiles(Record):
    """Workspace look-ups: text of a file, list, tree, stat, search by name, grep by content.

    ``path`` defaults to the root. Rejects with ``not_found`` / ``outside_workspace`` / ``invalid_argument``.
    ``list`` gives ``[{name, path, type, size}]``, ``tree`` the same nested under ``children``, ``stat`` one of them,
    ``search`` a list of paths matching the glob or substring ``pattern``, ``grep`` ``[{path, line, text}]``.
    ``head``/``tail`` keep that many lines of a text.
    """

    op: Literal["files"]
    fn: Literal["text", "list", "tree", "stat", "search", "grep"]
    path: "Expr | None" = None
    pattern: "Expr | None" = None
    head: "Expr | None" = None
    tail: "Expr | None" = None
    recursive: bool = False


Expr = Annotated[
    Const
    | Arg
    | Var
    | Now
    | Coalesce
    | Concat
    | ObjectOf
    | ListOf
    | MapOver
    | Length
    | Arithmetic
    | Cast
    | Choose
    | Absent
    | Merge
    | ProjectFields
    | Select
    | Aggregate
    | ReadFiles,
    Field(discriminator="op"),
]
"""A value expression."""


class Where(Record):
    """A predicate on a row.

    ``test`` on one ``column`` (``path`` goes into a JSON column), or ``search`` over several ``columns``.
    Tests compare by the column's logical type: instants for date-times, numbers by value, text exactly, except
    ``contains``, ``prefix`` and ``search``, which ignore case (full Unicode case folding) and take the text literally.
    On a JSON array column ``has`` means that it holds the value, ``has_any``/``has_all`` those of a list.
    ``in`` takes a list (or one value). ``day`` compares the calendar date of a date-time. ``link`` means that
    ``through`` (a relation table) joins this row's key ``near`` to ``value`` in its column ``far``.
    ``optional``: true when the value is ABSENT (or an empty list for ``in``, ``has_any``, ``has_all``).
    """

    test: Literal[
        "eq", "ne", "in", "not_in", "lt", "lte", "gt", "gte", "contains", "prefix", "search", "day",
        "has", "has_any", "has_all", "is_null", "not_null", "link",
    ]  # fmt: skip
    column: str = ""
    path: tuple[Step, ...] = ()
    columns: tuple[str, ...] = ()
    value: Expr | None = None
    optional: bool = False
    ignore_case: bool = False
    through: str = ""
    near: str = ""
    far: str = ""


class Compare(Record):
    """Compare two values (JSON equality with 25 == 25.0; ``in`` takes a list on the right)."""

    op: Literal["compare"]
    test: Literal["eq", "ne", "lt", "lte", "gt", "gte", "in"]
    left: Expr
    right: Expr


class Present(Record):
    """True if the value is neither ABSENT nor (unless ``null_counts``) null."""

    op: Literal["present"]
    of: Expr
    null_counts: bool = False


class Truthy(Record):
    """True if the value is boolean true."""

    op: Literal["truthy"]
    of: Expr


class Exists(Record):
    """True if a row matches."""

    op: Literal["exists"]
    table: str
    where: tuple[Where, ...]


class Not(Record):
    """Negation."""

    op: Literal["not"]
    of: "Condition"


class AllOf(Record):
    """Conjunction; true when empty."""

    op: Literal["all"]
    of: tuple["Condition", ...]


class AnyOf(Record):
    """Disjunction; false when empty."""

    op: Literal["any"]
    of: tuple["Condition", ...]


Condition = Annotated[Compare | Present | Truthy | Exists | Not | AllOf | AnyOf, Field(discriminator="op")]
"""A truth value."""

for _model in (
    Coalesce,
    Concat,
    ObjectOf,
    ListOf,
    MapOver,
    Length,
    Arithmetic,
    Cast,
    Choose,
    Merge,
    ProjectFields,
    Order,
    Select,
    Aggregate,
    ReadFiles,
    Where,
    Compare,
    Present,
    Truthy,
    Exists,
    Not,
    AllOf,
    AnyOf,
):
    _model.model_rebuild()


def const(value: Any) -> Const:
    """A constant."""
    return Const(op="const", value=value)


def arg(*path: Step) -> Arg:
    """An argument by path."""
    return Arg(op="arg", path=path)


def var(name: str, *path: Step) -> Var:
    """A variable and a path inside it."""
    return Var(op="var", name=name, path=path)


def obj(**fields: Expr) -> ObjectOf:
    """An object."""
    return ObjectOf(op="object", fields=fields)


def eq(column: str, value: Expr, *, optional: bool = False) -> Where:
    """``column`` equals ``value``."""
    return Where(test="eq", column=column, value=value, optional=optional)
