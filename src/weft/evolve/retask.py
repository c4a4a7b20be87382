"""Certifying an atomic task again, and handing it back to its author when that does not hold (Weft 3.2.2, A.1)."""

from collections.abc import Iterator, Sequence

from weft.agents.tasks import TaskAuthor
from weft.evolve.system import AtomicEntry
from weft.ports import ToolHost
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, RefusalEvidence, TaskFeedback, TaskFinding
from weft.records.revision import EvidenceItem
from weft.records.spec import Refusal, RefusalCode
from weft.tasks.certify import Certified, certify_atomic
from weft.tasks.trials import open_trials

ROUNDS = 3
"""Rounds of proposals that an author is asked for; construction asks for as many."""

MOST_DRAFTS = 6
"""Drafts of one task that are tried."""


def draft_of(entry: AtomicEntry, *, trust_verifier: bool) -> AtomicDraft:
    """Return the draft that a task's documents say.

    Args:
        entry: both documents.
        trust_verifier: take the wrong answers and the calls that show a refusal from the stored verifier; without it
            only what reference and reply say is used.
    """
    task, solution = entry.task, entry.solution
    refuses = any(part.kind == "refusal" for part in solution.reply)
    looked = next((call for call in solution.verifier.calls if call.error_codes), None) if trust_verifier else None
    refusal: RefusalEvidence | None = None
    if refuses:
        refusal = (
            RefusalEvidence(tools=looked.tools, codes=looked.error_codes)
            if looked is not None
            else RefusalEvidence(tools=tuple(dict.fromkeys(step.tool for step in solution.reference)))
        )
    rivals = {part.name: part.rivals for part in solution.verifier.answer} if trust_verifier else {}
    return AtomicDraft(
        kind=task.kind,
        intent=task.intent,
        inputs=task.inputs,
        texts=task.texts,
        chain=solution.chain,
        reference=solution.reference,
        reply=solution.reply,
        reply_text=solution.reply_text,
        completion=solution.completion,
        outputs=solution.outputs,
        rivals={
            part.name: rivals.get(part.name, rivals.get(f"{part.name} 1", ()))
            for part in solution.reply
            if rivals.get(part.name) or rivals.get(f"{part.name} 1")
        },
        refusal=refusal,
    )


async def recertify(
    entry: AtomicEntry, environment: Environment, host: ToolHost, *, seed: int, trust_verifier: bool
) -> AtomicEntry | TaskFinding:
    """Certify a task again, as it is, on its environment's seed state: its verifier is generated anew and tested."""
    draft = draft_of(entry, trust_verifier=trust_verifier)
    return await _certified(draft, entry.task.id, environment, host, seed)


async def propose_again(
    entry: AtomicEntry,
    environment: Environment,
    author: TaskAuthor,
    host: ToolHost,
    evidence: Sequence[EvidenceItem],
    *,
    seed: int,
    limit: int,
) -> AtomicEntry | TaskFinding:
    """Hand a broken task back to its author, with what was found, and certify what it proposes in its place.

    Only drafts over the same chain of tools take its place. What is not the broken task itself is tried first; the
    task as it is comes back only if that certifies.

    Returns:
        The task's new documents under its old id, or why nothing that was proposed holds.
    """
    broken = draft_of(entry, trust_verifier=False)
    last = TaskFinding(chain=broken.chain, kind=broken.kind, refusal=_nothing(entry))
    tried: set[str] = set()
    for draft in _proposals(broken, environment, author, evidence, seed, limit):
        key = content_hash(draft)
        if key in tried or len(tried) >= MOST_DRAFTS:
            continue
        tried.add(key)
        found = await _certified(draft, entry.task.id, environment, host, seed)
        if isinstance(found, AtomicEntry):
            return found
        last = found
    return last


def _proposals(
    broken: AtomicDraft,
    environment: Environment,
    author: TaskAuthor,
    evidence: Sequence[EvidenceItem],
    seed: int,
    limit: int,
) -> Iterator[AtomicDraft]:
    refusal = Refusal(
        code=RefusalCode.INFEASIBLE,
        subject=f"{environment.name}/{broken.kind}/{'+'.join(broken.chain)}",
        message=(evidence[0].finding if evidence else "it does not hold")[:400],
        remedy="propose it another way",
    )
    finding = TaskFinding(
        chain=broken.chain, kind=broken.kind, refusal=refusal, diagnostics=tuple(item.finding for item in evidence)
    )
    for number in range(ROUNDS):
        feedback = TaskFeedback(
            round=number,
            wanted=tuple(dict.fromkeys(broken.chain)) if number else (),
            findings=(finding,) if number else (),
        )
        drafts = author.propose(environment, feedback, seed=seed, limit=limit)
        same = [draft for draft in drafts if draft.chain == broken.chain and draft.kind == broken.kind]
        # The one that means the same is the task as its author has it; another comes in its place only after that.
        yield from sorted(same, key=lambda draft: (draft.intent != broken.intent, draft.inputs != broken.inputs))


async def _certified(
    draft: AtomicDraft, task: str, environment: Environment, host: ToolHost, seed: int
) -> AtomicEntry | TaskFinding:
    trials = await open_trials(environment, host, seed=seed, state=draft.state)
    try:
        found = await certify_atomic(draft, trials, task_id=task, seed=seed)
    finally:
        await trials.close()
    return AtomicEntry(found.task, found.solution) if isinstance(found, Certified) else found


def _nothing(entry: AtomicEntry) -> Refusal:
    return Refusal(
        code=RefusalCode.NO_TASK,
        subject=f"{entry.task.server}/{entry.task.id}",
        message=f"its author proposes nothing over {' -> '.join(entry.solution.chain)} any more",
        remedy="build the library again, or leave the task out",
    )
