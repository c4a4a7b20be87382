"""The report of one evolution round (Weft 3.2.2)."""

from typing import Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.revision import Attribution, Component, EvidenceItem, Revision


class Selected(Record):
    """A component that is to be revised, once, with all evidence against it.

    Attributes:
        component: environment, task or verifier.
        subject: its name: an environment, or the task whose documents it is part of.
        nodes: nodes at which it showed.
        evidence: of every attribution, each finding once.
        attributions: how many there were.
    """

    component: Component
    subject: str
    nodes: tuple[str, ...] = ()
    evidence: tuple[EvidenceItem, ...] = ()
    attributions: int = 1


class Deferred(Record):
    """A component that was blamed and is not revised in this round, with the rule that says so."""

    component: Component
    subject: str
    reason: str


class ToolErrors(Record):
    """Tool calls of accepted segments and those among them that returned errors (the paper's tool-error rate)."""

    calls: int = 0
    errors: int = 0
    rate: float = 0.0


class RolloutCounts(Record):
    """Rollouts, how many were accepted whole, and the tool errors of their accepted segments."""

    rollouts: int = 0
    accepted: int = 0
    attempts: int = 0
    tool_errors: ToolErrors = ToolErrors()


class EvolutionReport(Record):
    """What one round found and did.

    Attributes:
        seed: of the round.
        counts: component -> attributions.
        attributions: of failed turns, in the order of the rollouts, then those of the audit.
        selected: what was handed back to its author.
        deferred: what was blamed and left for a later round.
        revisions: of selected components and of what rests on them, in order.
        before: rollouts of the round.
        after: the same with those of changed tasks replaced by fresh ones, and those of retired tasks left out.
        fresh: the fresh rollouts alone.
        unresolved: component -> attributions of the fresh rollouts.
        options: that the system was built with.
    """

    version: Literal[1] = 1
    seed: int
    counts: dict[str, int] = Field(default_factory=dict)
    attributions: tuple[Attribution, ...] = ()
    selected: tuple[Selected, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    revisions: tuple[Revision, ...] = ()
    before: RolloutCounts = RolloutCounts()
    after: RolloutCounts = RolloutCounts()
    fresh: RolloutCounts = RolloutCounts()
    unresolved: dict[str, int] = Field(default_factory=dict)
    options: dict[str, int | float] = Field(default_factory=dict)
