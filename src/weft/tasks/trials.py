"""Trials: the independent initial states from which one environment's tasks are executed (Weft A.1).

Two session groups are opened with different seeds, so that generated ids differ, and with clocks a minute apart, so
that values taken from the clock do. Each execution starts from a restored snapshot of the untouched initial state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.ports import SessionGroup, ToolHost
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.trace import Outcome
from weft.runtime.clock import parse_clock, ticked
from weft.tasks.mutants import is_write
from weft.tasks.reference import EndState, ResolvedCall, end_state, execute_calls

SHIFT = 61
"""Seconds between the clocks of the two groups."""


@dataclass(slots=True)
class Trial:
    """One group and the snapshot of its untouched state."""

    group: SessionGroup
    snapshot: str

    async def fresh(self) -> SessionGroup:
        """Return the group in its initial state."""
        await self.group.restore(self.snapshot)
        return self.group


@dataclass(slots=True)
class Trials:
    """The two trials of an environment from one initial state.

    Attributes:
        environment: under test.
        state: the initial state.
        pair: the two trials.
        start: initial rows and files as the sessions hold them.
        extras: calls that change the initial state and belong to no task.
        environment_hash: what tasks are pinned to.
        state_hash: of the initial state.
    """

    environment: Environment
    state: InitialState
    pair: tuple[Trial, Trial]
    start: EndState
    extras: tuple[ResolvedCall, ...]
    environment_hash: str
    state_hash: str

    async def close(self) -> None:
        """Close both groups."""
        for trial in self.pair:
            await trial.group.close()


async def open_trials(
    environment: Environment, host: ToolHost, *, seed: int, state: InitialState | None = None
) -> Trials:
    """Open the two trials of an environment.

    Args:
        environment: certified.
        host: that runs it.
        seed: of the generated ids; the second group takes another.
        state: initial state; the environment's own when None.
    """
    first = state or environment.seed
    second = first.model_copy(update={"clock": ticked(parse_clock(first.clock), SHIFT)})
    opened: list[Trial] = []
    for number, initial in enumerate((first, second)):
        states: Mapping[str, InitialState] = {environment.name: initial}
        group = await host.open([environment], seed=seed * 2 + number, states=states)
        opened.append(Trial(group, await group.snapshot()))
    start = await end_state(opened[0].group, environment.name)
    extras = await _extras(environment, opened[0])
    pinned = environment.hash, content_hash(first)
    return Trials(environment, first, (opened[0], opened[1]), start, extras, *pinned)


async def _extras(environment: Environment, trial: Trial, most: int = 3) -> tuple[ResolvedCall, ...]:
    """Return calls among the environment's own tests that change the initial state, by different tools."""
    found: list[ResolvedCall] = []
    normal = [test for test in environment.tests if test.kind == "normal" and test.outcome == "ok" and test.changes]
    tried: dict[str, int] = {}
    for test in normal:
        done = test.tool in {call.tool for call in found} or tried.get(test.tool, 0) >= 2
        if done or not isinstance(test.arguments, dict):
            continue
        tried[test.tool] = tried.get(test.tool, 0) + 1
        call = ResolvedCall("extra", environment.name, test.tool, test.arguments)
        run = await execute_calls(await trial.fresh(), [call], "")
        if run.entries and run.entries[-1].outcome is Outcome.OK and is_write(run.entries[-1]):
            found.append(call)
        if len(found) == most:
            break
    return tuple(found)


def first_writes(calls: Sequence[ResolvedCall], used: Sequence[str]) -> tuple[ResolvedCall, ...]:
    """Return extra calls, those of tools that a task does not use itself first."""
    return tuple(sorted(calls, key=lambda call: call.tool in used))
