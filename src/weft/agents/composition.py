"""The composition agent and the user-simulation texts (Weft 3.1.2, 3.1.3): what binds a task graph together in words.

Selection, binding and grounding are decided by code; an author judges whether MCPs have an objective in common, and
says what the user wants. Its texts are checked like anybody's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.records.spec import McpSpec
from weft.records.task import TaskInput, Texts


@dataclass(frozen=True, slots=True)
class BoundWords:
    """An input that comes from upstream, as the texts may speak of it.

    Attributes:
        input: as the atomic task's own texts say it; its value must not be said.
        source: place of the upstream request, from 0.
        noun: what the value is: ``email``, ``contact``.
        whole: the value stands for the thing itself, not for a property of it.
        made: the upstream request makes what the value belongs to; else it finds it.
        asked: the upstream request asks for just this value.
        owner: what it belongs to, as the user says it (``Oliver Walker``), or "".
        entity: noun of what it belongs to, or "".
    """

    input: TaskInput
    source: int
    noun: str
    whole: bool = False
    made: bool = False
    asked: bool = True
    owner: str = ""
    entity: str = ""


@dataclass(frozen=True, slots=True)
class NodeWords:
    """A node as the texts speak of it.

    Attributes:
        id: node.
        title: of its MCP, as people call it.
        intent: one sentence.
        texts: the atomic task's own requests.
        given: inputs that the user knows; every text must say them.
        bound: inputs that come from upstream.
    """

    id: str
    title: str
    intent: str
    texts: Texts
    given: tuple[TaskInput, ...] = ()
    bound: tuple[BoundWords, ...] = ()


@dataclass(frozen=True, slots=True)
class CompositionTexts:
    """What the user says.

    Attributes:
        objective: the shared business objective, one sentence.
        brief: Agentic view.
        requests: SimUser view, one for each node in order.
        intents: of each node, without bound values.
    """

    objective: str
    brief: Texts
    requests: tuple[Texts, ...]
    intents: tuple[str, ...]


class CompositionAuthor(Protocol):
    """Judges combinations and words composed tasks."""

    @property
    def name(self) -> str:
        """``rules`` or ``model``."""

    def incoherent(self, specs: Sequence[McpSpec], values: str) -> str:
        """Return why the MCPs have no business objective in common, or "" if they have one.

        Args:
            specs: of the combination.
            values: why no value can travel between all of them, or "" if it can.
        """

    def write(self, nodes: Sequence[NodeWords], *, seed: int) -> CompositionTexts:
        """Word a composed task.

        Args:
            nodes: in the stored order.
            seed: of the choice among wordings.
        """
