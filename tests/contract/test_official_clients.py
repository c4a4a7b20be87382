"""The official MCP client, and fastmcp's, against a served environment: both eras over HTTP, and stdio."""

import asyncio
import subprocess
from typing import Any

import pytest
from fastmcp import Client as FastClient
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from weft.records.environment import Environment

pytestmark = pytest.mark.contract

MODES = ["legacy", "auto", "2026-07-28"]


async def exercise(target: Any, mode: str, environment: Environment) -> None:
    """List and call every tool; each value must come back as its schema has it."""
    modern = mode != "legacy"
    async with Client(target, mode=mode, read_timeout_seconds=20) as client:
        assert client.protocol_version == ("2026-07-28" if modern else "2025-11-25")
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in environment.spec.tools]
        assert [tool.input_schema for tool in listed] == [tool.input_schema for tool in environment.spec.tools]
        if modern:
            assert [tool.output_schema for tool in listed] == [tool.output_schema for tool in environment.spec.tools]
        else:
            assert all(tool.output_schema is None or tool.output_schema["type"] == "object" for tool in listed)

        made = await client.call_tool("create_note", {"title": "second 🍸"})
        assert not made.is_error
        note = made.structured_content
        assert note["title"] == "second 🍸"
        assert (await client.call_tool("get-note", {"note_id": note["note_id"]})).structured_content == note
        notes = [{"note_id": 1, "title": "first"}, note]
        shown = (await client.call_tool("list.notes", {})).structured_content
        assert shown == (notes if modern else {"result": notes})
        assert (await client.call_tool("count_notes")).structured_content == (2 if modern else {"result": 2})
        assert not (await client.call_tool("läs_titlar", {})).is_error

        missing = await client.call_tool("get-note", {"note_id": 99})
        assert missing.is_error
        assert missing.structured_content["error"]["code"] == "not_found"
        wrong = await client.call_tool("create_note", {"title": 5})
        assert wrong.is_error
        assert wrong.structured_content["error"]["code"] == "invalid_argument"
        with pytest.raises(MCPError) as caught:
            await client.call_tool("no_such_tool", {})
        assert caught.value.code == -32602


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls_everything_over_http(
    url: str, mode: str, environment: Environment
) -> None:
    asyncio.run(exercise(url, mode, environment))


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_and_calls_everything_over_stdio(
    serve_words: list[str], mode: str, environment: Environment
) -> None:
    server = StdioServerParameters(command=serve_words[0], args=[*serve_words[1:], "--stdio"])
    asyncio.run(exercise(server, mode, environment))


def test_fastmcp_lists_and_calls_tools(url: str, environment: Environment) -> None:
    async def talk() -> None:
        async with FastClient(url) as client:
            assert [tool.name for tool in await client.list_tools()] == [tool.name for tool in environment.spec.tools]
            made = await client.call_tool("create_note", {"title": "by fastmcp"})
            assert made.structured_content["title"] == "by fastmcp"
            counted = await client.call_tool("count_notes", {})
            assert counted.data == 2

    asyncio.run(talk())


def test_state_belongs_to_the_token_and_outlives_a_connection(url: str) -> None:
    """Two connections with one token share state; another token has its own (the path carries it)."""

    async def count(address: str, *, create: bool = False) -> int:
        async with Client(address, mode="auto", read_timeout_seconds=20) as client:
            if create:
                await client.call_tool("create_note", {"title": "kept"})
            found: int = (await client.call_tool("count_notes")).structured_content
            return found

    async def talk() -> None:
        base, _, tail = url.partition("/mcp/")
        one, two = f"{base}/s/one/mcp/{tail}", f"{base}/s/two/mcp/{tail}"
        assert await count(one, create=True) == 2
        assert await count(one) == 2
        assert await count(two) == 1

    asyncio.run(talk())


def test_requests_in_flight_under_one_id_do_not_meet(url: str) -> None:
    async def talk() -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(exercise_one(url, number)) for number in range(8)]
        assert [task.result() for task in tasks] == [f"note {number}" for number in range(8)]

    asyncio.run(talk())


async def exercise_one(url: str, number: int) -> str:
    """Each client counts its ids from the same start, so eight at once send the same ones."""
    async with Client(url, mode="auto", read_timeout_seconds=20) as client:
        made = await client.call_tool("create_note", {"title": f"note {number}"})
        title: str = made.structured_content["title"]
        return title


def test_stdio_writes_nothing_but_messages(serve_words: list[str]) -> None:
    lines = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n\nnot json\n{"jsonrpc":"2.0","method":"notifications/x"}\n'
    done = subprocess.run([*serve_words, "--stdio"], input=lines, capture_output=True, timeout=30, check=True)
    first, second = done.stdout.splitlines()
    assert first == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert b'"code":-32700' in second
