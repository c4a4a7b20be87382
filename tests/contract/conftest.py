"""A small environment written by hand, served for the official clients."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from weft.records.contract import Case, Contract, ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table
from weft.runtime.folder import write_folder
from weft.runtime.render import render_backend

NOTE = {
    "type": "object",
    "properties": {"note_id": {"type": "integer"}, "title": {"type": "string"}},
    "required": ["note_id", "title"],
}
TITLE = {"type": "object", "properties": {"title": {"type": "string", "minLength": 1}}, "required": ["title"]}
BY_ID = {"type": "object", "properties": {"note_id": {"type": "integer"}}, "required": ["note_id"]}
NOTHING = {"type": "object", "properties": {}}
MISSING = {"code": "not_found", "message": "there is no note {note_id}"}
ROW = {"op": "var", "name": "row"}
FIND = {
    "op": "find",
    "into": "row",
    "table": "notes",
    "where": [{"test": "eq", "column": "note_id", "value": {"op": "arg", "path": ["note_id"]}}],
    "missing": MISSING,
}
INSERT = {"op": "insert", "into": "row", "table": "notes", "values": {"title": {"op": "arg", "path": ["title"]}}}

TOOLS: list[tuple[str, dict[str, Any], dict[str, Any] | None, str, list[Any], dict[str, Any]]] = [
    ("create_note", TITLE, NOTE, "create", [INSERT], ROW),
    ("get-note", BY_ID, NOTE, "get", [FIND], ROW),
    ("list.notes", NOTHING, {"type": "array", "items": NOTE}, "list", [], {"op": "select", "table": "notes"}),
    ("count_notes", NOTHING, {"type": "integer"}, "count", [], {"op": "aggregate", "table": "notes", "fn": "count"}),
    ("läs_titlar", NOTHING, None, "list", [], {"op": "select", "table": "notes"}),
]


def notes_environment() -> Environment:
    """Five tools on one table: results of every kind of root, and names that are no identifiers."""
    columns = (
        Column(name="note_id", field="note_id", type=ColumnType.INTEGER, nullable=False, role=ColumnRole.ID),
        Column(name="title", field="title", type=ColumnType.TEXT, nullable=False),
    )
    table = Table(name="notes", entity="note", columns=columns, key=("note_id",))
    tools, contracts = [], []
    for number, (name, arguments, returns, intent, operations, value) in enumerate(TOOLS):
        declared = {"name": name, "description": f"{intent} notes", "inputSchema": arguments}
        tools.append(
            ToolSpec(
                name=name,
                description=declared["description"],
                input_schema=arguments,
                output_schema=returns,
                annotations={"readOnlyHint": intent != "create"},
                declared={**declared, "outputSchema": returns} if returns else declared,
            )
        )
        case = Case.model_validate(
            {
                "intent": intent,
                "table": "notes",
                "operations": operations,
                "returns": value,
                "reads": ["notes"],
                "writes": ["notes"] if intent == "create" else [],
            }
        )
        contracts.append(
            Contract(
                tool=name,
                function=f"tool_{number}",
                effect="write" if intent == "create" else "read",
                cases=(case,),
                returns_schema=returns or {"type": "array"},
                returns_declared=returns is not None,
            )
        )
    spec = McpSpec(name="notes", title="Notes", description="Keeps notes.", tools=tuple(tools), declared_tools=5)
    seed = InitialState(rows={"notes": [{"note_id": 1, "title": "first"}]})
    schema = DatabaseSchema(tables=(table,))
    return Environment(spec=spec, contracts=ContractSet(schema=schema, contracts=tuple(contracts)), seed=seed)


@pytest.fixture(scope="session")
def environment() -> Environment:
    return notes_environment()


@pytest.fixture(scope="session")
def folder(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment as a folder on disk."""
    place = tmp_path_factory.mktemp("environments") / "notes"
    write_folder(environment, place, backend=render_backend(environment.spec, environment.contracts))
    return place


@pytest.fixture
def serve_words(folder: Path) -> list[str]:
    """The command that serves the folder, without saying how."""
    return [sys.executable, "-m", "weft", "env", "serve", str(folder)]


@pytest.fixture
def url(serve_words: list[str]) -> Iterator[str]:
    """URL of a served environment with fresh state; the server ends with the test."""
    words = [*serve_words, "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("serving http://127.0.0.1:"), line + process.stderr.read()
            yield line.removeprefix("serving ").strip()
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
