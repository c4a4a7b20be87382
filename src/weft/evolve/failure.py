"""A failed turn with everything that its attribution may look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.ports import TaskJudge
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask
from weft.records.trace import Segment, Trajectory
from weft.rollouts.policies.scripted import PlannedNode
from weft.rollouts.runner import Episode
from weft.rollouts.segment import session_seed


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed (or lost) attempt at a node.

    Attributes:
        task: task id.
        node: the node that failed.
        segment: the failed attempt, with its ledger.
        nodes: the planned nodes that the reference is replayed on, in execution order: up to and with the failed one,
            or all of them when the attempt was over the whole task.
        environments: of the task.
        states: the task's initial states by environment.
        pinned: environment name -> the state hash that the task pins.
        seed: of the sessions' ids; the replay takes the same.
        judge: verifies the nodes.
        versions: environment name -> the environment hash that the task pins.
        whole: the task's nodes in order when the attempt was over all of them (the Agentic view), else empty.
        accepted: another attempt at the same turn, in any rollout, was accepted.
        fresh: the initial states as construction would make them again, where that is known; the replay is tried on
            them when it fails on ``states``.
    """

    task: str
    node: str
    segment: Segment
    nodes: tuple[PlannedNode, ...]
    environments: tuple[Environment, ...]
    states: Mapping[str, InitialState]
    pinned: Mapping[str, str]
    seed: int
    judge: TaskJudge
    versions: Mapping[str, str] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    accepted: bool = False
    fresh: Mapping[str, InitialState] = field(default_factory=dict)

    @property
    def planned(self) -> PlannedNode:
        """The failed node."""
        return next((node for node in self.nodes if node.id == self.node), self.nodes[-1])

    @property
    def solution(self) -> AtomicSolution:
        """The private document of the failed node."""
        return self.planned.solution

    @property
    def server(self) -> str:
        """The environment of the failed node's last step, or of its task's first."""
        reference = self.solution.reference
        return reference[-1].server if reference else self.environments[0].name

    @property
    def servers(self) -> tuple[str, ...]:
        """The environments that the replayed references use, in the order of use."""
        return tuple(dict.fromkeys(step.server for node in self.nodes for step in node.solution.reference))


def failures_in(
    episode: Episode, plan: Sequence[PlannedNode], trajectory: Trajectory, accepted: frozenset[str] = frozenset()
) -> list[Failure]:
    """Return the failures of a trajectory: the first rejected attempt of each turn.

    An attempt over all nodes at once (the Agentic view) counts for the node whose checkpoint failed first.

    Args:
        episode: the task as it was rolled out.
        plan: of its nodes, in execution order.
        trajectory: one rollout of it.
        accepted: nodes ("" for all at once) at which an attempt of another rollout was accepted.
    """
    found: dict[str, Segment] = {}
    for segment in trajectory.rejected:
        found.setdefault(segment.node or first_failed(segment, plan), segment)
    known = accepted | {segment.node for segment in trajectory.segments}
    return [failure_at(episode, plan, trajectory, segment, node, known) for node, segment in found.items()]


def failure_at(
    episode: Episode,
    plan: Sequence[PlannedNode],
    trajectory: Trajectory,
    segment: Segment,
    node: str,
    accepted: frozenset[str],
) -> Failure:
    """Return the failure of one attempt at a node."""
    task = episode.task
    order = [item.id for item in plan]
    over_all = not segment.node and len(order) > 1
    pins = (task.environment,) if isinstance(task, AtomicTask) else task.environments
    seeds = {environment.name: environment.seed for environment in episode.environments}
    return Failure(
        task=task.id,
        node=node,
        segment=segment,
        nodes=tuple(plan) if over_all else tuple(plan[: order.index(node) + 1]),
        environments=episode.environments,
        states=episode.states,
        pinned={pin.name: pin.state for pin in pins},
        seed=session_seed(trajectory.seed),
        judge=episode.judge,
        versions={pin.name: pin.hash for pin in pins},
        whole=tuple(order) if over_all else (),
        accepted=segment.node in accepted,
        fresh=seeds if isinstance(task, AtomicTask) else {},
    )


def first_failed(segment: Segment, plan: Sequence[PlannedNode]) -> str:
    """Return the node whose checkpoint failed first; the last node when every checkpoint passed or none is there."""
    for node in plan:
        if segment.checks.get(f"checkpoint {node.id}") is False:
            return node.id
    return plan[-1].id
