"""Tool chains: orthogonality and coverage (Weft A.1, pure).

The paper prunes "identical or contained ordered chains". Contained is read as *ordered subsequence*: ``(find,
close)`` is
contained in ``(find, assign, close)`` although the calls are not neighbours, because a policy that can do the longer
task
has shown every step of the shorter in its order. A stricter reading (contiguous runs) would keep such near copies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.records.contract import ContractSet

Chain = tuple[str, ...]


def contained(inner: Sequence[str], outer: Sequence[str]) -> bool:
    """Return whether ``inner`` is an ordered subsequence of ``outer`` (equal chains contain each other)."""
    rest = iter(outer)
    return all(any(step == other for other in rest) for step in inner)


def maximal(chains: Sequence[Chain]) -> list[int]:
    """Return the indices of the chains that no other chain contains; of identical ones the first."""
    kept = []
    for index, chain in enumerate(chains):
        redundant = any(
            contained(chain, other) and (len(other) > len(chain) or place < index)
            for place, other in enumerate(chains)
            if place != index
        )
        if not redundant:
            kept.append(index)
    return kept


def containing(chain: Chain, others: Sequence[Chain]) -> Chain | None:
    """Return a chain of ``others`` that contains ``chain``, or None."""
    return next((other for other in others if contained(chain, other)), None)


def tool_of(step: str, tools: Sequence[str]) -> str:
    """Return the tool of a chain step; tool names may hold colons themselves."""
    if step in tools:
        return step
    head, _, _ = step.rpartition(":")
    return head


def step_name(tool: str, case: str) -> str:
    """Return the chain step of a tool's case; ``case`` is empty for a tool with one behaviour."""
    return f"{tool}:{case}" if case else tool


def case_names(contracts: ContractSet) -> list[str]:
    """Return every tool or ``tool:case`` of an environment, in declared order."""
    names = []
    for contract in contracts.contracts:
        labels = dict.fromkeys(":".join(str(value) for value in case.when.values()) for case in contract.cases)
        names += [step_name(contract.tool, label) for label in labels]
    return names


@dataclass(frozen=True, slots=True)
class Coverage:
    """What retained chains cover.

    Attributes:
        tools: distinct tools in the chains over all tools of the MCP (the paper's figure).
        cases: the same per case of tools that multiplex by an action.
        uncovered: ``tool`` or ``tool:case`` in no chain, in declared order.
    """

    tools: float
    cases: float
    uncovered: tuple[str, ...]


def coverage(chains: Sequence[Chain], contracts: ContractSet) -> Coverage:
    """Measure coverage; an MCP without tools is covered."""
    tools = [contract.tool for contract in contracts.contracts]
    names = case_names(contracts)
    seen = {step for chain in chains for step in chain}
    used = {tool_of(step, tools) for step in seen}
    uncovered = tuple(name for name in names if name not in seen and not (name in tools and name in used))
    return Coverage(
        tools=len(used & set(tools)) / len(tools) if tools else 1.0,
        cases=1 - len(uncovered) / len(names) if names else 1.0,
        uncovered=uncovered,
    )
