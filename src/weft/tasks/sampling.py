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
    profile: Profile, capabilities: Mapping[str, Capability], usage: Usage, rng: random.Random
) -> list[Draw]:
    """Draw candidate combinations within a profile's ranges, best first.

    Each candidate takes domains by their share of use (uses per capacity, fewest first), then MCPs inside them in the
    same way; equal shares are broken by ``rng``. Duplicates are dropped; :mod:`weft.tasks.ranking` orders the rest.

    Args:
        profile: fitted to the catalog (:func:`weft.tasks.profiles.fit`).
        capabilities: by MCP; those without capacity are passed over.
        usage: so far.
        rng: of the draw.
    """
    usable = {mcp: item for mcp, item in capabilities.items() if item.capacity > 0}
    found: dict[tuple[str, ...], Draw] = {}
    for _ in range(CANDIDATES):
        draw = _candidate(profile, usable, usage, rng)
        if draw is not None:
            found.setdefault(tuple(sorted(draw.mcps)), draw)
    by_mcps = {draw.mcps: draw for draw in found.values()}
    fresh = sorted(by_mcps, key=lambda mcps: _load(mcps, usable, usage))
    keep = max(1, (len(fresh) + 1) // 2)
    return [by_mcps[mcps] for mcps in (*rank(fresh[:keep], usable), *rank(fresh[keep:], usable))]


def _candidate(profile: Profile, usable: Mapping[str, Capability], usage: Usage, rng: random.Random) -> Draw | None:
    groups: dict[str, list[str]] = {}
    for mcp, item in usable.items():
        groups.setdefault(item.domain, []).append(mcp)
    breadth = rng.randint(profile.domains[0], min(profile.domains[1], len(groups)))
    most = min(profile.mcps[1], len(usable))
    number = rng.randint(max(profile.mcps[0], breadth), most) if max(profile.mcps[0], breadth) <= most else 0
    if not number:
        return None
    share = {
        domain: usage.domains[domain] / sum(usable[mcp].capacity for mcp in members)
        for domain, members in groups.items()
    }
    chosen = _fewest(share, rng)[:breadth]
    if sum(len(groups[domain]) for domain in chosen) < number:
        # Too few MCPs in the least used domains: take the broadest instead, least used first among equals.
        chosen = sorted(_fewest(share, rng), key=lambda domain: -len(groups[domain]))[:breadth]
    members = [mcp for domain in chosen for mcp in groups[domain]]
    number = min(number, len(members))
    if number < profile.mcps[0]:
        return None
    uses = _fewest({mcp: usage.mcps[mcp] / usable[mcp].capacity for mcp in members}, rng)
    first = [next(mcp for mcp in uses if usable[mcp].domain == domain) for domain in chosen]
    mcps = [*first, *(mcp for mcp in uses if mcp not in first)][:number]
    room = sum(usable[mcp].capacity for mcp in mcps)
    low, high = max(profile.tasks[0], number), min(profile.tasks[1], room)
    return Draw(rng.randint(low, high), tuple(mcps)) if low <= high else None


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
