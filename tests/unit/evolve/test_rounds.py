"""The figures of a round's report."""

from weft.evolve.rounds import component_counts, tool_errors
from weft.records.evolution import ToolErrors
from weft.records.revision import Attribution, Component
from weft.records.trace import FunctionCall, LedgerEntry, Message, Outcome, Segment, StopReason, ToolCall


def segment(*outcomes: Outcome, unheard: int = 0) -> Segment:
    """A segment with one call for each outcome, and calls that the harness answered itself."""
    total = len(outcomes) + unheard
    calls = tuple(
        ToolCall(id=f"c{number}", type="function", function=FunctionCall(name="find", arguments="{}"))
        for number in range(total)
    )
    ledger = tuple(
        LedgerEntry(index=number, server="mail", tool="find", outcome=outcome)
        for number, outcome in enumerate(outcomes)
    )
    messages = (Message(role="user", content="Please."), Message(role="assistant", tool_calls=calls))
    return Segment(messages=messages, stop=StopReason.REPLY, ledger=ledger, passed=True)


def test_tool_errors_are_the_share_of_calls_that_returned_errors_recovered_ones_included() -> None:
    found = tool_errors([segment(Outcome.OK, Outcome.ERROR, Outcome.OK), segment(Outcome.OK)])
    assert found == ToolErrors(calls=4, errors=1, rate=0.25)


def test_a_call_that_never_reached_a_tool_counts_as_an_error() -> None:
    assert tool_errors([segment(Outcome.OK, unheard=1)]) == ToolErrors(calls=2, errors=1, rate=0.5)


def test_without_calls_the_rate_is_zero() -> None:
    assert tool_errors([]) == ToolErrors()


def test_attributions_are_counted_by_component_in_a_fixed_order() -> None:
    found = [
        Attribution(task="t", component=component, subject="s", evidence=())
        for component in (Component.VERIFIER, Component.POLICY, Component.VERIFIER)
    ]
    assert list(component_counts(found).items()) == [("policy", 1), ("verifier", 2)]
