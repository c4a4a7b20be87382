"""MCP over streamable HTTP: one ASGI application for all environments of a process.

Every answer is a single JSON document: nothing here needs a stream, so GET and DELETE are 405. Paths are served with
and without a slash at the end, and never redirected, because clients drop headers on the way.

``POST /mcp/NAME``, ``POST /s/TOKEN/mcp/NAME``, and without ``/NAME`` where one environment is served.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from weft.hosts.jsonrpc import INVALID_REQUEST, MAX_BYTES, ProtocolError, encode, error_message
from weft.hosts.served import Served, TooManySessions

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Access:
    """Who may call.

    Attributes:
        token: the only one that is accepted; None accepts any, and none at all.
        origins: web origins that are accepted besides loopback ones.
        loopback_only: refuse Host headers that name another machine (the server listens on loopback only).
    """

    token: str | None = None
    origins: Sequence[str] = ()
    loopback_only: bool = True


class Refusal(Exception):
    """An HTTP answer before any message was read."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}

    def response(self) -> Response:
        """Return it as a response whose body is a JSON-RPC error without an id."""
        return _json(self.status, error_message(ProtocolError(INVALID_REQUEST, str(self))), self.headers)


class McpHttp:
    """ASGI endpoint for every path."""

    def __init__(self, served: Served, access: Access) -> None:
        self._served = served
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        except Refusal as refusal:
            response = refusal.response()
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        name, path_token = self._address(request.url.path)
        check_origin(request.headers, self._access.origins)
        if self._access.loopback_only:
            check_host(request.headers)
        if request.method != "POST":
            raise Refusal(405, "send MCP messages by POST; there is no stream to open here", {"Allow": "POST"})
        token = self._token(request.headers, path_token)
        check_content_type(request.headers)
        check_accept(request.headers)
        data = await _body(request)
        try:
            reply = self._served.answer(name, token, data, request.headers)
        except TooManySessions as error:
            raise Refusal(503, str(error)) from error
        if reply.message is None:
            return Response(status_code=reply.status)
        return _json(reply.status, reply.message, {})

    def _address(self, path: str) -> tuple[str, str | None]:
        """Return the environment and the token that a path names."""
        words = [word for word in path.split("/") if word]
        token = None
        if len(words) > 2 and words[0] == "s":
            token, words = words[1], words[2:]
        names = self._served.names
        if words == ["mcp"] and len(names) == 1:
            return names[0], token
        if len(words) == 2 and words[0] == "mcp" and words[1] in names:
            return words[1], token
        raise Refusal(404, f"nothing is served here; served: {', '.join('/mcp/' + name for name in names)}")

    def _token(self, headers: Headers, path_token: str | None) -> str:
        """Return the caller's token, from the header or the path; both together must agree."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        header_token = given.strip() if scheme.lower() == "bearer" and given.strip() else None
        found = {token for token in (header_token, path_token) if token is not None}
        challenge = {"WWW-Authenticate": "Bearer"}
        if len(found) > 1:
            raise Refusal(401, "the token of the header and that of the path differ; send one", challenge)
        token = found.pop() if found else ""
        wanted = self._access.token
        if wanted is not None and not hmac.compare_digest(token.encode(), wanted.encode()):
            raise Refusal(401, "the token is missing or wrong; send Authorization: Bearer TOKEN", challenge)
        return token


def mcp_app(served: Served, access: Access) -> Starlette:
    """Return the application.

    Args:
        served: environments and their sessions.
        access: who may call.
    """
    return Starlette(routes=[Route("/{path:path}", McpHttp(served, access))])


def check_origin(headers: Headers, allowed: Sequence[str]) -> None:
    """Refuse web pages of other origins: a browser on this machine must not reach the tools for them."""
    origin = headers.get("origin")
    if origin is None or origin in allowed:
        return
    if _hostname(origin) not in LOOPBACK:
        raise Refusal(403, f"the origin {origin[:100]!r} may not call this server")


def check_host(headers: Headers) -> None:
    """Refuse a name that a foreign DNS record points at loopback."""
    host = headers.get("host", "")
    if _hostname(f"http://{host}") not in LOOPBACK:
        raise Refusal(421, f"the host {host[:100]!r} is not this server; call localhost or 127.0.0.1")


def check_content_type(headers: Headers) -> None:
    """Want JSON, in UTF-8 where a charset is named."""
    kind, *parameters = [part.strip().lower() for part in headers.get("content-type", "").split(";")]
    charsets = {part.partition("=")[2].strip("\" '") for part in parameters if part.startswith("charset")}
    if kind != "application/json" or not charsets <= {"utf-8", "utf8"}:
        raise Refusal(415, "send Content-Type: application/json (in UTF-8)")


def check_accept(headers: Headers) -> None:
    """Want a client that takes JSON; no header takes anything."""
    kinds = {part.partition(";")[0].strip().lower() for part in headers.get("accept", "*/*").split(",")}
    if not kinds & {"application/json", "application/*", "*/*", ""}:
        raise Refusal(406, "answers are JSON; send Accept: application/json, text/event-stream")


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def _body(request: Request) -> bytes:
    too_large = Refusal(413, f"the message is larger than {MAX_BYTES} bytes; send less")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > MAX_BYTES:
        raise too_large
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BYTES:
            raise too_large
    return bytes(data)


def _json(status: int, message: dict[str, object], headers: dict[str, str]) -> Response:
    return Response(encode(message), status, headers, media_type="application/json")
