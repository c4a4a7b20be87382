"""How a task is to be carried out, as plain data: what each node is given and what it takes from upstream.

The certification runs it, and ``wiring`` turns it into the plan of the scripted policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.base import JSON
from weft.records.task import AtomicSolution, AtomicTask, ComposedSolution, ComposedTask
from weft.tasks.graph import GIVEN


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node.

    Attributes:
        id: node id; the task's id for an atomic task.
        server: environment.
        solution: reference and reply.
        inputs: input -> value that the user knows.
        bound: input -> (upstream node, output).
    """

    id: str
    server: str
    solution: AtomicSolution
    inputs: Mapping[str, JSON]
    bound: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def plan_atomic(task: AtomicTask, solution: AtomicSolution) -> tuple[NodePlan, ...]:
    """Return the one node of an atomic task."""
    return (NodePlan(task.id, task.server, solution, {item.name: item.value for item in task.inputs}),)


def plan_composed(task: ComposedTask, solution: ComposedSolution) -> tuple[NodePlan, ...]:
    """Return the nodes of a composed task in its stored order; given values come from the public document."""
    nodes = {node.id: node for node in solution.graph.nodes}
    known = {item.name: item.value for item in task.inputs}
    plans = []
    for name in solution.graph.order:
        node = nodes[name]
        given = {item: known[f"{name}.{item}"] for item, source in node.inputs.items() if source == GIVEN}
        bound = {
            item: (source.split(".", 1)[0], source.split(".", 1)[1])
            for item, source in node.inputs.items()
            if source != GIVEN
        }
        plans.append(NodePlan(name, node.server, solution.nodes[name], given, bound))
    return tuple(plans)
