"""What composing gives: tasks, why candidates were refused, and how the corpus was filled (Weft 3.1.2, A.2)."""

from typing import Literal

from pydantic import Field

from weft.records.base import Record
from weft.records.spec import Refusal
from weft.records.task import ComposedSolution, ComposedTask, TaskState


class Composition(Record):
    """One composed task: its public and private documents and its grounded initial state."""

    task: ComposedTask
    solution: ComposedSolution
    state: TaskState


class CompositionUsage(Record):
    """How often each domain, MCP and atomic task was drawn for accepted combinations."""

    domains: dict[str, int] = Field(default_factory=dict)
    mcps: dict[str, int] = Field(default_factory=dict)
    tasks: dict[str, int] = Field(default_factory=dict)


class CompositionResult(Record):
    """The composed part of a corpus.

    Attributes:
        compositions: in the order of profiles, easiest first.
        quotas: profile -> tasks by largest remainder.
        planned: profile -> tasks after the quotas of impossible profiles were moved.
        refusals: profiles that were narrowed or impossible, and candidates that were refused.
        usage: after the last draw.
    """

    version: Literal[1] = 1
    compositions: tuple[Composition, ...] = ()
    quotas: dict[str, int] = Field(default_factory=dict)
    planned: dict[str, int] = Field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    usage: CompositionUsage = CompositionUsage()
