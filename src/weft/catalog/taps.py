"""Between the official client and a live server: raw ``tools/list`` pages are kept, noise is set aside.

The client validates a listing as a whole, so one odd tool would cost all. A tap lets it see an empty list and keeps the
page as it came for :mod:`weft.catalog.normalise`. On stdio it also sets aside lines that are not JSON-RPC: banners and
logs belong on standard error, but a server that prints them can still be read.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import mcp_types
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

Item = SessionMessage | Exception

# What the client needs of a listing in either era; it never sees the tools themselves.
_EMPTY_PAGE = {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@dataclass
class Tap:
    """What passed.

    Attributes:
        drop_noise: set aside what is not JSON-RPC (stdio); else hand it on (HTTP, where it is a real failure).
        pages: raw results of ``tools/list`` that were not taken yet.
        strays: how many lines were no JSON-RPC.
        first_stray: the first of them.
    """

    drop_noise: bool
    pages: list[dict[str, Any]] = field(default_factory=list)
    strays: int = 0
    first_stray: str = ""

    def pass_on(self, item: Item) -> Item | None:
        """Return what the client is to see of an item, or None for nothing."""
        if isinstance(item, Exception):
            return None if self.drop_noise and self._set_aside(item) else item
        message = item.message
        if not isinstance(message, mcp_types.JSONRPCResponse) or "tools" not in message.result:
            return item
        self.pages.append(message.result)
        shown = message.model_copy(update={"result": dict(_EMPTY_PAGE)})
        return SessionMessage(shown, metadata=item.metadata)

    def _set_aside(self, error: Exception) -> bool:
        if not isinstance(error, ValidationError):
            return False
        line = str(error.errors(include_url=False, include_context=False)[0].get("input", ""))
        if line.strip():
            self.strays += 1
            self.first_stray = self.first_stray or line.strip()
        return True


class TappedStream:
    """A read stream of the client's transport, seen through a tap."""

    def __init__(self, inner: Any, tap: Tap) -> None:
        self._inner = inner
        self._tap = tap

    @property
    def last_context(self) -> Any:
        """The sender's context of the last item, where the transport gives one."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Item:
        """Give the next item that the client is to see."""
        while True:
            item = self._tap.pass_on(await self._inner.receive())
            if item is not None:
                return item

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._inner.aclose()

    def close(self) -> None:
        """Close the stream below, without waiting."""
        self._inner.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        while True:
            item = self._tap.pass_on(await self._inner.__anext__())
            if item is not None:
                return item

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        done: bool | None = await self._inner.__aexit__(kind, error, trace)
        return done


@asynccontextmanager
async def tapped(transport: Transport, tap: Tap) -> AsyncIterator[tuple[TappedStream, Any]]:
    """Open a transport of the official client and put a tap on what it reads."""
    async with transport as (read, write):
        yield TappedStream(read, tap), write
