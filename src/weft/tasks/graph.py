"""Deterministic checks of a grounded task graph and its stable topological order (Weft 3.1.2, pure)."""

import heapq
from collections.abc import Mapping, Sequence

from weft.errors import GraphError
from weft.records.task import AtomicSolution, AtomicTask, Edge, Node, TaskGraph
from weft.tasks.binding import fits

GIVEN = "given"
"""Value of a node's input that the user knows."""


def topological_order(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[str, ...]:
    """Return Kahn's order; of several nodes that could come next, the one that was listed first.

    Raises:
        GraphError: an edge names a node that is not there, or the edges form a cycle; its nodes are named.
    """
    place = {node.id: index for index, node in enumerate(nodes)}
    if len(place) != len(nodes):
        twice = next(node.id for index, node in enumerate(nodes) if place[node.id] != index)
        raise GraphError(f"node {twice!r} is listed twice; give each node its own id")
    waiting = dict.fromkeys(place, 0)
    below: dict[str, list[str]] = {name: [] for name in place}
    for source, target in dict.fromkeys((edge.source, edge.target) for edge in edges):
        for name in (source, target):
            if name not in place:
                raise GraphError(
                    f"an edge names node {name!r}, which is not in the graph; its nodes are {', '.join(place)}"
                )
        below[source].append(target)
        waiting[target] += 1
    ready = [place[name] for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        name = nodes[heapq.heappop(ready)].id
        order.append(name)
        for target in below[name]:
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, place[target])
    if len(order) < len(nodes):
        stuck = [name for name in place if name not in order]
        raise GraphError(f"nodes {', '.join(stuck)} depend on each other in a cycle; remove one of their edges")
    return tuple(order)


def other_order(nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[str, ...]:
    """Return a topological order that prefers the node listed last: as unlike the stored one as the edges allow."""
    reversed_nodes = tuple(reversed(nodes))
    return topological_order(reversed_nodes, edges)


def ancestors(node: str, edges: Sequence[Edge]) -> frozenset[str]:
    """Return every node that ``node`` rests on, directly or not."""
    found: set[str] = set()
    frontier = [node]
    while frontier:
        here = frontier.pop()
        for edge in edges:
            if edge.target == here and edge.source not in found:
                found.add(edge.source)
                frontier.append(edge.source)
    return frozenset(found)


def check_graph(graph: TaskGraph, tasks: Mapping[str, AtomicTask], solutions: Mapping[str, AtomicSolution]) -> None:
    """Hold a graph to the paper's deterministic checks.

    Its nodes use selected tasks; it is acyclic and its stored order is the stable one; every input of every node is
    given or comes from an upstream outcome, once; the types of a bound input and its output agree; every
    binding has its edge and every edge that brings a value its binding.

    Args:
        graph: the graph.
        tasks: the selected atomic tasks by id.
        solutions: their private documents by id.

    Raises:
        GraphError: naming the node and the input.
    """
    nodes = {node.id: node for node in graph.nodes}
    order = topological_order(graph.nodes, graph.edges)
    if graph.order != order:
        raise GraphError(f"the stored order {list(graph.order)} is not the stable one, which is {list(order)}")
    place = {name: index for index, name in enumerate(order)}
    carried: set[tuple[str, str]] = set()
    for edge in graph.edges:
        if edge.input:
            if (edge.target, edge.input) in carried:
                raise GraphError(f"node {edge.target}: input {edge.input!r} is bound twice; keep one binding")
            carried.add((edge.target, edge.input))
            bound = nodes[edge.target].inputs.get(edge.input)
            if bound != f"{edge.source}.{edge.output}":
                raise GraphError(
                    f"node {edge.target}: input {edge.input!r} is {bound!r} while an edge brings it "
                    f"{edge.source}.{edge.output}; make them agree"
                )
    for node in graph.nodes:
        if node.task not in tasks or node.task not in solutions:
            raise GraphError(f"node {node.id}: task {node.task!r} is not one of the selected tasks")
        if tasks[node.task].server != node.server:
            raise GraphError(
                f"node {node.id}: task {node.task!r} is of {tasks[node.task].server!r}, not {node.server!r}"
            )
        _check_inputs(node, nodes, tasks, solutions, place, carried)


def _check_inputs(
    node: Node,
    nodes: Mapping[str, Node],
    tasks: Mapping[str, AtomicTask],
    solutions: Mapping[str, AtomicSolution],
    place: Mapping[str, int],
    carried: set[tuple[str, str]],
) -> None:
    wanted = {item.name: item for item in tasks[node.task].inputs}
    for name in node.inputs:
        if name not in wanted:
            raise GraphError(
                f"node {node.id}: task {node.task!r} has no input {name!r}; it has {', '.join(wanted) or 'none'}"
            )
    for name, item in wanted.items():
        source = node.inputs.get(name)
        if source is None:
            raise GraphError(f"node {node.id}: input {name!r} has no source; give it, or bind it upstream")
        if source == GIVEN:
            if name in node.retrieved:
                raise GraphError(f"node {node.id}: input {name!r} is both given and to be retrieved; say one")
            continue
        if name not in node.retrieved:
            raise GraphError(f"node {node.id}: input {name!r} is bound to {source!r} and not listed as retrieved")
        upstream, _, output = source.partition(".")
        if upstream not in nodes:
            raise GraphError(
                f"node {node.id}: input {name!r} is bound to {source!r}, and there is no node {upstream!r}"
            )
        if place[upstream] >= place[node.id]:
            raise GraphError(f"node {node.id}: input {name!r} is bound to {source!r}, which comes later")
        outputs = {made.name: made for made in solutions[nodes[upstream].task].outputs}
        if output not in outputs:
            raise GraphError(
                f"node {node.id}: input {name!r} is bound to {source!r}; "
                f"{upstream} brings out {', '.join(outputs) or 'nothing'}"
            )
        if not fits(outputs[output].semantic, item):
            raise GraphError(
                f"node {node.id}: input {name!r} is of type {item.semantic!r} and {source!r} of type "
                f"{outputs[output].semantic!r}; bind values of one type"
            )
        if (node.id, name) not in carried:
            raise GraphError(f"node {node.id}: input {name!r} is bound to {source!r} without an edge that brings it")
