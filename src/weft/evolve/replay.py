"""Replaying the reference of a failed turn on the same state: the experiment that most of the attribution rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.agents.reference import Unresolved, resolve
from weft.errors import HostError, InputError, IntegrityError, VerifierError
from weft.evolve.failure import Failure
from weft.ports import SessionGroup, ToolHost
from weft.records.base import JSON
from weft.records.state import InitialState
from weft.records.task import ReferenceStep
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import Verdict
from weft.rollouts.policies.scripted import PlannedNode
from weft.runtime.values import json_equal
from weft.tasks.reference import execute_reference
from weft.verify.answers import plain_text
from weft.verify.evidence import gather


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of replaying the reference.

    Attributes:
        node: the node that it got to; "" when the whole task was judged.
        fault: a tool faulted: ``server/tool`` and what it said, or "".
        refused: a reference call was refused or a source was not observed: what, or "".
        server: environment of the last call.
        tool: tool of the last call.
        verdict: of the node's or the whole task's verifier on the reference; None when it was not reached.
        broken: why the verifier could not be evaluated, or "".
        idle: how the verifier is satisfied without any call, or "".
        entries: the reference's calls over the judged interval.
        reply: what it says after them.
    """

    node: str = ""
    fault: str = ""
    refused: str = ""
    server: str = ""
    tool: str = ""
    verdict: Verdict | None = None
    broken: str = ""
    idle: str = ""
    entries: tuple[LedgerEntry, ...] = ()
    reply: str = ""

    @property
    def passed(self) -> bool:
        """True if the reference executes and its verifier accepts it."""
        return self.verdict is not None and self.verdict.passed


@dataclass(slots=True)
class _Progress:
    """What the nodes that were replayed so far have shown."""

    failure: Failure
    inputs: dict[str, dict[str, JSON]] = field(default_factory=dict)
    observed: dict[str, Mapping[str, JSON]] = field(default_factory=dict)
    slots: dict[str, dict[str, JSON]] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)

    def resolved(self, node: PlannedNode) -> dict[str, JSON]:
        """Return a node's inputs, bound ones from what its upstream nodes showed in this replay.

        Raises:
            Unresolved: an upstream node does not show its output.
        """
        plan = {item.id: item for item in self.failure.nodes}
        values = dict(node.inputs)
        for name, (upstream, output) in node.bound.items():
            outputs = {item.name: item for item in plan[upstream].solution.outputs}
            if output not in outputs:
                raise Unresolved(f"input {name!r} comes from {upstream}.{output}, which is not there")
            values[name] = resolve(outputs[output].source, self.inputs[upstream], self.observed[upstream])
        return values


async def replay_reference(
    host: ToolHost, failure: Failure, states: Mapping[str, InitialState] | None = None
) -> Replay:
    """Replay the references of a failure's nodes from the task's initial state, with the seed of the attempt.

    Args:
        host: runs the tools.
        failure: what failed.
        states: initial states to replay from instead of the task's own.

    Raises:
        HostError: the host failed, so that nothing was shown.
    """
    start = states or failure.states
    try:
        group = await host.open(failure.environments, seed=failure.seed, states=start)
    except (InputError, IntegrityError) as error:
        return Replay(refused=f"its sessions cannot be opened: {error}", node=failure.node)
    progress = _Progress(failure)
    try:
        last = Replay()
        for node in failure.nodes:
            last = await _replay_node(group, node, progress)
            # What a node after the failed one does is not this failure's concern, but for the verdict of the whole.
            if not last.passed or (node.id == failure.node and not failure.whole):
                return last
        return await _judge_whole(group, progress) if failure.whole else last
    finally:
        await group.close()


async def _replay_node(group: SessionGroup, node: PlannedNode, progress: _Progress) -> Replay:
    before = tuple(await group.ledger())
    reference = node.solution.reference
    place = reference[0] if reference else None
    try:
        progress.inputs[node.id] = progress.resolved(node)
    except Unresolved as error:
        return _stopped(node, place, f"the reference of node {node.id} cannot begin: {error}")
    run = await execute_reference(
        group,
        reference,
        progress.inputs[node.id],
        reply=node.solution.reply,
        reply_text=node.solution.reply_text,
        may_fail=any(part.kind == "refusal" for part in node.solution.reply),
    )
    if run.entries and run.entries[-1].outcome is Outcome.INFRASTRUCTURE:
        raise HostError(f"the host failed while the reference was replayed: {_said(run.entries[-1].result)}")
    if run.calls:
        place = next(step for step in reference if step.id == run.calls[-1].step)
    if run.error and run.entries and run.entries[-1].outcome is Outcome.FAULT:
        entry = run.entries[-1]
        said = f"{entry.server}/{entry.tool}: {_said(entry.result)}"
        return Replay(node=node.id, fault=said, server=entry.server, tool=entry.tool)
    if run.error:
        return _stopped(node, place, f"the reference of node {node.id} does not get through: {run.error}")
    progress.observed[node.id] = run.results
    progress.replies.append(run.reply)
    judged = _judge(progress.failure, (node.id,), run.entries, before, run.reply, progress.slots, place)
    if judged.verdict is not None:
        progress.slots[node.id] = dict(judged.verdict.slots)
    return judged


def _stopped(node: PlannedNode, place: ReferenceStep | None, why: str) -> Replay:
    server, tool = (place.server, place.tool) if place is not None else ("", "")
    return Replay(node=node.id, refused=why, server=server, tool=tool)


async def _judge_whole(group: SessionGroup, progress: _Progress) -> Replay:
    failure = progress.failure
    entries = tuple(await group.ledger())
    last = failure.nodes[-1].solution.reference
    place = last[-1] if last else None
    return _judge(failure, failure.whole, entries, (), " ".join(progress.replies), {}, place)


def _judge(
    failure: Failure,
    nodes: tuple[str, ...],
    entries: Sequence[LedgerEntry],
    earlier: Sequence[LedgerEntry],
    reply: str,
    slots: Mapping[str, Mapping[str, JSON]],
    place: ReferenceStep | None,
) -> Replay:
    """Judge the reference, and whether doing nothing would pass just as well."""
    about = Replay(
        node=nodes[0] if len(nodes) == 1 else "",
        server=place.server if place is not None else "",
        tool=place.tool if place is not None else "",
        entries=tuple(entries),
        reply=reply,
    )
    judge = failure.judge
    try:
        verdict = judge.judge(nodes, ledger=entries, earlier=earlier, reply=reply, slots=slots)
    except VerifierError as error:
        return _with(about, broken=str(error))
    idle = ""
    for said, words in ((None, "doing and saying nothing passes"), (reply, "the right reply without any call passes")):
        try:
            passes = judge.judge(nodes, ledger=(), earlier=(), reply=said, slots=slots).passed
        except VerifierError:
            continue
        idle = idle or (words if passes else "")
    return _with(about, verdict=verdict, idle=idle)


def _with(replay: Replay, *, verdict: Verdict | None = None, broken: str = "", idle: str = "") -> Replay:
    return Replay(
        node=replay.node, server=replay.server, tool=replay.tool, entries=replay.entries, reply=replay.reply,
        verdict=verdict, broken=broken, idle=idle,
    )  # fmt: skip


async def reproduces(host: ToolHost, failure: Failure, entry: LedgerEntry) -> bool:
    """Return whether a call that faulted in an attempt faults again after the same calls on the same state.

    Args:
        host: runs the tools.
        failure: the attempt; what came before its turn is replayed by reference.
        entry: the faulting call of its ledger.

    Raises:
        HostError: the host failed.
    """
    group = await host.open(failure.environments, seed=failure.seed, states=failure.states)
    progress = _Progress(failure)
    try:
        for node in () if failure.whole else failure.nodes[:-1]:
            if not (await _replay_node(group, node, progress)).passed:
                return False
        for made in failure.segment.ledger:
            result = await group.call(made.server, made.tool, made.arguments)
            if made is entry:
                return result.outcome is Outcome.FAULT
        return False
    finally:
        await group.close()


def same_outcome(failure: Failure, replay: Replay) -> bool:
    """Return whether the failed attempt did, saw and said all that the reference did, saw and said.

    The composed changes are the same to the last value, every return of the reference stands among the attempt's, and
    the reply is the same text. No honest verifier tells such an attempt from the reference.
    """
    attempt, reference = gather(failure.segment.ledger), gather(replay.entries)
    if attempt.changes != reference.changes:
        return False
    shown = [(entry.server, entry.outcome, entry.result) for entry in failure.segment.ledger]
    for entry in replay.entries:
        if not any(
            server == entry.server and outcome is entry.outcome and json_equal(value, entry.result)
            for server, outcome, value in shown
        ):
            return False
    said = failure.segment.messages[-1].content or ""
    return plain_text(said) == plain_text(replay.reply)


def _said(value: JSON) -> str:
    return str(value.get("error", value) if isinstance(value, dict) else value)[:200]
