"""Live import against small servers written here: noise, paging, silence, and both protocol eras."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from weft.catalog.listing import Listing
from weft.catalog.live import import_stdio, list_http, list_stdio
from weft.errors import InputError

SERVER = """
import json, os, sys
MODE = sys.argv[1]
open(sys.argv[2], "w").write(str(os.getpid()))
T = [{"name": f"create_{i}", "description": "Create.", "inputSchema": {"type": "object"}} for i in range(4)]
def out(text): print(text, flush=True)
pages = 0
if MODE in ("noisy", "noise"): out("Server mode: \\u2713")
if MODE == "dies": sys.stderr.write("no configuration\\n"); sys.exit(3)
for line in sys.stdin:
    if MODE in ("silent", "noise"):
        if MODE == "noise": out("still here")
        continue
    m = json.loads(line); p = m.get("params") or {}
    if MODE == "noisy": out("[debug] " + m["method"])
    if MODE == "strict" and m["method"] not in ("initialize", "notifications/initialized", "tools/list"): sys.exit(1)
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "small-" + MODE, "version": "7"}, "instructions": "Keeps things."}
    elif m["method"] == "tools/list":
        pages += 1
        r = {"empty": {"tools": T[:2], "nextCursor": ""} if "cursor" not in p else {"tools": T[2:]},
             "stuck": {"tools": T[:2], "nextCursor": "same"},
             "endless": {"tools": [dict(T[0], name=f"create_{pages}")], "nextCursor": str(pages)},
             "odd": {"tools": [T[0], {"name": "null_schema", "inputSchema": None}, 5,
                               {"name": "bad", "inputSchema": []}]},
            }.get(MODE, {"tools": T})
    elif m["method"].startswith("tools/call"): open(sys.argv[2] + ".called", "w").close(); r = {}
    elif "id" in m:
        out(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}})); continue
    else: continue
    out(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}))
"""


class Small:
    """A small stdio server in a mode of misbehaviour."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.script = folder / "small_server.py"
        self.script.write_text(SERVER, encoding="utf-8")
        self.pid_file = folder / "pid"
        self.mode = mode

    def listing(self, **options: Any) -> Listing:
        arguments = [str(self.script), self.mode, str(self.pid_file)]
        return asyncio.run(list_stdio(sys.executable, arguments, **{"patience": 10, **options}))

    def assert_gone(self) -> None:
        pid = int(self.pid_file.read_text())
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)  # it has not only ended, it has been waited for
        assert not self.pid_file.with_suffix(".called").exists(), "a tool was called"


def names(listing: Listing) -> list[Any]:
    return [tool["name"] if isinstance(tool, dict) else tool for tool in listing.tools]


def test_a_server_is_listed_and_ended_and_no_tool_is_called(tmp_path: Path) -> None:
    server = Small(tmp_path, "plain")
    listing = server.listing()
    assert names(listing) == ["create_0", "create_1", "create_2", "create_3"]
    assert (listing.name, listing.version, listing.description) == ("small-plain", "7", "Keeps things.")
    assert str(tmp_path) not in listing.source
    assert listing.warnings == ()
    server.assert_gone()


def test_stray_lines_become_a_warning_that_quotes_the_first(tmp_path: Path) -> None:
    server = Small(tmp_path, "noisy")
    listing = server.listing()
    assert len(listing.tools) == 4
    (warning,) = listing.warnings
    assert warning.value == "Server mode: ✓"
    assert "standard error" in warning.remedy
    server.assert_gone()


@pytest.mark.parametrize("mode", ["noise", "silent"])
def test_a_server_that_never_answers_is_left_within_a_bound_and_ended(tmp_path: Path, mode: str) -> None:
    server = Small(tmp_path, mode)
    with pytest.raises(InputError, match=r"no answer within 0\.5 s") as caught:
        server.listing(patience=0.5)
    assert ("Server mode" in str(caught.value)) == (mode == "noise")
    server.assert_gone()


def test_a_server_that_dies_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no configuration"):
        Small(tmp_path, "dies").listing()


def test_a_server_that_ends_on_the_newer_greeting_is_greeted_in_the_older_way(tmp_path: Path) -> None:
    assert len(Small(tmp_path, "strict").listing().tools) == 4


def test_an_empty_cursor_is_followed_and_a_stuck_one_is_not(tmp_path: Path) -> None:
    assert names(Small(tmp_path, "empty").listing()) == ["create_0", "create_1", "create_2", "create_3"]
    stuck = Small(tmp_path, "stuck").listing()
    assert names(stuck) == ["create_0", "create_1"]
    assert stuck.warnings[0].subject == "small-stuck"
    assert names(Small(tmp_path, "endless").listing(max_pages=3)) == ["create_1", "create_2", "create_3"]


def test_a_tool_that_the_official_client_would_refuse_costs_no_other(tmp_path: Path) -> None:
    server = Small(tmp_path, "odd")
    arguments = [str(server.script), "odd", str(server.pid_file)]
    spec = asyncio.run(import_stdio(sys.executable, arguments, patience=10))
    assert [tool.name for tool in spec.tools] == ["create_0", "null_schema"]
    assert [each.subject for each in spec.refused] == ["small-odd/tool 2", "small-odd/bad"]


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no-such-command-here"):
        asyncio.run(list_stdio("no-such-command-here"))


@pytest.mark.parametrize("url", ["ftp://localhost/x", "localhost:8000", "file:///etc/hostname", ""])
def test_only_http_urls_are_opened(url: str) -> None:
    with pytest.raises(InputError, match="not a URL of a server"):
        asyncio.run(list_http(url))


def test_a_port_where_nobody_listens_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="tools could not be listed"):
        asyncio.run(list_http("http://127.0.0.1:9/mcp", patience=5))


def test_a_url_with_a_password_is_shown_without_it() -> None:
    with pytest.raises(InputError) as caught:
        asyncio.run(list_http("http://user:secret@127.0.0.1:9/mcp?key=hidden", patience=5))
    assert "secret" not in str(caught.value)
    assert "hidden" not in str(caught.value)
