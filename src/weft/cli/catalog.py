"""`weft catalog`: specs from files and live servers, and what is in them."""

import logging
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from weft.cli.options import Json
from weft.cli.output import people, print_json
from weft.errors import InputError
from weft.records.codec import plain
from weft.records.spec import McpSpec, Refusal
from weft.wiring.sources import Imported, Sources, import_sources, write_listings

app = typer.Typer(help="Specs in: files and live MCP servers.")

_SHOWN = 100

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILES...", help="tools/list dumps: files or folders.", show_default=False),
]


@app.command("import")
def import_(
    files: Files = None,
    stdio: Annotated[
        list[str] | None,
        typer.Option("--stdio", metavar="CMD", help="Start a server and list its tools. Repeat for several."),
    ] = None,
    http: Annotated[
        list[str] | None,
        typer.Option("--http", metavar="URL", help="List the tools of a server at a URL. Repeat for several."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="HTTP header, e.g. 'Authorization: Bearer TOKEN'."),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="Variable for a stdio server.")
    ] = None,
    patience: Annotated[
        float, typer.Option("--timeout", min=0.1, envvar="WEFT_TIMEOUT", help="Seconds for each live server.")
    ] = 20.0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", dir_okay=False, help="Write what was declared here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read specs and say what is usable. A live server is asked for its tools and for nothing else.

    Exit code 1 when no tool is usable.
    """
    # The client's log of lines that are no JSON-RPC would repeat what becomes one warning here.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    logging.getLogger("client").addHandler(logging.NullHandler())
    sources = Sources(
        files=files or (),
        commands=stdio or (),
        urls=http or (),
        headers=dict(_pair(each, ":", "--header") for each in header or ()),
        variables=dict(_pair(each, "=", "--env") for each in env or ()),
        patience=patience,
    )
    if not (sources.files or sources.commands or sources.urls):
        raise InputError("nothing to import; give FILES, --stdio 'COMMAND' or --http URL")
    if sources.commands or sources.urls:
        people().print("listing tools only: no tool of a live server is called", markup=False)
    imported = import_sources(sources)
    if out is not None and imported.listings:
        write_listings(imported.listings, out)
    document = {**_summary(imported), "out": str(out) if out is not None and imported.listings else None}
    document["note"] = "only tools/list was called"
    _show(imported, document, as_json)
    if not any(spec.tools for spec in imported.specs):
        raise typer.Exit(1)


@app.command("list")
def list_(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="tools/list dumps: files or folders.")],
    as_json: Json = False,
) -> None:
    """List the servers of files and folders, with their counts of tools."""
    imported = import_sources(Sources(files=files))
    _show(imported, _summary(imported, tools=False), as_json)
    if not imported.specs:
        raise typer.Exit(1)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A tools/list dump.")],
    server: Annotated[str | None, typer.Option("--server", metavar="NAME", help="Only this server.")] = None,
    as_json: Json = False,
) -> None:
    """Show the tools of a file: names, arguments, and what was refused."""
    imported = import_sources(Sources(files=[file]))
    specs = [spec for spec in imported.specs if server in (None, spec.name, spec.title)]
    if server is not None and not specs:
        known = ", ".join(spec.name for spec in imported.specs) or "none"
        raise InputError(f"{file} declares no server {server!r}; it has: {known}")
    shown = Imported(imported.listings, specs, imported.refusals)
    _show(shown, _summary(shown), as_json, tools=True)
    if not specs:
        raise typer.Exit(1)


def _pair(text: str, separator: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition(separator)
    if not found or not name.strip():
        raise InputError(f"{option} {text!r} has no {separator!r}; write NAME{separator}VALUE")
    return name.strip(), value.strip()


def _summary(imported: Imported, *, tools: bool = True) -> dict[str, Any]:
    specs = imported.specs
    return {
        "servers": [_server(spec, tools=tools) for spec in specs],
        "tools_declared": sum(spec.declared_tools for spec in specs),
        "tools_usable": sum(len(spec.tools) for spec in specs),
        "tools_refused": [plain(each) for spec in specs for each in spec.refused],
        "warnings": [plain(each) for spec in specs for each in spec.warnings],
        "refusals": [plain(each) for each in imported.refusals],
    }


def _server(spec: McpSpec, *, tools: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": spec.name,
        "title": spec.title,
        "version": spec.version,
        "licence": spec.licence,
        "source": spec.source,
        "tools_declared": spec.declared_tools,
        "tools_usable": len(spec.tools),
    }
    if tools:
        body["description"] = spec.description
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
            | ({"outputSchema": tool.output_schema} if tool.output_schema is not None else {})
            | ({"annotations": tool.annotations} if tool.annotations else {})
            for tool in spec.tools
        ]
    return body


def _show(imported: Imported, document: dict[str, Any], as_json: bool, *, tools: bool = False) -> None:
    console = people()
    for label, reasons in (
        ("warning", [each for spec in imported.specs for each in spec.warnings]),
        ("refused", [each for spec in imported.specs for each in spec.refused] + imported.refusals),
    ):
        for reason in reasons[:_SHOWN]:
            console.print(f"{label}: {_reason(reason)}", markup=False, soft_wrap=True)
        if len(reasons) > _SHOWN:
            console.print(f"{label}: and {len(reasons) - _SHOWN} more (--json has all)", markup=False)
    if as_json:
        print_json(document)
        return
    for spec in imported.specs:
        typer.echo(f"{spec.name}: {len(spec.tools)} of {spec.declared_tools} tools usable")
        if tools:
            _show_tools(spec)


def _show_tools(spec: McpSpec) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for tool in spec.tools:
        properties = tool.input_schema.get("properties")
        required = tool.input_schema.get("required", [])
        names = [name if name in required else f"{name}?" for name in properties or {}]
        table.add_row(*(_one_line(text) for text in (tool.name, ", ".join(names), tool.description)))
    Console(highlight=False).print(table)


def _reason(reason: Refusal) -> str:
    place = f" at {reason.path}" if reason.path else ""
    return f"{reason.code.value}: {reason.subject}{place}: {reason.message}; {reason.remedy}"


def _one_line(text: str) -> str:
    line = " ".join(text[: 4 * _SHOWN].split())
    line = line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."
    return line.replace("[", r"\[")
