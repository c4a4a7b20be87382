"""``weft rl``: atomic-turn reinforcement learning."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Json, Seed
from weft.cli.output import print_json
from weft.cli.progress import shown_progress
from weft.wiring.rl import RlOptions, walk_once

app = typer.Typer()


@app.callback()
def rl() -> None:
    """Reinforcement learning on the tasks of a run."""


@app.command("train")
def train(
    run: Annotated[
        Path,
        typer.Option("--run", metavar="DIR", exists=True, file_okay=False, help="Folder of a finished `weft run`."),
    ],
    group: Annotated[
        int, typer.Option("--group", envvar="WEFT_GROUP", min=2, max=256, help="G: candidates per turn.")
    ] = 8,
    tasks: Annotated[int, typer.Option("--tasks", min=1, max=64, help="Atomic tasks; the shortest are taken.")] = 4,
    tools: Annotated[int, typer.Option("--tools", min=1, help="Most tools that the tiny model is told of.")] = 3,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Walk one atomic-turn GRPO update with a tiny model on segments sampled in the run's environments.

    Needs the train extra. Writes rl/report.json and rl/groups.jsonl into the run's folder. Exit code 1 when no group
    had both passing and failing candidates, so that there was nothing to learn.
    """
    options = RlOptions(run=run, candidates=group, tasks=tasks, tools=tools, seed=seed)
    with shown_progress() as progress:
        result = walk_once(options, progress)
    if as_json:
        print_json(result.document)
    else:
        update = result.document["update"]
        typer.echo(f"{update['kept']} of {update['groups']} groups, {update['rows']} rows, {update['tokens']} tokens")
        typer.echo(f"mean reward before {update['reward']}, loss {update['loss']:.4f}, KL {update['kl']:.4f}")
        change = result.document["logprob_change"]
        told = [f"{name} {change[name]:+.3f}" for name in ("rewarded", "unrewarded") if change[name] is not None]
        typer.echo(f"change of the log-probability of segments: {', '.join(told) or 'none to compare'}")
        typer.echo(str(run / "rl" / "report.json"))
    if not result.updated:
        typer.echo(f"weft: no update: {result.document['update']['skipped']}", err=True)
        raise typer.Exit(1)
