"""Selecting atomic tasks for a combination of MCPs, so that values can travel between all of them (Weft 3.1.2)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.tasks.binding import STRENGTH, Drawn, Link

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
        given: (task, input) whose bindings failed so often that it stays given.
        renaming: (upstream task, downstream task, input) of names that do not.
    """

    tasks: Mapping[str, Sequence[Drawn]]
    split: dict[str, int]
    banned: set[str] = field(default_factory=set)
    unbound: set[Banned] = field(default_factory=set)
    given: set[tuple[str, str]] = field(default_factory=set)
    renaming: set[tuple[str, str, str]] = field(default_factory=set)

    def unbind(self, source: str, output: str, target: str, name: str) -> None:
        """Refuse a binding; after the second one an input stays given."""
        if any((task, item) == (target, name) for _, _, task, item in self.unbound):
            self.given.add((target, name))
        self.unbound.add((source, output, target, name))

    def left(self, mcp: str) -> list[Drawn]:
        """Return the tasks of an MCP that nothing speaks against."""
        return [item for item in self.tasks[mcp] if item.task.id not in self.banned]

    @property
    def size(self) -> int:
        """Return how many tasks can still be selected."""
        return sum(min(number, len(self.left(mcp))) for mcp, number in self.split.items())


@dataclass(frozen=True, slots=True)
class Offers:
    """Every binding that types and domains allow in a catalog.

    Attributes:
        links: by place in the catalog.
        index: task id -> place.
        joined: MCP -> the MCPs that a binding joins it with.
    """

    links: Sequence[Link]
    index: Mapping[str, int]
    joined: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected tasks in the order of the nodes, and the bindings that are possible among them."""

    drawn: list[Drawn]
    links: list[Link]


def ban_key(drawn: Sequence[Drawn], link: Link) -> Banned:
    """Return the name under which a binding is banned."""
    return (drawn[link.source].task.id, link.output, drawn[link.target].task.id, link.input)


def select(pool: Pool, offers: Sequence[Link], index: Mapping[str, int], rng: random.Random) -> Selection:
    """Select tasks, with every binding that is possible among them.

    First both ends of the strongest binding between each two groups of MCPs that nothing joins yet, then the rest in
    the order of need.

    Args:
        pool: what may be selected.
        offers: every binding that types and domains allow, by place in the catalog.
        index: task id -> place in the catalog.
        rng: of the order of the nodes.
    """
    flat = [item for mcp in pool.split for item in pool.left(mcp)]
    need = {item.task.id: rank for mcp in pool.split for rank, item in enumerate(pool.left(mcp))}
    at = {index[item.task.id]: number for number, item in enumerate(flat)}
    possible = [
        replace(link, source=at[link.source], target=at[link.target])
        for link in offers
        if link.source in at and link.target in at
    ]
    possible = [link for link in possible if not _banned(pool, flat, link)]
    room = {mcp: min(number, len(pool.left(mcp))) for mcp, number in pool.split.items()}
    taken: list[int] = []
    group = {mcp: mcp for mcp in pool.split}
    for link in sorted(possible, key=lambda one: _merit(flat, one, need)):
        ends = [number for number in (link.source, link.target) if number not in taken]
        servers = [flat[number].task.server for number in (link.source, link.target)]
        wanted = [flat[number].task.server for number in ends]
        if group[servers[0]] == group[servers[1]] or any(wanted.count(mcp) > room[mcp] for mcp in wanted):
            continue
        for number in ends:
            taken.append(number)
            room[flat[number].task.server] -= 1
        old, new = group[servers[1]], group[servers[0]]
        group = {mcp: new if name == old else name for mcp, name in group.items()}
    for number, item in enumerate(flat):
        if number not in taken and room[item.task.server] > 0:
            taken.append(number)
            room[item.task.server] -= 1
    rng.shuffle(taken)
    place = {number: order for order, number in enumerate(taken)}
    links = [
        replace(one, source=place[one.source], target=place[one.target])
        for one in possible
        if one.source in place and one.target in place
    ]
    return Selection([flat[number] for number in taken], links)


def _banned(pool: Pool, flat: Sequence[Drawn], link: Link) -> bool:
    source, _, target, name = ban_key(flat, link)
    if ban_key(flat, link) in pool.unbound or (target, name) in pool.given:
        return True
    return link.way == "named" and (source, target, name) in pool.renaming


def _merit(flat: Sequence[Drawn], link: Link, need: Mapping[str, int]) -> tuple[int, int, int, int]:
    ends = [need[flat[number].task.id] for number in (link.source, link.target)]
    return (-STRENGTH[link.way], sum(ends), link.source, link.target)
