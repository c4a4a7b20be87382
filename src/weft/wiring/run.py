"""``weft run``: specs in; environments, tasks, rollouts, SFT data and a report out.

Every result is a pure function of specs, seed and options; the same ones give the same bytes. Work is cut into
pieces (an
environment, a library, the composition, a rollout); a finished piece is kept and never made again, and every file is
put in place whole.
"""

import asyncio
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.agents.rules.composition.author import RulesCompositionAuthor
from weft.catalog.domains import labelled
from weft.catalog.dumps import read_specs
from weft.dashboard.report import render_report
from weft.errors import FormatError
from weft.hosts.local import LocalHost
from weft.records.base import JSON
from weft.records.codec import content_hash, dump_lines, parse_json, parse_record, plain, pretty
from weft.records.composition import CompositionResult
from weft.records.environment import Environment
from weft.records.library import AtomicLibrary
from weft.records.rollout import SampledRollout
from weft.records.run import RunSummary
from weft.records.spec import Refusal, RefusalCode
from weft.rollouts.segment import derive_seed
from weft.store.files import sweep, write_file
from weft.store.pieces import Pieces
from weft.tasks.compose import compose
from weft.train.sft import sft_files
from weft.wiring.building import BuildOptions, Built, make_environments
from weft.wiring.jobs import atomic_piece, rollout_piece
from weft.wiring.layout import RunFolder
from weft.wiring.pool import CRASH, Job, Workers
from weft.wiring.progress import Progress, Step
from weft.wiring.summary import RunResults, summarise_run

VIEWS = ("simuser", "agentic")
DISCLOSURES = ("full", "partial", "vague")


@dataclass(frozen=True)
class RunOptions:
    """What to run.

    Attributes:
        specs: files and folders of tools/list dumps.
        out: folder for everything.
        tasks: composed tasks wanted.
        seed: of everything random.
        size: wanted seed rows of a main table.
        atomic: most atomic tasks per environment.
        retries: k, additional attempts per turn.
        noise: share of turns in which the noisy policy errs.
        workers: processes.
    """

    specs: Sequence[Path]
    out: Path
    tasks: int = 24
    seed: int = 0
    size: int = 12
    atomic: int = 24
    retries: int = 3
    noise: float = 0.3
    workers: int = 1

    def recorded(self) -> dict[str, JSON]:
        """Options that results depend on; paths and the number of workers are not among them."""
        names = ("tasks", "seed", "size", "atomic", "retries", "noise")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class RunResult:
    """What the command prints.

    Attributes:
        document: of ``--json``.
        lines: for people.
        certified: at least one environment was.
    """

    document: dict[str, Any]
    lines: tuple[str, ...]
    certified: bool


@dataclass
class _Clock:
    """Seconds by stage; the only wall-clock figures of a run, kept in ``timings.json``."""

    started: float = field(default_factory=time.monotonic)
    marks: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.monotonic)

    def mark(self, stage: str) -> None:
        now = time.monotonic()
        self.marks[stage] = round(now - self.last, 3)
        self.last = now

    def seconds(self) -> float:
        return round(time.monotonic() - self.started, 3)


def other_run(options: RunOptions) -> str:
    """Return what the output folder holds of a run with other options, in words; empty if nothing."""
    try:
        kept = parse_json((options.out / "summary.json").read_bytes(), "summary.json")
        before = dict(kept["options"])
    except (OSError, FormatError, KeyError, TypeError, ValueError):
        return ""
    now = options.recorded()
    differing = [f"{name} {before.get(name)}, now {now[name]}" for name in now if before.get(name) != now[name]]
    return "; ".join(differing)


def run_all(options: RunOptions, progress: Progress) -> RunResult:
    """Run the whole job.

    Raises:
        InputError: a path of the specs is not there, or the output folder cannot be written.
    """
    clock = _Clock()
    folder = RunFolder(options.out)
    sweep(options.out) if options.out.is_dir() else None
    specs, unread = read_specs(list(options.specs))
    specs = [labelled(spec) for spec in specs]
    pieces = Pieces(folder.work / "pieces", {"seed": options.seed, "size": options.size})
    with Workers(pieces, count=options.workers, progress=progress) as workers:
        build = BuildOptions(options.specs, folder.environments, options.seed, options.size, options.workers)
        built = make_environments(specs, build, workers)
        _forget_environments(folder, built)
        clock.mark("environments")
        faults: list[Refusal] = []
        libraries = _libraries(built, options, folder, workers, faults)
        clock.mark("atomic_tasks")
        composed = _composed(built, libraries, options, folder, pieces, progress)
        clock.mark("composed_tasks")
        rollouts = _rollouts(composed, built, options, folder, workers, faults)
        clock.mark("rollouts")
    results = RunResults(tuple(built), tuple(unread), libraries, composed, tuple(rollouts), tuple(faults))
    summary = _write_results(results, options, folder)
    clock.mark("report")
    write_file(folder.root / "timings.json", pretty({"seconds": clock.seconds(), "stages": clock.marks}))
    return _result(summary, folder, clock.seconds())


def _certified(built: Sequence[Built]) -> list[Environment]:
    return [each.environment for each in built if each.environment is not None and each.kind != "refused"]


def _libraries(
    built: Sequence[Built], options: RunOptions, folder: RunFolder, workers: Workers, faults: list[Refusal]
) -> dict[str, AtomicLibrary]:
    """Build and write the atomic tasks of every certified environment."""
    environments = _certified(built)
    jobs = [
        Job(
            environment.name,
            [environment.hash, options.atomic],
            {"environment": plain(environment), "seed": options.seed, "limit": options.atomic},
        )
        for environment in environments
    ]
    found: dict[str, AtomicLibrary] = {}
    for environment, piece in zip(environments, workers.map("atomic_tasks", atomic_piece, jobs), strict=True):
        if CRASH in piece:
            faults.append(_fault(environment.name, f"atomic tasks: {piece[CRASH]}"))
            found[environment.name] = AtomicLibrary(environment=environment.name, environment_hash=environment.hash)
            continue
        library = parse_record(AtomicLibrary, piece, environment.name)
        found[environment.name] = library
        for task, solution in zip(library.tasks, library.solutions, strict=True):
            write_file(folder.task("atomic", "public", task.id), pretty(task))
            write_file(folder.task("atomic", "private", task.id), pretty(solution))
        report = library.model_copy(update={"tasks": (), "solutions": ()})
        write_file(folder.task("atomic", "libraries", environment.name), pretty(report))
    names = {task.id for library in found.values() for task in library.tasks}
    for part, kept in (("public", names), ("private", names), ("libraries", set(found))):
        _forget(folder, "atomic", part, kept)
    return found


def _forget_environments(folder: RunFolder, built: Sequence[Built]) -> None:
    """Remove environments that an earlier run on other specs left; anything else in the folder stays."""
    kept = {environment.name for environment in _certified(built)}
    for path in sorted(folder.environments.glob("*/spec.json")):
        if path.parent.name not in kept:
            shutil.rmtree(path.parent)


def _forget(folder: RunFolder, kind: str, part: str, kept: set[str]) -> None:
    """Remove documents that an earlier run with other specs or options left."""
    for path in folder.task(kind, part, "x").parent.glob("*.json"):
        if path.stem not in kept and path.is_file():
            path.unlink()


def _composed(
    built: Sequence[Built],
    libraries: dict[str, AtomicLibrary],
    options: RunOptions,
    folder: RunFolder,
    pieces: Pieces,
    progress: Progress,
) -> CompositionResult:
    """Compose tasks over the libraries and write them."""
    environments = _certified(built)
    used = {name: library for name, library in libraries.items() if library.tasks}
    key = pieces.key("composed_tasks", options.tasks, [content_hash(library) for library in used.values()])
    kept = pieces.get("composed_tasks", key)
    progress(Step("composed_tasks", 0, options.tasks, kept=kept is not None))
    if kept is None:
        result = asyncio.run(
            compose(
                used,
                environments,
                LocalHost(),
                RulesCompositionAuthor(),
                count=options.tasks,
                seed=options.seed,
                told=lambda settled: progress(Step("composed_tasks", settled, options.tasks)),
            )
        )
        pieces.put("composed_tasks", key, result)
    else:
        result = parse_record(CompositionResult, kept, "composition")
    for item in result.compositions:
        write_file(folder.task("composed", "public", item.task.id), pretty(item.task))
        write_file(folder.task("composed", "private", item.task.id), pretty(item.solution))
        write_file(folder.task("composed", "states", item.task.id), pretty(item.state))
    names = {item.task.id for item in result.compositions}
    for part in ("public", "private", "states"):
        _forget(folder, "composed", part, names)
    progress(Step("composed_tasks", options.tasks, options.tasks))
    return result


def _rollouts(
    composed: CompositionResult,
    built: Sequence[Built],
    options: RunOptions,
    folder: RunFolder,
    workers: Workers,
    faults: list[Refusal],
) -> list[SampledRollout]:
    """Sample every composed task in both views; disclosure goes round."""
    hashes = {environment.name: environment.hash for environment in _certified(built)}
    jobs = []
    for index, item in enumerate(composed.compositions):
        for view in VIEWS:
            payload = {
                "out": str(folder.root),
                "task": item.task.id,
                "view": view,
                "disclosure": DISCLOSURES[index % len(DISCLOSURES)],
                "seed": derive_seed(options.seed, "rollout", item.task.id, view),
                "retries": options.retries,
                "noise": options.noise,
            }
            depends = {name: value for name, value in payload.items() if name != "out"}
            pins = [hashes[pin.name] for pin in item.task.environments]
            jobs.append(Job(f"{item.task.id} {view}", [depends, content_hash(item), pins], payload))
    found = workers.map("rollouts", rollout_piece, jobs)
    faults += [
        _fault(job.label, f"rollout: {piece[CRASH]}") for job, piece in zip(jobs, found, strict=True) if CRASH in piece
    ]
    return [parse_record(SampledRollout, piece, "rollout") for piece in found if CRASH not in piece]


def _fault(subject: str, message: str) -> Refusal:
    return Refusal(
        code=RefusalCode.INTERNAL,
        subject=subject,
        message=message,
        remedy="report it with the specs, the seed and the options; the rest of the run is not touched",
    )


def _write_results(results: RunResults, options: RunOptions, folder: RunFolder) -> RunSummary:
    """Write rollouts, SFT data, summary and report."""
    trajectories = [rollout.trajectory for rollout in results.rollouts]
    for view in VIEWS:
        lines = dump_lines(item for item in trajectories if item.view == view)
        write_file(folder.root / "rollouts" / f"{view}.scripted.jsonl", lines)
    attributions = [item for rollout in results.rollouts for item in rollout.attributions]
    write_file(folder.root / "rollouts" / "attributions.json", pretty({"attributions": attributions}))
    files = sft_files(trajectories)
    for name in ("sft.scripted.jsonl", "rejected.scripted.jsonl"):
        write_file(folder.root / "sft" / name, dump_lines(files.get(name, [])))
    summary = summarise_run(results, seed=options.seed, options=options.recorded())
    write_file(folder.root / "summary.json", pretty(summary))
    write_file(folder.root / "report.html", render_report(summary).encode())
    return summary


def _result(summary: RunSummary, folder: RunFolder, seconds: float) -> RunResult:
    rows = summary.environments
    kinds = [row.kind for row in rows]
    report = folder.root / "report.html"
    sft = folder.root / "sft" / "sft.scripted.jsonl"
    reasons = [*summary.unread, *(one for row in rows if row.kind == "refused" for one in row.refusals)]
    document: dict[str, Any] = {
        "environments": {
            "attempted": len(rows) + len(summary.unread),
            "stateful": kinds.count("stateful"),
            "read_only": kinds.count("read_only"),
            "refused": kinds.count("refused") + len(summary.unread),
        },
        "tools": {
            "declared": sum(row.declared for row in rows),
            "certified": sum(row.certified for row in rows),
            "refused": sum(row.declared - row.certified for row in rows),
        },
        "tasks": {
            "atomic": summary.atomic_tasks,
            "composed": len(summary.tasks),
            "refused": sum(summary.task_refusals.values()),
        },
        "mutants": summary.mutants,
        "rollouts": {"run": summary.rollouts_run, "accepted": summary.rollouts_accepted},
        "sft": {"trajectories": summary.sft.get("sft.scripted.jsonl", 0), "path": str(sft)},
        "attributions": summary.attributions,
        "refusals": [plain(reason) for reason in reasons],
        "faults": [plain(fault) for fault in summary.faults],
        "report": str(report),
        "seconds": seconds,
    }
    counts = document["environments"], document["tools"], document["tasks"], document["rollouts"]
    names = ("environments", "tools", "tasks", "rollouts")
    lines = [
        f"{name}: " + ", ".join(f"{value} {word.replace('_', '-')}" for word, value in part.items())
        for name, part in zip(names, counts, strict=True)
    ]
    lines += [f"refused: {one.subject} ({one.code.value}): {one.message} {one.remedy}" for one in reasons[:20]]
    lines += [f"SFT data: {document['sft']['trajectories']} trajectories in {sft}", f"report: {report}"]
    return RunResult(document, tuple(lines), kinds.count("stateful") + kinds.count("read_only") > 0)
