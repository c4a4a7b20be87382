"""Joins the catalog's sources for the command line: files, live servers, one after another."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.catalog.dumps import read_listings, specs_of
from weft.catalog.listing import Listing, dump_of
from weft.catalog.live import TIMEOUT, list_http, list_stdio
from weft.errors import InputError
from weft.records.codec import pretty
from weft.records.spec import McpSpec, Refusal, RefusalCode
from weft.store.files import write_file


@dataclass(frozen=True)
class Sources:
    """Where specs are to be read from.

    Attributes:
        files: files and folders.
        commands: command lines of stdio servers.
        urls: of servers over streamable HTTP.
        headers: sent with each HTTP request.
        variables: added to the environment of stdio servers.
        patience: seconds for each live server.
    """

    files: Sequence[Path] = ()
    commands: Sequence[str] = ()
    urls: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    patience: float = TIMEOUT


@dataclass(frozen=True)
class Imported:
    """What was read: the raw listings, the specs made of them, and why some are not there."""

    listings: list[Listing]
    specs: list[McpSpec]
    refusals: list[Refusal]


def import_sources(sources: Sources) -> Imported:
    """Read every source; one that fails is a refusal and the others go on. Live servers only list their tools.

    Raises:
        InputError: a file is not there, or a command cannot be split into words.
    """
    listings, refusals = read_listings(list(sources.files)) if sources.files else ([], [])
    for command in sources.commands:
        words = _words(command)
        call = list_stdio(words[0], words[1:], env=sources.variables, patience=sources.patience)
        _collect(asyncio.run(_attempt(call, words[0])), listings, refusals)
    for url in sources.urls:
        call = list_http(url, headers=sources.headers, patience=sources.patience)
        _collect(asyncio.run(_attempt(call, url)), listings, refusals)
    specs, reasons = specs_of(listings, refusals)
    return Imported(listings, specs, reasons)


def write_listings(listings: Sequence[Listing], path: Path) -> None:
    """Write what was declared to a file that every command reads as specs."""
    dumps = [dump_of(listing) for listing in listings]
    write_file(path, pretty(dumps[0] if len(dumps) == 1 else dumps))


async def _attempt(call: Any, subject: str) -> Listing | Refusal:
    try:
        listing: Listing = await call
    except InputError as error:
        return Refusal(
            code=RefusalCode.UNREACHABLE,
            subject=Path(subject).name if "://" not in subject else subject.partition("?")[0].rpartition("@")[2],
            message=str(error),
            remedy="check the command or URL, or give a longer --timeout",
        )
    return listing


def _collect(found: Listing | Refusal, listings: list[Listing], refusals: list[Refusal]) -> None:
    if isinstance(found, Listing):
        listings.append(found)
    else:
        refusals.append(found)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--stdio {command!r} cannot be split into words ({error}); close its quotes") from error
    if not words:
        raise InputError("--stdio is empty; give the command that starts the server, e.g. 'mcp-server-time'")
    return words
