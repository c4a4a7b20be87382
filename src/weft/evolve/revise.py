"""The evolution agent's hand: a broken component goes back to its author, with what was found (Weft 3.2.2).

An environment is synthesised again from its spec and certified; where its author makes the same again, the findings
are put before it. A task is proposed again, or a composed one proven on states that are instantiated anew. A verifier
is generated again from the reference and tested. What cannot be made to hold is retired, with the reason. Nothing but
the selected component is touched here; what rests on it is the concern of :mod:`weft.evolve.revalidate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weft.agents.environment import EnvironmentAuthor
from weft.agents.tasks import TaskAuthor
from weft.evolve.probes import EnvironmentProbe, validation_findings
from weft.evolve.recompose import NotProven, recompose
from weft.evolve.reenvironment import resynthesise
from weft.evolve.retask import propose_again, recertify
from weft.evolve.system import AtomicEntry, System
from weft.ports import ToolHost
from weft.records.composition import Composition
from weft.records.draft import Finding, FindingKind
from weft.records.environment import Environment
from weft.records.evolution import Selected
from weft.records.revision import Component, EvidenceItem, Revision

ON_TOOLS = frozenset({"ledger", "environment_tests", "validation"})
"""Probes whose findings on a tool are evidence against that tool."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Who revises, and with which options the system was built.

    Attributes:
        host: runs the tools.
        environments: author of environments.
        tasks: author of atomic tasks.
        seed: of construction; the same seed makes the same again.
        size: wanted seed rows of a main table.
        limit: most atomic tasks per environment.
    """

    host: ToolHost
    environments: EnvironmentAuthor
    tasks: TaskAuthor
    seed: int
    size: int = 12
    limit: int = 24


async def revise(system: System, selected: Selected, shop: Workshop) -> tuple[System, Revision]:
    """Revise one selected component.

    Returns:
        The system with the component rebuilt, retired or unchanged, and the record of it.
    """
    if selected.component is Component.ENVIRONMENT:
        return await _environment(system, selected, shop)
    if selected.subject in system.composed:
        return await _composed(system, selected, shop)
    if selected.subject in system.atomic:
        return await _atomic(system, selected, shop)
    reason = "it is not part of the system any more"
    return system, revision(selected.component, selected.subject, system, system, reason, passed=False)


def revision(
    component: Component,
    subject: str,
    before: System,
    after: System,
    reason: str,
    *,
    passed: bool,
    dependent: bool = False,
) -> Revision:
    """Return the record of what became of a component, told from its hashes in both versions."""
    old, new = before.hash_of(subject), after.hash_of(subject)
    return Revision(
        component=component,
        subject=subject,
        before=old,
        after=new,
        action="retired" if old and not new else "unchanged" if old == new else "rebuilt",
        reason=reason[:400],
        passed=passed,
        cause="dependent" if dependent else "attributed",
    )


def findings_of(evidence: Sequence[EvidenceItem]) -> tuple[Finding, ...]:
    """Return evidence on single tools as findings for an author, one for each tool.

    A call of a reference that was refused or rejected is no evidence against the tool that was called last.
    """
    found: dict[str, Finding] = {}
    for item in evidence:
        faulted = item.probe == "reference_replay" and " faults: " in item.finding
        if item.tool and (faulted or item.probe in ON_TOOLS):
            finding = Finding(kind=FindingKind.RUNTIME, check="execution", tool=item.tool, message=item.finding)
            found.setdefault(item.tool, finding)
    return tuple(found.values())


async def _environment(system: System, selected: Selected, shop: Workshop) -> tuple[System, Revision]:
    name = selected.subject
    broken = system.environments.get(name)
    if broken is None:
        reason = "it is not part of the system any more"
        return system, revision(selected.component, name, system, system, reason, passed=False)
    probe = EnvironmentProbe()
    if {item.probe for item in selected.evidence} <= {"folder"} and not probe.thorough(broken):
        reason = "its documents are what was certified; the files that follow from them are written again"
        return system, revision(selected.component, name, system, system, reason, passed=True)
    proven = {entry.task.environment.hash for entry in system.atomic.values() if entry.task.server == name}
    if broken.certificate is not None:
        proven.add(broken.certificate.environment)
    author = shop.environments
    # A hash that differs names no tool; running the checks may.
    findings = findings_of(selected.evidence) or findings_of(validation_findings(broken))
    made, reason = await resynthesise(broken, author, findings, proven - {broken.hash}, seed=shop.seed, size=shop.size)
    after = system.with_environment(name, made)
    return after, revision(selected.component, name, system, after, reason, passed=made is not None)


async def _atomic(system: System, selected: Selected, shop: Workshop) -> tuple[System, Revision]:
    name = selected.subject
    entry = system.atomic[name]
    environment = system.environments.get(entry.task.server)
    if environment is None:
        after = system.with_atomic(name, None)
        reason = f"its environment {entry.task.server} is gone"
        return after, revision(selected.component, name, system, after, reason, passed=False)
    if selected.component is Component.VERIFIER:
        found = await recertify(entry, environment, shop.host, seed=shop.seed, trust_verifier=False)
        if isinstance(found, AtomicEntry):
            after = system.with_atomic(name, found)
            reason = "its verifier was generated again from the reference and tested"
            return after, revision(selected.component, name, system, after, reason, passed=True)
    return await _proposed(system, selected, entry, environment, shop)


async def _proposed(
    system: System, selected: Selected, entry: AtomicEntry, environment: Environment, shop: Workshop
) -> tuple[System, Revision]:
    name = entry.task.id
    found = await propose_again(
        entry, environment, shop.tasks, shop.host, selected.evidence, seed=shop.seed, limit=shop.limit
    )
    if isinstance(found, AtomicEntry):
        after = system.with_atomic(name, found)
        return after, revision(
            selected.component, name, system, after, "its author proposed it again, and it certifies", passed=True
        )
    after = system.with_atomic(name, None)
    return after, revision(selected.component, name, system, after, found.refusal.message, passed=False)


async def _composed(system: System, selected: Selected, shop: Workshop) -> tuple[System, Revision]:
    name = selected.subject
    item = system.composed[name]
    ways = [(False, "proven on states that were instantiated again from its environments")]
    if selected.component is Component.VERIFIER:
        ways.insert(0, (True, "verifiers generated again from the reference on the same states, and tested"))
    why = ""
    for keep, reason in ways:
        found = await recompose(item, system, shop.host, seed=shop.seed, keep_states=keep)
        if not isinstance(found, NotProven):
            after = system.with_composed(name, found)
            return after, revision(selected.component, name, system, after, reason, passed=True)
        why = found.reason
    mended = await _mended_nodes(system, item, selected, shop)
    if mended is not system:
        found = await recompose(item, mended, shop.host, seed=shop.seed, keep_states=False)
        if not isinstance(found, NotProven):
            after = mended.with_composed(name, found)
            reason = "the atomic tasks of its blamed nodes were proposed again, and it was proven with them"
            return after, revision(selected.component, name, system, after, reason, passed=True)
        why = found.reason
    after = mended.with_composed(name, None)
    return after, revision(selected.component, name, system, after, why, passed=False)


async def _mended_nodes(system: System, item: Composition, selected: Selected, shop: Workshop) -> System:
    """Return the system with those atomic tasks of blamed nodes that do not certify proposed again or left out."""
    for node in item.solution.graph.nodes:
        entry = system.atomic.get(node.task)
        environment = system.environments.get(node.server)
        if node.id not in selected.nodes or entry is None or environment is None:
            continue
        if isinstance(await recertify(entry, environment, shop.host, seed=shop.seed, trust_verifier=True), AtomicEntry):
            continue
        found = await propose_again(
            entry, environment, shop.tasks, shop.host, selected.evidence, seed=shop.seed, limit=shop.limit
        )
        system = system.with_atomic(node.task, found if isinstance(found, AtomicEntry) else None)
    return system
