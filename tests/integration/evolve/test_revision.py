"""Handing one component back to its author: as little as mends it, and what was found where the author errs again."""

import asyncio
import random
from dataclasses import replace

from weft.evolve.planting import Planted, plant_in_environment, plant_in_reference, plant_in_verifier, restamp_task
from weft.evolve.revalidate import revalidate_atomic
from weft.evolve.revise import Workshop, findings_of, revise
from weft.evolve.system import AtomicEntry, System
from weft.records.evolution import Selected
from weft.records.revision import Component, EvidenceItem

NAME = "notebook"


def on(component: Component, subject: str, probe: str = "x", tool: str = "", finding: str = "it is broken") -> Selected:
    return Selected(
        component=component, subject=subject, evidence=(EvidenceItem(probe=probe, finding=finding, tool=tool),)
    )


def test_only_the_contracts_with_findings_are_replaced_where_the_author_would_make_other_rows(
    system: System, shop: Workshop
) -> None:
    intact = system.environments[NAME]
    tool = intact.served()[0]
    broken = plant_in_environment(intact, tool, Planted.RAISED_FAULT, random.Random(1))
    assert broken is not None
    # No task and no certificate remembers what the environment was, and the author would draw more rows now.
    bad = System({NAME: broken.model_copy(update={"certificate": None})})
    after, made = asyncio.run(revise(bad, on(Component.ENVIRONMENT, NAME, "ledger", tool), replace(shop, size=20)))
    assert (made.action, made.passed) == ("rebuilt", True)
    assert after.environments[NAME].hash == intact.hash
    assert after.environments[NAME].certificate == intact.certificate


def test_an_author_that_makes_the_broken_one_again_is_shown_what_executions_found(
    system: System, shop: Workshop
) -> None:
    environment = system.environments[NAME]
    entry = next(entry for entry in system.atomic.values() if entry.task.server == NAME)
    tool = entry.solution.reference[-1].tool
    found = on(Component.ENVIRONMENT, NAME, "ledger", tool, "it loses every second row")
    after, made = asyncio.run(revise(system, found, shop))
    assert made.action == "rebuilt"
    assert tool not in after.environments[NAME].served()
    reasons = [one.message for one in after.environments[NAME].spec.refused if one.subject == f"{NAME}/{tool}"]
    assert "it loses every second row" in reasons[0]
    assert set(after.environments[NAME].served()) < set(environment.served())
    # Tasks that go through the refused tool cannot be certified again; their neighbours of other servers stay.
    final, records = asyncio.run(revalidate_atomic(after, shop))
    assert entry.task.id not in final.atomic
    assert {one.subject: one for one in records}[entry.task.id].action == "retired"
    assert {one.cause for one in records} == {"dependent"}
    others = {name: one for name, one in system.atomic.items() if one.task.server != NAME}
    assert {name: one for name, one in final.atomic.items() if one.task.server != NAME} == others


def test_a_task_whose_reference_is_wrong_is_proposed_again_as_it_was(system: System, shop: Workshop) -> None:
    for name, entry in system.atomic.items():
        environment = system.environments[entry.task.server]
        broken = plant_in_reference(entry, environment, random.Random(2))
        if broken is None:
            continue
        bad = system.with_atomic(name, restamp_task(broken, environment, environment.seed))
        after, made = asyncio.run(revise(bad, on(Component.TASK, name), shop))
        assert (made.action, made.passed) == ("rebuilt", True)
        assert after.atomic[name].solution.chain == entry.solution.chain
        assert after == system
        return
    raise AssertionError("no task has an argument that finds a row")


def test_a_wrong_verifier_is_generated_again_and_certified_while_the_public_task_stays(
    system: System, shop: Workshop
) -> None:
    name, entry = next((name, one) for name, one in system.atomic.items() if one.solution.verifier.changes)
    solution = plant_in_verifier(entry.solution, Planted.MISSING_CHANGE, random.Random(3))
    assert solution is not None
    bad = system.with_atomic(name, AtomicEntry(entry.task, solution))
    after, made = asyncio.run(revise(bad, on(Component.VERIFIER, name), shop))
    found = after.atomic[name]
    assert (made.action, made.passed) == ("rebuilt", True)
    assert found.task == entry.task
    assert found.solution.reference == entry.solution.reference
    assert found.solution.verifier.changes == entry.solution.verifier.changes
    assert found.solution.certificate is not None
    assert found.solution.certificate.valid


def test_what_is_not_there_any_more_is_left_alone(system: System, shop: Workshop) -> None:
    for component in (Component.ENVIRONMENT, Component.TASK):
        after, made = asyncio.run(revise(system, on(component, "gone"), shop))
        assert after == system
        assert (made.action, made.passed) == ("unchanged", False)


def test_a_refused_reference_call_is_no_evidence_against_the_tool_that_refused_it() -> None:
    refused = EvidenceItem(probe="reference_replay", finding="step act (get): error: not_found", tool="get")
    faulted = EvidenceItem(
        probe="reference_replay", finding="the reference faults: mail/send: no such column", tool="send"
    )
    assert [finding.tool for finding in findings_of((refused, faulted, faulted))] == ["send"]
