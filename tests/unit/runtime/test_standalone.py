"""A folder's backend as a FastAPI application: routes, statuses, and nothing that is not sound is served."""

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from weft.errors import IntegrityError
from weft.records.environment import Environment
from weft.runtime.backend import render_of
from weft.runtime.folder import write_folder
from weft.runtime.standalone import MAX_BODY, application, application_of


@pytest.fixture
def client(notes: Environment) -> Iterator[TestClient]:
    with TestClient(application_of(notes, seed=7)) as client:
        yield client


def test_health_and_the_declared_tools_are_listed(client: TestClient, notes: Environment) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "environment": "notes", "hash": notes.hash}
    listed = client.get("/tools").json()["tools"]
    assert [tool["name"] for tool in listed] == notes.served()
    assert listed[0]["inputSchema"] == notes.spec.tools[0].input_schema


def test_the_openapi_document_shows_each_input_schema(client: TestClient, notes: Environment) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    body = paths["/tools/create_note"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == notes.spec.tools[0].input_schema


def test_a_write_is_seen_by_a_later_read(client: TestClient) -> None:
    made = client.post("/tools/create_note", json={"title": "New"})
    assert made.status_code == 200
    assert client.post("/tools/get_note", json={"id": made.json()["id"]}).json()["title"] == "New"


@pytest.mark.parametrize(
    ("tool", "body", "status", "code"),
    [
        ("get_note", '{"id": 999}', 404, "not_found"),
        ("get_note", '{"id": "x"}', 422, "invalid_argument"),
        ("get_note", "", 422, "invalid_argument"),
        ("get_note", "{", 400, "invalid_argument"),
        ("read_page", '{"path": "../x"}', 403, "outside_workspace"),
        ("get_note", " " * (MAX_BODY + 1), 413, "limit_exceeded"),
    ],
)
def test_errors_of_the_caller_are_4xx_with_the_structured_error(
    client: TestClient, tool: str, body: str, status: int, code: str
) -> None:
    answer = client.post(f"/tools/{tool}", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_an_unknown_tool_has_no_route(client: TestClient) -> None:
    assert client.post("/tools/nothing", json={}).status_code == 404


def test_a_written_folder_serves_itself(notes: Environment, tmp_path: Path) -> None:
    write_folder(notes, tmp_path / "notes", backend=render_of(notes))
    spec = spec_from_file_location("backend", tmp_path / "notes" / "backend.py")
    assert spec is not None
    assert spec.loader is not None
    backend = module_from_spec(spec)
    spec.loader.exec_module(backend)
    with TestClient(backend.app()) as client:
        assert client.post("/tools/get_note", json={"id": 1}).status_code == 200


def test_a_changed_backend_is_not_served(notes: Environment, tmp_path: Path) -> None:
    write_folder(notes, tmp_path / "notes", backend=render_of(notes))
    file = tmp_path / "notes" / "backend.py"
    file.write_text(file.read_text() + "\nprint('hello')\n")
    with pytest.raises(IntegrityError, match=r"backend\.py"):
        application(str(file), dict.fromkeys(notes.served()))


def test_a_table_of_other_tools_is_not_served(notes: Environment, tmp_path: Path) -> None:
    write_folder(notes, tmp_path / "notes", backend=render_of(notes))
    with pytest.raises(IntegrityError, match="not those of its contracts"):
        application(str(tmp_path / "notes" / "backend.py"), {"get_note": None})
