"""`weft catalog` as a user runs it: exit codes, one JSON document, files that read back."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from weft.cli.main import build_app

TOOL = {"name": "create_note", "description": "Create.", "inputSchema": {"type": "object", "properties": {"t": {}}}}
BAD = {"name": "bad", "inputSchema": {"type": "object", "properties": ["t"]}}
SERVER = """
import json, sys
print("Server mode: STDIO", flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m["method"] == "initialize": r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                         "serverInfo": {"name": "noisy", "version": "1"}}
    elif m["method"] == "tools/list": r = {"tools": [{"name": "create_note", "inputSchema": {"type": "object"}}]}
    elif "id" in m:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else: continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""


def weft(*words: str | Path) -> Result:
    return CliRunner().invoke(build_app(), [str(word) for word in words])


def document(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps({"server": "notes", "tools": [TOOL, BAD]}), encoding="utf-8")
    (folder / "b.json").write_text("{", encoding="utf-8")
    return folder


def test_import_says_what_is_usable_and_why_the_rest_is_not(specs: Path) -> None:
    result = weft("catalog", "import", specs, "--json")
    assert result.exit_code == 0
    got = document(result)
    assert [server["name"] for server in got["servers"]] == ["notes"]
    assert (got["tools_declared"], got["tools_usable"]) == (2, 1)
    assert [each["subject"] for each in got["tools_refused"]] == ["notes/bad"]
    assert [each["code"] for each in got["refusals"]] == ["not_json"]
    assert "not_json" in result.stderr


def test_nothing_usable_is_exit_code_one(specs: Path) -> None:
    result = weft("catalog", "import", specs / "b.json", "--json")
    assert result.exit_code == 1
    assert document(result)["servers"] == []


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["absent.json"],
        ["--stdio", "'open"],
        ["--stdio", "  "],
        ["--http", "http://127.0.0.1:9/", "--header", "no colon"],
        ["--stdio", "x", "--env", "=v"],
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(words: list[str]) -> None:
    result = weft("catalog", "import", *words)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("weft: ")
    assert "Traceback" not in result.stderr


def test_a_live_server_is_listed_and_what_it_declared_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    out = tmp_path / "noisy.json"
    result = weft("catalog", "import", "--stdio", shlex.join([sys.executable, str(script)]), "--out", out, "--json")
    assert result.exit_code == 0
    got = document(result)
    assert got["warnings"][0]["value"] == "Server mode: STDIO"
    assert "listing tools only" in result.stderr
    again = document(weft("catalog", "import", out, "--json"))
    assert again["servers"][0]["tools"] == got["servers"][0]["tools"]
    assert again["servers"][0]["version"] == "1"


def test_a_live_server_that_is_not_there_is_a_refusal_beside_the_others(specs: Path) -> None:
    result = weft("catalog", "import", specs / "a.json", "--stdio", "no-such-command-here", "--json")
    assert result.exit_code == 0
    assert document(result)["refusals"][0]["code"] == "unreachable"


def test_list_counts_and_show_shows(specs: Path) -> None:
    assert document(weft("catalog", "list", specs, "--json"))["servers"][0]["tools_usable"] == 1
    shown = weft("catalog", "show", specs / "a.json")
    assert shown.exit_code == 0
    assert "create_note" in shown.stdout
    missing = weft("catalog", "show", specs / "a.json", "--server", "crm")
    assert missing.exit_code == 1
    assert "it has: notes" in missing.stderr
