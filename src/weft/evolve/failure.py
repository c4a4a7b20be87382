"""A failed turn with everything that its attribution may look at."""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.ports import TaskJudge
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.task import AtomicSolution
from weft.records.trace import Segment
from weft.rollouts.policies.scripted import PlannedNode


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed (or lost) attempt at a node.

    Attributes:
        task: task id.
        node: the node that failed.
        segment: the failed attempt, with its ledger.
        nodes: the planned nodes up to and with the failed one, in execution order.
        environments: of the task.
        states: the task's initial states by environment.
        pinned: environment name -> the state hash that the task pins.
        seed: of the sessions' ids.
        judge: verifies the nodes.
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

    @property
    def solution(self) -> AtomicSolution:
        """The private document of the failed node."""
        return self.nodes[-1].solution

    @property
    def server(self) -> str:
        """The environment of the failed node's last step, or of its task's first."""
        reference = self.solution.reference
        return reference[-1].server if reference else self.environments[0].name
