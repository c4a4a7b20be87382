"""What an environment answers to MCP, in both eras, as a function from message to reply.

One endpoint speaks 2025-11-25 (and the older revisions with a handshake) and 2026-07-28 (stateless, each request names
its revision). Only ``tools`` is advertised. No session id is minted in either era: who is calling is known from the URL
or the token, so a client that connects anew, or after a restart of either side, simply goes on.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp_types import PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY
from mcp_types.jsonrpc import HEADER_MISMATCH
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from weft.hosts.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Call,
    ProtocolError,
    decode,
    error_message,
    parse,
    result_message,
)
from weft.hosts.mcp_listing import ListedTool, list_tool, show_value
from weft.records.environment import Environment
from weft.records.state import Changeset
from weft.records.trace import Outcome, ToolResult

VERSION_HEADER = "mcp-protocol-version"
# A listing never changes while an environment is served; a client may keep it for a minute.
LIST_TTL_MS = 60_000

Headers = Mapping[str, str]


class ToolSession(Protocol):
    """Runs tools on one state."""

    def call(self, tool: str, arguments: Any) -> tuple[ToolResult, Changeset]:
        """Run a served tool; never raises for what a tool or a caller does wrong."""


@dataclass(frozen=True)
class Reply:
    """What to send back.

    Attributes:
        status: HTTP status; stdio has no use for it.
        message: the JSON-RPC response, None where there is nothing to say.
    """

    status: int
    message: dict[str, Any] | None


class Endpoint:
    """The protocol face of one environment. Holds what is listed, and no state."""

    def __init__(self, environment: Environment, *, version: str) -> None:
        """Prepare the listings.

        Args:
            environment: its certified tools are served.
            version: of the software that serves.
        """
        by_name = {tool.name: tool for tool in environment.spec.tools}
        self.name = environment.name
        self.tools: dict[str, ListedTool] = {name: list_tool(by_name[name]) for name in environment.served()}
        self._refused = {reason.subject.rpartition("/")[2]: reason.code for reason in environment.spec.refused}
        self._instructions = environment.spec.description
        self._server = {
            "name": environment.name,
            "title": environment.spec.title,
            "version": environment.spec.version or version,
        }

    def answer(self, data: bytes, session: ToolSession, headers: Headers | None) -> Reply:
        """Answer the bytes of one message.

        Args:
            data: the message.
            session: the caller's state.
            headers: of the HTTP request with lower-case names, None on stdio.
        """
        try:
            call = parse(decode(data))
            return self._route(call, session, headers)
        except ProtocolError as error:
            # Nothing that was understood as a request comes here: those answer with their own status.
            return Reply(400, error_message(error))

    def opens(self, data: bytes) -> bool:
        """Say whether a message is how a client begins a connection (``initialize`` or ``server/discover``)."""
        try:
            return parse(decode(data)).method in ("initialize", "server/discover")
        except ProtocolError:
            return False

    def _route(self, call: Call, session: ToolSession, headers: Headers | None) -> Reply:
        modern = _is_modern(call, headers)
        try:
            if not call.is_request:
                if modern and headers is not None:
                    _accept(unsupported_protocol_version_rejection(headers.get(VERSION_HEADER, "")))
                return Reply(202, None)
            if modern:
                _accept_modern(call, headers)
                result = self._modern(call, session, headers)
            else:
                result = self._legacy(call, session)
        except ProtocolError as error:
            error.id = call.id
            status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if modern else 200
            return Reply(status, error_message(error))
        assert call.id is not None
        return Reply(200, result_message(call.id, result))

    def _legacy(self, call: Call, session: ToolSession) -> dict[str, Any]:
        match call.method:
            case "initialize":
                return self._initialize(call.params)
            case "ping":
                return {}
            case "tools/list":
                _refuse_cursor(call.params)
                return {"tools": [tool.legacy for tool in self.tools.values()]}
            case "tools/call":
                return self._call(call.params, session, modern=False)
        raise _unknown_method(call.method)

    def _modern(self, call: Call, session: ToolSession, headers: Headers | None) -> dict[str, Any]:
        match call.method:
            case "server/discover":
                body: dict[str, Any] = {
                    "supportedVersions": [*MODERN_PROTOCOL_VERSIONS],
                    "capabilities": {"tools": {}},
                    "ttlMs": LIST_TTL_MS,
                    "cacheScope": "private",
                }
                if self._instructions:
                    body["instructions"] = self._instructions
            case "tools/list":
                _refuse_cursor(call.params)
                listed = [tool.modern for tool in self.tools.values()]
                body = {"tools": listed, "ttlMs": LIST_TTL_MS, "cacheScope": "private"}
            case "tools/call":
                self._check_parameter_headers(call.params, headers)
                body = self._call(call.params, session, modern=True)
            case _:
                raise _unknown_method(call.method)
        return {**body, "resultType": "complete", "_meta": {SERVER_INFO_META_KEY: self._server}}

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise ProtocolError(INVALID_PARAMS, "initialize names a protocolVersion, e.g. 2025-11-25")
        body: dict[str, Any] = {
            "protocolVersion": wanted if wanted in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": self._server,
        }
        return {**body, "instructions": self._instructions} if self._instructions else body

    def _call(self, params: dict[str, Any], session: ToolSession, *, modern: bool) -> dict[str, Any]:
        tool = self._find(params.get("name"))
        arguments = params.get("arguments")
        # An empty text is what a model sends for no arguments; the runtime takes it, null and nothing alike.
        if arguments not in (None, "") and not isinstance(arguments, dict):
            raise ProtocolError(
                INVALID_PARAMS,
                f"arguments of {tool.spec.name!r} is {_kind(arguments)}; send an object, e.g. {{}}",
                {"tool": tool.spec.name},
            )
        result, _ = session.call(tool.spec.name, arguments)
        return _tool_result(tool, result, modern=modern)

    def _find(self, name: Any) -> ListedTool:
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "tools/call names a tool; list them with tools/list")
        tool = self.tools.get(name)
        if tool is None:
            why = f" (declared, but refused: {self._refused[name]})" if name in self._refused else ""
            raise ProtocolError(
                INVALID_PARAMS,
                f"Unknown tool: {name[:200]!r}{why}; list the tools with tools/list",
                {"tool": name[:200]},
            )
        return tool

    def _check_parameter_headers(self, params: dict[str, Any], headers: Headers | None) -> None:
        tool = self.tools.get(str(params.get("name")))
        arguments = params.get("arguments")
        if headers is not None and tool is not None:
            given = arguments if isinstance(arguments, dict) else {}
            _accept(validate_mcp_param_headers(tool.spec.input_schema, given, headers))


def _is_modern(call: Call, headers: Headers | None) -> bool:
    meta = call.params.get("_meta")
    named = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    if headers is None:
        return named or call.method == "server/discover"
    version = headers.get(VERSION_HEADER)
    return named or (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS)


def _accept_modern(call: Call, headers: Headers | None) -> None:
    """Check the envelope of a stateless request (MCP 2026-07-28, per-request protocol fields and routing headers)."""
    if headers is None:
        verdict = classify_inbound_request(call.raw)
    else:
        if doubled := find_duplicated_routing_header(headers.items()):
            raise ProtocolError(HEADER_MISMATCH, f"the header {doubled} is there more than once")
        version = headers.get(VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS and "_meta" not in call.params:
            # Nothing but the header speaks of a revision: say which ones there are.
            _accept(unsupported_protocol_version_rejection(version))
        verdict = classify_inbound_request(call.raw, headers=dict(headers))
    if isinstance(verdict, InboundLadderRejection):
        _accept(verdict)


def _accept(rejection: InboundLadderRejection | None) -> None:
    if rejection is not None:
        raise ProtocolError(rejection.code, rejection.message, rejection.data)


def _refuse_cursor(params: dict[str, Any]) -> None:
    cursor = params.get("cursor")
    if cursor is not None:
        raise ProtocolError(
            INVALID_PARAMS,
            f"unknown cursor {str(cursor)[:100]!r}: the list has one page; leave the cursor out",
        )


def _unknown_method(method: str) -> ProtocolError:
    return ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method[:200]}", {"method": method[:200]})


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "no object")


def _tool_result(tool: ListedTool, result: ToolResult, *, modern: bool) -> dict[str, Any]:
    value = result.value
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (ValueError, TypeError):
        fault = {"code": "fault", "message": "the tool returned a value that JSON cannot carry"}
        result = ToolResult(outcome=Outcome.FAULT, value={"error": fault})
        value, text = result.value, json.dumps(result.value)
    shown = value if result.is_error else show_value(tool, value, modern=modern)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": shown,
        "isError": result.is_error,
    }
