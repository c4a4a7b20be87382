"""How well failures are attributed: one planted fault at a time, and what the failures on it were put down to.

    python benchmarks/attribution.py [--specs PATH ...] [--seed N] [--tasks N] [--json]

Every atomic task of every environment meets every kind of fault that applies to it, planted in each way (see
weft.evolve.experiment). The table says for each kind and way: trials, how many failed anything, and what the failures
were attributed to.
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.catalog.dumps import read_specs
from weft.envs.synthesis import synthesise
from weft.evolve.experiment import Mode, Scene, Trial, try_planted, try_policy
from weft.evolve.planting import Planted
from weft.evolve.probes import EnvironmentProbe
from weft.evolve.system import AtomicEntry
from weft.hosts.local import LocalHost
from weft.tasks.atomic import build_atomic

CATALOG = Path(__file__).resolve().parents[1] / "examples" / "catalog"
POLICIES = 3
"""Seeds with which a policy that always errs tries each intact task."""

DEFAULT = ("calendar", "notebook", "workspace-chat")


async def scenes_of(spec_path: Path, *, seed: int, tasks: int) -> list[Scene]:
    """Return the atomic tasks of one spec's environment, as scenes."""
    specs, _ = read_specs([spec_path])
    scenes = []
    for spec in specs:
        environment = (await synthesise(spec, RulesEnvironmentAuthor(), seed=seed)).environment
        if environment is None:
            continue
        library = await build_atomic(environment, RulesTaskAuthor(), LocalHost(), seed=seed, limit=tasks)
        pairs = zip(library.tasks, library.solutions, strict=True)
        scenes += [Scene(AtomicEntry(task, solution), environment, environment.seed) for task, solution in pairs]
    return scenes


async def trials_of(scenes: Sequence[Scene], *, seed: int) -> list[Trial]:
    """Try every kind of fault on every task, in every way."""
    host, probe = LocalHost(), EnvironmentProbe()
    ways = [(kind, mode) for kind in Planted for mode in Mode]
    found: list[Trial | None] = []
    for scene in scenes:
        found += [await try_planted(host, scene, kind, mode, probe, seed=seed) for kind, mode in ways]
        found += [await try_policy(host, scene, probe, seed=seed + number) for number in range(POLICIES)]
    return [trial for trial in found if trial is not None]


def table_of(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return one row for each kind of fault, way of planting and whether a certificate sees it."""
    rows: dict[tuple[str, str, str, bool], list[Trial]] = {}
    for trial in trials:
        rows.setdefault((trial.truth.value, trial.kind, trial.mode.value, trial.seen), []).append(trial)
    made = []
    for (truth, kind, mode, seen), group in sorted(rows.items()):
        shown = [trial for trial in group if trial.attribution is not None]
        counts = Counter(trial.attribution.component.value for trial in shown if trial.attribution is not None)
        made.append(
            {
                "truth": truth,
                "kind": kind,
                "mode": mode if truth != "policy" else "",
                "seen_by_certificate": seen,
                "trials": len(group),
                "failed": len(shown),
                "attributed": dict(sorted(counts.items())),
                "right": sum(bool(trial.right) for trial in shown),
            }
        )
    return made


def summary_of(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the confusion by component, and accuracy over failures: seen by a certificate, not seen, the policy's."""
    shown = [trial for trial in trials if trial.attribution is not None]
    confusion: dict[str, Counter[str]] = {}
    for trial in shown:
        if trial.attribution is not None:
            confusion.setdefault(trial.truth.value, Counter())[trial.attribution.component.value] += 1
    parts = {
        "all": shown,
        "seen_by_certificate": [trial for trial in shown if trial.seen],
        "not_seen_by_certificate": [trial for trial in shown if not trial.seen and trial.truth.value != "policy"],
        "policy": [trial for trial in shown if trial.truth.value == "policy"],
    }
    return {
        "confusion": {truth: dict(sorted(counts.items())) for truth, counts in sorted(confusion.items())},
        "accuracy": {
            name: {
                "failures": len(part),
                "right": (right := sum(bool(trial.right) for trial in part)),
                "share": round(right / len(part), 4) if part else None,
            }
            for name, part in parts.items()
        },
    }


async def measure(specs: Sequence[Path], *, seed: int, tasks: int) -> dict[str, Any]:
    """Return the whole document."""
    started = time.monotonic()
    scenes = [scene for path in specs for scene in await scenes_of(path, seed=seed, tasks=tasks)]
    trials = await trials_of(scenes, seed=seed)
    return {
        "specs": [path.stem for path in specs],
        "seed": seed,
        "tasks": len(scenes),
        **summary_of(trials),
        "rows": table_of(trials),
        "seconds": round(time.monotonic() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--specs", type=Path, nargs="+", default=[CATALOG / f"{name}.json" for name in DEFAULT])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tasks", type=int, default=24, help="atomic tasks per environment, at most")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    document = asyncio.run(measure(options.specs, seed=options.seed, tasks=options.tasks))
    if options.json:
        print(json.dumps(document, indent=2))
        return
    print(f"{document['tasks']} tasks of {', '.join(document['specs'])}, {document['seconds']} s")
    for row in document["rows"]:
        words = ", ".join(f"{count} {name}" for name, count in row["attributed"].items()) or "-"
        seen = "seen" if row["seen_by_certificate"] else "unseen"
        print(
            f"{row['truth']:12} {row['kind']:22} {row['mode']:12} {seen:7}"
            f" {row['failed']:4} of {row['trials']:4}  {words}"
        )
    for name, part in document["accuracy"].items():
        print(f"{name}: {part['right']} of {part['failures']}")


if __name__ == "__main__":
    main()
