"""Certifying an atomic task by execution (Weft A.1, E2E execution validation; DESIGN section 5).

The reference runs from independent initial states and passes its own verifier in each; doing nothing fails, and so
does the right reply without what it rests on; and every mutant that ends differently is failed by the verifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.errors import VerifierError
from weft.records.base import JSON
from weft.records.certificate import CheckRecord, MutantResult, TaskCertificate
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, TaskFinding
from weft.records.spec import Refusal, RefusalCode
from weft.records.state import Changeset, DatabaseSchema
from weft.records.task import AtomicSolution, AtomicTask, EnvironmentPin, ReplyPart
from weft.records.trace import LedgerEntry
from weft.records.verdict import AnswerPart, ExpectedCall, RubricItem, Verifier
from weft.runtime.values import json_equal
from weft.tasks.equivalence import is_difference, same_changes, shows
from weft.tasks.mutants import Mutant, Subject, is_write, mutants_of
from weft.tasks.reference import EndState, ReferenceRun, end_state, execute_calls, execute_reference
from weft.tasks.support import Fragment, identifying, supports, witnesses
from weft.tasks.texts import text_problems, words_of
from weft.tasks.trials import Trials, first_writes
from weft.verify.answers import plain_text
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence, objects
from weft.verify.generate import Claims, generate_tested, generated_slots

MOST_RIVALS = 12


@dataclass(frozen=True, slots=True)
class Certified:
    """A draft that holds: its two documents."""

    task: AtomicTask
    solution: AtomicSolution


@dataclass(frozen=True, slots=True)
class Judged:
    """A verifier with what its mutants showed."""

    verifier: Verifier
    checks: tuple[CheckRecord, ...]
    mutants: tuple[MutantResult, ...]

    @property
    def sound(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)


class _Refused(Exception):
    def __init__(self, code: RefusalCode, message: str, remedy: str, diagnostics: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.remedy, self.diagnostics = code, message, remedy, tuple(diagnostics)


async def certify_atomic(draft: AtomicDraft, trials: Trials, *, task_id: str, seed: int) -> Certified | TaskFinding:
    """Certify a draft by execution.

    Args:
        draft: of any author.
        trials: opened over the draft's environment and initial state.
        task_id: id of the task, if it holds.
        seed: of the choices among mutants.

    Returns:
        Both documents with the certificate, or the typed reason with test, response and state diagnostics.
    """
    try:
        return await _certify(draft, trials, task_id, seed)
    except _Refused as reason:
        refusal = Refusal(
            code=reason.code,
            subject=f"{trials.environment.name}/{draft.kind}/{'+'.join(draft.chain)}",
            message=reason.message[:400],
            remedy=reason.remedy,
        )
        return TaskFinding(chain=draft.chain, kind=draft.kind, refusal=refusal, diagnostics=reason.diagnostics)


async def _certify(draft: AtomicDraft, trials: Trials, task_id: str, seed: int) -> Certified:
    problems = text_problems(draft.texts, draft.inputs, draft.intent, trials.environment)
    if problems:
        raise _Refused(RefusalCode.NO_TASK, problems[0], "write the texts as a person would ask", problems[:5])
    runs, end = await _reference_runs(draft, trials)
    inputs = {item.name: item.value for item in draft.inputs}
    identity = identifying(trials.environment.contracts.schema_)
    found = [item for part in draft.reply for item in supports(part.source, inputs, runs[0].results, identity)]
    shown_alone = {item.step for item in found if not item.required}
    yardstick = Yardstick(
        end=end,
        changes=runs[0].evidence.changes,
        reply=runs[0].reply,
        fragments=tuple(fragment for item in found for fragment in item.required),
        calls=tuple(entry for entry in runs[0].entries if entry.call_id in shown_alone),
    )
    # Witnesses are first as wide as they can be, so that no honest way is refused; where a mutant slips through, they
    # are narrowed to the rows themselves.
    judged = await _judge(draft, trials, runs, yardstick, seed=seed, strict=False)
    if not judged.sound and any(item.lenient for item in found):
        judged = await _judge(draft, trials, runs, yardstick, seed=seed, strict=True)
    if not judged.sound:
        raise _survivors(judged)
    return _documents(draft, trials, task_id, judged)


async def _judge(
    draft: AtomicDraft,
    trials: Trials,
    runs: tuple[ReferenceRun, ReferenceRun],
    yardstick: "Yardstick",
    *,
    seed: int,
    strict: bool,
) -> Judged:
    """Generate a verifier from the runs and put every mutant to it."""
    environment = trials.environment
    schemas = {environment.name: environment.contracts.schema_}
    rivals = _rivals(draft, runs[0])
    claims = _claims(draft, environment, runs[0], rivals, strict=strict)
    _need_something(draft, runs[0], claims)
    try:
        slots = generated_slots(runs[0].evidence, schemas, others=[runs[1].evidence])
        generated = generate_tested([run.evidence for run in runs], schemas, slots, claims)
    except VerifierError as error:
        raise _Refused(RefusalCode.INFEASIBLE, str(error), "make the outcome depend on the inputs alone") from error
    subject = Subject(
        environment=environment,
        steps=draft.reference,
        run=runs[0],
        rows=trials.start.rows,
        reply=draft.reply,
        reply_text=draft.reply_text,
        rivals=rivals,
        extras=first_writes(trials.extras, [step.tool for step in draft.reference]),
        seed=seed,
    )
    results = [
        await _try_mutant(mutant, generated.verifier, trials, schemas, yardstick) for mutant in mutants_of(subject)
    ]
    return Judged(generated.verifier, _checks(runs, results), tuple(results))


def _claims(
    draft: AtomicDraft,
    environment: Environment,
    run: ReferenceRun,
    rivals: dict[str, tuple[JSON, ...]],
    *,
    strict: bool,
) -> Claims:
    """Return what the task demands beside state changes."""
    inputs = {item.name: item.value for item in draft.inputs}
    identity = identifying(environment.contracts.schema_)
    servers = {step.id: step.server for step in draft.reference}
    return Claims(
        answer=answer_parts(draft.reply, run, rivals),
        witnesses=witnesses(draft.reply, servers, inputs, run.results, identity, strict=strict),
        calls=_refusal_calls(draft, environment.name),
        rubric=tuple(RubricItem(criterion=words) for words in draft.completion),
    )


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What a mutant must come to in full to count as equivalent.

    Attributes:
        end: the reference's end state.
        reply: its reply.
        fragments: required returns, word for word.
        calls: required calls with their whole returns.
        changes: how the end state differs from the initial one, unnormalised.
    """

    end: EndState
    reply: str
    fragments: tuple[Fragment, ...]
    calls: tuple[LedgerEntry, ...]
    changes: Changeset = field(default_factory=Changeset)


async def _reference_runs(draft: AtomicDraft, trials: Trials) -> tuple[tuple[ReferenceRun, ReferenceRun], EndState]:
    """Execute the reference from both initial states; the end state is that of the first."""
    inputs = {item.name: item.value for item in draft.inputs}
    runs: list[ReferenceRun] = []
    end = trials.start
    for number, trial in enumerate(trials.pair):
        group = await trial.fresh()
        run = await execute_reference(
            group,
            draft.reference,
            inputs,
            reply=draft.reply,
            reply_text=draft.reply_text,
            may_fail=draft.refusal is not None,
        )
        if run.error:
            last = run.entries[-1] if run.entries else None
            told = [f"last result: {last.outcome} {last.result}"[:300]] if last is not None else []
            raise _Refused(
                RefusalCode.INFEASIBLE,
                f"the reference does not get through: {run.error}",
                "take arguments from inputs or from what earlier steps really show",
                told,
            )
        if number == 0:
            end = await end_state(group, trials.environment.name)
            schema = trials.environment.contracts.schema_
            if not is_difference(run.evidence.changes, trials.start, end, trials.environment.name, schema):
                raise _Refused(
                    RefusalCode.INTERNAL,
                    "the changes in the ledger are not the difference of the states",
                    "report this with the environment",
                )
        runs.append(run)
    return (runs[0], runs[1]), end


def answer_parts(
    reply: Sequence[ReplyPart], run: ReferenceRun, rivals: dict[str, tuple[JSON, ...]]
) -> tuple[AnswerPart, ...]:
    """Return what the reply must state, one part for each item of a list."""
    parts: list[AnswerPart] = []
    for part in reply:
        value = run.values[part.name]
        wrong = rivals.get(part.name, ())
        if isinstance(value, list) and part.kind != "refusal":
            parts += [
                AnswerPart(name=f"{part.name} {number}", value=item, kind=part.kind, rivals=wrong)
                for number, item in enumerate(value, 1)
            ]
        else:
            value = tuple(value) if isinstance(value, list) else value
            parts.append(AnswerPart(name=part.name, value=value, kind=part.kind, rivals=wrong))
    return tuple(parts)


def _rivals(draft: AtomicDraft, run: ReferenceRun) -> dict[str, tuple[JSON, ...]]:
    """Return wrong values for each reply part: the author's, or those of the same field in what was observed.

    What the request itself says is no rival: a reply may well repeat it.
    """
    said = plain_text(" ".join([draft.texts.full, draft.texts.vague, *(words_of(item) for item in draft.inputs)]))
    right = {part.name: run.values.get(part.name) for part in draft.reply}
    flat = [item for value in right.values() for item in (value if isinstance(value, list) else [value])]
    found: dict[str, tuple[JSON, ...]] = {}
    for part in draft.reply:
        if part.kind in ("boolean", "refusal"):
            continue
        wrong = list(draft.rivals.get(part.name, ()))
        field, step = getattr(part.source, "field", ""), getattr(part.source, "step", "")
        fold = getattr(part.source, "fn", "list")
        if not wrong and field and fold == "list":
            wrong = [
                seen.get(field) for seen in objects(run.results.get(step)) if not isinstance(seen.get(field), dict)
            ]
        kept: list[JSON] = []
        for value in wrong:
            known = any(json_equal(value, other) for other in [*flat, *kept])
            if value is None or isinstance(value, (bool, list)) or known or plain_text(str(value)) in said:
                continue
            kept.append(value)
        if kept:
            found[part.name] = tuple(kept[:MOST_RIVALS])
    return found


def _refusal_calls(draft: AtomicDraft, server: str) -> tuple[ExpectedCall, ...]:
    if draft.refusal is None:
        return ()
    evidence = draft.refusal
    return (ExpectedCall(name="looked", server=server, tools=evidence.tools, error_codes=evidence.codes),)


def _need_something(draft: AtomicDraft, run: ReferenceRun, claims: Claims) -> None:
    """Refuse a task that asks for nothing: no change, no answer that rests on a read."""
    writes = any(is_write(entry) for entry in run.entries)
    if draft.refusal is not None:
        if writes:
            raise _Refused(RefusalCode.INFEASIBLE, "a refusal changes something", "only look, and say why not")
        return
    if not writes and not claims.witnesses:
        raise _Refused(
            RefusalCode.NOT_DISCRIMINATING,
            "nothing changes, and the reply rests on nothing that a tool showed",
            "ask for a change, or for a value that has to be looked up",
        )
    if not writes and not claims.answer:
        raise _Refused(RefusalCode.NOT_DISCRIMINATING, "a read without an answer", "ask for a value in the reply")
    if run.evidence.changes.empty and writes:
        raise _Refused(
            RefusalCode.NOT_DISCRIMINATING, "the changes cancel out", "choose values that differ from the state"
        )


async def _try_mutant(
    mutant: Mutant,
    verifier: Verifier,
    trials: Trials,
    schemas: dict[str, DatabaseSchema],
    yardstick: Yardstick,
) -> MutantResult:
    """Execute a mutant from the first initial state; compare in full only what the verifier lets pass."""
    group = await trials.pair[0].fresh()
    if mutant.calls:
        run = await execute_calls(group, mutant.calls, mutant.reply)
        evidence = run.evidence
    else:
        run = ReferenceRun(reply=mutant.reply)
        evidence = Evidence(changes=run.evidence.changes, reply=mutant.reply)
    if not evaluate(verifier, evidence, schemas).passed:
        return MutantResult(kind=mutant.kind, detail=mutant.detail, outcome="killed")
    same = same_changes(run.evidence.changes, yardstick.changes) and mutant.reply == yardstick.reply
    same = same and shows(run.entries, yardstick.fragments, yardstick.calls)
    return MutantResult(kind=mutant.kind, detail=mutant.detail, outcome="equivalent" if same else "survived")


def _checks(runs: Sequence[ReferenceRun], results: Sequence[MutantResult]) -> tuple[CheckRecord, ...]:
    """Record the soundness checks of DESIGN section 5 in order."""
    calls = sum(len(run.calls) for run in runs)

    def failed(kind: str) -> CheckRecord:
        tried = [item for item in results if item.kind == kind]
        bad = next((item for item in tried if item.outcome != "killed"), None)
        return CheckRecord(
            name=f"{kind}_fails",
            passed=bad is None,
            cases=len(tried),
            detail=f"{bad.outcome}: {bad.detail}" if bad else "",
        )

    survivors = [item for item in results if item.outcome == "survived"]
    return (
        CheckRecord(name="reference_executes", passed=True, cases=calls),
        CheckRecord(name="changes_are_the_difference", passed=True, cases=1),
        CheckRecord(name="reference_passes", passed=True, cases=len(runs)),
        failed("do_nothing"),
        failed("no_calls"),
        failed("empty_reply"),
        CheckRecord(
            name="mutants_die",
            passed=not survivors,
            cases=len(results),
            detail=f"{survivors[0].kind}: {survivors[0].detail}" if survivors else "",
        ),
    )


def _survivors(judged: Judged) -> _Refused:
    bad = [check for check in judged.checks if not check.passed]
    survivors = [f"{item.kind}: {item.detail}" for item in judged.mutants if item.outcome == "survived"]
    return _Refused(
        RefusalCode.NOT_DISCRIMINATING,
        f"{bad[0].name}: {bad[0].detail}",
        "choose rows and values that tell right from wrong, or ask for an answer that does",
        survivors[:5],
    )


def _documents(draft: AtomicDraft, trials: Trials, task_id: str, judged: Judged) -> Certified:
    environment = trials.environment
    pin = EnvironmentPin(name=environment.name, hash=trials.environment_hash, state=trials.state_hash)
    task = AtomicTask(
        id=task_id,
        server=environment.name,
        kind=draft.kind,
        intent=draft.intent,
        inputs=draft.inputs,
        environment=pin,
        texts=draft.texts,
    )
    certificate = TaskCertificate(
        environments={environment.name: trials.environment_hash},
        verifier=content_hash(judged.verifier),
        checks=judged.checks,
        mutants=judged.mutants,
        runs=len(trials.pair),
    )
    solution = AtomicSolution(
        task=task_id,
        chain=draft.chain,
        reference=draft.reference,
        reply=draft.reply,
        reply_text=draft.reply_text,
        completion=draft.completion,
        outputs=draft.outputs,
        verifier=judged.verifier,
        certificate=certificate,
    )
    return Certified(task, solution)
