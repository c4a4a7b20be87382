"""Algorithm 1 over the parts shop: what is retained is proven, and what is refused has its reason."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.hosts.local import LocalHost
from weft.records.codec import canonical
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, AtomicLibrary, TaskFeedback, TaskFinding
from weft.records.spec import RefusalCode
from weft.records.task import FromInput, FromStep, Given, ReferenceStep, ReplyPart, TaskInput, Texts
from weft.tasks.atomic import build_atomic
from weft.tasks.certify import Certified, certify_atomic
from weft.tasks.chains import contained
from weft.tasks.texts import text_problems
from weft.tasks.trials import open_trials

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def library(shop: Environment, local: LocalHost, run: Run) -> AtomicLibrary:
    async def build() -> AtomicLibrary:
        return await build_atomic(shop, RulesTaskAuthor(), local, seed=7)

    found: AtomicLibrary = run(build)
    return found


def test_the_rules_author_covers_every_tool(library: AtomicLibrary) -> None:
    assert library.coverage == 1.0
    assert library.uncovered == ()
    assert library.stopped == "coverage"
    assert len(library.rounds) == 1


def test_every_certificate_is_complete_and_valid(library: AtomicLibrary) -> None:
    for solution in library.solutions:
        certificate = solution.certificate
        assert certificate is not None
        assert certificate.valid
        assert certificate.runs == 2
        kinds = {item.kind for item in certificate.mutants}
        assert {"do_nothing", "no_calls", "empty_reply"} <= kinds
        assert len(kinds) >= 4
        outcomes = {item.kind: item.outcome for item in certificate.mutants}
        assert all(outcomes[kind] == "killed" for kind in ("do_nothing", "no_calls", "empty_reply"))


def test_retained_chains_are_orthogonal(library: AtomicLibrary) -> None:
    chains = [solution.chain for solution in library.solutions]
    assert not any(contained(a, b) for i, a in enumerate(chains) for j, b in enumerate(chains) if i != j)
    assert all(1 <= len(solution.reference) <= 6 for solution in library.solutions)


def test_no_generated_id_is_ever_an_input(library: AtomicLibrary, shop: Environment) -> None:
    ids = {row[name] for table, name in (("orders", "order_id"), ("customers", "customer_id"))
           for row in shop.seed.rows[table]}  # fmt: skip
    for task in library.tasks:
        assert not ids & {item.value for item in task.inputs if isinstance(item.value, str)}
        assert not any(name in text for name in ids for text in (task.texts.vague, task.texts.partial, task.texts.full))


def test_texts_say_every_input_and_leak_nothing(library: AtomicLibrary, shop: Environment) -> None:
    for task in library.tasks:
        assert text_problems(task.texts, task.inputs, task.intent, shop) == []


def test_public_documents_hold_no_answer(library: AtomicLibrary) -> None:
    for task, solution in zip(library.tasks, library.solutions, strict=True):
        public = canonical(task).decode()
        for part in solution.verifier.answer:
            if part.kind == "text" and len(str(part.value)) > 3:
                assert str(part.value) not in public


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_tasks(
    library: AtomicLibrary, shop: Environment, local: LocalHost, run: Run
) -> None:
    async def build(seed: int) -> AtomicLibrary:
        return await build_atomic(shop, RulesTaskAuthor(), local, seed=seed)

    assert canonical(run(build, 7)) == canonical(library)
    assert canonical(run(build, 8)) != canonical(library)


class Listed:
    """An author that proposes given drafts, one list a round, and keeps what it is told."""

    name = "listed"

    def __init__(self, *rounds: Sequence[AtomicDraft]) -> None:
        self.rounds = list(rounds)
        self.told: list[TaskFeedback] = []

    def propose(
        self, environment: Environment, feedback: TaskFeedback, *, seed: int, limit: int
    ) -> Sequence[AtomicDraft]:
        self.told.append(feedback)
        return self.rounds.pop(0) if self.rounds else []


def draft(
    *steps: ReferenceStep, text: str = "Set the quantity of the order for brass lock to 5.", **more: Any
) -> AtomicDraft:
    inputs = (
        TaskInput(name="product", value="brass lock", words="brass lock"),
        TaskInput(name="quantity", value=more.pop("quantity", 5), words="5"),
    )
    return AtomicDraft(
        kind="hand",
        intent=text,
        inputs=more.pop("inputs", inputs),
        texts=Texts(vague=text, partial=text, full=text),
        chain=tuple(step.tool for step in steps),
        reference=steps,
        reply_text=more.pop("reply_text", "Done."),
        **more,
    )


PRODUCT = FromInput(kind="input", name="product")
FIND = ReferenceStep(id="find", server="shop", tool="list_orders")
ID = FromStep(kind="step", step="find", field="order_id", match={"product": PRODUCT})
ACT = ReferenceStep(
    id="act",
    server="shop",
    tool="update_order",
    arguments={"order_id": ID, "quantity": FromInput(kind="input", name="quantity")},
)


def given(value: Any) -> Given:
    return Given(kind="given", value=value, reason="implied")


NOWHERE = ReferenceStep(id="act", server="shop", tool="delete_order", arguments={"order_id": given("ord_zz")})
SAME = ReferenceStep(id="act", server="shop", tool="update_order", arguments={"order_id": ID, "quantity": given(2)})
COUNT = ReferenceStep(id="count", server="shop", tool="count_orders", arguments={"status": given("shipped")})
NUMBER = ReplyPart(name="number", source=FromStep(kind="step", step="count", field="count"), kind="number")
TOLD = ReplyPart(name="quantity", source=FromInput(kind="input", name="quantity"), kind="number")


@pytest.mark.parametrize(
    ("bad", "code", "said"),
    [
        (draft(FIND, NOWHERE), RefusalCode.INFEASIBLE, "not_found"),
        (draft(FIND, SAME), RefusalCode.NOT_DISCRIMINATING, "nothing changes"),
        (draft(FIND), RefusalCode.NOT_DISCRIMINATING, "nothing changes"),
        (draft(FIND, reply=(TOLD,), reply_text="{quantity}."), RefusalCode.NOT_DISCRIMINATING, "rests on nothing"),
        (draft(FIND, ACT, text="Use update_order for brass lock and 5."), RefusalCode.NO_TASK, "update_order"),
        (draft(FIND, ACT, text="Change the brass lock."), RefusalCode.NO_TASK, "does not say quantity"),
        (
            # one order is packed, and one is shipped, and one is cancelled: the wrong status gives the right number
            draft(COUNT, text="How many orders are shipped?", inputs=(), reply=(NUMBER,), reply_text="{number}."),
            RefusalCode.NOT_DISCRIMINATING,
            "mutants_die",
        ),
    ],
)  # fmt: skip
def test_a_draft_that_proves_nothing_is_refused_with_its_reason(
    bad: AtomicDraft, code: RefusalCode, said: str, shop: Environment, local: LocalHost, run: Run
) -> None:
    async def judge() -> Certified | TaskFinding:
        trials = await open_trials(shop, local, seed=1)
        outcome = await certify_atomic(bad, trials, task_id="hand-1", seed=1)
        await trials.close()
        return outcome

    found = run(judge)
    assert isinstance(found, TaskFinding)
    assert found.refusal.code is code
    assert said in found.refusal.message
    assert found.refusal.remedy


def test_failures_and_coverage_go_back_to_the_author_and_validated_tasks_are_kept(
    shop: Environment, local: LocalHost, run: Run
) -> None:
    bad, good = draft(FIND, NOWHERE), draft(FIND, ACT)
    short = draft(ACT.model_copy(update={"arguments": {"order_id": given("ord_k3"), "quantity": given(9)}}),
                  text="Set brass lock to 5.")  # fmt: skip
    author = Listed([good, bad], [good, short])

    async def build() -> AtomicLibrary:
        return await build_atomic(shop, author, local, seed=1)

    library = run(build)
    assert [task.id for task in library.tasks] == ["shop-hand-1"]
    second = author.told[1]
    assert second.retained == (("list_orders", "update_order"),)
    assert [item.refusal.code for item in second.findings] == [RefusalCode.INFEASIBLE]
    assert "delete_order" in second.wanted
    assert library.rounds[1].redundant == 1  # the shorter chain is contained; the good one was not run again
    assert library.rounds[1].proposed == 1
    assert library.stopped == "no_candidates"
    assert library.coverage == pytest.approx(2 / 8)
