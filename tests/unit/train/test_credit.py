import json
from typing import Any

import pytest

from weft.errors import FormatError
from weft.records.state import Changeset, RowChange
from weft.records.trace import FunctionCall, LedgerEntry, Message, Outcome, Segment, StopReason, ToolCall
from weft.train.credit import flagged_messages, masked_credit, repetitious, segment_flags

NOTHING = Changeset()
CHANGE = Changeset(rows=(RowChange(server="shop", table="orders", op="insert", key={"id": "o9"}, after={"id": "o9"}),))


class Talk:
    """Writes a segment call by call, with its ledger."""

    def __init__(self) -> None:
        self.messages = [Message(role="user", content="please")]
        self.ledger: list[LedgerEntry] = []

    def call(self, name: str, arguments: str, result: Any, *, changes: Changeset = NOTHING) -> "Talk":
        number = len(self.messages)
        call = ToolCall(id=f"c{number}", type="function", function=FunctionCall(name=name, arguments=arguments))
        self.messages.append(Message(role="assistant", tool_calls=(call,)))
        self.messages.append(Message(role="tool", tool_call_id=call.id, name=name, content=json.dumps(result)))
        reached = not (isinstance(result, dict) and result.get("error", {}).get("code") in UNREACHED)
        if reached:
            failed = isinstance(result, dict) and "error" in result
            outcome = Outcome.ERROR if failed else Outcome.OK
            self.ledger.append(
                LedgerEntry(
                    index=len(self.ledger), call_id=call.id, server="shop", tool=name, outcome=outcome, result=result,
                    changes=changes,
                )
            )  # fmt: skip
        return self

    def say(self, text: str | None, reasoning: str | None = None) -> "Talk":
        self.messages.append(Message(role="assistant", content=text, reasoning_content=reasoning))
        return self

    @property
    def flags(self) -> tuple[str, ...]:
        ended = Segment(messages=tuple(self.messages), stop=StopReason.REPLY, ledger=tuple(self.ledger), passed=True)
        return segment_flags(ended)


UNREACHED = ("unknown_tool", "malformed_arguments")


def error(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "no"}}


def test_a_plain_segment_has_no_flags() -> None:
    talk = Talk().call("find", '{"id": 1}', {"id": 1}).call("find", '{"id": 2}', {"id": 2}).say("Done.")
    assert talk.flags == ()


def test_the_same_call_with_the_same_result_again_is_no_progress_on_that_turn_only() -> None:
    talk = Talk().call("find", '{"id": 1}', {"id": 1}).call("find", '{ "id":1 }', {"id": 1}).say("Done.")
    assert talk.flags == ("no_progress:3",)


def test_the_same_call_with_another_result_is_polling() -> None:
    talk = Talk().call("status", "{}", {"state": "open"}).call("status", "{}", {"state": "closed"}).say("Done.")
    assert talk.flags == ()


def test_looking_again_after_a_write_is_not_repetition() -> None:
    talk = (
        Talk().call("find", "{}", []).call("add", "{}", {"id": "o9"}, changes=CHANGE).call("find", "{}", []).say("Ok")
    )
    assert talk.flags == ()


def test_writes_that_change_the_state_each_time_are_progress() -> None:
    talk = Talk()
    for _ in range(6):
        talk.call("add", '{"name": "x"}', {"ok": True}, changes=CHANGE)
    assert talk.say("Six added.").flags == ()


def test_the_fifth_identical_call_is_excess_even_if_results_differ() -> None:
    talk = Talk()
    for number in range(5):
        talk.call("status", "{}", {"tick": number})
    assert talk.say("Done.").flags == ("repeated_call:9",)


@pytest.mark.parametrize("code", ["unknown_tool", "invalid_argument"])
def test_calls_that_the_interface_refuses_are_flagged_and_later_recovery_is_not(code: str) -> None:
    talk = Talk().call("find", '{"idd": 1}', error(code)).call("find", '{"id": 1}', {"id": 1}).say("Done.")
    assert talk.flags == ("interface:1",)


def test_a_domain_refusal_is_not_an_interface_error() -> None:
    assert Talk().call("find", '{"id": 7}', error("not_found")).say("There is none.").flags == ()


def test_arguments_that_are_no_object_are_malformed() -> None:
    talk = (
        Talk().call("find", '{"id": 1', error("malformed_arguments")).call("find", "[1]", error("malformed_arguments"))
    )
    assert talk.say("Sorry.").flags == ("malformed_call:1", "malformed_call:3")


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ('<tool_call>{"name": "find"', "malformed_call:1"),
        ("The markup is `<tool_call>{...}</tool_call>`.", "malformed_call:1"),
        ("", "malformed_call:1"),
        (None, "malformed_call:1"),
        ("<think>never closed", "malformed_reasoning:1"),
        ("done</think>", "malformed_reasoning:1"),
    ],
)
def test_leftover_protocol_and_empty_turns_are_malformed(text: str | None, flag: str) -> None:
    assert Talk().say(text).flags == (flag,)


def test_a_think_tag_inside_reasoning_is_malformed() -> None:
    assert Talk().say("Done.", reasoning="so <think> what").flags == ("malformed_reasoning:1",)


@pytest.mark.parametrize(
    "text",
    [
        "I will look. " * 8,
        "ab" * 30,
        "好的" * 20,
        "\n".join(["Order number 4 was shipped.", *(["Order number 5 was shipped."] * 5)]),
    ],
)
def test_text_that_repeats_itself_to_excess_is_found(text: str) -> None:
    assert repetitious(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "-" * 200,
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "\n".join(
            f"- Order {number}: **Status**: shipped, **Priority**: high, **Total**: 12.50" for number in range(30)
        ),
        "no no no no, that is not what I meant",
        "1000000000000000000000000",
    ],
)
def test_lists_tables_and_emphasis_are_no_excess(text: str) -> None:
    assert not repetitious(text)


def test_repetition_in_reasoning_counts_too() -> None:
    assert Talk().say("Done.", reasoning="wait a moment, " * 12).flags == ("repeated_text:1",)


def test_only_positive_credit_is_taken_away() -> None:
    assert [masked_credit(advantage, flagged=True) for advantage in (1.5, -0.5, 0.0)] == [0.0, -0.5, 0.0]
    assert [masked_credit(advantage, flagged=False) for advantage in (1.5, -0.5)] == [1.5, -0.5]


def test_flags_name_their_messages() -> None:
    assert flagged_messages(("no_progress:3", "interface:3", "repeated_text:11")) == {3, 11}
    with pytest.raises(FormatError, match="name:message-index"):
        flagged_messages(("no_progress",))
