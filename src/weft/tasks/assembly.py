"""Putting selected tasks and chosen bindings together: a grounded task graph and its plans (Weft 3.1.2, pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.records.base import JSON
from weft.records.state import InitialState
from weft.records.task import Edge, EntityBinding, Node, TaskGraph, TaskInput
from weft.runtime.values import json_equal
from weft.tasks.binding import Drawn, Link, Placement, placement_of, renamed
from weft.tasks.graph import GIVEN, ancestors, other_order, topological_order
from weft.tasks.plan import NodePlan


@dataclass(frozen=True, slots=True)
class Assembly:
    """A composition in the making.

    Attributes:
        drawn: task by node, in the stored order.
        links: bindings by (node, input).
        sources: upstream node of each binding, under the same key.
        rests: state edges: (earlier node, later node) pairs whose order matters.
        named: (node, input) -> the upstream node that makes the row which the input names.
    """

    drawn: Mapping[str, Drawn]
    links: Mapping[tuple[str, str], Link]
    sources: Mapping[tuple[str, str], str]
    rests: tuple[tuple[str, str], ...] = ()
    named: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the graph, in the stored order."""
        return tuple(self._node(name, item) for name, item in self.drawn.items())

    def _node(self, name: str, item: Drawn) -> Node:
        bound = {
            one: f"{self.sources[name, one]}.{self.links[name, one].output}"
            for one in (entry.name for entry in item.task.inputs)
            if (name, one) in self.links
        }
        return Node(
            id=name,
            task=item.task.id,
            server=item.task.server,
            inputs={entry.name: bound.get(entry.name, GIVEN) for entry in item.task.inputs},
            intent=item.task.intent,
            retrieved=tuple(bound),
        )

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Information edges, edges of state that bring a new id, and edges of state that only order."""
        brought = [
            Edge(
                source=self.sources[key],
                target=key[0],
                kind="state" if link.way == "made" else "information",
                output=link.output,
                input=link.input,
            )
            for key, link in self.links.items()
        ]
        return (*brought, *(Edge(source=first, target=then, kind="state") for first, then in self.rests))

    @property
    def plans(self) -> tuple[NodePlan, ...]:
        """How each node is carried out, in the stored order."""
        return tuple(self.plan(name) for name in self.drawn)

    def plan(self, name: str) -> NodePlan:
        """Return how a node is carried out."""
        item = self.drawn[name]
        given = {entry.name: entry.value for entry in item.task.inputs if (name, entry.name) not in self.links}
        bound = {
            entry.name: (self.sources[name, entry.name], self.links[name, entry.name].output)
            for entry in item.task.inputs
            if (name, entry.name) in self.links
        }
        return NodePlan(name, item.task.server, item.solution, given, bound)

    @property
    def unlike(self) -> tuple[NodePlan, ...]:
        """The plans in another topological order, as unlike the stored one as the edges allow."""
        return tuple(self.plan(name) for name in other_order(self.nodes, self.edges))

    @property
    def placements(self) -> list[Placement]:
        """What grounding must write."""
        drawn = list(self.drawn.values())
        place = {name: index for index, name in enumerate(self.drawn)}
        found = [
            placement_of(drawn, replace(link, source=place[self.sources[key]], target=place[key[0]]))
            for key, link in self.links.items()
        ]
        return [item for item in found if item is not None]

    def above(self) -> dict[str, frozenset[str]]:
        """Return the nodes that each node rests on."""
        edges = self.edges
        return {name: ancestors(name, edges) for name in self.drawn}

    def ordered(self, rests: Sequence[tuple[str, str]]) -> "Assembly":
        """Return the same composition with more state edges; they follow the stored order, so it stays as it is."""
        return replace(self, rests=tuple(dict.fromkeys((*self.rests, *rests))))

    def graph(self, states: Mapping[str, InitialState], values: Mapping[tuple[str, str], JSON]) -> TaskGraph:
        """Return the graph.

        Args:
            states: grounded initial states.
            values: of the bound inputs in the reference, by (node, input).
        """
        bindings = [
            EntityBinding(
                semantic=self._input(key).semantic,
                value=values[key],
                places=tuple(
                    dict.fromkeys(
                        place
                        for node in (self.sources[key], key[0])
                        for place in places_of(states, self.drawn[node].task.server, values[key])
                    )
                ),
            )
            for key, link in self.links.items()
            if link.way in ("met", "placed")
        ]
        nodes, edges = self.nodes, self.edges
        return TaskGraph(nodes=nodes, edges=edges, bindings=tuple(bindings), order=topological_order(nodes, edges))

    def _input(self, key: tuple[str, str]) -> TaskInput:
        return next(item for item in self.drawn[key[0]].task.inputs if item.name == key[1])

    def inputs(self) -> tuple[TaskInput, ...]:
        """Return what the user knows, each named ``node.input``."""
        return tuple(
            item.model_copy(update={"name": f"{name}.{item.name}"})
            for name, drawn in self.drawn.items()
            for item in drawn.task.inputs
            if (name, item.name) not in self.links
        )


def assemble(drawn: Sequence[Drawn], links: Sequence[Link]) -> Assembly:
    """Number the nodes in topological order and attach the bindings.

    A row that an upstream task makes and a downstream one names is no binding of values: the downstream request names
    it as the upstream one did, and a state edge orders them.

    Raises:
        GraphError: the bindings form a cycle.
    """
    drawn, named = list(drawn), [link for link in links if link.way == "named"]
    for link in named:
        item = next(one for one in drawn[link.target].task.inputs if one.name == link.input)
        given = next(one for one in drawn[link.source].task.inputs if one.name == link.output)
        drawn[link.target] = renamed(drawn[link.target], item, given) or drawn[link.target]
    first = [
        Node(id=f"t{index}", task=item.task.id, server=item.task.server, intent="-") for index, item in enumerate(drawn)
    ]
    edges = [Edge(source=f"t{link.source}", target=f"t{link.target}", kind="information") for link in links]
    order = [int(name[1:]) for name in topological_order(first, edges)]
    name = {index: f"n{number}" for number, index in enumerate(order, 1)}
    return Assembly(
        drawn={name[index]: drawn[index] for index in order},
        links={(name[link.target], link.input): link for link in links if link.way != "named"},
        sources={(name[link.target], link.input): name[link.source] for link in links if link.way != "named"},
        rests=tuple((name[link.source], name[link.target]) for link in named),
        named={(name[link.target], link.input): name[link.source] for link in named},
    )


def places_of(states: Mapping[str, InitialState], server: str, value: JSON) -> tuple[str, ...]:
    """Return where a value stands in a server's state, as ``server.table.column``."""
    found = {
        f"{server}.{table}.{column}"
        for table, entries in states[server].rows.items()
        for row in entries
        for column, held in row.items()
        if json_equal(held, value)
    }
    return tuple(sorted(found))
