"""The attribution agent, rules author (Weft 3.2.2): policy, environment, task or verifier, by evidence.

The questions are asked in the order of their certainty. A tool that faulted is its environment's. A reference that its
verifier accepts on the same state leaves the policy, unless that verifier also accepts doing nothing, or rejected an
attempt that came to the same. A reference that does not get through is blamed on the first thing that is provably not
what was certified: an environment that fails its own checks, an environment that changed since the task was certified,
a state that is not the pinned one; failing these on the task. A reference that gets through and is rejected is blamed
in the same order, and failing these on the verifier, unless that verifier accepted somebody else's work. What the host
or a model endpoint lost is nobody's fault.
"""

from weft.errors import HostError
from weft.evolve.failure import Failure
from weft.evolve.probes import (
    MOST_FINDINGS,
    EnvironmentProbe,
    faults,
    state_differences,
    state_findings,
    verifier_findings,
    version_findings,
)
from weft.evolve.replay import Replay, replay_reference, reproduces, same_outcome
from weft.ports import ToolHost
from weft.records.environment import Environment
from weft.records.revision import Attribution, Component, EvidenceItem
from weft.records.trace import LedgerEntry, Outcome, StopReason


async def attribute(host: ToolHost, failure: Failure, probe: EnvironmentProbe | None = None) -> Attribution:
    """Attribute one failure.

    Args:
        host: runs the reference; the policy is not run again.
        failure: what failed.
        probe: of environments; pass the same one for several failures, so that nothing is examined twice.
    """
    probe = probe or EnvironmentProbe()
    segment = failure.segment
    lost = segment.stop in (StopReason.INFRASTRUCTURE, StopReason.MODEL_ERROR) or any(
        entry.outcome is Outcome.INFRASTRUCTURE for entry in segment.ledger
    )
    broken = faults(segment.ledger)
    try:
        if broken:
            again = await reproduces(host, failure, broken[0])
            if again or not lost:
                return _faulted(failure, broken, again)
        if lost:
            finding = segment.cause or segment.stop.value
            subject = "model" if segment.stop is StopReason.MODEL_ERROR else "host"
            return _to(failure, Component.INFRASTRUCTURE, subject, [_item("outcome", finding)])
        replay = await replay_reference(host, failure)
        if replay.passed:
            return _reference_passes(failure, replay, probe)
        return await _reference_fails(host, failure, replay, probe)
    except HostError as error:
        evidence = [_item("reference_replay", f"the host failed: {error}"[:300])]
        return _to(failure, Component.INFRASTRUCTURE, "host", evidence)


def _faulted(failure: Failure, broken: list[LedgerEntry], again: bool) -> Attribution:
    said = [
        _item("ledger", f"{entry.server}/{entry.tool} faulted: {entry.result}"[:300], entry.tool) for entry in broken
    ]
    words = "faults again" if again else "does not fault again"
    first = broken[0]
    said.append(_item("fault_replay", f"{first.server}/{first.tool} {words} on the same state", first.tool))
    return _to(failure, Component.ENVIRONMENT, first.server, said[: MOST_FINDINGS + 1])


def _reference_passes(failure: Failure, replay: Replay, probe: EnvironmentProbe) -> Attribution:
    """The task can be done and its verifier accepts it: the policy's, unless verifier or a used tool is unsound."""
    evidence = [_item("reference_replay", "the reference passes its verifier on the same state")]
    if replay.idle:
        return _to(failure, Component.VERIFIER, failure.task, [*evidence, _item("do_nothing", replay.idle)])
    if failure.segment.cause.startswith("verifier"):
        evidence.append(_item("verdict", f"the attempt could not be judged: {failure.segment.cause}"[:300]))
        return _to(failure, Component.VERIFIER, failure.task, evidence)
    failed = [name for name, passed in failure.segment.checks.items() if not passed]
    if same_outcome(failure, replay):
        story = "the attempt changed, saw and said what the reference does"
        evidence += [_item("same_outcome", story), _item("failed_checks", ", ".join(failed)[:300])]
        return _to(failure, Component.VERIFIER, failure.task, evidence)
    used = {(entry.server, entry.tool) for entry in failure.segment.ledger}
    for environment in failure.environments:
        found = [item for item in probe.quick(environment) if (environment.name, item.tool) in used]
        if found:
            return _to(failure, Component.ENVIRONMENT, environment.name, [*evidence, *found[:MOST_FINDINGS]])
    evidence.append(_item("failed_checks", ", ".join(failed)[:300] or f"stopped: {failure.segment.stop.value}"))
    return _to(failure, Component.POLICY, failure.task, evidence)


async def _reference_fails(host: ToolHost, failure: Failure, replay: Replay, probe: EnvironmentProbe) -> Attribution:
    """Something other than the policy is wrong: find the first thing that is not what was certified."""
    node = replay.node
    if replay.fault:
        evidence = [_item("reference_replay", f"the reference faults: {replay.fault}", replay.tool)]
        return _to(failure, Component.ENVIRONMENT, replay.server, evidence, node)
    evidence = [_item("reference_replay", replay.refused or _rejected(replay), replay.tool)]
    used = _suspects(failure, replay)
    for environment in used:
        findings = probe.thorough(environment)
        if findings:
            return _to(failure, Component.ENVIRONMENT, environment.name, [*evidence, *findings[:MOST_FINDINGS]], node)
    changed = version_findings(failure)
    for environment in used:
        if environment.name in changed:
            found = [*evidence, changed[environment.name]]
            return _to(failure, Component.ENVIRONMENT, environment.name, found, node)
    states = state_findings(failure.states, failure.pinned)
    if states:
        return _to(failure, Component.TASK, failure.task, [*evidence, *states], node)
    differences = state_differences(failure.states, failure.fresh) if failure.fresh else []
    if differences and (await replay_reference(host, failure, {**failure.states, **failure.fresh})).passed:
        passes = _item("state_substitution", "the reference passes when the initial state is made again")
        return _to(failure, Component.TASK, failure.task, [*evidence, passes, *differences], node)
    if replay.refused:
        return _to(failure, Component.TASK, failure.task, evidence, node)
    return _verifier_or_reference(failure, replay, evidence)


def _verifier_or_reference(failure: Failure, replay: Replay, evidence: list[EvidenceItem]) -> Attribution:
    """The reference gets through on a sound environment and state, and its verifier rejects it."""
    planned = next((item for item in failure.nodes if item.id == replay.node), None)
    stale = (
        verifier_findings(f"{failure.task} {planned.id}", planned.solution.verifier, planned.solution.certificate)
        if planned is not None and planned.solution.certificate is not None
        else []
    )
    if failure.accepted and not stale and not replay.broken and replay.node in ("", failure.node):
        accepted = _item("accepted_attempt", "the verifier accepted another attempt at this turn")
        return _to(failure, Component.TASK, failure.task, [*evidence, accepted], replay.node)
    return _to(failure, Component.VERIFIER, failure.task, [*evidence, *stale], replay.node)


def _suspects(failure: Failure, replay: Replay) -> list[Environment]:
    """Return the environments that the replayed references use, that of the failing call first."""
    order = (replay.server, *failure.servers)
    known = {environment.name: environment for environment in failure.environments}
    return [known[name] for name in dict.fromkeys(order) if name in known]


def _rejected(replay: Replay) -> str:
    if replay.broken:
        return f"the verifier cannot be evaluated on the reference: {replay.broken}"[:300]
    checks = replay.verdict.checks if replay.verdict is not None else ()
    wrong = [f"{check.name}: {check.detail}" for check in checks if not check.passed]
    return f"the verifier rejects the reference: {'; '.join(wrong)}"[:300]


def _item(probe: str, finding: str, tool: str = "") -> EvidenceItem:
    return EvidenceItem(probe=probe, finding=finding, tool=tool)


def _to(
    failure: Failure, component: Component, subject: str, evidence: list[EvidenceItem], node: str | None = None
) -> Attribution:
    return Attribution(
        task=failure.task,
        node=failure.node if node is None else node,
        component=component,
        subject=subject,
        evidence=tuple(evidence),
    )
