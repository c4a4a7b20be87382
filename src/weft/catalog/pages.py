"""Walking a paginated ``tools/list`` to its end, and to an end when the server has none.

MCP 2026-07-28, Pagination: only a missing or null ``nextCursor`` ends a list; an empty string is a cursor like any
other. What the walk has seen decides when a server that never ends is left.
"""

from dataclasses import dataclass, field
from typing import Any

from weft.records.base import JSON
from weft.records.spec import Refusal, RefusalCode

MAX_PAGES = 200
MAX_TOOLS = 20_000


@dataclass
class PageWalk:
    """The state of one walk. Give it each page; ask it for the next cursor.

    Attributes:
        server: for the warnings.
        max_pages: the walk stops after this many pages.
        tools: raw tools so far.
        warnings: why the walk ended early, if it did.
        done: no more pages are wanted.
        cursor: cursor of the next page; None for the first.
    """

    server: str
    max_pages: int = MAX_PAGES
    tools: list[Any] = field(default_factory=list)
    warnings: list[Refusal] = field(default_factory=list)
    done: bool = False
    cursor: str | None = None
    _seen: set[str] = field(default_factory=set)
    _pages: int = 0

    def take(self, page: JSON) -> None:
        """Take one ``tools/list`` result (any JSON value) and decide whether and where the walk goes on."""
        self._pages += 1
        tools = page.get("tools") if isinstance(page, dict) else None
        if not isinstance(tools, list):
            self._stop(
                f"page {self._pages} of tools/list has no list of tools",
                str(page)[:200],
                "let the server answer tools/list with a list called 'tools'",
                code=RefusalCode.NOT_A_SPEC,
            )
            return
        following = page.get("nextCursor")
        if isinstance(following, str) and following in self._seen:
            # The same page again: what it declared is there already.
            tools = [tool for tool in tools if tool not in self.tools]
        self.tools.extend(tools)
        if following is None:
            self.done = True
        elif not isinstance(following, str):
            self._stop("nextCursor is not a string", str(following)[:200], "leave it out on the last page")
        elif following in self._seen:
            self._stop(
                f"the cursor came back after {self._pages} pages, so the list would never end",
                repr(following)[:200],
                "give each page a cursor of its own and leave nextCursor out on the last page",
            )
        elif self._pages >= self.max_pages or len(self.tools) >= MAX_TOOLS:
            self._stop(
                f"the list did not end within {self._pages} pages ({len(self.tools)} tools); "
                f"the limit is {self.max_pages} pages or {MAX_TOOLS} tools",
                repr(following)[:200],
                "leave nextCursor out on the last page",
                code=RefusalCode.TOO_LARGE,
            )
        else:
            self._seen.add(following)
            self.cursor = following

    def _stop(self, message: str, value: str, remedy: str, code: RefusalCode = RefusalCode.NOT_A_SPEC) -> None:
        self.done = True
        self.warnings.append(
            Refusal(code=code, subject=self.server, path="tools/list", value=value, message=message, remedy=remedy)
        )
