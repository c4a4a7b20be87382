"""Budgets of one segment and the order in which they are checked (pure)."""

from dataclasses import dataclass, replace

from weft.errors import InputError
from weft.records.trace import StopReason


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one atomic-task turn; an Agentic turn over n nodes has n times as much.

    Attributes:
        steps: assistant messages.
        calls: tool calls.
        result_chars: longest tool result shown to the policy; the rest is cut with a mark that says how much.
    """

    steps: int = 60
    calls: int = 120
    result_chars: int = 60_000

    def __post_init__(self) -> None:
        for name in ("steps", "calls", "result_chars"):
            if getattr(self, name) < 1:
                raise InputError(f"limit {name} is {getattr(self, name)}; give at least 1")

    def over(self, nodes: int) -> "Limits":
        """Return the budgets of a turn that asks for several nodes at once: steps and calls for each of them."""
        return replace(self, steps=self.steps * nodes, calls=self.calls * nodes)

    def spent(self, steps: int, calls: int) -> StopReason | None:
        """Return why the segment must stop before its next model call, or None. Steps are checked before calls."""
        if steps >= self.steps:
            return StopReason.STEP_LIMIT
        if calls >= self.calls:
            return StopReason.CALL_LIMIT
        return None
