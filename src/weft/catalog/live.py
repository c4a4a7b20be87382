"""Specs from live servers, over stdio and streamable HTTP, by the official client.

The server is asked for its tools and for nothing else: no tool is called. The client speaks both protocol eras
(2025-11-25 with its handshake, 2026-07-28 without). Every wait is bounded and a started server is always ended.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import IO
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
from mcp.client import Client, Transport
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from weft.catalog.listing import Listing
from weft.catalog.names import slug_of
from weft.catalog.normalise import shorten, spec_from_listing
from weft.catalog.pages import MAX_PAGES, PageWalk
from weft.catalog.taps import Tap, tapped
from weft.errors import InputError
from weft.records.spec import McpSpec, Refusal, RefusalCode

TIMEOUT = 20.0
_STDERR_TAIL = 400
_FAILURES = (MCPError, OSError, ValidationError, ValueError, RuntimeError, httpx2.HTTPError, ExceptionGroup)


async def import_stdio(
    command: str, args: Sequence[str] = (), *, env: Mapping[str, str] | None = None, patience: float = TIMEOUT
) -> McpSpec:
    """Start a server, list its tools over stdio, end it, and normalise; see :func:`list_stdio`."""
    listing = await list_stdio(command, args, env=env, patience=patience)
    return spec_from_listing(slug_of(listing.name), listing)


async def import_http(url: str, *, headers: Mapping[str, str] | None = None, patience: float = TIMEOUT) -> McpSpec:
    """List the tools of a server at a URL over streamable HTTP and normalise; see :func:`list_http`."""
    listing = await list_http(url, headers=headers, patience=patience)
    return spec_from_listing(slug_of(listing.name), listing)


async def list_stdio(
    command: str,
    args: Sequence[str] = (),
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    patience: float = TIMEOUT,
    max_pages: int = MAX_PAGES,
) -> Listing:
    """Start a server and list its tools over stdio. Lines that are no JSON-RPC become a warning.

    Args:
        command: program to start.
        args: its arguments.
        env: variables added to the few that a server inherits (HOME, PATH ...).
        cwd: its working directory.
        patience: seconds for the whole exchange; ending the server may take 5 more.
        max_pages: where a list without an end is left.

    Raises:
        InputError: it could not be started, ended early, or did not answer in time; quotes what it wrote.
    """
    label = PurePath(command).name
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        parameters = StdioServerParameters(
            command=command, args=list(args), env=dict(env or {}), cwd=cwd, encoding_error_handler="replace"
        )
        tap = Tap(drop_noise=True)
        walk = PageWalk(label, max_pages)
        try:
            with anyio.fail_after(patience):
                try:
                    listing = await _list(stdio_client(parameters, errlog=stderr), tap, walk, "auto", label)
                except _FAILURES:
                    if walk.tools or tap.pages:
                        raise
                    # A server may end on the first message that it does not know: greet it in the older way.
                    walk = PageWalk(label, max_pages)
                    listing = await _list(stdio_client(parameters, errlog=stderr), tap, walk, "legacy", label)
        except TimeoutError as error:
            raise InputError(_unusable(label, f"no answer within {patience:g} s", tap, stderr)) from error
        except _FAILURES as error:
            raise InputError(_unusable(label, _reason_of(error), tap, stderr)) from error
    return listing


async def list_http(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    patience: float = TIMEOUT,
    max_pages: int = MAX_PAGES,
) -> Listing:
    """List the tools of a server at a URL over streamable HTTP.

    Args:
        url: of the endpoint, ``http`` or ``https``.
        headers: sent with each request, e.g. ``Authorization``.
        patience: seconds for the whole exchange.
        max_pages: where a list without an end is left.

    Raises:
        InputError: no such scheme, or the server did not answer as MCP has it.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{url!r} is not a URL of a server; give http://HOST/PATH or https://HOST/PATH")
    label = parts.hostname
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    tap = Tap(drop_noise=False)
    try:
        with anyio.fail_after(patience):
            async with httpx2.AsyncClient(headers=dict(headers or {}), timeout=patience) as client:
                transport = streamable_http_client(url, http_client=client)
                listing = await _list(transport, tap, PageWalk(label, max_pages), "auto", shown)
    except TimeoutError as error:
        raise InputError(_unusable(shown, f"no answer within {patience:g} s", tap)) from error
    except _FAILURES as error:
        raise InputError(_unusable(shown, _reason_of(error), tap)) from error
    return listing


async def _list(transport: Transport, tap: Tap, walk: PageWalk, mode: str, source: str) -> Listing:
    """Connect, walk the pages of ``tools/list``, and leave."""
    async with Client(tapped(transport, tap), mode=mode, cache=None) as client:
        while not walk.done:
            await client.list_tools(cursor=walk.cursor)
            walk.take(tap.pages.pop() if tap.pages else {})
        info = client.server_info
        description = (getattr(info, "description", None) or client.instructions or "").strip()
        name = (info.name if info is not None else "") or source
        title = (getattr(info, "title", None) or "").strip()
        version = info.version if info is not None else ""
    warnings = [*(each.model_copy(update={"subject": name}) for each in walk.warnings), *_noise(name, tap)]
    return Listing(
        name=name,
        title=title,
        tools=walk.tools,
        description=description,
        version=version or "",
        source=source,
        warnings=tuple(warnings),
    )


def _noise(server: str, tap: Tap) -> list[Refusal]:
    if not tap.strays:
        return []
    lines = "a line" if tap.strays == 1 else f"{tap.strays} lines"
    return [
        Refusal(
            code=RefusalCode.NOT_JSON,
            subject=server,
            path="stdout",
            value=shorten(tap.first_stray),
            message=f"not JSON-RPC on the server's standard output: {lines}, first: {shorten(tap.first_stray, 80)!r}",
            remedy="write banners and logs to standard error",
        )
    ]


def _unusable(label: str, reason: str, tap: Tap, stderr: IO[str] | None = None) -> str:
    """One message: what, why, what it wrote, and the way out."""
    parts = [f"{label}: tools could not be listed: {reason}"]
    parts += [f"{note.message}; {note.remedy}" for note in _noise(label, tap)]
    if stderr is not None:
        stderr.seek(0)
        if tail := stderr.read().strip()[-_STDERR_TAIL:]:
            parts.append(f"its standard error ends: {tail}")
    if len(parts) == 1:
        parts.append("check that it is an MCP server and that the command or URL is right, or give a longer --timeout")
    return "; ".join(parts)


def _reason_of(error: BaseException) -> str:
    """The first plain error inside groups, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"its answer is not MCP: {'/'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
