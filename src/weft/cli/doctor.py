"""`weft doctor`: what works on this machine, found by trying it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from weft import __version__
from weft.cli import probes, probes_kernel
from weft.cli.options import Json
from weft.cli.output import people, print_json
from weft.cli.probes import Finding, Status

app = typer.Typer()

_STYLES = {Status.OK: "green", Status.LIMITED: "yellow", Status.MISSING: "red"}
_REINSTALL = "run scripts/install"


def list_probes(folder: Path) -> list[Callable[[], Finding]]:
    """Give every probe in the order shown.

    Args:
        folder: where files would be written; disk and reflink support are probed there.
    """
    return [
        probes.probe_platform,
        probes.probe_python,
        probes.probe_sqlite,
        probes.probe_changesets,
        probes.probe_schema_checks,
        partial(probes.probe_package, "mcp", _REINSTALL, required=True),
        partial(probes.probe_package, "pydantic", _REINSTALL, required=True),
        probes.probe_cores,
        probes.probe_memory,
        partial(probes.probe_disk, folder),
        partial(probes_kernel.probe_reflink, folder),
        probes_kernel.probe_landlock,
        probes_kernel.probe_seccomp,
        probes_kernel.probe_user_namespaces,
        probes_kernel.probe_overlayfs,
        partial(probes.probe_extra, "torch", "train", "training"),
        partial(probes.probe_extra, "transformers", "train", "training"),
        partial(probes.probe_extra, "pyarrow", "parquet", "Parquet exports"),
        partial(probes.probe_extra, "obstore", "objects", "snapshots in object storage"),
        partial(probes.probe_program, "node", "harnesses that run on Node.js"),
        partial(probes.probe_program, "openclaw", "rollouts with the OpenClaw harness"),
        partial(probes.probe_program, "hermes", "rollouts with the Hermes harness"),
    ]


def summarise(findings: Iterable[Finding]) -> dict[str, Any]:
    """Make the command's JSON document; `ok` is false when something the core needs is not there."""
    rows = list(findings)
    return {
        "version": __version__,
        "ok": all(row.status is not Status.MISSING for row in rows if row.required),
        "checks": [asdict(row) for row in rows],
    }


def show(findings: Iterable[Finding], console: Console) -> None:
    """Print the findings as a table, advice below the detail that it belongs to."""
    table = Table(box=None, pad_edge=False)
    for heading in ("what", "status", "detail"):
        table.add_column(heading, overflow="fold")
    for row in findings:
        detail = f"{row.detail}\n  -> {row.advice}" if row.advice else row.detail
        table.add_row(_plain(row.name), f"[{_STYLES[row.status]}]{row.status}[/]", _plain(detail))
    console.print(table)


def _plain(text: str) -> str:
    """Keep brackets in a message from being read as rich's markup."""
    return text.replace("[", r"\[")


@app.command("doctor")
def doctor(as_json: Json = False) -> None:
    """Say what works on this machine, by trying it: exit code 1 when the core cannot work."""
    console = people()
    with console.status("probing"):
        findings = [probe() for probe in list_probes(Path.cwd())]
    document = summarise(findings)
    if as_json:
        print_json(document)
    else:
        show(findings, Console(highlight=False))
    if not document["ok"]:
        console.print("weft: the core does not work here; see the rows marked missing", style="red")
        raise typer.Exit(1)
