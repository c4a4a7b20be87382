"""Specs from files: `tools/list` dumps and the other forms in which people keep them.

Read are, in one file: a dump ``{"server": ..., "tools": [...]}``, a bare list of tools, a ``tools/list`` result or the
whole JSON-RPC response around it, a list of OpenAI tool definitions, a stored spec, and a list of dumps. What cannot
be read is a typed reason, and the other files go on.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from weft.catalog.listing import Listing
from weft.catalog.names import unique_slugs
from weft.catalog.normalise import shorten, spec_from_listing
from weft.errors import FormatError, InputError
from weft.records.base import JSON
from weft.records.codec import parse_json
from weft.records.spec import McpSpec, Refusal, RefusalCode

MAX_BYTES = 64 * 1024 * 1024
_FORMS = "a tools/list dump, a list of tools, a tools/list result, or a list of OpenAI tools"


def read_specs(paths: Sequence[Path]) -> tuple[list[McpSpec], list[Refusal]]:
    """Read every server that the files and folders declare.

    Args:
        paths: files, and folders whose ``*.json`` files are read in the order of their names.

    Returns:
        The specs, with slugs that are unique among them, and why some files or servers are not there. A server whose
        every tool was refused is a spec without tools; one that declares none at all is a refusal.

    Raises:
        InputError: a path is not there, or a folder holds no ``*.json`` file.
    """
    listings, refusals = read_listings(paths)
    return specs_of(listings, refusals)


def specs_of(listings: Sequence[Listing], refusals: Iterable[Refusal] = ()) -> tuple[list[McpSpec], list[Refusal]]:
    """Normalise listings under unique slugs; servers that declare nothing join the refusals."""
    reasons = list(refusals)
    specs: list[McpSpec] = []
    for slug, listing in zip(unique_slugs(each.name for each in listings), listings, strict=True):
        spec = spec_from_listing(slug, listing)
        if spec.declared_tools:
            specs.append(spec)
        else:
            reasons.extend(spec.refused)
    return specs, reasons


def read_listings(paths: Sequence[Path]) -> tuple[list[Listing], list[Refusal]]:
    """Read the raw declarations of files and folders; see :func:`read_specs`."""
    listings: list[Listing] = []
    refusals: list[Refusal] = []
    for file in _files(paths):
        try:
            found = listings_in(_load(file), stem=file.stem, source=file.name)
        except _Unusable as reason:
            refusals.append(reason.refusal)
        else:
            listings.extend(found)
    return listings, refusals


def listings_in(document: JSON, *, stem: str, source: str) -> list[Listing]:
    """Find the servers that one JSON document declares.

    Args:
        document: of any of the forms in this module's docstring.
        stem: the server's name where the document gives none.
        source: name of the file, for messages.
    """
    if isinstance(document, dict) and isinstance(document.get("result"), dict) and "tools" not in document:
        document = document["result"]
    if isinstance(document, dict):
        if "tools" not in document:
            keys = ", ".join(sorted(document)[:8]) or "none"
            raise _Unusable(RefusalCode.NOT_A_SPEC, source, f"no 'tools' in the object (its keys: {keys})", _FORMS)
        return [_listing(document, stem, source)]
    if isinstance(document, list) and document and all(isinstance(each, dict) and "tools" in each for each in document):
        return [_listing(each, f"{stem}-{number}", source) for number, each in enumerate(document, 1)]
    if isinstance(document, list) and (not document or any(_looks_like_tool(each) for each in document)):
        return [Listing(name=stem, tools=document, source=source)]
    raise _Unusable(
        RefusalCode.NOT_A_SPEC, source, f"neither an object nor a list of tools: {shorten(document)}", _FORMS
    )


class _Unusable(Exception):
    """Carries the reason why a file is not usable."""

    def __init__(self, code: RefusalCode, subject: str, message: str, wanted: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(code=code, subject=subject, message=message, remedy=f"give {wanted}")


def _files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(each for each in path.iterdir() if each.suffix == ".json" and each.is_file())
            if not inside:
                raise InputError(f"{path} holds no .json file; give the folder that holds the specs, or the files")
            files.extend(inside)
        elif path.exists():
            files.append(path)
        else:
            raise InputError(f"{path} is not there; give files or folders with {_FORMS}")
    # A file that is named twice is one file.
    return list(dict.fromkeys(files))


def _load(file: Path) -> JSON:
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise _Unusable(
                RefusalCode.TOO_LARGE,
                file.name,
                f"{size} bytes; a spec may have {MAX_BYTES}",
                "a smaller file, e.g. one for each server",
            )
        data = file.read_bytes()
    except OSError as error:
        raise _Unusable(
            RefusalCode.UNREACHABLE, file.name, f"cannot be read: {error.strerror}", "a readable file"
        ) from error
    try:
        return parse_json(data, file.name)
    except FormatError as error:
        raise _Unusable(RefusalCode.NOT_JSON, file.name, str(error), "a file with one JSON document") from error


def _listing(document: dict[str, Any], stem: str, source: str) -> Listing:
    info = document.get("serverInfo")
    about = {**document, **info} if isinstance(info, dict) else document
    tools = document["tools"]
    if isinstance(tools, list):
        tools = [_as_declared(tool) for tool in tools]
    return Listing(
        name=_text(about, "server", "name", "title") or stem,
        tools=tools,
        description=_text(document, "description", "instructions"),
        version=_text(about, "version"),
        licence=_text(document, "licence", "license"),
        source=source,
        domain=_text(document, "domain"),
        title=_text(about, "title"),
    )


def _as_declared(tool: Any) -> Any:
    """A stored spec keeps each tool's declaration beside what was read from it."""
    if isinstance(tool, dict) and isinstance(tool.get("declared"), dict) and "input_schema" in tool:
        return tool["declared"]
    return tool


def _looks_like_tool(value: Any) -> bool:
    return isinstance(value, dict) and ("name" in value or "function" in value)


def _text(document: dict[str, Any], *keys: str) -> str:
    """The first of the keys that holds a text that is not blank."""
    for key in keys:
        value = document.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""
