"""Mutants of references over the parts shop: each kind is made, wrong in one respect, and dies."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.hosts.local import LocalHost
from weft.records.certificate import MutantResult
from weft.records.environment import Environment
from weft.records.library import TaskFeedback
from weft.tasks.certify import Certified, certify_atomic
from weft.tasks.mutants import Subject, altered, dotted, mutants_of, shifted_day
from weft.tasks.reference import execute_reference
from weft.tasks.trials import Trials, open_trials

Run = Callable[..., Any]


async def results(shop: Environment, local: LocalHost, seeds: range) -> list[MutantResult]:
    found: list[MutantResult] = []
    for seed in seeds:
        trials = await open_trials(shop, local, seed=seed)
        for draft in RulesTaskAuthor().propose(shop, TaskFeedback(), seed=seed, limit=30):
            outcome = await certify_atomic(draft, trials, task_id="x-1", seed=seed)
            if isinstance(outcome, Certified) and outcome.solution.certificate is not None:
                found += outcome.solution.certificate.mutants
        await trials.close()
    return found


def test_every_kind_is_tried_and_none_survives(shop: Environment, local: LocalHost, run: Run) -> None:
    async def go() -> list[MutantResult]:
        return await results(shop, local, range(4))

    found = run(go)
    kinds = Counter(item.kind for item in found)
    assert set(kinds) >= {
        "do_nothing", "no_calls", "empty_reply", "dropped_write", "no_witness", "wrong_entity", "wrong_value",
        "altered_answer", "extra_write", "undone", "repeated_write",
    }  # fmt: skip
    assert not [item for item in found if item.outcome == "survived"]
    killed = Counter(item.kind for item in found if item.outcome == "killed")
    for kind in ("do_nothing", "no_calls", "empty_reply", "dropped_write", "altered_answer"):
        assert killed[kind] == kinds[kind]


def test_mutants_differ_from_the_reference_and_from_each_other(shop: Environment, local: LocalHost, run: Run) -> None:
    async def go() -> list[tuple[Any, Any]]:
        trials: Trials = await open_trials(shop, local, seed=2)
        made = []
        for draft in RulesTaskAuthor().propose(shop, TaskFeedback(), seed=2, limit=30):
            inputs = {item.name: item.value for item in draft.inputs}
            reference = await execute_reference(
                await trials.pair[0].fresh(), draft.reference, inputs, reply=draft.reply, reply_text=draft.reply_text
            )
            subject = Subject(shop, draft.reference, reference, trials.start.rows, draft.reply, draft.reply_text,
                              draft.rivals, trials.extras, 2)  # fmt: skip
            made.append((reference, mutants_of(subject)))
            assert mutants_of(subject) == made[-1][1]
        await trials.close()
        return made

    for reference, mutants in run(go):
        keys = [repr(([(call.tool, call.arguments) for call in item.calls], item.reply)) for item in mutants]
        own = repr(([(call.tool, call.arguments) for call in reference.calls], reference.reply))
        assert len(set(keys)) == len(keys)
        assert own not in keys


def test_altered_values() -> None:
    assert altered(3, (2,)) == 2
    assert altered(3, ()) == 4
    assert altered(True, ()) is False
    assert altered(["a", "b"], ()) == ["b"]
    assert altered(["a", "b"], ("c",)) == ["b", "c"]
    assert altered("2026-02-28", ()) == "2026-03-01"
    assert shifted_day("2026-12-31T10:00:00Z") == "2027-01-01T10:00:00Z"
    assert dotted(("items", 0, "name")) == "items[].name"
