"""A hand-made notes server: spec, schema and contracts that are sound, for tests to break one thing at a time."""

from collections.abc import Callable
from typing import Any

import pytest

from weft.agents.rules.seeds import seed_state
from weft.records.contract import (
    ArgumentUse,
    Case,
    Contract,
    ContractSet,
    Delete,
    ErrorSpec,
    Find,
    Insert,
    Page,
    Transition,
    Update,
)
from weft.records.draft import EnvironmentDraft
from weft.records.expression import Coalesce, MapOver, ObjectOf, Select, Where, arg, const, eq, obj, var
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, Table

PRIORITIES = ["low", "normal", "high"]
NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "title": {"type": "string"},
        "body": {"type": ["string", "null"]},
        "priority": {"enum": PRIORITIES},
        "status": {"enum": ["open", "archived"]},
        "notebook_id": {"type": "integer"},
    },
    "required": ["id", "title", "priority", "status"],
}
NOTES: dict[str, Any] = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": NOTE}, "total": {"type": "integer"}},
    "required": ["notes"],
}
MISSING_NOTE = ErrorSpec(code="not_found", message="no note {note_id}")


def tool(name: str, description: str, properties: dict[str, Any], required: list[str], **more: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    declared = {"name": name, "description": description, "inputSchema": schema}
    if "output_schema" in more:
        declared["outputSchema"] = more["output_schema"]
    return ToolSpec(name=name, description=description, input_schema=schema, declared=declared, **more)


ID = {"type": "integer"}
TEXT = {"type": "string", "minLength": 1}
PRIORITY = {"type": "string", "enum": PRIORITIES}

TOOLS = (
    tool("list_notebooks", "List all notebooks.", {}, []),
    tool("get_note", "Get a note by id.", {"note_id": ID}, ["note_id"], output_schema=NOTE),
    tool(
        "list_notes",
        "List notes, filtered.",
        {
            "notebook_id": ID,
            "priority": PRIORITY,
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "offset": {"type": "integer", "minimum": 0},
        },
        [],
        output_schema=NOTES,
    ),
    tool("search_notes", "Search titles and bodies.", {"query": TEXT}, ["query"]),
    tool(
        "create_note",
        "Create a note.",
        {"title": TEXT, "body": {"type": "string"}, "priority": PRIORITY, "notebook_id": ID},
        ["title", "notebook_id"],
        output_schema=NOTE,
    ),
    tool(
        "update_note",
        "Change a note.",
        {"note_id": ID, "title": TEXT, "body": {"type": "string"}, "priority": PRIORITY},
        ["note_id"],
        output_schema=NOTE,
    ),
    tool("archive_note", "Archive an open note.", {"note_id": ID}, ["note_id"]),
    tool("delete_note", "Delete a note.", {"note_id": ID}, ["note_id"]),
)


def column(name: str, kind: ColumnType = ColumnType.TEXT, **more: Any) -> Column:
    return Column(name=name, field=name, type=kind, **more)


SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="notebooks",
            entity="notebook",
            key=("id",),
            columns=(
                column("id", ColumnType.INTEGER, nullable=False, role=ColumnRole.ID),
                column("name", nullable=False, role=ColumnRole.NAME),
            ),
        ),
        Table(
            name="notes",
            entity="note",
            key=("id",),
            columns=(
                column("id", ColumnType.INTEGER, nullable=False, role=ColumnRole.ID),
                column("title", nullable=False, role=ColumnRole.NAME, schema=TEXT),
                column("body"),
                column("priority", nullable=False, enum=tuple(PRIORITIES), default="normal"),
                column("status", nullable=False, role=ColumnRole.STATUS, enum=("open", "archived"), default="open"),
                column(
                    "notebook_id",
                    ColumnType.INTEGER,
                    nullable=False,
                    role=ColumnRole.FOREIGN_KEY,
                    references="notebooks",
                ),
                column("updated_at", ColumnType.DATETIME, role=ColumnRole.UPDATED),
            ),
        ),
    )
)


def note(name: str) -> ObjectOf:
    return obj(**{field: var(name, field) for field in ("id", "title", "body", "priority", "status", "notebook_id")})


def use(path: str, role: str, table: str = "notes", column: str = "", **more: Any) -> ArgumentUse:
    return ArgumentUse.model_validate(
        {"path": path, "role": role, "table": table, "column": column, "provenance": "declared", **more}
    )


def find_note(missing: ErrorSpec | None = MISSING_NOTE) -> Find:
    return Find(op="find", into="note", table="notes", where=(eq("id", arg("note_id")),), missing=missing)


def mapped(over: Any) -> Any:
    return MapOver(op="map", over=over, name="row", value=note("row"))


BY_ID = use("note_id", "identifier", column="id", required=True)
LOOSE: dict[str, Any] = {"type": "object"}


def contract(
    tool: str, effect: str, case: dict[str, Any], arguments: tuple[ArgumentUse, ...] = (), **more: Any
) -> Contract:
    body = {"tool": tool, "function": tool, "effect": effect, "cases": (Case(**case),), "arguments": arguments}
    return Contract(**{"returns_schema": LOOSE, **body, **more})


def contracts() -> list[Contract]:
    values = {name: arg(name) for name in ("title", "body", "priority")}
    listing = Find(
        op="find",
        into="found",
        table="notes",
        many=True,
        where=(
            eq("notebook_id", arg("notebook_id"), optional=True),
            eq("priority", arg("priority"), optional=True),
        ),
    )
    page = Page(op="page", into="page", over="found", limit=arg("limit"), offset=arg("offset"))
    search = Where(test="search", columns=("title", "body"), value=arg("query"))
    read_notes = {"table": "notes", "reads": ("notes",)}
    return [
        contract(
            "list_notebooks",
            "read",
            {
                "intent": "list",
                "table": "notebooks",
                "reads": ("notebooks",),
                "operations": (),
                "returns": obj(notebooks=Select(op="select", table="notebooks")),
            },
        ),
        contract(
            "get_note",
            "read",
            {"intent": "get", "operations": (find_note(),), "returns": note("note"), **read_notes},
            (BY_ID,),
            returns_schema=NOTE,
            returns_declared=True,
        ),
        contract(
            "list_notes",
            "read",
            {
                "intent": "list",
                "operations": (listing, page),
                "returns": obj(notes=mapped(var("page", "items")), total=var("page", "total")),
                **read_notes,
            },
            (
                use("notebook_id", "filter", column="notebook_id"),
                use("priority", "filter", column="priority"),
                use("limit", "limit"),
                use("offset", "offset"),
            ),
            returns_schema=NOTES,
            returns_declared=True,
        ),
        contract(
            "search_notes",
            "read",
            {
                "intent": "search",
                "operations": (Find(op="find", into="found", table="notes", many=True, where=(search,)),),
                "returns": obj(query=arg("query"), notes=mapped(var("found"))),
                **read_notes,
            },
            (use("query", "search", required=True),),
        ),
        contract(
            "create_note",
            "write",
            {
                "intent": "create",
                "table": "notes",
                "operations": (
                    Insert(
                        op="insert",
                        into="note",
                        table="notes",
                        values={
                            "title": arg("title"),
                            "body": arg("body"),
                            "priority": Coalesce(op="coalesce", items=(arg("priority"), const("normal"))),
                            "notebook_id": arg("notebook_id"),
                        },
                    ),
                ),
                "returns": note("note"),
                "writes": ("notes",),
            },
            (
                use("title", "attribute", column="title", required=True),
                use("body", "attribute", column="body"),
                use("priority", "attribute", column="priority"),
                use("notebook_id", "parent", column="notebook_id", required=True),
            ),
            returns_schema=NOTE,
            returns_declared=True,
        ),
        contract(
            "update_note",
            "write",
            {
                "intent": "update",
                "table": "notes",
                "operations": (
                    find_note(),
                    Update(op="update", into="after", table="notes", rows="note", values=values),
                ),
                "returns": note("after"),
                "reads": ("notes",),
                "writes": ("notes.title", "notes.body", "notes.priority"),
            },
            (BY_ID, *(use(name, "attribute", column=name) for name in values)),
            returns_schema=NOTE,
            returns_declared=True,
        ),
        contract(
            "archive_note",
            "write",
            {
                "intent": "transition",
                "table": "notes",
                "operations": (
                    find_note(),
                    Transition(
                        op="transition",
                        into="after",
                        table="notes",
                        row="note",
                        column="status",
                        to=const("archived"),
                        sources=("open",),
                    ),
                ),
                "returns": note("after"),
                "reads": ("notes",),
                "writes": ("notes.status",),
            },
            (BY_ID,),
            errors=("not_found", "invalid_state"),
        ),
        contract(
            "delete_note",
            "write",
            {
                "intent": "delete",
                "table": "notes",
                "operations": (find_note(), Delete(op="delete", into="gone", table="notes", rows="note")),
                "returns": obj(deleted=var("gone")),
                "reads": ("notes",),
                "writes": ("notes",),
            },
            (BY_ID,),
        ),
    ]


Change = Callable[[dict[str, Contract]], None]


@pytest.fixture
def spec() -> McpSpec:
    return McpSpec(name="notes", title="Notes", tools=TOOLS, declared_tools=len(TOOLS))


@pytest.fixture
def make_draft(spec: McpSpec) -> Callable[..., EnvironmentDraft]:
    """Make a draft of the notes server; `change` may replace contracts by name, `schema` the tables."""

    def make(change: Change | None = None, schema: DatabaseSchema = SCHEMA, size: int = 8) -> EnvironmentDraft:
        by_name = {one.tool: one for one in contracts()}
        if change is not None:
            change(by_name)
        drafted = ContractSet(schema=schema, contracts=tuple(by_name.values()))
        return EnvironmentDraft(contracts=drafted, seed=seed_state(spec, drafted, seed=3, size=size))

    return make
