"""A whole rollout: task x view x harness x policy, turn by turn, without retries (Weft 3.1.3)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.ports import ModelClient, SessionGroup, TaskJudge, ToolHost
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.task import AtomicTask, ComposedTask
from weft.records.trace import Message, Segment, Trajectory
from weft.rollouts.harness import Harness, openai_tool
from weft.rollouts.limits import Limits
from weft.rollouts.segment import attempt, derive_seed, session_seed
from weft.rollouts.simuser import sample_persona, speak
from weft.rollouts.views import Disclosure, Turn, View, turns_of

PolicyFactory = Callable[[Sequence[Turn], SessionGroup], ModelClient]
"""Makes the policy of one rollout from its turns and its opened group."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Everything that a rollout of one task needs, whatever its view.

    Attributes:
        task: the public document.
        order: stored topological order of its nodes.
        environments: what its pins name.
        states: initial state by environment name.
        judge: verifies its nodes.
    """

    task: AtomicTask | ComposedTask
    order: tuple[str, ...]
    environments: tuple[Environment, ...]
    states: Mapping[str, InitialState]
    judge: TaskJudge


@dataclass(slots=True)
class Stage:
    """A rollout that is set up: what every way of sampling it starts from."""

    turns: tuple[Turn, ...]
    requests: tuple[str, ...]
    group: SessionGroup
    policy: ModelClient
    history: list[Message]


async def set_up(
    host: ToolHost,
    harness: Harness,
    episode: Episode,
    policy: PolicyFactory,
    *,
    view: View,
    disclosure: Disclosure,
    seed: int,
) -> Stage:
    """Open the sessions, word the requests and make the policy of a rollout."""
    turns = turns_of(episode.task, episode.order, view, disclosure)
    requests = (
        speak(turns, sample_persona(derive_seed(seed, "persona")), derive_seed(seed, "speech"))
        if view == "simuser"
        else tuple(turn.request for turn in turns)
    )
    group = await host.open(episode.environments, seed=session_seed(seed), states=episode.states)
    system = Message(role="system", content=harness.system(group.tools()))
    return Stage(turns, requests, group, policy(turns, group), [system])


def trajectory_of(
    episode: Episode,
    stage: Stage,
    harness: Harness,
    segments: Sequence[Segment],
    rejected: Sequence[Segment],
    *,
    view: View,
    disclosure: Disclosure,
    seed: int,
    passed: bool | None,
) -> Trajectory:
    """Return the record of a rollout."""
    return Trajectory(
        task=episode.task.id,
        task_hash=content_hash(episode.task),
        view=view,
        disclosure=disclosure,
        harness=harness.name,
        policy=stage.policy.name,
        seed=seed,
        system=stage.history[0].content or "",
        tools=tuple(openai_tool(tool) for tool in stage.group.tools()),
        segments=tuple(segments),
        rejected=tuple(rejected),
        passed=passed,
        initial_state={name: content_hash(state) for name, state in sorted(episode.states.items())},
    )


async def rollout(
    host: ToolHost,
    harness: Harness,
    episode: Episode,
    policy: PolicyFactory,
    *,
    view: View,
    disclosure: Disclosure = "full",
    limits: Limits | None = None,
    seed: int,
) -> Trajectory:
    """Run every turn once, in order, whatever the verdicts, and return the trajectory.

    ``passed`` is True when every turn passed, None when one is unknown and none failed.
    """
    stage = await set_up(host, harness, episode, policy, view=view, disclosure=disclosure, seed=seed)
    segments: list[Segment] = []
    slots: dict[str, Mapping[str, Any]] = {}
    history = list(stage.history)
    try:
        for index, (turn, request) in enumerate(zip(stage.turns, stage.requests, strict=True)):
            tried = await attempt(
                harness, stage.policy, stage.group, episode.judge, history, turn, request,
                slots=slots, limits=limits or Limits(), seed=derive_seed(seed, "turn", index, 0), number=0,
            )  # fmt: skip
            segments.append(tried.segment)
            history.extend(tried.segment.messages)
            if tried.segment.passed:
                slots[turn.nodes[0]] = tried.slots
        verdicts = [segment.passed for segment in segments]
        passed = False if False in verdicts else (None if None in verdicts else True)
        return trajectory_of(
            episode, stage, harness, segments, (), view=view, disclosure=disclosure, seed=seed, passed=passed
        )
    finally:
        await stage.group.close()
