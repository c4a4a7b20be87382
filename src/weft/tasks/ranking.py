"""Ranking of candidate MCP combinations (Weft 3.1.2 and A.2, pure)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

GENERIC = frozenset({"text", "date", "datetime", "time", "money", "number", "integer", "boolean", "json", "enum"})
"""Semantic types that say nothing about which business object a value belongs to."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What one MCP can add to a composition.

    Attributes:
        mcp: environment name.
        domain: first-level domain.
        capacity: number of certified atomic tasks.
        gives: semantic types of its tasks' outputs.
        takes: semantic types of its tasks' inputs.
        entities: singular nouns of its tables.
        writes: semantic types of the inputs of its tasks that change something.
        functions: what its tools do, as ``intent entity`` (``create order``).
    """

    mcp: str
    domain: str
    capacity: int
    gives: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Score:
    """The three scores of a combination, each 0 to 1.

    Attributes:
        shared: shared entities. Mean over the pairs of MCPs of the overlap coefficient ``|A ∩ B| / min(|A|, |B|)`` of
            their entity sets: table nouns and the semantic types that name a business object (``email``, ``person``).
        complementary: complementary operations. Share of the ordered pairs (A, B) in which a task of A brings to light
            a value that a writing task of B takes, so that what is found in one place is acted on in the other.
        redundant: functional redundancy. Mean over the pairs of the Jaccard index of their functions
            (``create order``): two MCPs that do the same things add length and no breadth.
    """

    shared: float
    complementary: float
    redundant: float

    @property
    def total(self) -> float:
        """``shared + complementary - redundant``: higher is better."""
        return self.shared + self.complementary - self.redundant


def objects_of(capability: Capability) -> frozenset[str]:
    """Return the entity set of an MCP: table nouns and object-like semantic types."""
    typed = (capability.gives | capability.takes) - GENERIC
    return capability.entities | frozenset(name for name in typed if not name.startswith("id:"))


def score(combination: Sequence[Capability]) -> Score:
    """Score a combination; one MCP alone shares and repeats nothing."""
    pairs = list(combinations(combination, 2))
    if not pairs:
        return Score(0.0, 0.0, 0.0)
    shared = complementary = redundant = 0.0
    for left, right in pairs:
        shared += _overlap(objects_of(left), objects_of(right))
        complementary += sum(_feeds(source, target) for source, target in ((left, right), (right, left))) / 2
        redundant += _jaccard(left.functions, right.functions)
    number = len(pairs)
    return Score(round(shared / number, 6), round(complementary / number, 6), round(redundant / number, 6))


def rank(combinations_: Iterable[Sequence[str]], capabilities: Mapping[str, Capability]) -> list[tuple[str, ...]]:
    """Return the combinations, best first; equal totals keep their order."""
    found = [tuple(combination) for combination in combinations_]
    totals = [score([capabilities[mcp] for mcp in combination]).total for combination in found]
    order = sorted(range(len(found)), key=lambda index: (-totals[index], index))
    return [found[index] for index in order]


def coherent(combination: Sequence[Capability], joined: Mapping[str, frozenset[str]]) -> str:
    """Return why no value can travel between all MCPs of a combination, or "" if it can.

    A business objective runs through all of them only if what one brings to light matters in another, so the graph of
    possible bindings must be connected.

    Args:
        combination: the MCPs.
        joined: MCP -> the MCPs that some binding joins it with.
    """
    names = [item.mcp for item in combination]
    reached = set(names[:1])
    frontier = names[:1]
    while frontier:
        here = frontier.pop()
        near = [name for name in names if name not in reached and name in joined.get(here, frozenset())]
        reached.update(near)
        frontier += near
    lonely = [name for name in names if name not in reached]
    return f"no value can travel between {', '.join(lonely)} and {names[0]}" if lonely else ""


def _feeds(source: Capability, target: Capability) -> bool:
    return bool(portable(source.gives) & portable(target.writes))


def portable(types: frozenset[str]) -> frozenset[str]:
    """Return the semantic types whose values mean the same in another MCP: an id of one server's table does not."""
    return frozenset(name for name in types if not name.startswith("id:"))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else 0.0


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    union = left | right
    return len(left & right) / len(union) if union else 0.0
