"""Executable contracts: what each tool does to the state, as data (Weft 3.1.1, shared state and execution contracts).

A contract says how arguments map to state, what guards a call, which operations run in order, what they read and
write, what comes back and which errors a caller can meet. Operations run inside one transaction: a rejected or
failed call leaves rows, files, clock and ids as they were.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.expression import Condition, Expr, Order, Where
from weft.records.spec import Provenance
from weft.records.state import DatabaseSchema


class ErrorSpec(Record):
    """An error that the caller can act on.

    ``message`` may hold ``{argument}`` placeholders filled from the arguments.
    """

    code: Literal["not_found", "conflict", "invalid_argument", "invalid_state", "outside_workspace", "limit_exceeded"]
    message: str


class Guard(Record):
    """Reject the call with ``error`` unless ``condition`` holds."""

    op: Literal["guard"]
    condition: Condition
    error: ErrorSpec


class Let(Record):
    """Bind ``into`` to a value."""

    op: Literal["let"]
    into: str
    value: Expr


class Find(Record):
    """Bind ``into`` to the first row that matches, or with ``many`` to the list of all.

    ``missing`` rejects the call when there is none; without it ``into`` is null.
    """

    op: Literal["find"]
    into: str
    table: str
    where: tuple[Where, ...] = ()
    order: tuple[Order, ...] = ()
    many: bool = False
    missing: ErrorSpec | None = None


class Insert(Record):
    """Insert a row and bind ``into`` to it, whole. The runtime gives id, created and updated columns and defaults.

    ABSENT values take the column's default. A key or unique value that is there already: ``error`` rejects with
    code ``conflict``; ``ignore`` binds the row that is there; ``update`` sets the given values on it (upsert).
    A foreign key without its row rejects with ``not_found``, naming the argument's value.
    """

    op: Literal["insert"]
    into: str
    table: str
    values: dict[str, Expr]
    exists: Literal["error", "ignore", "update"] = "error"


class Update(Record):
    """Set ``values`` on the row(s) in variable ``rows`` (a row, a list of rows, or null).

    ``into`` is bound to the new row(s). ABSENT values leave a column as it is; null sets NULL. The runtime sets the
    updated column if anything changed.
    """

    op: Literal["update"]
    into: str
    table: str
    rows: str
    values: dict[str, Expr]


class Delete(Record):
    """Delete the row(s) in variable ``rows``; ``into`` gets the number deleted.

    ``cascade`` tables lose the rows that reference them (recursively);
    rows of other tables that reference them reject the call with code ``conflict``.
    """

    op: Literal["delete"]
    into: str
    table: str
    rows: str
    cascade: tuple[str, ...] = ()


class Transition(Record):
    """Set the status ``column`` of the row in ``row`` to ``to``.

    ``sources`` are the states it may come from
    (empty: any); another state rejects with code ``invalid_state``, naming state and allowed states.
    """

    op: Literal["transition"]
    into: str
    table: str
    row: str
    column: str
    to: Expr
    sources: tuple[Any, ...] = ()


class Page(Record):
    """Cut a page out of the list in ``over``.

    ``into`` is bound to ``{items, total, count, offset, limit, page, pages, has_more, next_offset, next_page,
    next_cursor}`` (``next_*`` null on the last page).

    The start is ``offset``, or ``page`` (from ``first_page``) times the limit, or an opaque ``cursor`` (an unknown one
    rejects with ``invalid_argument``). A limit below 1 or an offset below 0 rejects with ``invalid_argument``; a limit
    over ``maximum`` is cut to it.
    """

    op: Literal["page"]
    into: str
    over: str
    limit: Expr | None = None
    offset: Expr | None = None
    page: Expr | None = None
    cursor: Expr | None = None
    default_limit: int = 50
    maximum: int = 1000
    first_page: int = 1


class Sort(Record):
    """Sort the list in ``over`` by a field chosen at run time; see :class:`~weft.records.expression.Order`."""

    op: Literal["sort"]
    into: str
    over: str
    order: tuple[Order, ...]


class Each(Record):
    """Run ``operations`` for each element of ``over`` bound to ``name``; ``into`` collects the value of ``result``.

    An error in one element rejects the whole call (bulk calls are atomic).
    """

    op: Literal["each"]
    into: str
    over: Expr
    name: str
    operations: tuple["Operation", ...]
    result: Expr


class When(Record):
    """Run ``operations`` if the condition holds, else ``otherwise``."""

    op: Literal["when"]
    condition: Condition
    operations: tuple["Operation", ...]
    otherwise: tuple["Operation", ...] = ()


class WriteFiles(Record):
    """Change the workspace. ``into`` gets ``{path, size}`` (for ``edit`` also ``replaced``).

    ``write`` makes or replaces (parents are made; ``exists: error`` rejects with ``conflict``), ``append``, ``edit``
    replaces ``old`` by ``new`` (not there: ``not_found``), ``delete`` (a folder only when ``recursive`` or empty),
    ``move``, ``copy`` (``target`` there already: ``conflict``), ``mkdir``. Paths outside the workspace reject with
    ``outside_workspace``.
    """

    op: Literal["write_files"]
    into: str
    fn: Literal["write", "append", "edit", "delete", "move", "copy", "mkdir"]
    path: Expr
    target: Expr | None = None
    text: Expr | None = None
    old: Expr | None = None
    new: Expr | None = None
    recursive: bool = False
    exists: Literal["replace", "error"] = "replace"


Operation = Annotated[
    Guard | Let | Find | Insert | Update | Delete | Transition | Page | Sort | Each | When | WriteFiles,
    Field(discriminator="op"),
]
"""One step of a contract."""

Each.model_rebuild()
When.model_rebuild()


class ArgumentUse(Record):
    """How one declared argument is used, for the fidelity block.

    Attributes:
        path: JSON path of the argument in dots, e.g. ``query.limit``; ``[]`` stands for array elements.
        role: what it is for.
        table: table it acts on, if any.
        column: column it maps to, if any.
        provenance: declared, inferred, invented or inert.
        evidence: what supports the meaning, e.g. ``list_notes.outputSchema/.../priority``; for inert, the typed reason
            (``timeout``, ``locale``, ``credential``, ``verbosity``, ``client_hint`` ...).
        required: the schema requires it.
    """

    path: str
    role: Literal[
        "identifier", "attribute", "filter", "search", "range", "sort", "direction", "limit", "offset", "page",
        "cursor",
        "projection", "expand", "status", "link", "parent", "action", "path", "content", "quantity", "option", "bulk",
        "inert",
    ]  # fmt: skip
    table: str = ""
    column: str = ""
    provenance: Provenance
    evidence: str = ""
    required: bool = False


class Case(Record):
    """One behaviour of a tool; a required action enum gives one case per value.

    Attributes:
        when: argument -> value that selects this case; empty for the only or default case.
        intent: words for the kind, e.g. ``create``, ``get``, ``list``, ``search``, ``update``, ``delete``,
            ``transition``, ``link``, ``unlink``, ``count``, ``aggregate``, ``upsert``, ``move``, ``read_file`` ...
        table: main table, or "" for files.
        operations: run in order.
        returns: the result's value (an object unless the output schema says otherwise).
        reads: tables (and ``files``) it may read.
        writes: ``table.column`` it may set, ``table`` (rows inserted or deleted), and ``files``.
    """

    when: dict[str, Any] = Field(default_factory=dict)
    intent: str
    table: str = ""
    operations: tuple[Operation, ...]
    returns: Expr
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


class StatedRule(Record):
    """A rule of behaviour that the tool's description states beyond its schema.

    Attributes:
        text: the sentence, or the part of it that states the rule.
        enforced: an operation of the contract rejects, orders or compares as the rule says.
        by: that operation, in words; empty when nothing enforces the rule.
    """

    text: str
    enforced: bool
    by: str = ""


class Contract(Record):
    """The executable contract of one tool.

    Attributes:
        tool: the declared tool name.
        function: Python identifier of the rendered function, unique in the environment.
        summary: one line for people, taken from the description.
        effect: whether any case writes.
        cases: tried in order; the first whose ``when`` matches runs.
        arguments: the use of every declared argument (nested ones that are objects of attributes included).
        returns_schema: JSON Schema of the result; the spec's where it has one.
        returns_declared: True when the schema is the spec's.
        errors: codes that a caller can meet, besides ``invalid_argument`` of the schema.
        invented_returns: properties of the result that the schema requires and nothing declared supports: they are
            constants, at least until a row is changed.
        stated_rules: what the description promises beyond the schema, and whether the contract keeps it.
    """

    tool: str
    function: str
    summary: str = ""
    effect: Literal["read", "write"]
    cases: tuple[Case, ...]
    arguments: tuple[ArgumentUse, ...] = ()
    returns_schema: dict[str, Any]
    returns_declared: bool = False
    errors: tuple[str, ...] = ()
    invented_returns: tuple[str, ...] = ()
    stated_rules: tuple[StatedRule, ...] = ()


class ContractSet(Record):
    """``contracts.json`` of an environment folder: the shared schema and one contract per served tool."""

    version: Literal[1] = 1
    schema_: DatabaseSchema = Field(alias="schema")
    contracts: tuple[Contract, ...]

    def contract(self, tool: str) -> Contract:
        """Return the contract of ``tool``; KeyError if it is not served."""
        for contract in self.contracts:
            if contract.tool == tool:
                return contract
        raise KeyError(f"no contract for tool {tool!r}")
