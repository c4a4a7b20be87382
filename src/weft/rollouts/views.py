"""Task views (Weft 3.1.3, pure): the same task as one brief (Agentic) or one request per node (SimUser).

Objectives, dependencies, initial state, completion conditions and interfaces are the same in every view; only how and
when the request is disclosed differs.
"""

from dataclasses import dataclass
from typing import Literal

from weft.errors import InputError
from weft.records.task import AtomicTask, ComposedTask, Texts

View = Literal["agentic", "simuser"]
Disclosure = Literal["vague", "partial", "full"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One user request. ``nodes`` are the graph nodes that it asks for, in topological order."""

    nodes: tuple[str, ...]
    request: str


def disclosed(texts: Texts, disclosure: Disclosure) -> str:
    """Return the text of a level of disclosure."""
    return {"vague": texts.vague, "partial": texts.partial, "full": texts.full}[disclosure]


def turns_of(
    task: AtomicTask | ComposedTask, order: tuple[str, ...], view: View, disclosure: Disclosure
) -> tuple[Turn, ...]:
    """Return the turns of a task in a view.

    Args:
        task: public document.
        order: the stored topological order of its graph; for an atomic task its one node.
        view: agentic or simuser.
        disclosure: how explicit the requests are.

    Raises:
        InputError: a composed task whose requests do not align with its order.
    """
    if isinstance(task, AtomicTask):
        return (Turn(order, disclosed(task.texts, disclosure)),)
    if view == "agentic":
        return (Turn(order, disclosed(task.brief, disclosure)),)
    if len(task.requests) != len(order):
        raise InputError(f"task {task.id}: {len(task.requests)} requests for {len(order)} nodes; compose it again")
    return tuple(Turn((node,), disclosed(texts, disclosure)) for node, texts in zip(order, task.requests, strict=True))
