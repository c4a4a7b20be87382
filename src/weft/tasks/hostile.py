"""Mutants of a composed task: wrong executions of its nodes, careless habits, left-out nodes, wrong bound values.

Each is executed from the state in which the composition reaches the node. Whether one is really wrong is decided by
full comparison of where it ends (:mod:`weft.tasks.equivalence`), never by the verifier under test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weft.errors import VerifierError
from weft.records.base import JSON
from weft.records.certificate import MutantResult
from weft.records.environment import Environment
from weft.records.state import Changeset, DatabaseSchema, Rows
from weft.records.trace import LedgerEntry
from weft.records.verdict import CheckResult, Verifier
from weft.runtime.values import json_equal
from weft.tasks.context import Habit
from weft.tasks.equivalence import same_changes, shows
from weft.tasks.mutants import Mutant, Subject, mutants_of
from weft.tasks.plan import NodePlan
from weft.tasks.proving import Verified
from weft.tasks.runs import NodeRun, Rehearsal, Run, same_outcome
from weft.tasks.support import Fragment, identifying, supports
from weft.verify.answers import check_answer
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence

MutantOutcome = Literal["killed", "equivalent", "survived"]

IDLE = ("do_nothing", "no_calls", "empty_reply")
"""Kinds that are always tried; the others within a budget per node, one of each kind first."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a variant of a node must come to in full to count as equivalent.

    Attributes:
        changes: of its reference, unnormalised.
        reply: its reply.
        fragments: required returns, word for word.
        calls: required calls with their whole returns.
    """

    changes: Changeset
    reply: str
    fragments: tuple[Fragment, ...]
    calls: tuple[LedgerEntry, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """A node in the state in which the composition reaches it, with what its reference makes of it.

    Attributes:
        plan: the node.
        node: its run in the composition.
        environment: its server.
        rows: of its server before it.
        yardstick: what its reference comes to, in full.
        verifier: of the node.
        upstream: values of its upstream slots.
    """

    plan: NodePlan
    node: NodeRun
    environment: Environment
    rows: Rows
    yardstick: Yardstick
    verifier: Verifier
    upstream: Mapping[str, JSON]


async def scene_of(rehearsal: Rehearsal, plan: NodePlan, environment: Environment, verified: Verified) -> Scene:
    """Set the scene of a node: its reference is run once more from the state before it."""
    rows = await (await rehearsal.before(plan.id)).rows(plan.server)
    node = await rehearsal.variant(plan)
    identity = identifying(environment.contracts.schema_)
    found = [
        item for part in plan.solution.reply for item in supports(part.source, node.inputs, node.run.results, identity)
    ]
    yardstick = Yardstick(
        changes=node.evidence().changes,
        reply=node.run.reply,
        fragments=tuple(fragment for item in found for fragment in item.required),
        calls=tuple(
            entry for item in found if not item.required for entry in node.run.entries if entry.call_id == item.step
        ),
    )
    return Scene(plan, node, environment, rows, yardstick, verified.nodes[plan.id], verified.slots[0])


def _chosen(mutants: Sequence[Mutant], most: int) -> list[Mutant]:
    """Return the idle mutants and up to ``most`` others, one of each kind before a second of any."""
    idle = [mutant for mutant in mutants if mutant.kind in IDLE]
    rest = [mutant for mutant in mutants if mutant.kind not in IDLE]
    number: dict[str, int] = {}
    turns = []
    for index, mutant in enumerate(rest):
        number[mutant.kind] = number.get(mutant.kind, 0) + 1
        turns.append((number[mutant.kind], index))
    return [*idle, *(rest[index] for _, index in sorted(turns)[:most])]


async def node_mutants(
    rehearsal: Rehearsal, scene: Scene, schemas: Mapping[str, DatabaseSchema], *, seed: int, most: int
) -> list[MutantResult]:
    """Try the mutants of an atomic task at a node of a composition.

    Args:
        rehearsal: with a snapshot before the node.
        scene: the node.
        schemas: by environment name.
        seed: of the choices among values.
        most: mutants besides those that do nothing.
    """
    solution = scene.plan.solution
    subject = Subject(
        environment=scene.environment,
        steps=solution.reference,
        run=scene.node.run,
        rows=scene.rows,
        reply=solution.reply,
        reply_text=solution.reply_text,
        rivals={part.name: part.rivals for part in scene.verifier.answer},
        extras=(),
        seed=seed,
    )
    results = []
    for mutant in _chosen(mutants_of(subject), most):
        done = await rehearsal.calls(scene.plan.id, mutant.calls, mutant.reply)
        outcome = _outcome(scene, done, schemas)
        results.append(
            MutantResult(kind=mutant.kind, detail=f"{scene.plan.id}: {mutant.detail}"[:240], outcome=outcome)
        )
    return results


def _outcome(scene: Scene, done: NodeRun, schemas: Mapping[str, DatabaseSchema]) -> MutantOutcome:
    """Judge a variant of a node; compare in full what its verifier lets pass.

    What earlier turns showed supports an answer as well, so a variant that needs them, and ends in the same state with
    the same reply, has left nothing out.
    """
    evidence = done.evidence(scene.upstream)
    try:
        verdict = evaluate(scene.verifier, replace(evidence, earlier=()), schemas)
        alone = verdict.passed
        if not alone and not all(_looks_back(check) for check in verdict.checks if not check.passed):
            return "killed"
        if not alone and not evaluate(scene.verifier, evidence, schemas).passed:
            return "killed"
    except VerifierError:
        return "survived"
    full = scene.yardstick
    if not same_changes(evidence.changes, full.changes) or done.run.reply != full.reply:
        return "survived"
    return "equivalent" if not alone or shows(done.run.ledger, full.fragments, full.calls) else "survived"


def _looks_back(check: CheckResult) -> bool:
    """Return whether a check may hold because of what was seen before the interval."""
    return check.name.startswith(("witness ", "call "))


async def try_habits(
    rehearsal: Rehearsal, scene: Scene, habits: Sequence[Habit], schemas: Mapping[str, DatabaseSchema]
) -> list[MutantResult]:
    """Carry out a node in careless ways. One that comes to the same answer and changes is an equivalent here."""
    results = []
    for habit in habits:
        done = await rehearsal.variant(habit.plan)
        outcome = _outcome(scene, done, schemas)
        if outcome == "survived" and same_outcome(done, scene.node):
            outcome = "equivalent"
        detail = f"{scene.plan.id}: {habit.step} {habit.overlooked}".rstrip()
        results.append(MutantResult(kind=habit.policy, detail=detail, outcome=outcome))
    return results


async def swapped_value(
    rehearsal: Rehearsal, scene: Scene, name: str, other: JSON, schemas: Mapping[str, DatabaseSchema]
) -> MutantResult:
    """Carry out a node with another value in the place of a bound one."""
    done = await rehearsal.variant(scene.plan, inputs={name: other})
    outcome = _outcome(scene, done, schemas)
    detail = f"{scene.plan.id}: {name} = {other!r}"[:240]
    return MutantResult(kind="swapped_binding", detail=detail, outcome=outcome)


def other_value(scene: Scene, name: str, keyed: str, written: JSON) -> JSON:
    """Return a value that a bound input could be mistaken for, or None.

    The one that the atomic task was written with, else that of another row of the same column, else a changed text.
    """
    value = scene.node.inputs[name]
    if written is not None and not json_equal(written, value):
        return written
    table, _, column = keyed.partition(".")
    for row in scene.rows.get(table, ()):
        if row.get(column) is not None and not json_equal(row[column], value):
            return row[column]
    return f"{value} 2" if isinstance(value, str) else None


def left_out(run: Run, whole: Verifier, nodes: frozenset[str], schemas: Mapping[str, DatabaseSchema]) -> MutantResult:
    """Leave out some nodes of a run: judged on the evidence of the others alone."""
    evidence = run.without(nodes)
    detail = f"without {', '.join(sorted(nodes))}"[:240]
    # Two of the verifier's own checks are quick and decide most cases: too few changes, an answer that is not there.
    own = [part for part in whole.answer if part.name.split(" ", 1)[0] in nodes]
    short = len(evidence.changes.rows) < len(whole.changes)
    silent = not all(check.passed for check in check_answer(own, evidence.reply))
    if short or silent or not evaluate(whole, evidence, schemas).passed:
        return MutantResult(kind="skipped_node", detail=detail, outcome="killed")
    complete = run.whole()
    same = same_changes(evidence.changes, complete.changes) and evidence.reply == complete.reply
    return MutantResult(kind="skipped_node", detail=detail, outcome="equivalent" if same else "survived")


def idle(verifier: Verifier, reply: str, upstream: Mapping[str, JSON], schemas: Mapping[str, DatabaseSchema]) -> bool:
    """Return whether a verifier accepts that nothing was done and a reply given."""
    empty = Evidence(changes=Run({}).whole().changes, reply=reply, upstream=upstream)
    return evaluate(verifier, empty, schemas).passed
