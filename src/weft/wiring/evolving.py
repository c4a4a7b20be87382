"""``weft evolve``: attribution of a run's failed turns, and one evolution round over a run's folder (Weft 3.2.2)."""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.errors import FormatError, InputError, IntegrityError, WeftError
from weft.evolve.probes import EnvironmentProbe
from weft.evolve.revise import Workshop
from weft.evolve.rounds import Round, attribute_all, component_counts, evolve_round
from weft.evolve.system import AtomicEntry, System
from weft.hosts.local import LocalHost
from weft.records.base import JSON
from weft.records.codec import dump_lines, parse_json, parse_record, plain, pretty
from weft.records.composition import Composition
from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.revision import Attribution, Component, EvidenceItem
from weft.records.spec import McpSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.records.trace import Trajectory
from weft.rollouts.policies.scripted import PlannedNode
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode
from weft.runtime.ddl import render_ddl
from weft.runtime.folder import BACKEND, CERTIFICATE, CONTRACTS, SCHEMA, SPEC, read_folder, write_folder
from weft.runtime.render import render_backend
from weft.store.files import sweep, write_file, write_tree
from weft.train.prefix import Sampling, sample
from weft.train.sft import sft_files
from weft.wiring.episodes import Staged, scripted, stage_atomic, stage_composed
from weft.wiring.layout import RunFolder
from weft.wiring.progress import Progress, Step

REPORT = "report.json"
MARK = Path(".weft") / "evolution"
"""Says that a folder was made by an evolution round, so that another one may replace it."""

DEFAULTS: Mapping[str, int | float] = {"seed": 0, "size": 12, "atomic": 24, "retries": 3, "noise": 0.3}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run as evolution takes it.

    Attributes:
        system: environments and tasks.
        trajectories: rollouts.
        broken: what was wrong with environment folders when they were read.
        options: of the run.
    """

    system: System
    trajectories: tuple[Trajectory, ...]
    broken: tuple[Attribution, ...]
    options: dict[str, int | float]


def load(run: Path) -> Loaded:
    """Read a run's folder. An environment folder that is damaged is taken as its spec alone, with the reason.

    Raises:
        InputError: it is no folder of a run, has no rollouts, or a task's documents are damaged.
    """
    folder = RunFolder(run)
    environments: dict[str, Environment] = {}
    broken: list[Attribution] = []
    for name in folder.environment_names():
        environment, finding = _environment(folder, name)
        environments[name] = environment
        if finding:
            item = EvidenceItem(probe="folder", finding=finding[:300])
            broken.append(Attribution(task="", component=Component.ENVIRONMENT, subject=name, evidence=(item,)))
    atomic = {name: AtomicEntry(*folder.read_atomic(name)) for name in folder.task_names("atomic")}
    composed = {}
    for name in folder.task_names("composed"):
        task, solution, state = folder.read_composed(name)
        composed[name] = Composition(task=task, solution=solution, state=state)
    trajectories = tuple(folder.read_trajectories())
    if not trajectories:
        raise InputError(f"{run} has no rollouts to evolve from; make some with `weft run --out {run}`")
    return Loaded(System(environments, atomic, composed), trajectories, tuple(broken), read_options(run))


def _environment(folder: RunFolder, name: str) -> tuple[Environment, str]:
    """Read an environment; of a damaged folder what its documents still say, else its spec alone, and what is wrong."""
    try:
        return folder.read_environment(name), ""
    except (FormatError, IntegrityError) as error:
        place = folder.environments / name
        try:
            spec = parse_record(McpSpec, (place / SPEC).read_bytes(), f"{name}/{SPEC}")
        except OSError as missing:
            raise InputError(f"{name}: {SPEC} cannot be read ({missing.strerror}); build it again") from error
        return _rendered_again(place, spec), str(error)


def _rendered_again(place: Path, spec: McpSpec) -> Environment:
    """Return what a folder's documents say when the files that follow from them are rendered again.

    A certificate that speaks of something else is left out; when the documents themselves are damaged, nothing is left
    but the spec.
    """
    with tempfile.TemporaryDirectory() as root:
        copy = Path(root) / place.name
        shutil.copytree(place, copy, symlinks=True)
        try:
            contracts = parse_record(ContractSet, (copy / CONTRACTS).read_bytes(), CONTRACTS)
            (copy / SCHEMA).write_text(render_ddl(contracts.schema_), encoding="utf-8")
            (copy / BACKEND).write_text(render_backend(spec, contracts), encoding="utf-8")
            return _without_certificate(copy)
        except (WeftError, OSError):
            empty = ContractSet(schema=DatabaseSchema(), contracts=())
            return Environment(spec=spec, contracts=empty, seed=InitialState())


def _without_certificate(folder: Path) -> Environment:
    try:
        return read_folder(folder)
    except IntegrityError:
        (folder / CERTIFICATE).unlink(missing_ok=True)
        return read_folder(folder)


def read_options(run: Path) -> dict[str, int | float]:
    """Return the options that a run, or the round that made the folder, was built with.

    Raises:
        FormatError: the file that holds them is damaged.
    """
    for name in (REPORT, "summary.json"):
        if not (run / name).is_file():
            continue
        document = parse_json((run / name).read_bytes(), name)
        found = document.get("options", {}) if isinstance(document, dict) else {}
        seed = document.get("seed", 0) if isinstance(document, dict) else 0
        told = {**found, "seed": seed}
        return {key: told.get(key, value) for key, value in DEFAULTS.items()}
    return dict(DEFAULTS)


def stage(system: System, task: str) -> Staged | None:
    """Set a task of a system up for rollouts; None when it or one of its environments is not there."""
    if task in system.composed:
        item = system.composed[task]
        if any(pin.name not in system.environments for pin in item.task.environments):
            return None
        return stage_composed(item.task, item.solution, system.environments, item.state.states)
    entry = system.atomic.get(task)
    environment = system.environments.get(entry.task.server) if entry is not None else None
    if entry is None or environment is None:
        return None
    return stage_atomic(entry.task, entry.solution, environment, environment.seed)


def staging(system: System, task: str) -> tuple[Episode, tuple[PlannedNode, ...]] | None:
    """Return episode and plan of a task, for the evolution round."""
    staged = stage(system, task)
    return None if staged is None else (staged.episode, staged.plan)


def attribute_run(run: Path, progress: Progress) -> dict[str, Any]:
    """Attribute every failed turn of a run's stored rollouts.

    Returns:
        ``{"run", "rollouts", "failures", "counts", "attributions"}``.

    Raises:
        InputError: the run cannot be read.
    """
    loaded = load(run)
    host = LocalHost()
    found = asyncio.run(
        attribute_all(host, loaded.system, loaded.trajectories, staging, EnvironmentProbe(), _told(progress))
    )
    attributions = [*loaded.broken, *found]
    return {
        "run": str(run),
        "rollouts": len(loaded.trajectories),
        "failures": len(found),
        "counts": component_counts(attributions),
        "attributions": [plain(item) for item in attributions],
    }


def evolve_run(run: Path, out: Path, progress: Progress) -> dict[str, Any]:
    """Run one evolution round over a run's folder and write the next version of it; the run is left as it is.

    ``out`` is the folder of a run again (environments, tasks, rollouts, SFT data), with ``report.json``; the next round
    takes it as its run.

    Raises:
        InputError: the run cannot be read, or ``out`` is the run itself or holds something else.
    """
    _check_out(run, out)
    loaded = load(run)
    options = loaded.options
    shop = Workshop(
        host=LocalHost(),
        environments=RulesEnvironmentAuthor(),
        tasks=RulesTaskAuthor(),
        seed=int(options["seed"]),
        size=int(options["size"]),
        limit=int(options["atomic"]),
    )

    async def resample(system: System, earlier: Sequence[Trajectory]) -> list[Trajectory]:
        fresh = []
        for number, trajectory in enumerate(earlier, 1):
            staged = stage(system, trajectory.task)
            if staged is not None:
                fresh.append(await _again(staged, trajectory, options))
            progress(Step("rollouts", number, len(earlier), trajectory.task))
        return fresh

    result = asyncio.run(
        evolve_round(
            loaded.system, loaded.trajectories, shop, staging, resample, known=loaded.broken, told=_told(progress)
        )
    )
    return _write(result, options, out)


async def _again(staged: Staged, earlier: Trajectory, options: Mapping[str, int | float]) -> Trajectory:
    """Roll a task out again with the settings of an earlier rollout: the budget of a round is that of the last."""
    noise = None if earlier.policy == "scripted:reference" else float(options["noise"])
    return await sample(
        LocalHost(),
        ReactHarness(),
        staged.episode,
        scripted(staged.plan, noise=noise),
        view=earlier.view,
        disclosure=earlier.disclosure,
        sampling=Sampling(retries=int(options["retries"])),
        seed=earlier.seed,
    )


def _told(progress: Progress) -> Any:
    return lambda stage, done, total: progress(Step(stage, done, total))


def _check_out(run: Path, out: Path) -> None:
    """Refuse to write over the run, or over anything that no evolution round made."""
    here, there = run.resolve(), out.resolve()
    if here == there or here in there.parents or there in here.parents:
        raise InputError(f"--out {out} and --run {run} lie within each other; give another folder")
    if out.is_file():
        raise InputError(f"--out {out} is a file; give a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise InputError(f"--out {out} holds something that no evolution round wrote; give an empty folder")


def _write(result: Round, options: dict[str, int | float], out: Path) -> dict[str, Any]:
    """Write the next version of the run."""
    write_file(out / MARK, b"")
    sweep(out)
    (out / REPORT).unlink(missing_ok=True)
    folder = RunFolder(out)
    system = result.system
    _drop_gone(folder, system)
    for environment in system.environments.values():
        backend = render_backend(environment.spec, environment.contracts)
        folder.environments.mkdir(parents=True, exist_ok=True)
        write_folder(environment, folder.environments / environment.name, backend=backend)
    write_tree(out / "tasks", _task_files(system))
    views = sorted({(item.view, item.policy.startswith("scripted:")) for item in result.trajectories})
    rollouts = {
        f"{view}.scripted.jsonl" if made else f"{view}.jsonl": dump_lines(
            item for item in result.trajectories if (item.view, item.policy.startswith("scripted:")) == (view, made)
        )
        for view, made in views
    }
    write_tree(out / "rollouts", rollouts)
    write_tree(out / "sft", {name: dump_lines(lines) for name, lines in sft_files(result.trajectories).items()})
    report = result.report.model_copy(update={"options": {k: v for k, v in options.items() if k != "seed"}})
    document: dict[str, JSON] = report.model_dump(mode="json")
    write_file(out / REPORT, pretty(document))
    return document


def _drop_gone(folder: RunFolder, system: System) -> None:
    """Empty the environments of an earlier round that this one retired."""
    if not folder.environments.is_dir():
        return
    kept = set(system.environments)
    for place in sorted(folder.environments.iterdir()):
        if place.is_dir() and place.name not in kept:
            write_tree(place, {})
            place.rmdir()


def _task_files(system: System) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, entry in system.atomic.items():
        files[f"atomic/public/{name}.json"] = pretty(entry.task)
        files[f"atomic/private/{name}.json"] = pretty(entry.solution)
    for name, item in system.composed.items():
        files[f"composed/public/{name}.json"] = pretty(item.task)
        files[f"composed/private/{name}.json"] = pretty(item.solution)
        files[f"composed/states/{name}.json"] = pretty(item.state)
    return files
