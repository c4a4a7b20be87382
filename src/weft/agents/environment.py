"""The environment synthesis agent (Weft 3.1.1): drafts schema, contracts and seed rows of an environment."""

from collections.abc import Sequence
from typing import Protocol

from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import McpSpec


class EnvironmentAuthor(Protocol):
    """Drafts environments. Whatever it drafts is executed and checked by the same code."""

    @property
    def name(self) -> str:
        """``rules`` or ``model``."""

    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        """Draft an environment from a spec.

        Args:
            spec: the usable tools of one server.
            seed: of everything random in the draft.
            size: wanted rows of a main table.
        """

    def revise(
        self, spec: McpSpec, draft: EnvironmentDraft, findings: Sequence[Finding], *, seed: int, size: int
    ) -> EnvironmentDraft:
        """Return a draft in which the findings' schema parts, contracts or operations are revised or refused."""
