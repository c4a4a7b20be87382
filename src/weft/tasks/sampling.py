"""Coverage-aware sampling of MCPs and atomic tasks (Weft 3.1.2 and A.2, pure).

Selection looks at capacity (how many certified atomic tasks an MCP has) and historical usage (how often it, its domain
and each of its tasks have been drawn): what is under-represented comes first. A counter is raised before tasks are
drawn from an accepted combination, so that the next combination sees it.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.tasks.profiles import Profile
from weft.tasks.ranking import Capability, rank

CANDIDATES = 24
"""Combinations that are ranked for one composed task."""


@dataclass(slots=True)
class Usage:
    """How often each domain, MCP and atomic task has been drawn. The caller owns it and hands it on."""

    domains: Counter[str] = field(default_factory=Counter)
    mcps: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)

    def count(self, combination: Sequence[str], capabilities: Mapping[str, Capability]) -> None:
        """Count an accepted combination, before its tasks are drawn."""
        self.mcps.update(combination)
        self.domains.update(sorted({capabilities[mcp].domain for mcp in combination}))


@dataclass(frozen=True, slots=True)
class Draw:
    """What one composed task is to be made of.

    Attributes:
        size: wanted number of atomic tasks.
        mcps: the combination, in the order in which it was chosen.
    """

    size: int
    mcps: tuple[str, ...]


def reserve(capacity: Mapping[str, int], quota: int) -> dict[str, int]:
    """Return per MCP how many of its atomic tasks are held back for composition: what exceeds its quota."""
    return {mcp: max(0, number - quota) for mcp, number in capacity.items()}


def combinations(
    profile: Profile,
    capabilities: Mapping[str, Capability],
    usage: Usage,
    rng: random.Random,
    joined: Mapping[str, frozenset[str]] | None = None,
) -> list[Draw]:
    """Draw candidate combinations within a profile's ranges, best first.

    Each candidate grows from the least used domain and MCP: the next MCP is one that a binding joins with those chosen,
    of a new domain while the breadth is not reached, with the capacity that the profile's length needs, least used
    (uses per capacity) first; equal shares are broken by ``rng``. Duplicates are dropped; :mod:`weft.tasks.ranking`
    orders the rest.

    Args:
        profile: fitted to the catalog (:func:`weft.tasks.profiles.fit`).
        capabilities: by MCP; those without capacity are passed over.
        usage: so far.
        rng: of the draw.
        joined: MCP -> the MCPs that some binding joins it with; None when all are joined.
    """
    usable = _able(profile, {mcp: item for mcp, item in capabilities.items() if item.capacity > 0}, joined)
    if not usable:
        return []
    found: dict[tuple[str, ...], Draw] = {}
    for _ in range(CANDIDATES):
        draw = _candidate(profile, usable, usage, rng, joined)
        if draw is not None:
            found.setdefault(tuple(sorted(draw.mcps)), draw)
    by_mcps = {draw.mcps: draw for draw in found.values()}
    fresh = sorted(by_mcps, key=lambda mcps: _load(mcps, usable, usage))
    keep = max(1, (len(fresh) + 1) // 2)
    return [by_mcps[mcps] for mcps in (*rank(fresh[:keep], usable), *rank(fresh[keep:], usable))]


def _able(
    profile: Profile, usable: dict[str, Capability], joined: Mapping[str, frozenset[str]] | None
) -> dict[str, Capability]:
    """Return the MCPs that are in a group of joined ones which can give the profile's lowest figures."""
    if joined is None:
        return usable
    kept: set[str] = set()
    seen: set[str] = set()
    for start in usable:
        if start in seen:
            continue
        group, frontier = {start}, [start]
        while frontier:
            near = [mcp for mcp in usable if mcp not in group and mcp in joined.get(frontier[-1], frozenset())]
            frontier.pop()
            group.update(near)
            frontier += near
        seen |= group
        room = sum(sorted((usable[mcp].capacity for mcp in group), reverse=True)[: profile.mcps[1]])
        breadth = len({usable[mcp].domain for mcp in group})
        if len(group) >= profile.mcps[0] and breadth >= profile.domains[0] and room >= profile.tasks[0]:
            kept |= group
    return {mcp: item for mcp, item in usable.items() if mcp in kept}


def _candidate(
    profile: Profile,
    usable: Mapping[str, Capability],
    usage: Usage,
    rng: random.Random,
    joined: Mapping[str, frozenset[str]] | None,
) -> Draw | None:
    domains = {mcp: item.domain for mcp, item in usable.items()}
    size: Counter[str] = Counter()
    for item in usable.values():
        size[item.domain] += item.capacity
    low, high = profile.mcps[0], min(profile.mcps[1], len(usable))
    breadth = rng.randint(profile.domains[0], min(profile.domains[1], len(size)))
    if max(low, breadth) > high:
        return None
    number = rng.randint(max(low, breadth), high)
    by_domain = _fewest({domain: usage.domains[domain] / capacity for domain, capacity in size.items()}, rng)
    by_mcp = _fewest({mcp: usage.mcps[mcp] / item.capacity for mcp, item in usable.items()}, rng)
    order = sorted(by_mcp, key=lambda mcp: by_domain.index(domains[mcp]))
    chosen: list[str] = []
    room = 0
    while len(chosen) < high and (len(chosen) < number or room < profile.tasks[0]):
        near = [mcp for mcp in order if mcp not in chosen and (not chosen or _joins(mcp, chosen, joined))]
        held = {domains[mcp] for mcp in chosen}
        if len(held) >= breadth:
            near = [mcp for mcp in near if domains[mcp] in held]
        elif chosen and breadth - len(held) >= number - len(chosen):
            near = [mcp for mcp in near if domains[mcp] not in held]
        if not near:
            break
        wanted = (profile.tasks[0] - room) / (high - len(chosen))
        ample = [mcp for mcp in near if usable[mcp].capacity >= wanted]
        chosen.append(ample[0] if ample else max(near, key=lambda mcp: usable[mcp].capacity))
        room += usable[chosen[-1]].capacity
    if len(chosen) < low or len({domains[mcp] for mcp in chosen}) < profile.domains[0]:
        return None
    least, most = max(profile.tasks[0], len(chosen)), min(profile.tasks[1], room)
    return Draw(rng.randint(least, most), tuple(chosen)) if least <= most else None


def _joins(mcp: str, chosen: Sequence[str], joined: Mapping[str, frozenset[str]] | None) -> bool:
    return joined is None or any(other in joined.get(mcp, frozenset()) for other in chosen)


def _fewest(share: Mapping[str, float], rng: random.Random) -> list[str]:
    """Return the names by share of use, fewest first, with a random order among near-equals."""
    return sorted(share, key=lambda name: (share[name] + rng.random() * 0.25 * (share[name] + 0.1), name))


def _load(mcps: Sequence[str], usable: Mapping[str, Capability], usage: Usage) -> float:
    return sum(usage.mcps[mcp] / usable[mcp].capacity for mcp in mcps) / len(mcps)


def shares(draw: Draw, capacity: Mapping[str, int]) -> dict[str, int]:
    """Split a draw's size over its MCPs: one each, the rest one by one to the MCP with the most room left.

    Room counts in proportion to capacity, so that no MCP is emptied while another is hardly used.
    """
    given = dict.fromkeys(draw.mcps, 1)
    for _ in range(draw.size - len(draw.mcps)):
        open_to = [mcp for mcp in draw.mcps if given[mcp] < capacity[mcp]]
        if not open_to:
            break
        given[min(open_to, key=lambda mcp: (given[mcp] / capacity[mcp], draw.mcps.index(mcp)))] += 1
    return given


def by_need(tasks: Sequence[str], usage: Usage, reserved: int, rng: random.Random) -> list[str]:
    """Return one MCP's atomic tasks in the order in which they should be drawn.

    Least used first; among equally used ones those held back for composition (the last ``reserved`` of the library),
    then at random.
    """
    spare = set(tasks[len(tasks) - reserved :]) if reserved else set()
    weight = {task: rng.random() for task in tasks}
    return sorted(tasks, key=lambda task: (usage.tasks[task], task not in spare, weight[task], task))
