"""`weft env build` and `validate`: environments from specs, proven, and proven again."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.env import Places, app
from weft.cli.options import Json, Out, Seed
from weft.cli.output import people, print_json
from weft.cli.progress import shown_progress
from weft.wiring.building import BuildOptions, build_environments
from weft.wiring.proving import prove

__all__ = ["app"]

_SHOWN = 100


@app.command("build")
def build(
    specs: Annotated[
        list[Path],
        typer.Option("--specs", metavar="PATH", help="tools/list dumps: files or folders. Repeat for several."),
    ],
    out: Out,
    seed: Seed = 0,
    size: Annotated[
        int, typer.Option("--size", envvar="WEFT_SIZE", min=4, max=500, help="Seed rows of a main table.")
    ] = 12,
    workers: Annotated[
        int, typer.Option("--workers", envvar="WEFT_WORKERS", min=0, help="Worker processes; 0 takes one per core.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Build a certified environment from each spec: one folder each, and build.json with every reason.

    Exit code 1 only when nothing could be certified.
    """
    options = BuildOptions(specs=specs, out=out, seed=seed, size=size, workers=workers or os.cpu_count() or 1)
    with shown_progress() as progress:
        document = build_environments(options, progress)
    _tell_reasons(document)
    environments, tools = document["environments"], document["tools"]
    if as_json:
        print_json(document)
    else:
        for server in document["servers"]:
            counts = f"{server['tools_certified']} of {server['tools_declared']} tools"
            typer.echo(f"{server['name']}: {server['kind']}, {counts}")
        typer.echo(
            f"{environments['stateful']} stateful, {environments['read_only']} read-only, "
            f"{environments['refused']} refused; {tools['certified']} of {tools['declared']} tools; see build.json"
        )
    if environments["stateful"] + environments["read_only"] == 0:
        raise typer.Exit(1)


@app.command("validate")
def validate(places: Places, as_json: Json = False) -> None:
    """Prove environments again: run every check of their certificates and compare. Exit code 1 when one fails."""
    with shown_progress() as progress:
        results = prove(places, progress)
    for result in results:
        for problem in result["problems"]:
            people().print(f"{result['name']}: {problem}", style="red", markup=False, soft_wrap=True)
    valid = all(result["valid"] for result in results)
    if as_json:
        print_json({"valid": valid, "environments": results})
    else:
        for result in results:
            typer.echo(f"{result['name']}: {'valid' if result['valid'] else 'NOT valid'}, {result['checks']} checks")
    if not valid:
        raise typer.Exit(1)


def _tell_reasons(document: dict[str, Any]) -> None:
    console = people()
    reasons = [*document["refusals"], *document["tools_refused"]]
    for reason in reasons[:_SHOWN]:
        place = f" at {reason['path']}" if reason.get("path") else ""
        line = f"refused: {reason['code']}: {reason['subject']}{place}: {reason['message']}; {reason['remedy']}"
        console.print(_one_line(line, 400), markup=False, soft_wrap=True)
    if len(reasons) > _SHOWN:
        console.print(f"refused: and {len(reasons) - _SHOWN} more (build.json has all)", markup=False)


def _one_line(text: str, limit: int = _SHOWN) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
