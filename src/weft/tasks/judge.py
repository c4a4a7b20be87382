"""The judge of one task: node verifiers with upstream slots, and the verifier of the whole (Weft 3.1.3, 3.2.1).

It implements :class:`weft.ports.TaskJudge` and holds the private documents; it lives on the control side and sees only
the ledger and the reply.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.errors import VerifierError
from weft.records.environment import Environment
from weft.records.state import DatabaseSchema
from weft.records.task import AtomicSolution, ComposedSolution
from weft.records.trace import LedgerEntry
from weft.records.verdict import CheckResult, Frame, Verdict, Verifier
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence, gather


class VerifierJudge:
    """Judges the turns of one task with its verifiers.

    Args:
        order: the task's nodes in their stored order.
        nodes: verifier by node.
        whole: of all nodes together; None for a task of one node.
        schemas: by environment name.
    """

    def __init__(
        self,
        order: Sequence[str],
        nodes: Mapping[str, Verifier],
        whole: Verifier | None,
        schemas: Mapping[str, DatabaseSchema],
    ) -> None:
        self._order, self._nodes, self._whole, self._schemas = tuple(order), dict(nodes), whole, dict(schemas)

    def judge(
        self,
        nodes: Sequence[str],
        *,
        ledger: Sequence[LedgerEntry],
        earlier: Sequence[LedgerEntry],
        reply: str | None,
        slots: Mapping[str, Mapping[str, Any]],
    ) -> Verdict:
        """See :class:`weft.ports.TaskJudge`. A turn asks for one node or for all of them, nothing in between."""
        upstream = {f"{node}.{slot}": value for node, values in slots.items() for slot, value in values.items()}
        evidence = gather([*earlier, *ledger], since=len(earlier), reply=reply or "", upstream=upstream)
        if len(nodes) == 1 and nodes[0] in self._nodes:
            return evaluate(self._nodes[nodes[0]], evidence, self._schemas)
        if self._whole is None or tuple(nodes) != self._order:
            raise VerifierError(
                f"there is no verifier for nodes {list(nodes)}; "
                f"ask for one of {', '.join(self._order)} or for all of them"
            )
        verdict = evaluate(self._whole, evidence, self._schemas)
        return verdict.model_copy(update={"checks": (*verdict.checks, *self._checkpoints(verdict, evidence))})

    def _checkpoints(self, verdict: Verdict, evidence: Evidence) -> list[CheckResult]:
        """Return a check for each node: what the paper's Agentic view counts as checkpoints.

        A node's own changes, answers and witnesses are looked for in the whole interval, without its frame: what other
        nodes did there is not its concern. When the whole passed, every checkpoint did.
        """
        if verdict.passed:
            return [CheckResult(name=f"checkpoint {node}", passed=True) for node in self._order]
        upstream = dict(evidence.upstream)
        results = []
        for node in self._order:
            loose = _without_frame(self._nodes[node], self._schemas)
            if any(source not in upstream for source in loose.upstream.values()):
                results.append(
                    CheckResult(name=f"checkpoint {node}", passed=False, detail="what it rests on is not done")
                )
                continue
            seen = Evidence(evidence.changes, evidence.ledger, evidence.earlier, evidence.reply, upstream)
            found = evaluate(loose, seen, self._schemas)
            if found.passed:
                upstream |= {f"{node}.{slot}": value for slot, value in found.slots.items()}
            failed = next((f"{check.name}: {check.detail}" for check in found.checks if not check.passed), "")
            results.append(CheckResult(name=f"checkpoint {node}", passed=found.passed, detail=failed))
        return results


def _without_frame(verifier: Verifier, schemas: Mapping[str, DatabaseSchema]) -> Verifier:
    frame = Frame(
        volatile=verifier.frame.volatile,
        allowed_tables=tuple(f"{server}.{table.name}" for server, schema in schemas.items() for table in schema.tables),
        allowed_paths=tuple(f"{server}:" for server in schemas),
    )
    return verifier.model_copy(update={"frame": frame})


def schemas_of(environments: Sequence[Environment]) -> dict[str, DatabaseSchema]:
    """Return the database schemas by environment name."""
    return {environment.name: environment.contracts.schema_ for environment in environments}


def judge_atomic(solution: AtomicSolution, environments: Sequence[Environment]) -> VerifierJudge:
    """Return the judge of an atomic task; its one node is named by the task's id."""
    return VerifierJudge((solution.task,), {solution.task: solution.verifier}, None, schemas_of(environments))


def judge_composed(solution: ComposedSolution, environments: Sequence[Environment]) -> VerifierJudge:
    """Return the judge of a composed task."""
    return VerifierJudge(
        solution.graph.order,
        {name: node.verifier for name, node in solution.nodes.items()},
        solution.verifier,
        schemas_of(environments),
    )
