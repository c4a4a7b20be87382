"""`weft env serve` and `show`: environments as MCP servers, and what is in them."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Json, Seed
from weft.cli.output import people, print_json
from weft.wiring.describing import describe
from weft.wiring.serving import serve_http, serve_stdio

app = typer.Typer(help="Environments: build, serve, show, validate.")

_SHOWN = 100

Places = Annotated[
    list[Path],
    typer.Argument(metavar="DIR...", help="Environment folders, or folders that hold some.", show_default=False),
]


@app.command("serve")
def serve(
    places: Places,
    http: Annotated[
        int | None, typer.Option("--http", metavar="PORT", min=0, max=65535, help="Streamable HTTP on this port.")
    ] = None,
    port: Annotated[
        int, typer.Option("--port", envvar="WEFT_PORT", min=0, max=65535, help="The same; 0 takes a free port.")
    ] = 8080,
    stdio: Annotated[bool, typer.Option("--stdio", help="Standard input and output instead of HTTP.")] = False,
    host: Annotated[str, typer.Option("--host", envvar="WEFT_HOST", help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option("--token", envvar="WEFT_TOKEN", help="The only bearer token accepted; any is, without it."),
    ] = None,
    seed: Seed = 0,
    reset: Annotated[
        bool, typer.Option("--reset", help="Start from the initial state at each new connection.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve environments as MCP servers, in both protocol eras, until interrupted.

    State is kept for the life of the process, apart for each token. The URL is told on standard error; with --json as
    one document on standard output.
    """
    if stdio:
        serve_stdio(places, seed=seed)
        return

    def announce(urls: dict[str, str]) -> None:
        for url in urls.values():
            people().print(f"serving {url}", markup=False, soft_wrap=True)
        if as_json:
            print_json({"servers": urls})

    serve_http(
        places, host=host, port=port if http is None else http, token=token, seed=seed, reset=reset, announce=announce
    )


@app.command("show")
def show(places: Places, as_json: Json = False) -> None:
    """Show environments: kind, tables, tools and how much of their meaning was declared."""
    documents = describe(places)
    if as_json:
        print_json(documents[0] if len(documents) == 1 else {"environments": documents})
        return
    for document in documents:
        typer.echo(f"{document['name']}: {document['kind']}, {document['description'] or document['title']}")
        for table in document["tables"]:
            typer.echo(f"  table {table['name']}: {table['rows']} rows ({', '.join(table['columns'])})")
        for tool in document["tools"]:
            typer.echo(f"  {tool['effect']:5} {tool['name']}: {_one_line(tool['description'])}")
        for reason in document["refused"]:
            typer.echo(f"  refused {reason['subject']}: {reason['code']}: {_one_line(reason['message'])}")


def _one_line(text: str, limit: int = _SHOWN) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
