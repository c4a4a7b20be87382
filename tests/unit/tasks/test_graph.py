import pytest

from weft.errors import GraphError
from weft.records.task import (
    AtomicSolution,
    AtomicTask,
    Edge,
    EnvironmentPin,
    FromStep,
    Node,
    TaskGraph,
    TaskInput,
    TaskOutput,
    Texts,
)
from weft.records.verdict import Verifier
from weft.tasks.graph import ancestors, check_graph, other_order, topological_order


def task(name: str, *inputs: TaskInput) -> AtomicTask:
    return AtomicTask(
        id=name,
        server=f"{name}-server",
        kind="read",
        intent="Do it.",
        inputs=inputs,
        environment=EnvironmentPin(name=f"{name}-server", hash="h", state="s"),
        texts=Texts(vague="v", partial="p", full="f"),
    )


def solution(name: str, *outputs: tuple[str, str]) -> AtomicSolution:
    source = FromStep(kind="step", step="s1", field="x")
    return AtomicSolution(
        task=name,
        chain=("t",),
        reference=(),
        reply_text="done",
        outputs=tuple(TaskOutput(name=item, source=source, semantic=semantic) for item, semantic in outputs),
        verifier=Verifier(),
    )


TASKS = {"find": task("find"), "send": task("send", TaskInput(name="to", value="a@b.example", semantic="email"))}
SOLUTIONS = {"find": solution("find", ("email", "email"), ("name", "person")), "send": solution("send")}


def node(name: str, of: str, retrieved: tuple[str, ...] = (), **inputs: str) -> Node:
    return Node(id=name, task=of, server=f"{of}-server", inputs=inputs, intent="Do it.", retrieved=retrieved)


def edge(source: str, target: str, output: str = "", input_: str = "") -> Edge:
    return Edge(source=source, target=target, kind="information" if input_ else "state", output=output, input=input_)


def graph(*nodes: Node, edges: tuple[Edge, ...] = ()) -> TaskGraph:
    return TaskGraph(nodes=nodes, edges=edges, order=topological_order(nodes, edges))


GOOD = graph(node("n1", "find"), node("n2", "send", ("to",), to="n1.email"), edges=(edge("n1", "n2", "email", "to"),))


def test_a_sound_graph_passes() -> None:
    check_graph(GOOD, TASKS, SOLUTIONS)


def test_of_several_nodes_that_could_come_next_the_first_listed_does() -> None:
    nodes = [node(name, "find") for name in ("n1", "n2", "n3", "n4")]
    edges = [edge("n4", "n1"), edge("n3", "n2")]
    assert topological_order(nodes, edges) == ("n3", "n2", "n4", "n1")
    assert other_order(nodes, edges) == ("n4", "n3", "n2", "n1")


def test_a_cycle_is_refused_with_its_nodes() -> None:
    nodes = [node(name, "find") for name in ("n1", "n2", "n3")]
    with pytest.raises(GraphError, match="n2, n3 depend on each other"):
        topological_order(nodes, [edge("n2", "n3"), edge("n3", "n2")])


def test_an_edge_to_nowhere_and_a_node_listed_twice_are_refused() -> None:
    with pytest.raises(GraphError, match="'n9'"):
        topological_order([node("n1", "find")], [edge("n1", "n9")])
    with pytest.raises(GraphError, match="listed twice"):
        topological_order([node("n1", "find"), node("n1", "find")], [])


def test_ancestors_are_followed_to_the_roots() -> None:
    edges = [edge("n1", "n2"), edge("n2", "n3"), edge("n4", "n5")]
    assert ancestors("n3", edges) == {"n1", "n2"}
    assert ancestors("n1", edges) == frozenset()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (graph(node("n1", "send")), "n1: input 'to' has no source"),
        (graph(node("n1", "find", cc="given")), "no input 'cc'"),
        (graph(node("n1", "lost")), "n1: task 'lost' is not one of the selected"),
        (graph(node("n1", "send", ("to",), to="given")), "both given and to be retrieved"),
        (
            graph(node("n1", "find"), node("n2", "send", to="n1.email"), edges=(edge("n1", "n2", "email", "to"),)),
            "not listed as retrieved",
        ),
        (graph(node("n1", "send", ("to",), to="n7.email")), "'n7.email', and there is no node"),
        (
            graph(node("n1", "send", ("to",), to="n2.email"), node("n2", "find")),
            "'n2.email', which comes later",
        ),
        (
            graph(
                node("n1", "find"),
                node("n2", "send", ("to",), to="n1.phone"),
                edges=(edge("n1", "n2", "phone", "to"),),
            ),
            "n1 brings out email, name",
        ),
        (
            graph(
                node("n1", "find"), node("n2", "send", ("to",), to="n1.name"), edges=(edge("n1", "n2", "name", "to"),)
            ),
            "of type 'email' and 'n1.name' of type 'person'",
        ),
        (
            graph(node("n1", "find"), node("n2", "send", ("to",), to="n1.email"), edges=(edge("n1", "n2"),)),
            "without an edge that brings it",
        ),
        (
            graph(
                node("n1", "find"),
                node("n2", "send", ("to",), to="n1.email"),
                edges=(edge("n1", "n2", "email", "to"), edge("n1", "n2", "name", "to")),
            ),
            "input 'to' is bound twice",
        ),
        (
            graph(
                node("n1", "find"), node("n2", "send", ("to",), to="n1.email"), edges=(edge("n1", "n2", "name", "to"),)
            ),
            "make them agree",
        ),
        (GOOD.model_copy(update={"order": ("n2", "n1")}), "not the stable one"),
        (graph(node("n1", "find").model_copy(update={"server": "other"})), "not 'other'"),
    ],
)
def test_a_broken_graph_is_refused_naming_node_and_input(broken: TaskGraph, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        check_graph(broken, TASKS, SOLUTIONS)
