"""Measuring attribution: plant one fault, let a policy meet it, attribute what fails, and compare (Weft 3.2.2).

A fault is planted in one of three ways. ``stale``: the component is another one than its certificate proves, and says
so by its hash. ``restamped``: every hash was written anew, in certificates and pins, so that only behaviour tells.
``recertified``: the defective environment went through construction again and holds a certificate of its own; what no
check of construction sees is part of the environment then, and only a task that was certified before shows it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from weft.envs.certify import certify
from weft.envs.validation import validate
from weft.evolve.attribute import attribute
from weft.evolve.audit import audit_atomic
from weft.evolve.failure import Failure, failure_at
from weft.evolve.planting import (
    IN_ENVIRONMENT,
    IN_VERIFIER,
    Planted,
    plant_in_environment,
    plant_in_reference,
    plant_in_state,
    plant_in_verifier,
    restamp_environment,
    restamp_task,
)
from weft.evolve.probes import EnvironmentProbe
from weft.evolve.system import AtomicEntry
from weft.ports import SessionGroup, ToolHost
from weft.records.draft import EnvironmentDraft
from weft.records.environment import Environment
from weft.records.revision import Attribution, Component
from weft.records.state import InitialState
from weft.records.trace import Segment, Trajectory
from weft.rollouts.policies.noisy import NoisyPolicy
from weft.rollouts.policies.scripted import PlannedNode, ReferencePolicy
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode, PolicyFactory, rollout
from weft.rollouts.segment import derive_seed
from weft.rollouts.views import Turn
from weft.tasks.judge import judge_atomic
from weft.tasks.plan import plan_atomic


class Mode(StrEnum):
    """How a fault was planted; see the module."""

    STALE = "stale"
    RESTAMPED = "restamped"
    RECERTIFIED = "recertified"


@dataclass(frozen=True, slots=True)
class Scene:
    """An atomic task with its environment and the initial state that it is tried in."""

    entry: AtomicEntry
    environment: Environment
    state: InitialState

    @property
    def plan(self) -> tuple[PlannedNode, ...]:
        """The task's one node as the policies know it."""
        nodes = plan_atomic(self.entry.task, self.entry.solution)
        return tuple(PlannedNode(node.id, node.solution, node.inputs, node.bound) for node in nodes)

    @property
    def episode(self) -> Episode:
        """The task, ready to be rolled out."""
        return Episode(
            task=self.entry.task,
            order=(self.entry.task.id,),
            environments=(self.environment,),
            states={self.environment.name: self.state},
            judge=judge_atomic(self.entry.solution, (self.environment,)),
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """One planted fault and what became of it.

    Attributes:
        kind: what was planted; the policy's fault when it was the policy.
        mode: how.
        truth: the component that has the defect.
        task: id.
        seen: a certificate sees it: a hash differs from what is certified, or a check of construction fails.
        attribution: of the failure; None when nothing failed and the audit found nothing.
    """

    kind: str
    mode: Mode
    truth: Component
    task: str
    seen: bool
    attribution: Attribution | None

    @property
    def right(self) -> bool | None:
        """Whether it was attributed to the component that has it; None when it showed nowhere."""
        return None if self.attribution is None else self.attribution.component is self.truth


def truth_of(kind: Planted) -> Component:
    """Return the component that a planted fault is in."""
    if kind in IN_ENVIRONMENT:
        return Component.ENVIRONMENT
    return Component.VERIFIER if kind in IN_VERIFIER else Component.TASK


def plant(scene: Scene, kind: Planted, mode: Mode, rng: random.Random) -> Scene | None:
    """Return the scene with one fault planted, or None when it does not apply to this task in this way."""
    entry, environment = scene.entry, scene.environment
    if kind in IN_ENVIRONMENT:
        tools = list(dict.fromkeys(step.tool for step in entry.solution.reference))
        broken = plant_in_environment(environment, rng.choice(tools), kind, rng) if tools else None
        if broken is None:
            return None
        if mode is Mode.STALE:
            return replace(scene, environment=broken)
        made = restamp_environment(broken) if mode is Mode.RESTAMPED else _recertified(broken)
        if made is None:
            return None
        pinned = restamp_task(entry, made, scene.state) if mode is Mode.RESTAMPED else entry
        return Scene(pinned, made, scene.state)
    if mode is Mode.RECERTIFIED:
        return None
    planted: Scene | None = None
    if kind in (Planted.ROW_DELETED, Planted.VALUE_CHANGED):
        state = plant_in_state(entry, environment, kind, rng)
        planted = None if state is None else replace(scene, state=state)
    elif kind is Planted.MISSING_ROW:
        changed = plant_in_reference(entry, environment, rng)
        planted = None if changed is None else replace(scene, entry=changed)
    else:
        solution = plant_in_verifier(entry.solution, kind, rng)
        planted = None if solution is None else replace(scene, entry=AtomicEntry(entry.task, solution))
    if planted is None or mode is Mode.STALE:
        return planted
    return replace(planted, entry=restamp_task(planted.entry, environment, planted.state))


def _recertified(broken: Environment) -> Environment | None:
    """Return the environment with a certificate of its own, or None where construction sees the defect."""
    outcome = validate(broken.spec, EnvironmentDraft(contracts=broken.contracts, seed=broken.seed))
    if outcome.findings:
        return None
    made, certificate = certify(outcome, author="rules")
    return None if certificate.kind == "refused" else made


async def try_planted(
    host: ToolHost, scene: Scene, kind: Planted, mode: Mode, probe: EnvironmentProbe, *, seed: int
) -> Trial | None:
    """Plant a fault, let the reference policy meet it, and attribute what fails.

    A policy without faults fails only where something else is wrong. A verifier that accepts anything fails nobody, so
    what passes is audited.

    Returns:
        The trial, or None when the fault does not apply to the task.
    """
    rng = random.Random(f"{seed}/{scene.entry.task.id}/{kind}")
    planted = plant(scene, kind, mode, rng)
    if planted is None:
        return None
    trajectory = await _rolled(host, planted, None, seed)
    segment = trajectory.segments[0]
    found: Attribution | None = None
    if segment.passed is not True:
        failure = _failure(planted, trajectory, segment)
        found = await attribute(host, failure, probe)
    else:
        audited = audit_atomic(planted.entry, planted.environment)
        found = audited[0] if audited else None
    return Trial(
        kind=kind.value,
        mode=mode,
        truth=truth_of(kind),
        task=scene.entry.task.id,
        seen=_seen(kind, mode, planted, probe),
        attribution=found,
    )


def _seen(kind: Planted, mode: Mode, planted: Scene, probe: EnvironmentProbe) -> bool:
    """Return whether a certificate sees a planted fault."""
    if kind in IN_ENVIRONMENT:
        return bool(probe.thorough(planted.environment))
    return mode is Mode.STALE and kind is not Planted.MISSING_ROW


async def try_policy(host: ToolHost, scene: Scene, probe: EnvironmentProbe, *, seed: int) -> Trial | None:
    """Let a policy that always errs try an intact task, and attribute what fails; None when it got through."""
    trajectory = await _rolled(host, scene, 1.0, seed)
    segment = trajectory.segments[0]
    if segment.passed is True:
        return None
    policy = NoisyPolicy([scene.plan], {}, rate=1.0)
    drawn = policy.fault(scene.plan, derive_seed(seed, "turn", 0, 0))
    found = await attribute(host, _failure(scene, trajectory, segment), probe)
    kind = drawn[0].value if drawn is not None else "policy"
    return Trial(kind, Mode.STALE, Component.POLICY, scene.entry.task.id, False, found)


def _failure(planted: Scene, trajectory: Trajectory, segment: Segment) -> Failure:
    return failure_at(planted.episode, planted.plan, trajectory, segment, planted.entry.task.id, frozenset())


async def _rolled(host: ToolHost, scene: Scene, noise: float | None, seed: int) -> Trajectory:
    return await rollout(host, ReactHarness(), scene.episode, _policy(scene.plan, noise), view="simuser", seed=seed)


def _policy(plan: Sequence[PlannedNode], noise: float | None) -> PolicyFactory:
    def make(_turns: Sequence[Turn], group: SessionGroup) -> ReferencePolicy:
        names = {(tool.server, tool.spec.name): tool.name for tool in group.tools()}
        if noise is None:
            return ReferencePolicy([list(plan)], names)
        return NoisyPolicy([list(plan)], names, rate=noise)

    return make
