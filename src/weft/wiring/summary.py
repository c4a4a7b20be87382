"""The run's summary: every figure of the report, counted from the results (pure)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weft import __version__
from weft.records.base import JSON
from weft.records.certificate import MutantResult, TaskCertificate
from weft.records.composition import Composition, CompositionResult
from weft.records.library import AtomicLibrary
from weft.records.rollout import SampledRollout
from weft.records.run import EnvironmentRow, RunSummary, TaskRow
from weft.records.spec import Refusal
from weft.train.sft import attempts_per_turn, sft_files
from weft.wiring.building import Built, reasons_of
from weft.wiring.jobs import attribution_counts


@dataclass(frozen=True, slots=True)
class RunResults:
    """What every stage made."""

    built: tuple[Built, ...]
    unread: tuple[Refusal, ...]
    libraries: Mapping[str, AtomicLibrary]
    composed: CompositionResult
    rollouts: tuple[SampledRollout, ...]
    faults: tuple[Refusal, ...] = ()


def summarise_run(results: RunResults, *, seed: int, options: dict[str, JSON]) -> RunSummary:
    """Return the summary of a run."""
    libraries = results.libraries
    solutions = [solution for library in libraries.values() for solution in library.solutions]
    tasks = [task for library in libraries.values() for task in library.tasks]
    trajectories = [rollout.trajectory for rollout in results.rollouts]
    refusals = Counter(finding.refusal.code.value for library in libraries.values() for finding in library.findings)
    refusals.update(refusal.code.value for refusal in results.composed.refusals)
    certificates = [solution.certificate for solution in solutions]
    certificates += [item.solution.certificate for item in results.composed.compositions]
    return RunSummary(
        weft=__version__,
        seed=seed,
        options=options,
        environments=tuple(_row(built, libraries.get(built.spec.name)) for built in results.built),
        unread=results.unread,
        faults=results.faults,
        tasks=tuple(_task(item) for item in results.composed.compositions),
        atomic_tasks=len(solutions),
        task_refusals=dict(sorted(refusals.items())),
        chain_lengths=dict(sorted(Counter(len(solution.chain) for solution in solutions).items())),
        kinds=dict(sorted(Counter(task.kind for task in tasks).items())),
        mutants=mutant_counts(certificates),
        rollouts_run=len(trajectories),
        rollouts_accepted=sum(item.passed is True for item in trajectories),
        attempts=attempts_per_turn(trajectories),
        rejections=_rejections(results.rollouts),
        attributions=attribution_counts(list(results.rollouts)),
        sft={name: len(lines) for name, lines in sorted(sft_files(trajectories).items())},
    )


def mutant_counts(certificates: Iterable[TaskCertificate | None]) -> dict[str, int]:
    """Return how many mutants were tried, killed, equivalent and survived."""
    mutants: list[MutantResult] = [
        mutant for certificate in certificates if certificate for mutant in certificate.mutants
    ]
    outcomes = Counter(mutant.outcome for mutant in mutants)
    return {
        "mutants": len(mutants),
        "killed": outcomes["killed"],
        "equivalents": outcomes["equivalent"],
        "survived": outcomes["survived"],
    }


def _row(built: Built, library: AtomicLibrary | None) -> EnvironmentRow:
    environment, spec = built.environment, built.spec
    row = EnvironmentRow(
        name=spec.name,
        title=spec.title,
        domain=spec.domain,
        kind=built.kind,
        declared=spec.declared_tools or len(spec.tools),
        refusals=tuple(reasons_of(built)),
    )
    if environment is None or built.kind == "refused":
        return row
    certificate = environment.certificate
    tools = certificate.tools if certificate else ()
    arguments = Counter(argument.provenance for tool in tools for argument in tool.arguments)
    return row.model_copy(
        update={
            "certified": len(environment.served()),
            "writes": sum(contract.effect == "write" for contract in environment.contracts.contracts),
            "tables": len(environment.contracts.schema_.tables),
            "rows": sum(len(rows) for rows in environment.seed.rows.values()),
            "rounds": built.rounds,
            "arguments": dict(sorted(arguments.items())),
            "rules": certificate.fidelity.get("rules", {}) if certificate else {},
            "atomic": len(library.tasks) if library else 0,
            "coverage": library.coverage if library else 0.0,
        }
    )


def _task(item: Composition) -> TaskRow:
    counts = mutant_counts([item.solution.certificate])
    return TaskRow(
        id=item.task.id,
        profile=item.task.profile,
        nodes=len(item.solution.graph.nodes),
        servers=tuple(pin.name for pin in item.task.environments),
        domains=item.task.domains,
        edges=len(item.solution.graph.edges),
        mutants=counts["mutants"],
        killed=counts["killed"],
        equivalents=counts["equivalents"],
        objective=item.task.objective,
    )


def _rejections(rollouts: Iterable[SampledRollout]) -> dict[str, int]:
    """Return what rejected attempts failed: the kind of the first failed check, or the cause."""
    counts: Counter[str] = Counter()
    for rollout in rollouts:
        for segment in rollout.trajectory.rejected:
            failed = [name for name, passed in segment.checks.items() if not passed]
            counts[failed[0].split(" ")[0] if failed else segment.cause.split(":")[0] or segment.stop.value] += 1
    return dict(sorted(counts.items()))
