"""Running verifiers where they are needed: an outcome for every evaluation, never an exception by mistake.

A verifier is data and its evaluation is bounded and pure, so it runs in this process. What needs isolation is code; a
verifier written as code by an author does not exist in these formats. The private document that holds the verifier
stays out of the agent's reach because evaluation happens on the control side, over the ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.errors import VerifierError
from weft.records.state import DatabaseSchema
from weft.records.verdict import Verdict, Verifier
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of an evaluation.

    Attributes:
        verdict: None when the verifier could not be evaluated.
        error: why not, else "".
    """

    verdict: Verdict | None
    error: str = ""

    @property
    def passed(self) -> bool | None:
        """The verdict; None when it is unknown, which is no failure of the policy."""
        return None if self.verdict is None else self.verdict.passed


def judge(verifier: Verifier, evidence: Evidence, schemas: Mapping[str, DatabaseSchema]) -> Judgement:
    """Evaluate a verifier and return what became of it; an error of the verifier is part of the outcome."""
    try:
        return Judgement(evaluate(verifier, evidence, schemas))
    except VerifierError as error:
        return Judgement(None, str(error))
