"""The task synthesis agent (Weft 3.1.2, A.1): drafts atomic tasks of one certified environment."""

from collections.abc import Sequence
from typing import Protocol

from weft.records.environment import Environment
from weft.records.library import AtomicDraft, TaskFeedback


class TaskAuthor(Protocol):
    """Drafts atomic tasks. Whatever it drafts is executed, mutated and certified by the same code."""

    @property
    def name(self) -> str:
        """``rules`` or ``model``."""

    def propose(
        self, environment: Environment, feedback: TaskFeedback, *, seed: int, limit: int
    ) -> Sequence[AtomicDraft]:
        """Propose drafts; an empty answer ends the construction.

        Args:
            environment: certified; its contracts, schema and seed state are what tasks are made of.
            feedback: what is still uncovered, what is retained and what failed. Validated tasks are never asked for
                again.
            seed: of everything random in the drafts.
            limit: most drafts wanted.
        """
