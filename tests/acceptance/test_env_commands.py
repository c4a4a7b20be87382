"""`weft env` as a user runs it: build, show, validate, serve; exit codes, one JSON document, stable bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from weft.cli.main import build_app

NOTE = {
    "type": "object",
    "properties": {"note_id": {"type": "integer"}, "title": {"type": "string"}, "body": {"type": "string"}},
    "required": ["note_id", "title", "body"],
}
TITLE = {"title": {"type": "string", "minLength": 1}, "body": {"type": "string"}}


def tool(name: str, description: str, properties: dict[str, Any], required: list[str], returns: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "inputSchema": schema, "outputSchema": returns}


NOTES = {
    "server": "notes",
    "version": "1",
    "tools": [
        tool("create_note", "Create a note.", TITLE, ["title", "body"], NOTE),
        tool("get_note", "Get a note by its id.", {"note_id": {"type": "integer"}}, ["note_id"], NOTE),
        tool(
            "list_notes",
            "List all notes.",
            {},
            [],
            {"type": "object", "properties": {"notes": {"type": "array", "items": NOTE}}, "required": ["notes"]},
        ),
        {"name": "bad_type", "inputSchema": {"type": "object", "properties": {"a": {"type": "Map<String, Any>"}}}},
    ],
}


def weft(*words: str | Path) -> Result:
    return CliRunner().invoke(build_app(), [str(word) for word in words])


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    (folder / "notes.json").write_text(json.dumps(NOTES), encoding="utf-8")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    out = tmp_path_factory.mktemp("built")
    result = weft("env", "build", "--specs", specs, "--out", out, "--workers", "1", "--json")
    assert result.exit_code == 0, result.stderr
    return out, json.loads(result.stdout)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".weft" not in path.parts
    }


def test_build_writes_a_folder_for_each_environment_and_every_reason(built: tuple[Path, Any]) -> None:
    out, document = built
    assert document["environments"] == {"attempted": 2, "stateful": 1, "read_only": 0, "refused": 1}
    assert document["tools"]["declared"] == document["tools_declared"] == 4
    assert document["tools"]["certified"] == 3
    assert [(each["tool"], each["code"], each["path"]) for each in document["tools_refused"]] == [
        ("bad_type", "bad_schema", "#/properties/a/type")
    ]
    assert all(each["message"] and each["remedy"] for each in document["tools_refused"] + document["refusals"])
    assert [each["code"] for each in document["refusals"]] == ["not_json"]
    assert json.loads((out / "build.json").read_text(encoding="utf-8")) == document
    assert {path.name for path in (out / "notes").iterdir()} >= {"spec.json", "backend.py", "certificate.json"}


def test_the_same_specs_and_seed_give_the_same_bytes(built: tuple[Path, Any], specs: Path, tmp_path: Path) -> None:
    result = weft("env", "build", "--specs", specs, "--out", tmp_path, "--workers", "1")
    assert result.exit_code == 0
    assert files_of(tmp_path) == files_of(built[0])


def test_what_is_finished_is_not_made_again(built: tuple[Path, Any], specs: Path) -> None:
    out, document = built
    pieces = {path: path.stat().st_mtime_ns for path in (out / ".weft").rglob("*.json")}
    before = files_of(out)
    result = weft("env", "build", "--specs", specs, "--out", out, "--workers", "1", "--json")
    assert json.loads(result.stdout) == document
    assert "kept" in result.stderr
    assert {path: path.stat().st_mtime_ns for path in (out / ".weft").rglob("*.json")} == pieces
    assert files_of(out) == before


def test_nothing_certified_is_exit_code_one_with_reasons(tmp_path: Path, specs: Path) -> None:
    result = weft("env", "build", "--specs", specs / "broken.json", "--out", tmp_path, "--workers", "1", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["refusals"][0]["code"] == "not_json"
    assert "Traceback" not in result.stderr


def test_show_tells_tables_and_tools(built: tuple[Path, Any]) -> None:
    result = weft("env", "show", built[0] / "notes", "--json")
    document = json.loads(result.stdout)
    assert document["kind"] == "stateful"
    assert [each["name"] for each in document["tools"]] == ["create_note", "get_note", "list_notes"]
    assert document["tables"][0]["rows"] > 0
    assert "create_note" in weft("env", "show", built[0]).stdout


def test_validate_proves_a_sound_folder_and_finds_a_changed_claim(built: tuple[Path, Any], tmp_path: Path) -> None:
    sound = weft("env", "validate", built[0], "--json")
    assert sound.exit_code == 0, sound.stderr
    proof = json.loads(sound.stdout)
    assert proof["valid"] is True
    assert proof["environments"][0]["checks"] > 10
    copy = tmp_path / "notes"
    for name, data in files_of(built[0] / "notes").items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(data)
    certificate = json.loads((copy / "certificate.json").read_text(encoding="utf-8"))
    certificate["tools"][0]["accuracy"] = 0.5
    (copy / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    changed = weft("env", "validate", copy, "--json")
    assert changed.exit_code == 1
    assert "create_note" in json.loads(changed.stdout)["environments"][0]["problems"][0]


def test_a_backend_that_somebody_edited_is_not_run(built: tuple[Path, Any], tmp_path: Path) -> None:
    copy = tmp_path / "notes"
    for name, data in files_of(built[0] / "notes").items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(data)
    with (copy / "backend.py").open("a", encoding="utf-8") as file:
        file.write("\nprint('ran')\n")
    for words in (("env", "serve", copy, "--stdio"), ("env", "validate", copy), ("env", "show", copy)):
        result = weft(*words)
        assert result.exit_code == 1
        assert "backend.py" in result.stderr
        assert "ran" not in result.stdout


@pytest.mark.parametrize("words", [["absent"], ["absent", "--stdio"]])
def test_a_place_without_environments_is_one_clear_line(words: list[str]) -> None:
    result = weft("env", "serve", *words)
    assert result.exit_code == 1
    assert "weft env build" in result.stderr.splitlines()[-1]


def test_a_port_in_use_is_one_clear_line(built: tuple[Path, Any]) -> None:
    words = [sys.executable, "-m", "weft", "env", "serve", str(built[0])]
    with subprocess.Popen([*words, "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        try:
            assert first.stderr is not None
            port = first.stderr.readline().decode().partition("127.0.0.1:")[2].partition("/")[0]
            second = subprocess.run([*words, "--http", port], capture_output=True, text=True, timeout=60, check=False)
            assert second.returncode == 1
            assert f"port {port}" in second.stderr.splitlines()[-1]
        finally:
            first.send_signal(signal.SIGINT)
            assert first.wait(timeout=20) == 0
        assert first.stdout is not None
        assert json.loads(first.stdout.read())["servers"]["notes"].endswith(f":{port}/mcp/notes")


def test_stdio_ends_with_its_input(built: tuple[Path, Any]) -> None:
    words = [sys.executable, "-m", "weft", "env", "serve", str(built[0] / "notes"), "--stdio"]
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(words, input=ping, capture_output=True, timeout=60, check=True, env={**os.environ})
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
