"""Composed tasks over two hand-written environments, from drawing to rollouts."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from weft.agents.rules.composition.author import RulesCompositionAuthor
from weft.hosts.local import LocalHost
from weft.records.codec import canonical, content_hash
from weft.records.composition import Composition, CompositionResult
from weft.records.environment import Environment
from weft.records.library import AtomicLibrary
from weft.records.task import TaskGraph
from weft.rollouts.policies.scripted import PlannedNode
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import rollout
from weft.rollouts.views import View
from weft.tasks.compose import compose
from weft.tasks.context import habits
from weft.tasks.graph import check_graph
from weft.tasks.plan import plan_composed
from weft.tasks.profiles import Profile
from weft.wiring.episodes import Staged, planned, scripted, stage_composed

PROFILES = (
    Profile(name="Simple", tasks=(2, 4), mcps=(2, 2), domains=(1, 2), share=0.5),
    Profile(name="Standard", tasks=(6, 7), mcps=(2, 2), domains=(1, 2), share=0.5),
)


async def composed(
    libraries: Mapping[str, AtomicLibrary], environments: tuple[Environment, ...], seed: int = 3, count: int = 6
) -> CompositionResult:
    return await compose(
        libraries, environments, LocalHost(), RulesCompositionAuthor(), count=count, seed=seed, profiles=PROFILES
    )


@pytest.fixture(scope="module")
async def result(libraries: Mapping[str, AtomicLibrary], environments: tuple[Environment, ...]) -> CompositionResult:
    return await composed(libraries, environments)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def stage(item: Composition, environments: tuple[Environment, ...]) -> Staged:
    return stage_composed(
        item.task, item.solution, {environment.name: environment for environment in environments}, item.state.states
    )


async def passes(staged: Staged, view: View, seed: int, plan: tuple[PlannedNode, ...] | None = None) -> bool | None:
    policy = scripted(staged.plan if plan is None else plan, noise=None)
    done = await rollout(LocalHost(), ReactHarness(), staged.episode, policy, view=view, seed=seed)
    return done.passed


pytestmark = pytest.mark.anyio


async def test_every_place_is_filled_and_every_certificate_holds(result: CompositionResult) -> None:
    assert result.quotas == {"Simple": 3, "Standard": 3}
    assert [item.task.profile for item in result.compositions] == ["Simple"] * 3 + ["Standard"] * 3
    for item in result.compositions:
        certificate = item.solution.certificate
        assert certificate is not None
        assert certificate.valid
        assert certificate.verifier == content_hash(item.solution.verifier)
        assert {pin.state for pin in item.task.environments} == set(map(content_hash, item.state.states.values()))
        for node in item.solution.nodes.values():
            assert node.certificate is not None
            assert node.certificate.valid
            assert node.certificate.verifier == content_hash(node.verifier)
        kinds = {mutant.kind for mutant in certificate.mutants}
        assert {"do_nothing", "no_calls", "skipped_node", "swapped_binding"} <= kinds


async def test_graphs_hold_and_bindings_join_both_servers(
    result: CompositionResult, libraries: Mapping[str, AtomicLibrary]
) -> None:
    tasks = {task.id: task for library in libraries.values() for task in library.tasks}
    solutions = {one.task: one for library in libraries.values() for one in library.solutions}
    for item in result.compositions:
        check_graph(item.solution.graph, tasks, solutions)
        assert joins_both(item.solution.graph)


def joins_both(graph: TaskGraph) -> bool:
    server = {node.id: node.server for node in graph.nodes}
    return any(edge.input and server[edge.source] != server[edge.target] for edge in graph.edges)


@pytest.mark.parametrize("view", ["simuser", "agentic"])
async def test_the_scripted_policy_passes_in_both_views_whatever_ids_are_generated(
    result: CompositionResult, environments: tuple[Environment, ...], view: View
) -> None:
    for item in result.compositions:
        for seed in (1, 99):
            assert await passes(stage(item, environments), view, seed), (item.task.id, seed)


async def test_a_policy_that_takes_its_own_value_for_a_bound_one_fails(
    result: CompositionResult, environments: tuple[Environment, ...]
) -> None:
    tried = 0
    for item in result.compositions:
        staged = stage(item, environments)
        for index, node in enumerate(staged.plan):
            for name in node.bound:
                wrong = replace(node, inputs={**node.inputs, name: "somebody@else.example"}, bound={})
                plan = (*staged.plan[:index], wrong, *staged.plan[index + 1 :])
                assert not await passes(staged, "simuser", 1, plan)
                assert not await passes(staged, "agentic", 1, plan)
                tried += 1
    assert tried > 5


async def test_careless_habits_that_the_certificate_counts_as_killed_fail_their_turn(
    result: CompositionResult, environments: tuple[Environment, ...]
) -> None:
    by_name = {environment.name: environment for environment in environments}
    killed = 0
    for item in result.compositions:
        staged = stage(item, environments)
        for index, plan in enumerate(plan_composed(item.task, item.solution)):
            certificate = item.solution.nodes[plan.id].certificate
            assert certificate is not None
            results = [one for one in certificate.mutants if one.kind in ("takes_first_hit", "ignores_filter")]
            found = habits(plan, by_name[plan.server])
            assert len(results) == len(found)
            for habit, known in zip(found, results, strict=True):
                careless = planned([habit.plan])[0]
                passed = await passes(staged, "simuser", 1, (*staged.plan[:index], careless, *staged.plan[index + 1 :]))
                assert passed is (known.outcome != "killed")
                killed += known.outcome == "killed"
    assert killed


async def test_a_distractor_was_placed_for_a_policy_that_ignores_a_filter(result: CompositionResult) -> None:
    details = [
        check.detail
        for item in result.compositions
        if item.solution.certificate is not None
        for check in item.solution.certificate.checks
        if check.name == "grounding_context"
    ]
    assert any("ignores_filter" in detail for detail in details)


async def test_grounding_puts_the_upstream_value_where_the_downstream_entity_stands(
    result: CompositionResult,
) -> None:
    bound = [binding for item in result.compositions for binding in item.solution.graph.bindings]
    assert any(
        {"contacts.people.email", "billing.customers.email"} <= set(binding.places) and binding.semantic == "email"
        for binding in bound
    )


async def test_a_generated_id_reaches_the_downstream_verifier_as_an_upstream_slot(result: CompositionResult) -> None:
    edges = [
        (edge, item.solution)
        for item in result.compositions
        for edge in item.solution.graph.edges
        if edge.kind == "state" and edge.input
    ]
    assert edges
    for edge, solution in edges:
        upstream = solution.nodes[edge.target].verifier.upstream
        assert any(source.startswith(f"{edge.source}.") for source in upstream.values())


async def test_nothing_private_stands_in_a_public_document(result: CompositionResult) -> None:
    for item in result.compositions:
        public = json.loads(canonical(item.task))
        assert set(public) <= {
            "version", "id", "profile", "objective", "inputs", "environments", "brief", "requests", "domains",
        }  # fmt: skip
        text = canonical(item.task).decode()
        for word in ("verifier", "reference", "certificate", "bindings", "s1", *item.solution.nodes):
            assert f'"{word}"' not in text
        for binding in item.solution.graph.bindings:
            assert str(binding.value) not in text
        for node in item.solution.nodes.values():
            assert not any(step.tool in text for step in node.reference)


async def test_both_views_say_everything_that_the_user_knows(result: CompositionResult) -> None:
    for item in result.compositions:
        for level in ("vague", "partial", "full"):
            turns = " ".join(getattr(request, level) for request in item.task.requests)
            for known in item.task.inputs:
                said = known.words or str(known.value)
                assert said in getattr(item.task.brief, level)
                assert said in turns


async def test_the_same_seed_gives_the_same_bytes(
    result: CompositionResult, libraries: Mapping[str, AtomicLibrary], environments: tuple[Environment, ...]
) -> None:
    assert canonical(await composed(libraries, environments)) == canonical(result)


async def test_usage_counts_every_node(result: CompositionResult) -> None:
    nodes = sum(len(item.solution.graph.nodes) for item in result.compositions)
    assert sum(result.usage.tasks.values()) == nodes
    assert set(result.usage.mcps) == {"contacts", "billing"}


async def test_a_catalog_that_is_too_small_says_so(
    libraries: Mapping[str, AtomicLibrary], environments: tuple[Environment, ...]
) -> None:
    found = await compose(libraries, environments, LocalHost(), RulesCompositionAuthor(), count=4, seed=1)
    assert found.quotas["Expert"] == 1 or found.quotas["Expert"] == 0
    assert found.planned["Expert"] == 0
    assert any(refusal.subject == "profile/Expert" for refusal in found.refusals)
    assert {item.task.profile for item in found.compositions} <= {"Simple", "Standard"}
