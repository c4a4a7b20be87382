"""Proving a composed task again: on its own states, or on states that are instantiated anew (Weft 3.2.2).

The graph, its bindings and its texts stay: what the task means is fixed. What its atomic tasks say now is put in their
places, the states are grounded again where wanted, and verifiers and certificates are made as construction makes them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from weft.errors import GraphError, InputError, VerifierError
from weft.evolve.system import System
from weft.ports import ToolHost
from weft.records.base import JSON
from weft.records.certificate import CheckRecord
from weft.records.codec import content_hash
from weft.records.composition import Composition
from weft.records.environment import Environment
from weft.records.spec import Refusal
from weft.records.task import (
    ComposedSolution,
    ComposedTask,
    Edge,
    EntityBinding,
    EnvironmentPin,
    Node,
    TaskGraph,
    TaskInput,
    TaskState,
)
from weft.runtime.values import json_equal
from weft.tasks.assembly import Assembly
from weft.tasks.binding import Drawn, Link, Way
from weft.tasks.certification import CertifiedComposition, Settled, bound_values, certify_composition, settle
from weft.tasks.compose import alone as draw_alone
from weft.tasks.graph import GIVEN, check_graph
from weft.tasks.grounding import Grounded, ground
from weft.tasks.runs import Problem

MUTANTS = 6
"""Mutants tried for each node, besides those that do nothing; as in construction."""


@dataclass(frozen=True, slots=True)
class NotProven:
    """Why a composed task does not hold any more."""

    reason: str


async def recompose(
    item: Composition, system: System, host: ToolHost, *, seed: int, keep_states: bool
) -> Composition | NotProven:
    """Prove a composed task again.

    Args:
        item: as it is.
        system: with the environments and atomic tasks as they are now.
        host: runs the tools.
        seed: that the system was built with: the same seed grounds the same state.
        keep_states: leave the initial states as they are and renew verifiers and certificates only.

    Returns:
        The composition with new proofs, or why there are none.
    """
    environments: dict[str, Environment] = {}
    for pin in item.task.environments:
        if pin.name not in system.environments:
            return NotProven(f"its environment {pin.name} is gone")
        environments[pin.name] = system.environments[pin.name]
    try:
        drawn = await _drawn(item, system, host, seed)
        if isinstance(drawn, NotProven):
            return drawn
        assembly = assembly_of(item.solution.graph, drawn, environments)
        return await _prove(item, environments, assembly, host, seed, keep_states)
    except (GraphError, InputError, VerifierError) as error:
        return NotProven(str(error)[:400])


async def _prove(
    item: Composition,
    environments: Mapping[str, Environment],
    assembly: Assembly,
    host: ToolHost,
    seed: int,
    keep_states: bool,
) -> Composition | NotProven:
    grounded = _kept(item) if keep_states else await ground(host, environments, assembly, seed=seed)
    if not isinstance(grounded, Grounded):
        return _failed("its states cannot be instantiated", grounded)
    settled = await settle(host, environments, assembly, grounded, seed=seed)
    if not isinstance(settled, Settled):
        return _failed("its reference does not hold", settled)
    certified = await certify_composition(host, environments, settled, grounded, seed=seed, most=MUTANTS)
    if not isinstance(certified, CertifiedComposition):
        return _failed("its verifier does not tell right from wrong", certified)
    return _documents(item, environments, settled, grounded, certified)


def _failed(what: str, problems: list[Problem]) -> NotProven:
    first = problems[0]
    return NotProven(f"{what}: {first.node or 'the whole'}: {first.reason}"[:400])


def _kept(item: Composition) -> Grounded:
    """Return the states as they are, with what their certificate says of how they were grounded."""
    certificate = item.solution.certificate
    checks: tuple[CheckRecord, ...] = certificate.checks if certificate is not None else ()
    return Grounded(dict(item.state.states), tuple(one for one in checks if one.name.startswith("grounding_")))


async def _drawn(item: Composition, system: System, host: ToolHost, seed: int) -> dict[str, Drawn] | NotProven:
    """Return the atomic task of each node as it is now, speaking of the values that the composition's texts say."""
    said = {one.name: one for one in item.task.inputs}
    found: dict[str, Drawn] = {}
    for node in item.solution.graph.nodes:
        entry = system.atomic.get(node.task)
        if entry is None:
            return NotProven(f"the atomic task {node.task} of {node.id} is gone")
        if {one.name for one in entry.task.inputs} != set(node.inputs):
            return NotProven(f"the atomic task {node.task} of {node.id} takes other inputs now")
        if entry.solution.chain != item.solution.nodes[node.id].chain:
            return NotProven(f"the atomic task {node.task} of {node.id} goes another way now")
        alone = await draw_alone(entry.task, entry.solution, system.environments[node.server], host, seed)
        if isinstance(alone, Refusal):
            return NotProven(f"the atomic task {node.task} of {node.id}: {alone.message}"[:400])
        inputs = tuple(_as_said(one, said.get(f"{node.id}.{one.name}"), node) for one in alone.task.inputs)
        found[node.id] = replace(alone, task=alone.task.model_copy(update={"inputs": inputs}))
    return found


def _as_said(own: TaskInput, said: TaskInput | None, node: Node) -> TaskInput:
    """Return an input with the value that the composition states, if it states one."""
    if said is None or node.inputs.get(own.name) != GIVEN:
        return own
    return own.model_copy(update={"value": said.value, "words": said.words})


def assembly_of(graph: TaskGraph, drawn: Mapping[str, Drawn], environments: Mapping[str, Environment]) -> Assembly:
    """Return the assembly that a stored graph came from.

    Args:
        graph: of the composed task.
        drawn: atomic task by node.
        environments: by name; whether a value must be placed depends on their seed rows.

    Raises:
        GraphError: a node or binding that an edge needs is not there.
    """
    links: dict[tuple[str, str], Link] = {}
    sources: dict[tuple[str, str], str] = {}
    rests: list[tuple[str, str]] = []
    bindings = iter(graph.bindings)
    for edge in graph.edges:
        if not edge.input:
            rests.append((edge.source, edge.target))
            continue
        item = _input(drawn, edge)
        way, value = _way(edge, item, bindings, environments[drawn[edge.target].task.server])
        key = (edge.target, edge.input)
        links[key], sources[key] = Link(0, edge.output, 0, edge.input, way, value), edge.source
    return Assembly(drawn=drawn, links=links, sources=sources, rests=tuple(rests))


def _input(drawn: Mapping[str, Drawn], edge: Edge) -> TaskInput:
    if edge.target not in drawn or edge.source not in drawn:
        raise GraphError(f"an edge joins {edge.source} and {edge.target}, which are not both nodes")
    for item in drawn[edge.target].task.inputs:
        if item.name == edge.input:
            return item
    raise GraphError(f"an edge brings {edge.input!r} to {edge.target}, which takes no such input")


def _way(edge: Edge, item: TaskInput, bindings: Iterator[EntityBinding], environment: Environment) -> tuple[Way, JSON]:
    """Return how a bound value gets to its input, and the value where it names an entity.

    Information edges to keyed inputs and the graph's bindings are in the same order: both follow the links.
    """
    if edge.kind == "state":
        return "made", None
    if not item.keyed:
        return "flow", None
    binding = next(bindings, None)
    if binding is None:
        raise GraphError(f"the edge {edge.source} to {edge.target}.{edge.input} has no binding")
    table, column = item.keyed.split(".", 1)
    there = sum(json_equal(row.get(column), binding.value) for row in environment.seed.rows.get(table, []))
    return ("met" if there else "placed"), binding.value


def _documents(
    old: Composition,
    environments: Mapping[str, Environment],
    settled: Settled,
    grounded: Grounded,
    certified: CertifiedComposition,
) -> Composition | NotProven:
    assembly = settled.assembly
    graph = assembly.graph(grounded.states, bound_values(settled))
    if graph.order != old.solution.graph.order:
        return NotProven("its nodes need another order than its requests have")
    intents = {node.id: node.intent for node in old.solution.graph.nodes}
    graph = graph.model_copy(
        update={"nodes": tuple(one.model_copy(update={"intent": intents[one.id]}) for one in graph.nodes)}
    )
    drawn = list(assembly.drawn.values())
    check_graph(graph, {one.task.id: one.task for one in drawn}, {one.task.id: one.solution for one in drawn})
    pins = tuple(
        EnvironmentPin(name=name, hash=environment.hash, state=content_hash(grounded.states[name]))
        for name, environment in environments.items()
    )
    task: ComposedTask = old.task.model_copy(update={"environments": pins})
    solution = ComposedSolution(
        task=task.id,
        graph=graph,
        nodes=certified.nodes,
        verifier=settled.verified.whole,
        certificate=certified.certificate,
    )
    return Composition(task=task, solution=solution, state=TaskState(task=task.id, states=grounded.states))
