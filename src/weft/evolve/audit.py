"""The audit of a system: what is wrong with it whether or not a rollout failed on it.

A verifier that accepts too much fails nobody, and a stale certificate may fail nobody yet. So each round also looks at
every component by itself: environments against their certificates and tests, states against the pins of their tasks,
verifiers against their certificates and against doing nothing.
"""

from collections.abc import Sequence

from weft.errors import VerifierError
from weft.evolve.probes import MOST_FINDINGS, EnvironmentProbe, state_findings, verifier_findings
from weft.evolve.system import AtomicEntry, System
from weft.ports import TaskJudge
from weft.records.composition import Composition
from weft.records.environment import Environment
from weft.records.revision import Attribution, Component, EvidenceItem
from weft.tasks.judge import judge_atomic, judge_composed


def audit(system: System, probe: EnvironmentProbe) -> list[Attribution]:
    """Return what is wrong with the components of a system by themselves, environments first."""
    found = []
    for name, environment in system.environments.items():
        findings = probe.quick(environment)
        if findings:
            found.append(_blame("", "", Component.ENVIRONMENT, name, findings))
    for entry in system.atomic.values():
        if entry.task.server in system.environments:
            found += audit_atomic(entry, system.environments[entry.task.server])
    for item in system.composed.values():
        names = [pin.name for pin in item.task.environments]
        if all(name in system.environments for name in names):
            found += audit_composed(item, [system.environments[name] for name in names])
    return found


def audit_atomic(entry: AtomicEntry, environment: Environment) -> list[Attribution]:
    """Return what is wrong with an atomic task's verifier by itself."""
    task, solution = entry.task, entry.solution
    findings = verifier_findings(task.id, solution.verifier, solution.certificate)
    findings += idle_findings(judge_atomic(solution, (environment,)), (task.id,))
    return [_blame(task.id, task.id, Component.VERIFIER, task.id, findings)] if findings else []


def audit_composed(item: Composition, environments: Sequence[Environment]) -> list[Attribution]:
    """Return what is wrong with a composed task's states and verifiers by themselves."""
    name, solution = item.task.id, item.solution
    found = []
    states = state_findings(item.state.states, {pin.name: pin.state for pin in item.task.environments})
    if states:
        found.append(_blame(name, "", Component.TASK, name, states))
    judge = judge_composed(solution, environments)
    whole = verifier_findings(name, solution.verifier, solution.certificate)
    whole += idle_findings(judge, solution.graph.order)
    if whole:
        found.append(_blame(name, "", Component.VERIFIER, name, whole))
    for node in solution.graph.order:
        private = solution.nodes[node]
        findings = verifier_findings(f"{name} {node}", private.verifier, private.certificate)
        findings += idle_findings(judge, (node,))
        if findings:
            found.append(_blame(name, node, Component.VERIFIER, name, findings))
    return found


def idle_findings(judge: TaskJudge, nodes: tuple[str, ...]) -> list[EvidenceItem]:
    """Return whether a verifier accepts that nothing was done. One that needs upstream values is left to the replay."""
    for said in (None, "Done."):
        try:
            passed = judge.judge(nodes, ledger=(), earlier=(), reply=said, slots={}).passed
        except VerifierError:
            return []
        if passed:
            what = "doing and saying nothing" if said is None else f"saying {said!r} without any call"
            return [EvidenceItem(probe="do_nothing", finding=f"the verifier of {nodes[0]} accepts {what}")]
    return []


def _blame(task: str, node: str, component: Component, subject: str, findings: Sequence[EvidenceItem]) -> Attribution:
    evidence = tuple(findings[:MOST_FINDINGS])
    return Attribution(task=task, node=node, component=component, subject=subject, evidence=evidence)
