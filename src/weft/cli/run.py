"""``weft run``: the main job, from specs to SFT data and a report."""

import os
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import Json, Out, Seed
from weft.cli.output import people, print_json
from weft.cli.progress import shown_progress
from weft.wiring.run import RunOptions, other_run, run_all

app = typer.Typer()


@app.command("run")
def run(
    specs: Annotated[
        list[Path],
        typer.Option("--specs", help="tools/list dumps: files or folders. Repeat for several.", metavar="PATH"),
    ],
    out: Out,
    tasks: Annotated[
        int, typer.Option("--tasks", envvar="WEFT_TASKS", min=0, help="Composed tasks wanted.", metavar="N")
    ] = 24,
    seed: Seed = 0,
    size: Annotated[
        int, typer.Option("--size", envvar="WEFT_SIZE", min=4, max=500, help="Seed rows of a main table.")
    ] = 12,
    atomic: Annotated[
        int, typer.Option("--atomic", envvar="WEFT_ATOMIC", min=1, help="Atomic tasks per environment, at most.")
    ] = 24,
    retries: Annotated[
        int, typer.Option("--retries", envvar="WEFT_RETRIES", min=0, help="k: additional attempts per turn.")
    ] = 3,
    noise: Annotated[
        float,
        typer.Option("--noise", envvar="WEFT_NOISE", min=0.0, max=1.0, help="Share of turns with a seeded fault."),
    ] = 0.3,
    workers: Annotated[
        int, typer.Option("--workers", envvar="WEFT_WORKERS", min=0, help="Worker processes; 0 takes one per core.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Specs in; environments, tasks, rollouts, SFT data and report.html out. Offline, no key.

    Killed at any moment and started again with the same arguments, it continues with what is left. Exit code 1 only if
    nothing could be certified.
    """
    options = RunOptions(
        specs=tuple(specs),
        out=out,
        tasks=tasks,
        seed=seed,
        size=size,
        atomic=atomic,
        retries=retries,
        noise=noise,
        workers=workers
        or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)),
    )
    replaced = other_run(options)
    if replaced:
        people().print(f"weft: {out} holds a run with other options ({replaced}); it is replaced", markup=False)
    with shown_progress() as progress:
        result = run_all(options, progress)
    if as_json:
        print_json(result.document)
    else:
        for line in result.lines:
            typer.echo(line)
    if not result.certified:
        raise typer.Exit(1)
