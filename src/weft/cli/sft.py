"""``weft sft``: SFT data of a run."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Json
from weft.cli.output import print_json
from weft.cli.progress import shown_progress
from weft.wiring.layout import RunFolder
from weft.wiring.replay import replay_file

app = typer.Typer(no_args_is_help=True, help="SFT data of a run.")


@app.callback()
def nouns() -> None:
    """SFT data of a run."""


@app.command("replay")
def replay(
    run: Annotated[Path, typer.Option("--run", envvar="WEFT_RUN", help="Folder of a run.", metavar="DIR")],
    file: Annotated[Path | None, typer.Option("--file", help="SFT file; the run's own when left out.")] = None,
    as_json: Json = False,
) -> None:
    """Replay every line from its recorded initial state: same results, and the task's verifier passes.

    Exit code 1 when a line differs.
    """
    folder = RunFolder(run)
    path = file or run / "sft" / "sft.scripted.jsonl"
    with shown_progress() as progress:
        found = replay_file(folder, path, progress)
    wrong = [item for item in found if item.problems]
    document = {
        "file": str(path),
        "lines": len(found),
        "calls": sum(item.calls for item in found),
        "differing": [{"task": item.task, "problems": list(item.problems)} for item in wrong],
    }
    if as_json:
        print_json(document)
    else:
        typer.echo(f"{len(found)} lines, {document['calls']} calls replayed, {len(wrong)} lines differ")
        for item in wrong[:10]:
            typer.echo(f"  {item.task}: {item.problems[0]}")
    if wrong:
        raise typer.Exit(1)
