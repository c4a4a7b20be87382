"""The attribution agent, rules author (Weft 3.2.2): policy, environment, task or verifier, by evidence.

The order of the questions is the order of certainty: a tool that faulted is an environment's; a reference that its own
verifier accepts on the same state leaves only the policy; a reference that cannot be executed is the environment's if
the
environment fails its own tests, else the task's; a reference that executes and is rejected is the verifier's, unless
the environment or the state is not what was certified.
"""

from weft.evolve.failure import Failure
from weft.evolve.probes import (
    Replay,
    does_nothing_pass,
    environment_findings,
    faults,
    replay_reference,
    state_findings,
    verifier_findings,
)
from weft.ports import ToolHost
from weft.records.revision import Attribution, Component, EvidenceItem
from weft.records.trace import Outcome, StopReason


async def attribute(host: ToolHost, failure: Failure) -> Attribution:
    """Attribute one failure.

    Args:
        host: runs the reference and nothing else; the policy is not run again.
        failure: what failed.
    """
    segment = failure.segment
    lost = segment.stop in (StopReason.INFRASTRUCTURE, StopReason.MODEL_ERROR)
    if lost or any(entry.outcome is Outcome.INFRASTRUCTURE for entry in segment.ledger):
        return _to(failure, Component.INFRASTRUCTURE, "host", [EvidenceItem(probe="outcome", finding=segment.cause)])
    broken = faults(segment.ledger)
    if broken:
        said = [
            EvidenceItem(probe="ledger", finding=f"{entry.server}/{entry.tool} faulted: {entry.result}"[:300])
            for entry in broken
        ]
        return _to(failure, Component.ENVIRONMENT, broken[0].server, said)
    return _judge(failure, await replay_reference(host, failure))


def _judge(failure: Failure, replay: Replay) -> Attribution:
    """Decide from the replay and, where it failed, from what differs from the certified components."""
    if replay.fault:
        return _to(
            failure, Component.ENVIRONMENT, replay.place, [_item("reference_replay", f"faulted: {replay.fault}")]
        )
    if replay.verdict is not None and replay.verdict.passed:
        if does_nothing_pass(failure):
            return _to(
                failure, Component.VERIFIER, failure.task, [_item("do_nothing", "the verifier accepts doing nothing")]
            )
        failed = ", ".join(name for name, passed in failure.segment.checks.items() if not passed)
        evidence = [
            _item("reference_replay", "the reference passes its verifier on the same state"),
            _item("failed_checks", failed or failure.segment.stop.value),
        ]
        return _to(failure, Component.POLICY, failure.task, evidence)
    story = replay.refused or replay.broken or _rejected(replay)
    evidence = [_item("reference_replay", story)]
    for environment in failure.environments:
        findings = environment_findings(environment)
        if findings and environment.name in {step.server for node in failure.nodes for step in node.solution.reference}:
            return _to(failure, Component.ENVIRONMENT, environment.name, [*evidence, *findings[:5]])
    states = state_findings(failure)
    if states or replay.refused:
        return _to(failure, Component.TASK, failure.task, [*evidence, *states])
    return _to(failure, Component.VERIFIER, failure.task, [*evidence, *verifier_findings(failure)])


def _rejected(replay: Replay) -> str:
    if replay.verdict is None:
        return "the reference was not reached"
    wrong = [f"{check.name}: {check.detail}" for check in replay.verdict.checks if not check.passed]
    return f"the verifier rejects the reference: {'; '.join(wrong)}"[:300]


def _item(probe: str, finding: str) -> EvidenceItem:
    return EvidenceItem(probe=probe, finding=finding)


def _to(failure: Failure, component: Component, subject: str, evidence: list[EvidenceItem]) -> Attribution:
    return Attribution(
        task=failure.task, node=failure.node, component=component, subject=subject, evidence=tuple(evidence)
    )
