"""Dependency revalidation: what rests on something that changed is certified again, or retired (Weft 3.2.2)."""

from weft.evolve.recompose import NotProven, recompose
from weft.evolve.retask import propose_again, recertify
from weft.evolve.revise import Workshop, revision
from weft.evolve.system import AtomicEntry, System
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.revision import Component, EvidenceItem, Revision

Skip = frozenset[str]


def stale_atomic(entry: AtomicEntry, environment: Environment | None) -> str:
    """Return why an atomic task's certificate does not speak of the system as it is, or ""."""
    server, pin = entry.task.server, entry.task.environment
    if environment is None:
        return f"its environment {server} is gone"
    if pin.hash != environment.hash:
        return f"{server} is {environment.hash[:12]}, and it was certified on {pin.hash[:12]}"
    if pin.state != content_hash(environment.seed):
        return f"its state is not the seed state of {server}"
    return ""


async def revalidate_atomic(system: System, shop: Workshop, skip: Skip = frozenset()) -> tuple[System, list[Revision]]:
    """Certify again the atomic tasks whose environment changed; hand those that do not hold to their author.

    Args:
        system: with its environments as they are now.
        shop: who revises.
        skip: tasks that are revised themselves.
    """
    made: list[Revision] = []
    for name, entry in list(system.atomic.items()):
        environment = system.environments.get(entry.task.server)
        why = stale_atomic(entry, environment)
        if not why or name in skip:
            continue
        found, reason = (None, why) if environment is None else await _again(entry, environment, shop, why)
        after = system.with_atomic(name, found)
        passed = found is not None
        made.append(revision(Component.TASK, name, system, after, reason, passed=passed, dependent=True))
        system = after
    return system, made


async def _again(
    entry: AtomicEntry, environment: Environment, shop: Workshop, why: str
) -> tuple[AtomicEntry | None, str]:
    found = await recertify(entry, environment, shop.host, seed=shop.seed, trust_verifier=True)
    if isinstance(found, AtomicEntry):
        return found, f"{why}; certified again"
    evidence = (EvidenceItem(probe="certification", finding=found.refusal.message),)
    again = await propose_again(entry, environment, shop.tasks, shop.host, evidence, seed=shop.seed, limit=shop.limit)
    if isinstance(again, AtomicEntry):
        return again, f"{why}; its author proposed it again"
    return None, f"{why}; {found.refusal.message}"


def stale_composed(name: str, system: System, before: System) -> str:
    """Return why a composed task's certificate does not speak of the system as it is, or ""."""
    item = system.composed[name]
    for pin in item.task.environments:
        environment = system.environments.get(pin.name)
        if environment is None:
            return f"its environment {pin.name} is gone"
        if pin.hash != environment.hash:
            return f"{pin.name} is {environment.hash[:12]}, and it was certified on {pin.hash[:12]}"
    for node in item.solution.graph.nodes:
        if node.task not in system.atomic:
            if node.task in before.atomic:
                return f"the atomic task {node.task} of {node.id} is gone"
        elif system.atomic[node.task] != before.atomic.get(node.task):
            return f"the atomic task {node.task} of {node.id} changed"
    return ""


async def revalidate_composed(
    system: System, before: System, shop: Workshop, skip: Skip = frozenset()
) -> tuple[System, list[Revision]]:
    """Prove again the composed tasks whose environments or atomic tasks changed, on states instantiated anew.

    Args:
        system: with environments and atomic tasks as they are now.
        before: the system at the beginning of the round.
        shop: who revises.
        skip: tasks that are revised themselves.
    """
    made: list[Revision] = []
    for name, item in list(system.composed.items()):
        why = stale_composed(name, system, before)
        if not why or name in skip:
            continue
        found = await recompose(item, system, shop.host, seed=shop.seed, keep_states=False)
        kept = None if isinstance(found, NotProven) else found
        reason = f"{why}; {found.reason}" if isinstance(found, NotProven) else f"{why}; proven again"
        after = system.with_composed(name, kept)
        made.append(revision(Component.TASK, name, system, after, reason, passed=kept is not None, dependent=True))
        system = after
    return system, made
