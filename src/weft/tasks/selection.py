"""Selecting atomic tasks for a combination of MCPs, so that values can travel between all of them (Weft 3.1.2)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.records.state import DatabaseSchema, InitialState
from weft.tasks.binding import STRENGTH, Drawn, Link, propose

Banned = tuple[str, str, str, str]
"""Upstream task, output, downstream task, input: a binding that was refused."""


@dataclass(slots=True)
class Pool:
    """The atomic tasks of a combination, in the order in which they should be drawn, and what speaks against some.

    Attributes:
        tasks: by MCP.
        split: how many to take from each.
        banned: tasks that do not hold in this composition.
        unbound: bindings that do not.
    """

    tasks: Mapping[str, Sequence[Drawn]]
    split: dict[str, int]
    banned: set[str] = field(default_factory=set)
    unbound: set[Banned] = field(default_factory=set)

    def left(self, mcp: str) -> list[Drawn]:
        """Return the tasks of an MCP that nothing speaks against."""
        return [item for item in self.tasks[mcp] if item.task.id not in self.banned]

    @property
    def size(self) -> int:
        """Return how many tasks can still be selected."""
        return sum(min(number, len(self.left(mcp))) for mcp, number in self.split.items())


def ban_key(drawn: Sequence[Drawn], link: Link) -> Banned:
    """Return the name under which a binding is banned."""
    return (drawn[link.source].task.id, link.output, drawn[link.target].task.id, link.input)


def select(
    pool: Pool, states: Mapping[str, InitialState], schemas: Mapping[str, DatabaseSchema], rng: random.Random
) -> tuple[list[Drawn], list[Link]]:
    """Select tasks, and return them with every binding that is possible among them.

    First both ends of the strongest binding between each two groups of MCPs that nothing joins yet, then the rest in
    the order of need.
    """
    flat = [item for mcp in pool.split for item in pool.left(mcp)]
    need = {item.task.id: rank for mcp in pool.split for rank, item in enumerate(pool.left(mcp))}
    possible = [link for link in propose(flat, states, schemas) if ban_key(flat, link) not in pool.unbound]
    room = {mcp: min(number, len(pool.left(mcp))) for mcp, number in pool.split.items()}
    taken: list[int] = []
    group = {mcp: mcp for mcp in pool.split}
    for link in sorted(possible, key=lambda one: _merit(flat, one, need)):
        ends = [index for index in (link.source, link.target) if index not in taken]
        servers = [flat[index].task.server for index in (link.source, link.target)]
        wanted = [flat[index].task.server for index in ends]
        if group[servers[0]] == group[servers[1]] or any(wanted.count(mcp) > room[mcp] for mcp in wanted):
            continue
        for index in ends:
            taken.append(index)
            room[flat[index].task.server] -= 1
        old, new = group[servers[1]], group[servers[0]]
        group = {mcp: new if name == old else name for mcp, name in group.items()}
    for index, item in enumerate(flat):
        if index not in taken and room[item.task.server] > 0:
            taken.append(index)
            room[item.task.server] -= 1
    rng.shuffle(taken)
    place = {index: number for number, index in enumerate(taken)}
    links = [
        Link(place[one.source], one.output, place[one.target], one.input, one.way, one.value)
        for one in possible
        if one.source in place and one.target in place
    ]
    return [flat[index] for index in taken], links


def _merit(flat: Sequence[Drawn], link: Link, need: Mapping[str, int]) -> tuple[int, int, int, int]:
    ends = [need[flat[index].task.id] for index in (link.source, link.target)]
    return (-STRENGTH[link.way], sum(ends), link.source, link.target)
