"""The certificate of a composed task: everything of DESIGN section 5, at each node and for the whole.

References pass at each node and for the whole from two seeds and in another order; doing nothing fails, and so does the
right reply without the work; every mutant that ends differently dies; a left-out node and a wrong bound value are
noticed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import VerifierError
from weft.ports import ToolHost
from weft.records.base import JSON
from weft.records.certificate import CheckRecord, MutantResult, TaskCertificate
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import AtomicSolution
from weft.runtime.clock import ticked
from weft.tasks.assembly import Assembly
from weft.tasks.context import habits
from weft.tasks.grounding import Grounded
from weft.tasks.hostile import idle, left_out, node_mutants, other_value, scene_of, swapped_value, try_habits
from weft.tasks.judge import schemas_of
from weft.tasks.plan import NodePlan
from weft.tasks.proving import Verified, judge_run, verify_nodes, verify_whole
from weft.tasks.runs import AFTER_FAILURE, Problem, Rehearsal, Run

SHIFT = 61
"""Seconds between the clocks of independent runs."""

SEEDS = 3
"""Seeds besides those of the two runs with which the reference must pass."""

ORDERS = 4
"""Most rounds in which state edges are added."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A composition whose references pass in every run.

    Attributes:
        assembly: with its state edges.
        runs: the two runs in the stored order.
        verified: the verifiers.
        orders: rounds of state edges that it took.
    """

    assembly: Assembly
    runs: tuple[Run, Run]
    verified: Verified
    orders: int


async def _run(
    host: ToolHost,
    environments: Mapping[str, Environment],
    states: Mapping[str, InitialState],
    plans: Sequence[NodePlan],
    seed: int,
) -> Run:
    async with Rehearsal(host, list(environments.values()), states, seed) as rehearsal:
        return await rehearsal.run(plans)


def _later(states: Mapping[str, InitialState]) -> dict[str, InitialState]:
    """Return the same states with clocks a minute on."""
    return {name: state.model_copy(update={"clock": ticked(state.clock, SHIFT)}) for name, state in states.items()}


async def settle(
    host: ToolHost, environments: Mapping[str, Environment], assembly: Assembly, grounded: Grounded, *, seed: int
) -> Settled | list[Problem]:
    """Verify every node and the whole, and find the state edges that the order needs.

    Nodes whose outcome depends on what another one did get a state edge, so that any topological order of the graph
    gives the same; this is shown in an order as unlike the stored one as the edges allow.

    Returns:
        The settled composition, or the nodes that do not hold with the reason.
    """
    first = await _run(host, environments, grounded.states, assembly.plans, seed)
    second = await _run(host, environments, _later(grounded.states), assembly.plans, seed + 1)
    failed = [Problem(node.id, node.failed) for run in (first, second) for node in run.nodes.values() if node.failed]
    if failed:
        return _by_themselves(failed)
    schemas = schemas_of(list(environments.values()))
    for orders in range(ORDERS):
        verified, problems = verify_nodes(assembly.plans, (first, second), environments, assembly.above())
        if problems:
            return problems
        try:
            verified.whole = verify_whole(assembly.plans, (first, second), environments, verified)
            other = await _run(host, environments, grounded.states, assembly.unlike, seed + 2)
            verdicts, whole = judge_run(assembly.unlike, other, schemas, verified)
        except VerifierError as error:
            return [Problem(_blamed(str(error), assembly), str(error))]
        bad = [
            node
            for node, verdict in verdicts.items()
            if other.nodes[node].failed or isinstance(verdict, str) or not verdict.passed
        ]
        if not bad and whole.passed:
            lost = await _other_seeds(host, environments, assembly, grounded, verified, seed)
            return lost or Settled(assembly, (first, second), verified, orders)
        feeding = [source for (node, _), source in assembly.sources.items() if node in bad]
        more = state_edges(assembly, [*bad, *feeding] or list(verdicts), environments)
        if not more:
            reason = next(
                (f"{check.name}: {check.detail}" for check in whole.checks if not check.passed), "another outcome"
            )
            return [Problem(node, f"it depends on the order of the nodes ({reason})"[:300]) for node in bad[:1] or [""]]
        assembly = assembly.ordered(more)
    return [Problem("", "its nodes depend on each other's order in too many ways")]


async def _other_seeds(
    host: ToolHost,
    environments: Mapping[str, Environment],
    assembly: Assembly,
    grounded: Grounded,
    verified: Verified,
    seed: int,
) -> list[Problem]:
    """Return the nodes that do not pass with other generated ids: what sorts first must not matter."""
    schemas = schemas_of(list(environments.values()))
    for number in range(SEEDS):
        run = await _run(host, environments, grounded.states, assembly.plans, seed + 3 + number)
        try:
            verdicts, whole = judge_run(assembly.plans, run, schemas, verified)
        except VerifierError as error:
            return [Problem(_blamed(str(error), assembly), str(error))]
        bad = [
            node for node, one in verdicts.items() if run.nodes[node].failed or isinstance(one, str) or not one.passed
        ]
        if bad or not whole.passed:
            return [Problem(node, "it comes out otherwise with other generated ids") for node in bad[:1] or [""]]
    return []


def _blamed(text: str, assembly: Assembly) -> str:
    """Return the first node that a text names, or ""."""
    return next((word for word in re.findall(r"\bn\d+\b", text) if word in assembly.drawn), "")


def _by_themselves(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems of nodes that did not fail only because an upstream one did."""
    return [problem for problem in problems if not problem.reason.startswith(AFTER_FAILURE)] or list(problems)


def state_edges(
    assembly: Assembly, nodes: Sequence[str], environments: Mapping[str, Environment]
) -> list[tuple[str, str]]:
    """Return the state edges between some nodes and the others of their server that touch the same tables.

    One of the two must write what the other touches; pairs that are ordered already are left out.
    """
    above = assembly.above()
    order = list(assembly.drawn)
    touched = {name: _touched(assembly, name, environments) for name in order}
    found = []
    for earlier in order:
        for later in order[order.index(earlier) + 1 :]:
            if earlier not in nodes and later not in nodes:
                continue
            if assembly.drawn[earlier].task.server != assembly.drawn[later].task.server or earlier in above[later]:
                continue
            (reads, writes), (later_reads, later_writes) = touched[earlier], touched[later]
            if writes & (later_reads | later_writes) or later_writes & reads:
                found.append((earlier, later))
    return found


def _touched(
    assembly: Assembly, name: str, environments: Mapping[str, Environment]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tables (and ``files``) that a node may read and write."""
    item = assembly.drawn[name]
    contracts = environments[item.task.server].contracts
    reads: set[str] = set()
    writes: set[str] = set()
    for step in item.solution.reference:
        for case in contracts.contract(step.tool).cases:
            reads |= set(case.reads) | ({case.table} if case.table else set())
            writes |= {place.split(".", 1)[0] for place in case.writes}
    return frozenset(reads), frozenset(writes)


@dataclass(frozen=True, slots=True)
class CertifiedComposition:
    """A settled composition with its certificates.

    Attributes:
        nodes: private documents of the nodes, with their own certificates.
        certificate: of the whole.
    """

    nodes: dict[str, AtomicSolution]
    certificate: TaskCertificate


async def certify_composition(
    host: ToolHost,
    environments: Mapping[str, Environment],
    settled: Settled,
    grounded: Grounded,
    *,
    seed: int,
    most: int,
) -> CertifiedComposition | list[Problem]:
    """Try every mutant and certify.

    Args:
        host: runs them.
        environments: by name.
        settled: the composition.
        grounded: its initial state.
        seed: of the runs and of the choices among mutants.
        most: mutants for each node, besides those that do nothing.

    Returns:
        The certificates, or the nodes with a surviving mutant.
    """
    assembly, verified = settled.assembly, settled.verified
    schemas = schemas_of(list(environments.values()))
    by_node: dict[str, list[MutantResult]] = {}
    whole = _whole_mutants(settled, schemas)
    lost = _survivors(whole)
    if lost:
        return lost
    async with Rehearsal(host, list(environments.values()), grounded.states, seed) as rehearsal:
        await rehearsal.run(assembly.plans, snapshots=True)
        for plan in assembly.plans:
            scene = await scene_of(rehearsal, plan, environments[plan.server], verified)
            results = await node_mutants(rehearsal, scene, schemas, seed=seed, most=most)
            results += await try_habits(rehearsal, scene, habits(plan, environments[plan.server]), schemas)
            by_node[plan.id] = results
            written = {item.name: item for item in assembly.drawn[plan.id].task.inputs}
            for name in plan.bound:
                other = other_value(scene, name, written[name].keyed, written[name].value)
                if other is not None:
                    whole.append(await swapped_value(rehearsal, scene, name, other, schemas))
    problems = _survivors([*(item for results in by_node.values() for item in results), *whole])
    if problems:
        return problems
    return _certificates(settled, grounded, environments, by_node, whole)


def _survivors(results: Sequence[MutantResult]) -> list[Problem]:
    """Return the nodes with a surviving mutant; its detail begins with the node."""
    return [
        Problem(
            item.detail.split(":", 1)[0].removeprefix("without ").split(", ")[0],
            f"a mutant survives: {item.kind}: {item.detail}",
        )
        for item in results
        if item.outcome == "survived"
    ]


def _whole_mutants(settled: Settled, schemas: Mapping[str, DatabaseSchema]) -> list[MutantResult]:
    assembly, run, verifier = settled.assembly, settled.runs[0], settled.verified.whole
    above = assembly.above()
    bound = {(edge.source, edge.target) for edge in assembly.edges if edge.input}
    results = []
    for name in assembly.drawn:
        resting = {name}
        for node in assembly.drawn:
            if any((source, node) in bound for source in resting & above[node]):
                resting.add(node)
        results.append(left_out(run, verifier, frozenset(resting), schemas))
    reply = run.whole().reply
    for kind, said in (("do_nothing", ""), ("no_calls", reply)):
        passed = idle(verifier, said, {}, schemas)
        results.append(MutantResult(kind=kind, detail="", outcome="survived" if passed else "killed"))
    return results


def _certificates(
    settled: Settled,
    grounded: Grounded,
    environments: Mapping[str, Environment],
    by_node: Mapping[str, Sequence[MutantResult]],
    whole: Sequence[MutantResult],
) -> CertifiedComposition:
    assembly, verified = settled.assembly, settled.verified
    hashes = {name: environment.hash for name, environment in environments.items()}
    nodes = {}
    for name, item in assembly.drawn.items():
        server = item.task.server
        verifier = verified.nodes[name]
        certificate = TaskCertificate(
            environments={server: hashes[server]},
            verifier=content_hash(verifier),
            checks=(
                CheckRecord(name="reference_passes", passed=True, cases=len(settled.runs)),
                CheckRecord(name="mutants_die", passed=True, cases=len(by_node[name])),
            ),
            mutants=tuple(by_node[name]),
            runs=len(settled.runs),
        )
        nodes[name] = item.solution.model_copy(update={"verifier": verifier, "certificate": certificate})
    bindings = len(assembly.links)
    checks = (
        CheckRecord(name="graph", passed=True, cases=len(assembly.drawn)),
        *grounded.checks,
        CheckRecord(name="bindings_shown", passed=True, cases=bindings),
        CheckRecord(name="reference_passes", passed=True, cases=len(settled.runs) + SEEDS),
        CheckRecord(name="other_order_passes", passed=True, cases=1, detail=f"{len(assembly.rests)} state edges"),
        CheckRecord(name="mutants_die", passed=True, cases=len(whole) + sum(map(len, by_node.values()))),
    )
    certificate = TaskCertificate(
        environments=hashes,
        verifier=content_hash(verified.whole),
        checks=checks,
        mutants=tuple(whole),
        runs=len(settled.runs) + SEEDS + 1,
    )
    return CertifiedComposition(nodes, certificate)


def bound_values(settled: Settled) -> dict[tuple[str, str], JSON]:
    """Return the value of each bound input as the reference's first run shows it, by (node, input)."""
    first = settled.runs[0]
    return {key: first.nodes[key[0]].inputs[key[1]] for key in settled.assembly.links}
