"""Atomic-task drafts, the feedback that guides them, and the certified library (Weft A.1, Algorithm 1)."""

from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.spec import Refusal
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask, ReferenceStep, ReplyPart, TaskInput, TaskOutput, Texts


class RefusalEvidence(Record):
    """What must have been looked at before saying that something cannot be done.

    Attributes:
        tools: any call to one of these that ends well shows it.
        codes: or one that ends with one of these error codes.
    """

    tools: tuple[str, ...]
    codes: tuple[str, ...] = ("not_found", "invalid_state", "conflict")


class AtomicDraft(Record):
    """An author's draft of an atomic task. It proves nothing until it has been executed and certified.

    Attributes:
        kind: ``read``, ``create``, ``update``, ``lookup_then_act``, ``aggregate``, ``refusal`` ...
        intent: one sentence of what the user wants.
        inputs: what the user knows.
        texts: the request at the three levels of disclosure.
        chain: ordered tool names, ``tool`` or ``tool:case``.
        reference: the calls, each argument with its source.
        reply: what the final reply states.
        reply_text: template with ``{part}`` placeholders.
        completion: completion conditions in words.
        outputs: values that downstream tasks may use.
        rivals: reply part -> wrong values of the same field; completed from the observed results.
        refusal: for tasks whose right outcome is to change nothing.
        state: initial state; the environment's own when None.
    """

    kind: str
    intent: str
    inputs: tuple[TaskInput, ...] = ()
    texts: Texts
    chain: tuple[str, ...]
    reference: tuple[ReferenceStep, ...]
    reply: tuple[ReplyPart, ...] = ()
    reply_text: str
    completion: tuple[str, ...] = ()
    outputs: tuple[TaskOutput, ...] = ()
    rivals: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    refusal: RefusalEvidence | None = None
    state: InitialState | None = None


class TaskFinding(Record):
    """Why a draft was not retained; part of the feedback F of Algorithm 1.

    Attributes:
        chain: of the draft.
        kind: of the draft.
        refusal: the typed reason.
        diagnostics: test, response and state diagnostics, in words.
    """

    chain: tuple[str, ...]
    kind: str = ""
    refusal: Refusal
    diagnostics: tuple[str, ...] = ()


class TaskFeedback(Record):
    """What an author is told before it proposes (more) drafts.

    Attributes:
        round: from 0.
        wanted: tool or ``tool:case`` names that no retained chain covers, in declared order.
        retained: chains of the retained tasks.
        findings: of the last round.
    """

    round: int = 0
    wanted: tuple[str, ...] = ()
    retained: tuple[tuple[str, ...], ...] = ()
    findings: tuple[TaskFinding, ...] = ()


class RoundReport(Record):
    """One round of Algorithm 1."""

    round: int
    proposed: int
    passed: int
    failed: int
    redundant: int
    retained: int
    coverage: float


class AtomicLibrary(Record):
    """The certified atomic tasks of one environment: tasks, E2E tests and validation reports (Weft A.1).

    Attributes:
        environment: name.
        environment_hash: what the tasks are pinned to.
        tasks: public documents of the retained tasks.
        solutions: their private documents, in the same order.
        coverage: distinct tools of retained chains over all tools of the MCP.
        cases: distinct cases of retained chains over all cases.
        uncovered: tools or ``tool:case`` names that no retained chain covers.
        findings: why drafts were not retained, over all rounds.
        rounds: one report each.
        stopped: why construction ended.
    """

    version: Literal[1] = 1
    environment: str
    environment_hash: str
    tasks: tuple[AtomicTask, ...] = ()
    solutions: tuple[AtomicSolution, ...] = ()
    coverage: float = 0.0
    cases: float = 0.0
    uncovered: tuple[str, ...] = ()
    findings: tuple[TaskFinding, ...] = ()
    rounds: tuple[RoundReport, ...] = ()
    stopped: Literal["coverage", "rounds", "no_candidates", "limit"] = "no_candidates"
