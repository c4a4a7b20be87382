"""Every certified environment by the official client: the names and input schemas declared, and each tool callable."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from weft.runtime.folder import read_folder
from weft.wiring.building import BuildOptions, build_environments
from weft.wiring.progress import silent

pytestmark = pytest.mark.contract

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "catalog"


def build(names: list[str], out: Path) -> list[str]:
    """Build examples; returns the names of the certified environments."""
    options = BuildOptions([EXAMPLES / f"{name}.json" for name in names], out, workers=1)
    document = build_environments(options, silent)
    return [server["folder"] for server in document["servers"] if server["folder"]]


async def check(url: str, name: str, out: Path, mode: str) -> int:
    """List one environment's tools and call each with a normal call of its tests; returns how many were called."""
    declared = {tool["name"]: tool for tool in json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))["tools"]}
    environment = read_folder(out / name)
    normal: dict[str, Any] = {}
    for test in environment.tests:
        if test.kind == "normal" and test.outcome == "ok":
            normal.setdefault(test.tool, test.arguments)
    async with Client(url, mode=mode, read_timeout_seconds=30) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == environment.served()
        for tool in listed:
            assert tool.input_schema == declared[tool.name]["inputSchema"], tool.name
            assert tool.description == declared[tool.name]["description"]
            # The client itself holds the result against the listed output schema.
            result = await client.call_tool(tool.name, normal.get(tool.name, {}))
            assert result.content
            assert result.structured_content is not None
            assert not (result.is_error and result.structured_content["error"]["code"] == "fault"), tool.name
    return len(listed)


def serve_and_check(names: list[str], out: Path) -> None:
    words = [sys.executable, "-m", "weft", "env", "serve", str(out), "--port", "0", "--reset"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            for name in names:
                url = process.stderr.readline().removeprefix("serving ").strip()
                assert url.endswith(f"/mcp/{name}"), url
                for mode in ("legacy", "2026-07-28"):
                    assert asyncio.run(check(url, name, out, mode)) > 0
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0


def test_a_certified_example_is_listed_as_declared_and_every_tool_can_be_called(tmp_path: Path) -> None:
    names = build(["notebook"], tmp_path)
    assert names == ["notebook"]
    serve_and_check(names, tmp_path)


@pytest.mark.slow
def test_every_certified_example_is_listed_as_declared_and_every_tool_can_be_called(tmp_path: Path) -> None:
    names = build(sorted(path.stem for path in EXAMPLES.glob("*.json")), tmp_path)
    assert len(names) >= 12
    serve_and_check(names, tmp_path)
