import json
from typing import Any

import pytest
from mcp_types._v2025_11_25 import ListToolsResult as LegacyList
from mcp_types._v2026_07_28 import CallToolResult, DiscoverResult
from mcp_types._v2026_07_28 import ListToolsResult as ModernList

from weft.hosts.mcp_protocol import Endpoint, Reply
from weft.records.contract import Case, Contract, ContractSet
from weft.records.environment import Environment
from weft.records.expression import Const
from weft.records.spec import McpSpec, Refusal, RefusalCode, ToolSpec
from weft.records.state import Changeset, DatabaseSchema, InitialState
from weft.records.trace import Outcome, ToolResult

MODERN = "2026-07-28"
LEGACY = {"mcp-protocol-version": "2025-11-25"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
}
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
NOTES = {"type": "array", "items": {"$ref": "#/$defs/note"}, "$defs": {"note": TITLE}}


class Echo:
    """A session that returns what it was called with, or what it was told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.result: ToolResult | None = None

    def call(self, tool: str, arguments: Any) -> tuple[ToolResult, Changeset]:
        self.calls.append((tool, arguments))
        return self.result or ToolResult(outcome=Outcome.OK, value={"got": arguments}), Changeset()


def tool(name: str, **more: Any) -> ToolSpec:
    declared = {"name": name, "inputSchema": TITLE, "execution": {"taskSupport": "required"}, "_meta": {"a": 1}}
    return ToolSpec(name=name, input_schema=TITLE, declared={**declared, "title": name.title()}, **more)


def contract(name: str) -> Contract:
    case = Case(intent="get", operations=(), returns=Const(op="const", value={}))
    return Contract(tool=name, function=name, effect="read", cases=(case,), returns_schema={})


@pytest.fixture
def endpoint() -> Endpoint:
    tools = (
        tool("create_note", description="Create.", annotations={"readOnlyHint": False}, output_schema=TITLE),
        tool("list_notes", output_schema=NOTES),
        tool("läs note"),
        tool("not_certified"),
    )
    refused = Refusal(code=RefusalCode.NO_EFFECT, subject="notes/not_certified", message="m", remedy="r")
    spec = McpSpec(name="notes", title="Notes", description="Keeps notes.", tools=tools, refused=(refused,))
    served = tuple(contract(each.name) for each in tools[:3])
    contracts = ContractSet(schema=DatabaseSchema(), contracts=served)
    return Endpoint(Environment(spec=spec, contracts=contracts, seed=InitialState()), version="1")


@pytest.fixture
def session() -> Echo:
    return Echo()


def ask(
    endpoint: Endpoint, session: Echo, method: str, params: Any = None, headers: Any = LEGACY, **more: Any
) -> Reply:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params}), **more}
    return endpoint.answer(json.dumps(body).encode(), session, headers)


def modern(endpoint: Endpoint, session: Echo, method: str, params: Any = None, **headers: str) -> Reply:
    params = {**(params or {}), "_meta": META}
    sent = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if "name" in params:
        sent["mcp-name"] = params["name"]
    return ask(endpoint, session, method, params, {**sent, **headers})


def result(reply: Reply) -> Any:
    assert reply.status == 200
    assert reply.message is not None
    assert reply.message["id"] == 7
    return reply.message["result"]


def code(reply: Reply) -> int:
    assert reply.message is not None
    found: int = reply.message["error"]["code"]
    return found


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_handshake_agrees_on_the_clients_revision(endpoint: Endpoint, session: Echo, version: str) -> None:
    got = result(ask(endpoint, session, "initialize", {"protocolVersion": version}, {}))
    assert got["protocolVersion"] == version
    assert got["capabilities"] == {"tools": {}}
    assert got["serverInfo"]["name"] == "notes"


def test_a_handshake_with_an_unknown_revision_offers_the_newest_that_has_one(endpoint: Endpoint, session: Echo) -> None:
    assert (
        result(ask(endpoint, session, "initialize", {"protocolVersion": "1999"}, {}))["protocolVersion"] == "2025-11-25"
    )
    assert code(ask(endpoint, session, "initialize", {}, {})) == -32602


def test_ping_and_notifications_are_answered(endpoint: Endpoint, session: Echo) -> None:
    assert result(ask(endpoint, session, "ping")) == {}
    reply = endpoint.answer(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', session, LEGACY)
    assert reply == Reply(202, None)
    assert endpoint.answer(b'{"jsonrpc":"2.0","id":3,"result":{}}', session, LEGACY) == Reply(202, None)


def test_both_eras_list_names_and_schemas_as_declared(endpoint: Endpoint, session: Echo) -> None:
    old = result(ask(endpoint, session, "tools/list"))
    new = result(modern(endpoint, session, "tools/list"))
    LegacyList.model_validate(old)
    ModernList.model_validate(new)
    for listed in (old, new):
        assert [each["name"] for each in listed["tools"]] == ["create_note", "list_notes", "läs note"]
        assert all(each["inputSchema"] == TITLE for each in listed["tools"])
        assert not any("execution" in each or "_meta" in each for each in listed["tools"])
        assert "nextCursor" not in listed
    assert (new["resultType"], new["cacheScope"]) == ("complete", "private")
    assert new["ttlMs"] > 0


def test_an_unknown_cursor_is_refused(endpoint: Endpoint, session: Echo) -> None:
    assert code(ask(endpoint, session, "tools/list", {"cursor": "x"})) == -32602
    assert code(ask(endpoint, session, "tools/list", {"cursor": ""})) == -32602
    assert code(modern(endpoint, session, "tools/list", {"cursor": "x"})) == -32602


def test_discovery_says_what_is_spoken(endpoint: Endpoint, session: Echo) -> None:
    got = result(modern(endpoint, session, "server/discover"))
    DiscoverResult.model_validate(got)
    assert got["supportedVersions"] == [MODERN]
    assert got["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "notes"


def test_a_result_that_is_no_object_is_wrapped_for_the_older_era_only(endpoint: Endpoint, session: Echo) -> None:
    session.result = ToolResult(outcome=Outcome.OK, value=[{"title": "a"}])
    call = {"name": "list_notes", "arguments": {}}
    old, new = result(ask(endpoint, session, "tools/call", call)), result(modern(endpoint, session, "tools/call", call))
    CallToolResult.model_validate(new)
    assert old["structuredContent"] == {"result": [{"title": "a"}]}
    assert new["structuredContent"] == [{"title": "a"}]
    assert json.loads(old["content"][0]["text"]) == json.loads(new["content"][0]["text"]) == [{"title": "a"}]
    old_schema = result(ask(endpoint, session, "tools/list"))["tools"][1]["outputSchema"]
    assert old_schema["type"] == "object"
    assert old_schema["properties"]["result"]["items"] == {"$ref": "#/properties/result/$defs/note"}
    assert result(modern(endpoint, session, "tools/list"))["tools"][1]["outputSchema"] == NOTES


@pytest.mark.parametrize("given", [{}, {"arguments": None}, {"arguments": ""}, {"arguments": {}}])
def test_no_arguments_in_any_spelling_reach_the_tool(endpoint: Endpoint, session: Echo, given: dict[str, Any]) -> None:
    result(ask(endpoint, session, "tools/call", {"name": "create_note", **given}))
    result(modern(endpoint, session, "tools/call", {"name": "create_note", **given}))
    assert session.calls == [("create_note", given.get("arguments"))] * 2


@pytest.mark.parametrize("arguments", [["a"], 5, "{}", True])
def test_arguments_that_are_no_object_are_a_protocol_error(endpoint: Endpoint, session: Echo, arguments: Any) -> None:
    reply = ask(endpoint, session, "tools/call", {"name": "create_note", "arguments": arguments})
    assert code(reply) == -32602
    assert session.calls == []


def test_an_unknown_tool_is_a_protocol_error_that_names_it(endpoint: Endpoint, session: Echo) -> None:
    for reply in (
        ask(endpoint, session, "tools/call", {"name": "no_such_tool"}),
        modern(endpoint, session, "tools/call", {"name": "no_such_tool"}),
    ):
        assert code(reply) == -32602
        assert reply.message is not None
        assert "no_such_tool" in reply.message["error"]["message"]


def test_a_refused_tool_is_unknown_and_says_why(endpoint: Endpoint, session: Echo) -> None:
    reply = ask(endpoint, session, "tools/call", {"name": "not_certified"})
    assert reply.message is not None
    assert "no_effect" in reply.message["error"]["message"]


def test_an_unknown_method_has_the_status_of_its_era(endpoint: Endpoint, session: Echo) -> None:
    old, new = ask(endpoint, session, "tools/destroy"), modern(endpoint, session, "tools/destroy")
    assert (code(old), old.status) == (-32601, 200)
    assert (code(new), new.status) == (-32601, 404)
    assert code(modern(endpoint, session, "ping")) == -32601


def test_an_error_of_a_tool_is_a_result(endpoint: Endpoint, session: Echo) -> None:
    session.result = ToolResult(outcome=Outcome.ERROR, value={"error": {"code": "not_found", "message": "no note 5"}})
    got = result(ask(endpoint, session, "tools/call", {"name": "list_notes"}))
    assert got["isError"] is True
    assert got["structuredContent"]["error"]["code"] == "not_found"
    assert "no note 5" in got["content"][0]["text"]


@pytest.mark.parametrize("value", [{"mean": float("nan")}, {"text": "half \ud83d"}, {"n": float("inf")}])
def test_what_json_cannot_carry_becomes_a_fault(endpoint: Endpoint, session: Echo, value: Any) -> None:
    session.result = ToolResult(outcome=Outcome.OK, value=value)
    got = result(ask(endpoint, session, "tools/call", {"name": "create_note"}))
    assert got["isError"] is True
    assert got["structuredContent"]["error"]["code"] == "fault"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b"42", -32600),
        (b'{"id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
        (b'{"jsonrpc":"2.0",', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"half \\ud83d"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}', -32700),
        (b"[" * 100_000, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 200 + b"]" * 200 + b"}}", -32600),
        (b" " * (4 * 1024 * 1024 + 1), -32600),
    ],
)
def test_a_broken_message_is_refused_and_nothing_runs(
    endpoint: Endpoint, session: Echo, data: bytes, wanted: int
) -> None:
    reply = endpoint.answer(data, session, LEGACY)
    assert (reply.status, code(reply)) == (400, wanted)
    assert session.calls == []


@pytest.mark.parametrize("request_id", [0, -1, 2**53, "", "01", "ü"])
def test_ids_come_back_with_their_type(endpoint: Endpoint, session: Echo, request_id: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "ping"}).encode()
    reply = endpoint.answer(body, session, LEGACY)
    assert reply.message == {"jsonrpc": "2.0", "id": request_id, "result": {}}


def test_an_escaped_pair_of_surrogates_is_one_character(endpoint: Endpoint, session: Echo) -> None:
    call = rb'{"name":"create_note","arguments":{"t":"\ud83c\udf78"}}'
    endpoint.answer(b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":' + call + b"}", session, LEGACY)
    assert session.calls == [("create_note", {"t": "🍸"})]


def test_a_stateless_request_must_agree_with_its_headers(endpoint: Endpoint, session: Echo) -> None:
    call = {"name": "create_note", "arguments": {}}
    assert code(modern(endpoint, session, "tools/call", call, **{"mcp-method": "tools/list"})) == -32020
    assert code(modern(endpoint, session, "tools/call", call, **{"mcp-name": "list_notes"})) == -32020
    assert code(modern(endpoint, session, "tools/call", call, **{"mcp-protocol-version": "2025-11-25"})) == -32020
    assert code(ask(endpoint, session, "tools/call", {**call, "_meta": META}, {})) == -32020
    assert session.calls == []


def test_a_tool_name_that_no_header_can_hold_is_sent_encoded(endpoint: Endpoint, session: Echo) -> None:
    result(modern(endpoint, session, "tools/call", {"name": "läs note"}, **{"mcp-name": "=?base64?bMOkcyBub3Rl?="}))
    assert session.calls == [("läs note", None)]


def test_an_unknown_revision_is_told_which_there_are(endpoint: Endpoint, session: Echo) -> None:
    reply = ask(endpoint, session, "tools/list", {}, {"mcp-protocol-version": "2099-01-01"})
    assert (reply.status, code(reply)) == (400, -32022)
    assert reply.message is not None
    assert reply.message["error"]["data"]["supported"] == [MODERN]


def test_a_stateless_request_names_its_revision_and_capabilities(endpoint: Endpoint, session: Echo) -> None:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    partial = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}
    assert code(ask(endpoint, session, "tools/list", partial, headers)) == -32602
    assert code(ask(endpoint, session, "tools/list", {}, headers)) == -32602


def test_on_stdio_each_message_says_its_era(endpoint: Endpoint, session: Echo) -> None:
    assert "resultType" not in result(ask(endpoint, session, "tools/list", {}, None))
    assert "resultType" in result(ask(endpoint, session, "tools/list", {"_meta": META}, None))
    assert code(ask(endpoint, session, "server/discover", {}, None)) == -32602


def test_an_argument_that_is_mirrored_into_a_header_must_agree_with_it(session: Echo) -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    spec = ToolSpec(name="t", input_schema=schema, declared={"name": "t", "inputSchema": schema})
    contracts = ContractSet(schema=DatabaseSchema(), contracts=(contract("t"),))
    served = Environment(spec=McpSpec(name="n", title="n", tools=(spec,)), contracts=contracts, seed=InitialState())
    endpoint = Endpoint(served, version="1")
    call = {"name": "t", "arguments": {"region": "eu"}}
    result(modern(endpoint, session, "tools/call", call, **{"mcp-param-region": "eu"}))
    assert code(modern(endpoint, session, "tools/call", call, **{"mcp-param-region": "us"})) == -32020
    assert code(modern(endpoint, session, "tools/call", call)) == -32020
    assert len(session.calls) == 1
