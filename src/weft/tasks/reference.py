"""Executing a reference: real calls in order, every argument from what was observed (Weft A.1, E2E execution)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.agents.reference import Unresolved, resolve, said
from weft.ports import SessionGroup
from weft.records.base import JSON
from weft.records.state import Files, Rows
from weft.records.task import ReferenceStep, ReplyPart
from weft.records.trace import LedgerEntry, Outcome
from weft.verify.evidence import Evidence, gather

__all__ = ["ReferenceRun", "ResolvedCall", "Unresolved", "execute_calls", "execute_reference", "reply_from", "resolve"]


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """A call with its arguments as they were sent."""

    step: str
    server: str
    tool: str
    arguments: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """What came of one execution.

    Attributes:
        calls: as sent.
        results: step id -> observed result.
        values: reply part -> value that the reply states.
        reply: the final reply, empty when a part could not be observed.
        ledger: of the execution.
        since: ledger length before it.
        error: why it did not get to the end, else "".
    """

    calls: tuple[ResolvedCall, ...] = ()
    results: Mapping[str, JSON] = field(default_factory=dict)
    values: Mapping[str, JSON] = field(default_factory=dict)
    reply: str = ""
    ledger: tuple[LedgerEntry, ...] = ()
    since: int = 0
    error: str = ""

    @property
    def evidence(self) -> Evidence:
        """The evidence of the execution's own interval."""
        return gather(self.ledger, since=self.since, reply=self.reply)

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The ledger entries of its own calls."""
        return self.ledger[self.since :]


@dataclass(frozen=True, slots=True)
class EndState:
    """Rows and files of one environment, unnormalised."""

    rows: Rows
    files: Files


async def end_state(group: SessionGroup, server: str) -> EndState:
    """Return the whole state of one environment as it is now."""
    return EndState(await group.rows(server), await group.files(server))


def reply_from(text: str, values: Mapping[str, JSON]) -> str:
    """Fill a reply template with values as they are said."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", said(value))
    return text


async def execute_reference(
    group: SessionGroup,
    steps: Sequence[ReferenceStep],
    inputs: Mapping[str, JSON],
    *,
    reply: Sequence[ReplyPart] = (),
    reply_text: str = "",
    may_fail: bool = False,
) -> ReferenceRun:
    """Execute a reference in a session group.

    Args:
        group: the sessions; left as the reference leaves them.
        steps: the calls.
        inputs: what the user knows, by name.
        reply: what the final reply states.
        reply_text: its template.
        may_fail: a step may end with an error of the tool (for tasks that end in a refusal).

    Returns:
        What came of it; ``error`` says where it stopped when it did.
    """
    since = len(await group.ledger())
    calls: list[ResolvedCall] = []
    results: dict[str, JSON] = {}
    error = ""
    for step in steps:
        try:
            arguments = {name: resolve(source, inputs, results) for name, source in step.arguments.items()}
        except Unresolved as missing:
            error = f"step {step.id} ({step.tool}): {missing}"
            break
        calls.append(ResolvedCall(step.id, step.server, step.tool, arguments))
        answer = await group.call(step.server, step.tool, arguments, call_id=step.id)
        results[step.id] = answer.value
        if answer.outcome is not Outcome.OK and not (may_fail and answer.outcome is Outcome.ERROR):
            error = f"step {step.id} ({step.tool}): {answer.outcome}: {answer.value}"[:300]
            break
    values: dict[str, JSON] = {}
    if not error:
        try:
            values = {part.name: resolve(part.source, inputs, results) for part in reply}
        except Unresolved as missing:
            error = f"reply: {missing}"
    return ReferenceRun(
        calls=tuple(calls),
        results=results,
        values=values,
        reply="" if error else reply_from(reply_text, values),
        ledger=tuple(await group.ledger()),
        since=since,
        error=error,
    )


async def execute_calls(group: SessionGroup, calls: Sequence[ResolvedCall], reply: str) -> ReferenceRun:
    """Execute calls as they are, whatever comes of each, and end with a reply (for mutants)."""
    since = len(await group.ledger())
    results: dict[str, JSON] = {}
    for number, call in enumerate(calls):
        answer = await group.call(call.server, call.tool, call.arguments, call_id=f"{call.step}-{number}")
        results[f"{call.step}-{number}"] = answer.value
    return ReferenceRun(
        calls=tuple(calls), results=results, reply=reply, ledger=tuple(await group.ledger()), since=since
    )
