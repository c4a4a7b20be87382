"""Episodes and policies of tasks: public documents, private documents and environments put together for a rollout."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import InputError
from weft.ports import SessionGroup
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask, ComposedSolution, ComposedTask
from weft.rollouts.policies.noisy import NoisyPolicy
from weft.rollouts.policies.scripted import PlannedNode, ReferencePolicy
from weft.rollouts.runner import Episode, PolicyFactory
from weft.rollouts.views import Turn
from weft.tasks.judge import judge_atomic, judge_composed
from weft.tasks.plan import NodePlan, plan_atomic, plan_composed


@dataclass(frozen=True, slots=True)
class Staged:
    """A task that can be rolled out: its episode, and the plan that scripted policies follow."""

    episode: Episode
    plan: tuple[PlannedNode, ...]


def planned(plan: Sequence[NodePlan]) -> tuple[PlannedNode, ...]:
    """Return a task's plan as the scripted policies take it."""
    return tuple(PlannedNode(node.id, node.solution, node.inputs, node.bound) for node in plan)


def stage_atomic(task: AtomicTask, solution: AtomicSolution, environment: Environment, state: InitialState) -> Staged:
    """Return an atomic task, ready to be rolled out."""
    episode = Episode(
        task=task,
        order=(task.id,),
        environments=(environment,),
        states={environment.name: state},
        judge=judge_atomic(solution, (environment,)),
    )
    return Staged(episode, planned(plan_atomic(task, solution)))


def stage_composed(
    task: ComposedTask,
    solution: ComposedSolution,
    environments: Mapping[str, Environment],
    states: Mapping[str, InitialState],
) -> Staged:
    """Return a composed task, ready to be rolled out.

    Raises:
        InputError: an environment that the task pins is not there.
    """
    missing = [pin.name for pin in task.environments if pin.name not in environments]
    if missing:
        raise InputError(f"task {task.id} needs environments {missing}; build them first")
    needed = tuple(environments[pin.name] for pin in task.environments)
    episode = Episode(
        task=task,
        order=solution.graph.order,
        environments=needed,
        states=states,
        judge=judge_composed(solution, needed),
    )
    return Staged(episode, planned(plan_composed(task, solution)))


def scripted(plan: Sequence[PlannedNode], *, noise: float | None) -> PolicyFactory:
    """Return the factory of a scripted policy.

    Args:
        plan: of the task.
        noise: share of faulty turns for the noisy policy; None for the reference policy.
    """
    nodes = {node.id: node for node in plan}

    def make(turns: Sequence[Turn], group: SessionGroup) -> ReferencePolicy:
        names = {(tool.server, tool.spec.name): tool.name for tool in group.tools()}
        planned_turns = [[nodes[name] for name in turn.nodes] for turn in turns]
        if noise is None:
            return ReferencePolicy(planned_turns, names)
        return NoisyPolicy(planned_turns, names, rate=noise)

    return make
