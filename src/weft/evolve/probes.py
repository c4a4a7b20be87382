"""Probes: experiments on a failure's components that tell whose fault it was. Each gives findings; none decides."""

from dataclasses import dataclass

from weft.agents.reference import Unresolved, reply_of, resolve
from weft.errors import VerifierError
from weft.evolve.failure import Failure
from weft.ports import ToolHost
from weft.records.base import JSON
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.revision import EvidenceItem
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import Verdict
from weft.rollouts.policies.scripted import PlannedNode
from weft.runtime.session import EnvironmentSession


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of replaying the reference on the same state.

    Attributes:
        fault: a tool faulted: ``server/tool`` and what it said, or "".
        refused: a reference call was refused or a source was not observed: what, or "".
        place: environment of the fault or refusal.
        verdict: of the failed node's verifier on the reference, None when it was not reached or could not be had.
        broken: why the verifier could not be evaluated, or "".
    """

    fault: str = ""
    refused: str = ""
    place: str = ""
    verdict: Verdict | None = None
    broken: str = ""


async def replay_reference(host: ToolHost, failure: Failure) -> Replay:
    """Replay the reference of the failed node, and of those before it, from the task's initial state.

    Args:
        host: runs the tools.
        failure: what failed.
    """
    group = await host.open(failure.environments, seed=failure.seed, states=failure.states)
    try:
        observed: dict[str, dict[str, JSON]] = {}
        inputs: dict[str, dict[str, JSON]] = {}
        slots: dict[str, dict[str, JSON]] = {}
        for node in failure.nodes:
            start = len(await group.ledger())
            try:
                inputs[node.id] = _inputs(node, inputs, observed, {item.id: item for item in failure.nodes})
                observed[node.id] = {}
                for step in node.solution.reference:
                    arguments = {
                        name: resolve(source, inputs[node.id], observed[node.id])
                        for name, source in step.arguments.items()
                    }
                    result = await group.call(step.server, step.tool, arguments)
                    if result.outcome is Outcome.FAULT:
                        return Replay(fault=f"{step.server}/{step.tool}: {_said(result.value)}", place=step.server)
                    if result.outcome is Outcome.ERROR and not _meant(node):
                        refused = f"{step.server}/{step.tool} refused the reference: {_said(result.value)}"
                        return Replay(refused=refused, place=step.server)
                    observed[node.id][step.id] = result.value
                reply = reply_of(node.solution, inputs[node.id], observed[node.id])
            except Unresolved as error:
                return Replay(refused=f"the reference of node {node.id} cannot go on: {error}", place=failure.server)
            ledger = await group.ledger()
            try:
                verdict = failure.judge.judge(
                    (node.id,), ledger=ledger[start:], earlier=ledger[:start], reply=reply, slots=slots
                )
            except VerifierError as error:
                return Replay(broken=str(error))
            if node.id == failure.node or not verdict.passed:
                return Replay(verdict=verdict)
            slots[node.id] = dict(verdict.slots)
        return Replay()
    finally:
        await group.close()


def _inputs(
    node: PlannedNode,
    known: dict[str, dict[str, JSON]],
    observed: dict[str, dict[str, JSON]],
    plan: dict[str, PlannedNode],
) -> dict[str, JSON]:
    values = dict(node.inputs)
    for name, (upstream, output) in node.bound.items():
        outputs = {item.name: item for item in plan[upstream].solution.outputs}
        values[name] = resolve(outputs[output].source, known[upstream], observed[upstream])
    return values


def _meant(node: PlannedNode) -> bool:
    """True if the node's right outcome is a refusal, so that a refused call is part of the reference."""
    return any(part.kind == "refusal" for part in node.solution.reply)


def _said(value: JSON) -> str:
    return str(value.get("error", value) if isinstance(value, dict) else value)[:200]


def does_nothing_pass(failure: Failure) -> bool:
    """Return whether the node's verifier accepts an interval in which nothing was done or said."""
    try:
        return failure.judge.judge((failure.node,), ledger=(), earlier=(), reply=None, slots={}).passed
    except VerifierError:
        return False


def faults(ledger: tuple[LedgerEntry, ...]) -> list[LedgerEntry]:
    """Return the calls that ended in a fault of the environment."""
    return [entry for entry in ledger if entry.outcome is Outcome.FAULT]


def environment_findings(environment: Environment) -> list[EvidenceItem]:
    """Return what is wrong with an environment: it differs from what its certificate proves, or its tests fail now."""
    found = []
    certificate = environment.certificate
    if certificate is None:
        found.append(EvidenceItem(probe="certificate", finding=f"{environment.name} has no certificate"))
    elif certificate.environment != environment.hash:
        finding = (
            f"{environment.name} is {environment.hash[:12]}, its certificate proves {certificate.environment[:12]}"
        )
        found.append(EvidenceItem(probe="certificate", finding=finding))
    session = EnvironmentSession(environment, environment.seed, 0)
    for test in environment.tests:
        result, changes = session.call(test.tool, test.arguments)
        code = (
            result.value.get("error", {}).get("code", "") if isinstance(result.value, dict) and result.is_error else ""
        )
        changed = sorted({change.table for change in changes.rows} | ({"files"} if changes.files else set()))
        if result.outcome.value != test.outcome or (test.code and code != test.code):
            finding = (
                f"{test.tool}: {test.name}: {result.outcome.value} {code} where {test.outcome} {test.code} is expected"
            )
            found.append(EvidenceItem(probe="environment_tests", finding=finding))
        elif not set(test.changes) <= set(changed) or (changed and not test.changes):
            finding = f"{test.tool}: {test.name}: changed {changed}, expected {sorted(test.changes)}"
            found.append(EvidenceItem(probe="environment_tests", finding=finding))
    return found


def state_findings(failure: Failure) -> list[EvidenceItem]:
    """Return where the initial state is not the one that the task pins."""
    return [
        EvidenceItem(
            probe="state_hash", finding=f"the state of {name} is {content_hash(state)[:12]}, pinned {wanted[:12]}"
        )
        for name, state in sorted(failure.states.items())
        if (wanted := failure.pinned.get(name)) is not None and wanted != content_hash(state)
    ]


def verifier_findings(failure: Failure) -> list[EvidenceItem]:
    """Return where the verifier is not the one that the task's certificate proves."""
    certificate = failure.solution.certificate
    actual = content_hash(failure.solution.verifier)
    if certificate is None or certificate.verifier == actual:
        return []
    finding = f"the verifier is {actual[:12]}, its certificate proves {certificate.verifier[:12]}"
    return [EvidenceItem(probe="certificate", finding=finding)]
