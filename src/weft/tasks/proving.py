"""Proving a composed task: verifiers of nodes and whole, generated from runs and tested on them (Weft 3.1.2, 3.2.1).

Everything that an atomic certificate shows is shown again at each node, in the state in which the composition gets
there; then the whole: the reference passes from two seeds, and in another topological order than the stored one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.errors import VerifierError
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.state import DatabaseSchema
from weft.records.verdict import AnswerPart, RubricItem, Verdict, Verifier, Witness
from weft.runtime.values import json_equal
from weft.tasks.certify import answer_parts
from weft.tasks.plan import NodePlan
from weft.tasks.runs import NodeRun, Problem, Run
from weft.tasks.support import identifying, witnesses
from weft.verify.answers import plain_text
from weft.verify.checks import evaluate
from weft.verify.generate import Claims, SlotValue, generate_tested, generated_slots


@dataclass(slots=True)
class Verified:
    """Verifiers of a composition, with the values that its slots had in each run.

    Attributes:
        nodes: verifier by node.
        whole: of all nodes.
        slots: per run, ``node.slot`` -> value.
        made: the slots of each node as they stand in the first run.
    """

    nodes: dict[str, Verifier]
    slots: tuple[dict[str, JSON], ...]
    made: dict[str, list[SlotValue]] = field(default_factory=dict)
    whole: Verifier = field(default_factory=Verifier)


def claims_of(plan: NodePlan, node: NodeRun, environment: Environment, fleeting: Sequence[JSON]) -> Claims:
    """Return what a node demands beside state changes, as it stands in this run.

    Args:
        plan: the node.
        node: its run.
        environment: its server.
        fleeting: ids made on the way; other runs have others, so no answer or witness may rest on their value.
    """
    solution = plan.solution
    rivals = {part.name: part.rivals for part in solution.verifier.answer}
    values = node.run.values
    known = [*node.inputs.values(), *(item for value in values.values() for item in _items(value))]
    wrong = {
        part.name: tuple(
            rival
            for rival in rivals.get(part.name, rivals.get(f"{part.name} 1", ()))
            if not any(json_equal(rival, one) for one in known)
        )
        for part in solution.reply
    }
    parts = [part for part in answer_parts(solution.reply, node.run, wrong) if not _among(part.value, fleeting)]
    servers = {step.id: step.server for step in solution.reference}
    identity = identifying(environment.contracts.schema_)
    seen = witnesses(solution.reply, servers, node.inputs, node.run.results, identity)
    if _narrower(solution.verifier.witnesses, seen):
        seen = witnesses(solution.reply, servers, node.inputs, node.run.results, identity, strict=True)
    rubric = tuple(RubricItem(criterion=words) for words in solution.completion)
    lasting = (_lasting(one, fleeting) for one in seen)
    return Claims(tuple(parts), tuple(one for one in lasting if one.alternatives), solution.verifier.calls, rubric)


def _narrower(certified: Sequence[Witness], seen: Sequence[Witness]) -> bool:
    """Return whether the task alone was only certified with witnesses that name the rows themselves."""
    alternatives = {witness.name: len(witness.alternatives) for witness in certified}
    return any(
        alternatives.get(witness.name, len(witness.alternatives)) < len(witness.alternatives) for witness in seen
    )


def _items(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _among(value: JSON, fleeting: Sequence[JSON]) -> bool:
    return any(json_equal(item, one) for item in _items(value) for one in fleeting)


def _lasting(witness: Witness, fleeting: Sequence[JSON]) -> Witness:
    """Return a witness without the fields that hold ids of this run."""
    alternatives = []
    for rows in witness.alternatives:
        kept = [{name: value for name, value in row.items() if not _among(value, fleeting)} for row in rows]
        alternatives.append(tuple(row for row in kept if row))
    return witness.model_copy(update={"alternatives": tuple(rows for rows in alternatives if rows)})


def verify_nodes(
    plans: Sequence[NodePlan],
    runs: Sequence[Run],
    environments: Mapping[str, Environment],
    ancestors: Mapping[str, frozenset[str]],
) -> tuple[Verified, list[Problem]]:
    """Generate every node's verifier from its interval and test it on every run.

    Args:
        plans: in execution order.
        runs: complete, from different seeds.
        environments: by name.
        ancestors: node -> the nodes that it rests on; only their ids reach it as upstream slots.

    Returns:
        The verifiers, and the nodes that have none with the reason.
    """
    schemas = {name: environment.contracts.schema_ for name, environment in environments.items()}
    verified = Verified({}, tuple({} for _ in runs))
    problems: list[Problem] = []
    for plan in plans:
        above = [
            replace(item, slot=f"{node}_{item.slot}", upstream=f"{node}.{item.slot}")
            for node in sorted(ancestors[plan.id])
            for item in verified.made.get(node, ())
        ]
        try:
            _verify_node(plan, runs, environments[plan.server], schemas, above, verified)
        except VerifierError as error:
            problems.append(Problem(plan.id, str(error)))
    return verified, problems


def _verify_node(
    plan: NodePlan,
    runs: Sequence[Run],
    environment: Environment,
    schemas: Mapping[str, DatabaseSchema],
    above: Sequence[SlotValue],
    verified: Verified,
) -> None:
    first = runs[0].nodes[plan.id]
    own = generated_slots(first.evidence(), schemas, others=[run.nodes[plan.id].evidence() for run in runs[1:]])
    used = [item for item in above if _uses(first, item.value)]
    fleeting = [item.value for item in own] + [item.value for made in verified.made.values() for item in made]
    claims = claims_of(plan, first, environment, fleeting)
    evidence = [
        run.nodes[plan.id].evidence({item.upstream: values[item.upstream] for item in used})
        for run, values in zip(runs, verified.slots, strict=True)
    ]
    generated = generate_tested(evidence, schemas, [*used, *own], claims)
    verified.nodes[plan.id], verified.made[plan.id] = generated.verifier, own
    for verdict, values in zip(generated.verdicts, verified.slots, strict=True):
        values.update(
            {f"{plan.id}.{item.slot}": verdict.slots[item.slot] for item in own if item.slot in verdict.slots}
        )


def _uses(node: NodeRun, value: JSON) -> bool:
    """Return whether a value of upstream stands in a node's inputs or changes."""
    rows = [row for change in node.evidence().changes.rows for row in (change.key, change.before, change.after) if row]
    return any(
        json_equal(item, value) for item in (*node.inputs.values(), *(held for row in rows for held in row.values()))
    )


def verify_whole(
    plans: Sequence[NodePlan], runs: Sequence[Run], environments: Mapping[str, Environment], verified: Verified
) -> Verifier:
    """Generate the verifier of the whole: the composed changes of all nodes, all answers and all witnesses.

    Raises:
        VerifierError: the reference does not pass it in every run.
    """
    schemas = {name: environment.contracts.schema_ for name, environment in environments.items()}
    evidence = [run.whole() for run in runs]
    slots = generated_slots(evidence[0], schemas, others=evidence[1:])
    claims = merged_claims(plans, runs[0], verified.nodes)
    return generate_tested(evidence, schemas, slots, claims).verifier


def merged_claims(plans: Sequence[NodePlan], run: Run, nodes: Mapping[str, Verifier]) -> Claims:
    """Return the claims of all nodes together.

    A wrong value of one node's answer may well be said for another's sake, so values that any node states, asks with or
    answers are no rivals here.
    """
    said = plain_text(run.whole().reply)
    known = [value for plan in plans for value in run.nodes[plan.id].inputs.values()]
    known += [part.value for verifier in nodes.values() for part in verifier.answer]

    def loose(part: AnswerPart, node: str) -> AnswerPart:
        rivals = tuple(
            rival
            for rival in part.rivals
            if plain_text(str(rival)) not in said and not any(json_equal(rival, value) for value in known)
        )
        return part.model_copy(update={"name": f"{node} {part.name}", "rivals": rivals})

    return Claims(
        answer=tuple(loose(part, plan.id) for plan in plans for part in nodes[plan.id].answer),
        witnesses=tuple(
            one.model_copy(update={"name": f"{plan.id} {one.name}"})
            for plan in plans
            for one in nodes[plan.id].witnesses
        ),
        calls=tuple(
            one.model_copy(update={"name": f"{plan.id} {one.name}"}) for plan in plans for one in nodes[plan.id].calls
        ),
        rubric=tuple(item for plan in plans for item in nodes[plan.id].rubric),
    )


def judge_run(
    plans: Sequence[NodePlan], run: Run, schemas: Mapping[str, DatabaseSchema], verified: Verified
) -> tuple[dict[str, Verdict | str], Verdict]:
    """Judge another run, node by node with its own upstream slots, and as a whole.

    Returns:
        The verdict of each node (a text says why there is none), and that of the whole.

    Raises:
        VerifierError: the whole cannot be evaluated.
    """
    slots: dict[str, JSON] = {}
    verdicts: dict[str, Verdict | str] = {}
    for plan in plans:
        try:
            verdict = evaluate(verified.nodes[plan.id], run.nodes[plan.id].evidence(slots), schemas)
        except VerifierError as error:
            verdicts[plan.id] = str(error)
            continue
        verdicts[plan.id] = verdict
        slots.update({f"{plan.id}.{name}": value for name, value in verdict.slots.items()})
    return verdicts, evaluate(verified.whole, run.whole(), schemas)
