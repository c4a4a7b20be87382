"""Ports: what the parts need of the outside, as protocols. ``wiring`` joins them to adapters.

Each port has a double in :mod:`weft.testing`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.state import Files, InitialState, Rows
from weft.records.trace import LedgerEntry, Message, TokenSpan, ToolResult
from weft.records.verdict import Verdict


class OfferedTool(Protocol):
    """A tool as an agent sees it in a session group."""

    @property
    def name(self) -> str:
        """The name offered to the agent, unique in the group (``server__tool`` only where names would clash)."""

    @property
    def server(self) -> str:
        """The environment it belongs to."""

    @property
    def spec(self) -> ToolSpec:
        """The declared tool."""


@runtime_checkable
class SessionGroup(Protocol):
    """All sessions of one rollout: one private session per environment, snapshotted and forked together.

    The agent's plane is :meth:`tools` and :meth:`call`. The rest is the control plane and never reachable by an agent.
    """

    @property
    def id(self) -> str:
        """Identity of the group."""

    @property
    def branch(self) -> int:
        """The line of state; rises with each restore."""

    def tools(self) -> Sequence[OfferedTool]:
        """The offered tools, in the order of environments and declarations."""

    async def call(self, server: str, tool: str, arguments: Any, *, call_id: str = "") -> ToolResult:
        """Call a tool by environment and declared name.

        Never raises for what a tool or caller does wrong: see :class:`~weft.records.trace.Outcome`.

        Raises:
            HostError: the host itself failed.
        """

    async def snapshot(self) -> str:
        """Take a snapshot of every session (rows, files, clock, ids, ledger length) and return its name."""

    async def restore(self, snapshot: str) -> None:
        """Go back to a snapshot of this group; the ledger is cut to its length then.

        Raises:
            UnknownSnapshot: not taken in this group or its ancestors.
        """

    async def fork(self, snapshot: str, count: int) -> "list[SessionGroup]":
        """Return ``count`` new groups that start from the snapshot, independent of this one and of each other."""

    async def ledger(self, since: int = 0) -> list[LedgerEntry]:
        """The ledger of this branch from entry ``since``."""

    async def rows(self, server: str) -> Rows:
        """All rows of an environment now."""

    async def files(self, server: str) -> Files:
        """All workspace files of an environment now."""

    async def close(self) -> None:
        """Drop the group's state. Idempotent."""


@runtime_checkable
class ToolHost(Protocol):
    """Runs tools. The local host and MegaMCP are its adapters."""

    async def open(
        self,
        environments: Sequence[Environment],
        *,
        seed: int,
        states: Mapping[str, InitialState] | None = None,
    ) -> SessionGroup:
        """Open a session group over the environments.

        Args:
            environments: in the order in which tools are offered; names are unique.
            seed: of the generated ids.
            states: initial state by environment name, instead of the environment's own seed. All clocks are set to the
                latest of the initial clocks: the clock is shared by the group.

        Raises:
            IntegrityError: a backend does not re-render from its contracts.
            InputError: a state does not fit the schema.
        """


class Completion(Protocol):
    """A model's answer."""

    @property
    def message(self) -> Message:
        """The assistant message as sampled."""

    @property
    def tokens(self) -> TokenSpan | None:
        """Sampled tokens, where the client gives them; ``message`` index is filled in by the harness."""

    @property
    def truncated(self) -> bool:
        """True if the token limit cut it."""


@runtime_checkable
class ModelClient(Protocol):
    """A chat model with tools: the policy under rollout, or a model author."""

    @property
    def name(self) -> str:
        """Name for records; scripted policies start with ``scripted:``."""

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> Completion:
        """Answer the conversation.

        Args:
            messages: the conversation so far.
            tools: OpenAI tool definitions.
            seed: of the sampling; the same inputs and seed give the same answer where the client can.
            temperature: of the sampling.

        Raises:
            ModelError: no answer could be had.
        """


@runtime_checkable
class TaskJudge(Protocol):
    """Verifies the nodes of one task from evidence. It lives outside of whatever the agent can reach."""

    def judge(
        self,
        nodes: Sequence[str],
        *,
        ledger: Sequence[LedgerEntry],
        earlier: Sequence[LedgerEntry],
        reply: str | None,
        slots: Mapping[str, Mapping[str, Any]],
    ) -> Verdict:
        """Return the verdict of a turn.

        Args:
            nodes: the nodes that the turn asked for; one node takes its own verifier, all nodes take the task's.
            ledger: calls of the turn.
            earlier: calls before it, in order (witnesses may rest on them).
            reply: the final reply, None when there was none.
            slots: slot values of the upstream nodes, by node.

        Raises:
            VerifierError: the verdict is unknown.
        """
