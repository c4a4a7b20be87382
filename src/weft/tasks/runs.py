"""Running the references of a task's nodes in one session group (Weft 3.1.2: reachability; DESIGN section 5).

Every argument is taken from what was observed, also across nodes: a bound input is resolved from the upstream node's
real results. So a run that passes has shown each binding to hold.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from weft.agents.reference import Unresolved, objects, resolve
from weft.ports import SessionGroup, ToolHost
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, FromStep, Source
from weft.records.trace import LedgerEntry
from weft.runtime.values import json_equal
from weft.tasks.plan import NodePlan
from weft.tasks.reference import ReferenceRun, ResolvedCall, execute_calls, execute_reference
from weft.verify.evidence import Evidence, gather

AFTER_FAILURE = "what it rests on failed"
"""Beginning of the reason of a node that failed only because an upstream one did."""

Shape = tuple[tuple[str, ...], ...]
"""How a node went: outcome by step, then (operation, place, times) of its row and file changes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a node does not hold in a composition."""

    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class NodeRun:
    """What one node's reference did.

    Attributes:
        id: node.
        inputs: every input as it was, bound ones from upstream results.
        run: the execution; its ledger reaches from the beginning of the group to the node's end.
    """

    id: str
    inputs: Mapping[str, JSON]
    run: ReferenceRun

    @property
    def failed(self) -> str:
        """Why it could not be carried through, or ""."""
        return self.run.error

    def evidence(self, upstream: Mapping[str, JSON] | None = None) -> Evidence:
        """Return the evidence of its interval."""
        return gather(self.run.ledger, since=self.run.since, reply=self.run.reply, upstream=upstream)

    def shape(self) -> Shape:
        """Return how it went, whatever the values were."""
        changes = self.evidence().changes
        rows = Counter((change.op, f"{change.server}.{change.table}") for change in changes.rows)
        files = Counter(("file", f"{change.server}:") for change in changes.files)
        steps = tuple((entry.tool, entry.outcome.value) for entry in self.run.entries)
        counted = [(*key, str(times)) for key, times in sorted((rows + files).items())]
        return (*steps, *counted)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of several nodes in order.

    Attributes:
        nodes: by id, in the order in which they ran.
        seed: of the generated ids.
    """

    nodes: Mapping[str, NodeRun]
    seed: int = 0

    @property
    def failed(self) -> str:
        """Id of the first node that failed, or ""."""
        return next((node.id for node in self.nodes.values() if node.failed), "")

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """The ledger of the whole run."""
        last = next(reversed(list(self.nodes.values())), None)
        return last.run.ledger if last is not None else ()

    def whole(self) -> Evidence:
        """Return the evidence of the whole interval, with what a policy says after carrying it out in one turn."""
        return gather(self.ledger, reply=_said(self.nodes.values()))

    def without(self, nodes: frozenset[str]) -> Evidence:
        """Return the evidence of the whole interval as if some nodes had been left out."""
        kept = [node for node in self.nodes.values() if node.id not in nodes]
        return gather([entry for node in kept for entry in node.run.entries], reply=_said(kept))


def _said(nodes: Iterable[NodeRun]) -> str:
    return " ".join(node.run.reply for node in nodes if node.run.reply)


def means_refusal(solution: AtomicSolution) -> bool:
    """Return whether the right outcome is to change nothing and say why; a refused call may be part of it."""
    return any(part.kind == "refusal" for part in solution.reply)


@dataclass(slots=True)
class Rehearsal:
    """A session group in which references are run, with a snapshot before each node where wanted.

    Use as ``async with Rehearsal(host, environments, states, seed) as rehearsal``.
    """

    host: ToolHost
    environments: Sequence[Environment]
    states: Mapping[str, InitialState]
    seed: int
    _open: SessionGroup | None = None
    _snapshots: dict[str, str] = field(default_factory=dict)
    _done: dict[str, NodeRun] = field(default_factory=dict)
    _plans: dict[str, NodePlan] = field(default_factory=dict)

    async def __aenter__(self) -> "Rehearsal":
        self._open = await self.host.open(self.environments, seed=self.seed, states=self.states)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.group.close()

    @property
    def group(self) -> SessionGroup:
        """The open group."""
        assert self._open is not None, "enter the rehearsal first"
        return self._open

    async def run(self, plans: Sequence[NodePlan], *, snapshots: bool = False) -> Run:
        """Run nodes in order. One that fails is taken back, so that every node that fails by itself is found.

        Args:
            plans: in execution order.
            snapshots: keep a snapshot before each node, for :meth:`variant` and :meth:`calls`.
        """
        self._plans = {plan.id: plan for plan in plans}
        for plan in plans:
            before = await self.group.snapshot()
            if snapshots:
                self._snapshots[plan.id] = before
            self._done[plan.id] = await self._node(plan)
            if self._done[plan.id].failed:
                await self.group.restore(before)
        return Run(dict(self._done), self.seed)

    async def before(self, node: str) -> SessionGroup:
        """Return the group in the state before a node."""
        await self.group.restore(self._snapshots[node])
        return self.group

    async def variant(self, plan: NodePlan, *, inputs: Mapping[str, JSON] | None = None) -> NodeRun:
        """Carry out a node in another way, from the state before it.

        Args:
            plan: the node with another solution, or the same one.
            inputs: values instead of those it was given or took from upstream.
        """
        await self.before(plan.id)
        return await self._node(plan, inputs)

    async def calls(self, node: str, calls: Sequence[ResolvedCall], reply: str) -> NodeRun:
        """Make other calls and give another reply, from the state before a node."""
        run = await execute_calls(await self.before(node), calls, reply)
        return NodeRun(node, self._done[node].inputs, run)

    async def _node(self, plan: NodePlan, instead: Mapping[str, JSON] | None = None) -> NodeRun:
        solution = plan.solution
        try:
            inputs = {**self._inputs(plan), **(instead or {})}
        except Unresolved as error:
            ledger = tuple(await self.group.ledger())
            return NodeRun(plan.id, plan.inputs, ReferenceRun(ledger=ledger, since=len(ledger), error=str(error)))
        run = await execute_reference(
            self.group,
            solution.reference,
            inputs,
            reply=solution.reply,
            reply_text=solution.reply_text,
            may_fail=means_refusal(solution),
        )
        return NodeRun(plan.id, inputs, run)

    def _inputs(self, plan: NodePlan) -> dict[str, JSON]:
        values = dict(plan.inputs)
        for name, (upstream, output) in plan.bound.items():
            if upstream not in self._done or self._done[upstream].failed:
                raise Unresolved(f"{AFTER_FAILURE}: input {name!r} comes from {upstream}")
            values[name] = output_of(self._plans[upstream].solution, self._done[upstream], output)
        return values


def output_of(solution: AtomicSolution, node: NodeRun, output: str) -> JSON:
    """Return the value of a node's output as its run showed it.

    Raises:
        Unresolved: there is no such output, or it was not observed.
    """
    source = next((item.source for item in solution.outputs if item.name == output), None)
    if source is None:
        raise Unresolved(f"node {node.id} has no output {output!r}")
    return resolve(source, node.inputs, node.run.results)


def same_outcome(left: NodeRun, right: NodeRun) -> bool:
    """Return whether two ways to carry out a node came to the same changes and the same reply."""
    return not left.failed and left.run.reply == right.run.reply and left.evidence().changes == right.evidence().changes


def choices(solution: AtomicSolution, node: NodeRun) -> tuple[int, ...]:
    """Return between how many different values each source of a node that takes one had the choice.

    Where rows that other nodes make join the candidates, which one comes first depends on their generated ids: a task
    must not rest on that.
    """
    sources = [source for step in solution.reference for source in step.arguments.values()]
    sources += [part.source for part in solution.reply]
    return tuple(_choice(one, node) for source in sources for one in _taken(source))


def _taken(source: Source) -> Iterator[FromStep]:
    if isinstance(source, FromStep):
        yield source
    for item in (*getattr(source, "items", ()), *dict(getattr(source, "fields", {})).values()):
        yield from _taken(item)


def _choice(source: FromStep, node: NodeRun) -> int:
    results = node.run.results
    wanted = {name: resolve(item, node.inputs, results) for name, item in source.match.items()}
    seen: list[JSON] = []
    for item in objects(results.get(source.step)):
        held = source.field in item and all(
            name in item and json_equal(item[name], one) for name, one in wanted.items()
        )
        if held and not any(json_equal(item[source.field], other) for other in seen):
            seen.append(item[source.field])
    return len(seen)
