"""Which components a set of attributions selects, and which rule leaves the others for later."""

from weft.evolve.routing import route
from weft.records.revision import Attribution, Component, EvidenceItem


def blame(component: Component, subject: str, *findings: str, node: str = "", probe: str = "x") -> Attribution:
    evidence = tuple(EvidenceItem(probe=probe, finding=finding) for finding in findings or ("found",))
    return Attribution(task="t1", node=node, component=component, subject=subject, evidence=evidence)


NEEDS = {"t1": ("mail", "notes"), "t2": ("notes",)}


def test_failures_of_the_policy_and_of_the_host_select_nothing() -> None:
    found = [blame(Component.POLICY, "t1"), blame(Component.INFRASTRUCTURE, "host")]
    assert route(found, NEEDS) == ((), ())


def test_a_component_is_selected_once_with_every_finding_once() -> None:
    found = [
        blame(Component.VERIFIER, "t1", "a", "b", node="n1"),
        blame(Component.VERIFIER, "t1", "b", "c", node="n2"),
        blame(Component.POLICY, "t1"),
    ]
    (selected,), deferred = route(found, NEEDS)
    assert (selected.component, selected.subject, selected.attributions) == (Component.VERIFIER, "t1", 2)
    assert [item.finding for item in selected.evidence] == ["a", "b", "c"]
    assert selected.nodes == ("n1", "n2")
    assert deferred == ()


def test_many_failures_of_the_policy_do_not_outweigh_evidence_against_a_component() -> None:
    found = [*[blame(Component.POLICY, "t1")] * 9, blame(Component.TASK, "t1")]
    selected, _ = route(found, NEEDS)
    assert [item.component for item in selected] == [Component.TASK]


def test_environments_come_first_and_tasks_that_need_them_wait() -> None:
    found = [blame(Component.TASK, "t2"), blame(Component.VERIFIER, "t1"), blame(Component.ENVIRONMENT, "notes")]
    selected, deferred = route(found, NEEDS)
    assert [item.subject for item in selected] == ["notes"]
    assert [(item.component, item.subject) for item in deferred] == [
        (Component.TASK, "t2"),
        (Component.VERIFIER, "t1"),
    ]
    assert "notes" in deferred[0].reason


def test_a_document_that_is_not_the_certified_one_does_not_wait_for_its_environment() -> None:
    found = [blame(Component.ENVIRONMENT, "notes"), blame(Component.VERIFIER, "t2", probe="certificate")]
    selected, deferred = route(found, NEEDS)
    assert [(item.component, item.subject) for item in selected] == [
        (Component.ENVIRONMENT, "notes"),
        (Component.VERIFIER, "t2"),
    ]
    assert deferred == ()


def test_a_task_blamed_as_task_and_as_verifier_is_revised_as_a_task() -> None:
    found = [blame(Component.VERIFIER, "t1", "v"), blame(Component.TASK, "t1", "t")]
    (selected,), (deferred,) = route(found, NEEDS)
    assert selected.component is Component.TASK
    assert [item.finding for item in selected.evidence] == ["t", "v"]
    assert deferred.component is Component.VERIFIER


def test_the_selection_does_not_depend_on_the_order_of_the_attributions() -> None:
    found = [
        blame(Component.VERIFIER, "t1"),
        blame(Component.ENVIRONMENT, "web"),
        blame(Component.ENVIRONMENT, "bank"),
        blame(Component.TASK, "t2"),
    ]
    forward, _ = route(found, NEEDS)
    backward, _ = route(found[::-1], NEEDS)
    assert [item.subject for item in forward] == [item.subject for item in backward] == ["bank", "web", "t2", "t1"]
