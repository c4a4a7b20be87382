"""``weft evolve``: attribution of failures and evolution rounds over a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.options import Json, Out
from weft.cli.output import print_json
from weft.cli.progress import shown_progress
from weft.wiring.evolving import attribute_run, evolve_run

app = typer.Typer()

Run = Annotated[
    Path,
    typer.Option(
        "--run", envvar="WEFT_RUN", metavar="DIR", exists=True, file_okay=False, help="Folder of a `weft run`."
    ),
]


@app.callback()
def nouns() -> None:
    """Attribute failures by evidence, and hand broken components back to their authors."""


@app.command("attribute")
def attribute(run: Run, as_json: Json = False) -> None:
    """Attribute every failed turn of the stored rollouts: policy, environment, task or verifier, with the evidence.

    The reference is replayed on the same state, and the verifier evaluated on it. Nothing is changed. Exit code 1 when
    the run cannot be read.
    """
    with shown_progress() as progress:
        document = attribute_run(run, progress)
    if as_json:
        print_json(document)
        return
    typer.echo(f"{document['failures']} failed turns of {document['rollouts']} rollouts: {_counts(document['counts'])}")
    for item in document["attributions"]:
        if item["component"] != "policy":
            typer.echo(f"  {_place(item)}: {item['component']} {item['subject']}: {item['evidence'][-1]['finding']}")


@app.command("run")
def run_round(run: Run, out: Out, as_json: Json = False) -> None:
    """Run one evolution round over a run: attribute, revise, revalidate, and roll out afresh what changed.

    The next version goes to --out, which is the folder of a run again, with report.json; --run is left as it is. Exit
    code 1 when the run cannot be read or --out cannot be taken.
    """
    with shown_progress() as progress:
        document = evolve_run(run, out, progress)
    if as_json:
        print_json(document)
        return
    typer.echo(f"attributions: {_counts(document['counts'])}")
    for item in document["revisions"]:
        typer.echo(f"  {item['action']} {item['component']} {item['subject']} ({item['cause']}): {item['reason']}")
    for item in document["deferred"]:
        typer.echo(f"  left {item['component']} {item['subject']}: {item['reason']}")
    for name in ("before", "after"):
        part = document[name]
        errors = part["tool_errors"]
        share = f"{errors['errors']} of {errors['calls']} tool calls of accepted turns returned errors"
        typer.echo(
            f"{name}: {part['accepted']} of {part['rollouts']} rollouts accepted, {share} ({errors['rate']:.2%})"
        )
    typer.echo(f"report: {out / 'report.json'}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{value} {name}" for name, value in counts.items()) or "none"


def _place(item: dict[str, Any]) -> str:
    return " ".join(part for part in (item.get("task", ""), item.get("node", "")) if part) or "the run"
