"""Tasks: atomic tasks and composed tasks, each as a public and a private document (DESIGN section 4)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.certificate import TaskCertificate
from weft.records.state import InitialState
from weft.records.verdict import Verifier


class FromInput(Record):
    """The value of a task input (the user knows it and the texts say it)."""

    kind: Literal["input"]
    name: str


class FromStep(Record):
    """A value observed in the result of an earlier step of the same task.

    The first object (depth first, arrays in order) of that step's result whose ``match`` fields equal the given
    sources is
    taken, then its ``field``. With an empty ``match`` the first object that has ``field``. ``path`` (if not empty) is
    followed inside the field's value.
    """

    kind: Literal["step"]
    step: str
    field: str
    match: dict[str, "Source"] = Field(default_factory=dict)
    path: tuple[str | int, ...] = ()


class FromSteps(Record):
    """A value computed over the matching objects of a result: their number, or a field's sum, minimum, maximum ..."""

    kind: Literal["fold"]
    step: str
    fn: Literal["count", "sum", "min", "max", "first", "list"]
    field: str
    match: dict[str, "Source"] = Field(default_factory=dict)


class Given(Record):
    """A constant that needs no source in the texts: an enum value that the intent implies, a page size, a flag."""

    kind: Literal["given"]
    value: Any
    reason: str


class BuildObject(Record):
    """An object argument built of sources."""

    kind: Literal["object"]
    fields: dict[str, "Source"]


class BuildList(Record):
    """An array argument built of sources."""

    kind: Literal["list"]
    items: tuple["Source", ...]


Source = Annotated[FromInput | FromStep | FromSteps | Given | BuildObject | BuildList, Field(discriminator="kind")]
"""Where a reference's argument or answer comes from."""

for _model in (FromStep, FromSteps, BuildObject, BuildList):
    _model.model_rebuild()


class TaskInput(Record):
    """A value that the user knows.

    Attributes:
        name: of the input.
        value: JSON value.
        words: how the texts say it (``"12 May 2026"``); the value's own text when empty.
        semantic: type for binding: ``email``, ``person``, ``date``, ``datetime``, ``money``, ``city``, ``text``,
            ``id:orders`` ...
        keyed: ``table.column`` in which the value must exist for the task to be feasible; empty when any value will do.
    """

    name: str
    value: Any
    words: str = ""
    semantic: str = "text"
    keyed: str = ""


class TaskOutput(Record):
    """A value that the task brings to light or makes, for use downstream."""

    name: str
    source: Source
    semantic: str
    generated: bool = False


class ReferenceStep(Record):
    """One call of the reference execution."""

    id: str
    server: str
    tool: str
    arguments: dict[str, Source] = Field(default_factory=dict)


class ReplyPart(Record):
    """A named value that the final reply states, and where it comes from."""

    name: str
    source: Source
    kind: Literal["number", "text", "date", "boolean", "refusal"] = "text"


class EnvironmentPin(Record):
    """An environment by name and content hash, and the hash of the initial state that a task uses."""

    name: str
    hash: str
    state: str


class Texts(Record):
    """A task's request at the three levels of disclosure (Weft 3.1.3)."""

    vague: str
    partial: str
    full: str


class AtomicTask(Record):
    """The public document of an atomic task.

    Attributes:
        id: ``<server>-<kind>-<n>``.
        server: environment.
        kind: ``read``, ``write``, ``lookup_then_act``, ``aggregate``, ``correction``, ``refusal`` ...
        intent: one sentence of what the user wants, without tool names or schema words.
        inputs: what the user knows.
        environment: pinned by hash, with its initial state.
        texts: the request as a user says it.
    """

    version: Literal[1] = 1
    id: str
    server: str
    kind: str
    intent: str
    inputs: tuple[TaskInput, ...] = ()
    environment: EnvironmentPin
    texts: Texts


class AtomicSolution(Record):
    """The private document of an atomic task.

    Attributes:
        task: id.
        chain: ordered tool names (``tool`` or ``tool:case``) of the reference (Weft A.1).
        reference: the calls.
        reply: what the final reply states.
        reply_text: template with ``{part}`` placeholders.
        completion: completion conditions in words.
        outputs: for composition.
        verifier: deterministic checks and rubric.
        certificate: the proof.
    """

    version: Literal[1] = 1
    task: str
    chain: tuple[str, ...]
    reference: tuple[ReferenceStep, ...]
    reply: tuple[ReplyPart, ...] = ()
    reply_text: str
    completion: tuple[str, ...] = ()
    outputs: tuple[TaskOutput, ...] = ()
    verifier: Verifier
    certificate: TaskCertificate | None = None


class Node(Record):
    """A node of a task graph: an atomic task with its inputs given or bound upstream.

    Attributes:
        id: ``n1`` ...
        task: atomic-task id.
        server: environment.
        inputs: input name -> ``given`` or ``<node>.<output>``.
        intent: of the node in this composition.
        retrieved: inputs that are to be retrieved through tools rather than told.
    """

    id: str
    task: str
    server: str
    inputs: dict[str, str] = Field(default_factory=dict)
    intent: str
    retrieved: tuple[str, ...] = ()


class Edge(Record):
    """A dependency: information (an output becomes an input) or state (a row made upstream is acted on)."""

    source: str
    target: str
    kind: Literal["information", "state"]
    output: str = ""
    input: str = ""


class EntityBinding(Record):
    """The same business object in two MCPs: where it stands in each, and the value that joins them."""

    semantic: str
    value: Any
    places: tuple[str, ...]


class TaskGraph(Record):
    """A DAG of atomic tasks with its bindings and stored topological order (Weft 3.1.2, grounded task graph)."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    bindings: tuple[EntityBinding, ...] = ()
    order: tuple[str, ...]


class ComposedTask(Record):
    """The public document of a composed task.

    Attributes:
        id: ``task-<n>``.
        profile: Simple, Standard, Moderate, Complex or Expert.
        objective: the shared business objective.
        inputs: what the user knows, over all nodes.
        environments: pinned by hash.
        brief: Agentic view, whole brief, per disclosure.
        requests: SimUser view: node order -> the request of that turn (aligned with the graph's order).
        domains: domain labels of its environments.
    """

    version: Literal[1] = 1
    id: str
    profile: str
    objective: str
    inputs: tuple[TaskInput, ...] = ()
    environments: tuple[EnvironmentPin, ...]
    brief: Texts
    requests: tuple[Texts, ...]
    domains: tuple[str, ...] = ()


class ComposedSolution(Record):
    """The private document of a composed task.

    Attributes:
        task: id.
        graph: nodes, edges, bindings, order.
        nodes: private documents of the nodes, by node id, with upstream slots in their verifiers.
        verifier: of the whole.
        certificate: the proof.
    """

    version: Literal[1] = 1
    task: str
    graph: TaskGraph
    nodes: dict[str, AtomicSolution]
    verifier: Verifier
    certificate: TaskCertificate | None = None


class TaskState(Record):
    """The grounded initial state of a task: one state per environment (not secret, but not shown to the agent)."""

    task: str
    states: dict[str, InitialState]
