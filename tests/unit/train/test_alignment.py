import math

import pytest

from weft.records.batch import TurnGroup
from weft.records.tokens import span_fault
from weft.records.trace import Message, SamplingSettings, Segment, StopReason, TokenSpan
from weft.train.alignment import covered, rows_of, sequences_of


def segment(*spans: TokenSpan, flags: tuple[str, ...] = (), spoken: int | None = None) -> Segment:
    """User, then assistant messages at 1, 3, 5 ... with a tool message between."""
    messages = [Message(role="user", content="please")]
    for number in range(len(spans) if spoken is None else spoken):
        if number:
            messages.append(Message(role="tool", content="result", tool_call_id="c"))
        messages.append(Message(role="assistant", content="said"))
    return Segment(messages=tuple(messages), stop=StopReason.REPLY, tokens=spans, flags=flags, passed=True)


def span(message: int, prompt: tuple[int, ...], drawn: tuple[int, ...], **changes: SamplingSettings) -> TokenSpan:
    logprobs = tuple(-float(token) for token in drawn)
    return TokenSpan(message=message, prompt_ids=prompt, token_ids=drawn, logprobs=logprobs, **changes)


FIRST = span(1, (10, 11), (1, 2))
SECOND = span(3, (10, 11, 1, 2, 12, 13), (3,))


def test_prompts_and_observations_are_masked_and_sampled_tokens_stay_as_they_came() -> None:
    (row,) = sequences_of(segment(FIRST, SECOND), group="t/0", sample=4, advantage=0.5)
    assert row.token_ids == (10, 11, 1, 2, 12, 13, 3)
    assert row.trainable == (0, 0, 1, 1, 0, 0, 1)
    assert row.logprobs == (None, None, -1.0, -2.0, None, None, -3.0)
    assert row.advantages == (0, 0, 0.5, 0.5, 0, 0, 0.5)
    assert (row.group, row.sample) == ("t/0", 4)


def test_a_flagged_turn_loses_praise_on_its_own_tokens_only() -> None:
    told = segment(FIRST, SECOND, flags=("no_progress:1",))
    (praised,) = sequences_of(told, group="t/0", sample=0, advantage=0.5)
    assert praised.advantages == (0, 0, 0, 0, 0, 0, 0.5)
    (blamed,) = sequences_of(told, group="t/0", sample=0, advantage=-0.5)
    assert blamed.advantages == (0, 0, -0.5, -0.5, 0, 0, -0.5)
    assert praised.trainable == blamed.trainable == (0, 0, 1, 1, 0, 0, 1)


def test_a_rewritten_history_starts_a_new_sequence_and_trains_each_token_once() -> None:
    rewritten = span(3, (10, 11, 7, 12, 13), (3,))
    first, second = sequences_of(segment(FIRST, rewritten), group="t/0", sample=0, advantage=1.0)
    assert first.token_ids == (10, 11, 1, 2)
    assert second.token_ids == (10, 11, 7, 12, 13, 3)
    assert second.trainable == (0, 0, 0, 0, 0, 1)


def test_spans_drawn_in_different_ways_do_not_share_a_sequence() -> None:
    cooler = span(3, SECOND.prompt_ids, (3,), sampling=SamplingSettings(temperature=0.5))
    rows = sequences_of(segment(FIRST, cooler), group="t/0", sample=0, advantage=1.0)
    assert [row.sampling.temperature for row in rows] == [1.0, 0.5]


def test_a_segment_is_trained_only_if_every_assistant_message_has_its_tokens() -> None:
    assert covered(segment(FIRST, SECOND)) == ""
    assert covered(segment(FIRST, spoken=2)) == "message 3: no token ids"
    assert "one each in order" in covered(segment(FIRST, FIRST, SECOND, spoken=2))
    assert covered(segment()) == "no assistant message"


def test_refused_candidates_are_named_and_their_siblings_keep_their_advantages() -> None:
    sampled = span(1, (10, 11), (9,), sampling=SamplingSettings(top_p=0.9))
    group = TurnGroup(
        id="t/0",
        task="t",
        node="n1",
        rewards=(1, 0, 0),
        advantages=(1.0, -0.5, -0.5),
        segments=(segment(FIRST), segment(spoken=1), segment(sampled)),
    )
    rows, refused = rows_of(group)
    assert [row.sample for row in rows] == [0]
    assert rows[0].advantages[2] == 1.0
    assert [(one.sample, one.reason.partition(":")[0]) for one in refused] == [(1, "message 1"), (2, "sampling")]


VOCABULARY = {1: "<tool_call>", 2: '{"name":"f",', 3: '"arguments":{}}', 4: "</tool_call>", 5: "<|im_end|>", 9: "hi"}
SAID = '<tool_call>{"name":"f","arguments":{}}</tool_call><|im_end|>'
LOGPROBS = [-0.1, -0.2, -0.3, -0.1, 0.0]


def decode(ids: list[int]) -> str:
    return "".join(VOCABULARY[identity] for identity in ids)


@pytest.mark.parametrize(
    ("prompt", "ids", "logprobs", "text", "fault"),
    [
        ([9], [1, 2, 3, 4, 5], LOGPROBS, SAID, ""),
        ([9], [3, 5], [-0.3, 0.0], SAID, "ids do not cover the text"),
        ([9], [1, 2, 3, 4, 5], [-0.1, -0.2, -0.3], SAID, "lengths differ"),
        ([], [1, 2, 3, 4, 5], LOGPROBS, SAID, "no prompt ids"),
        ([9], [77], [-0.1], "hi", "id outside the vocabulary"),
        ([9], [], [], "hi", "no token ids"),
        ([9], [9], [None], "hi", "log-probability missing or not finite"),
        ([9], [9], [math.nan], "hi", "log-probability missing or not finite"),
    ],
)
def test_tokens_stand_for_a_text_only_if_they_are_all_of_it(
    prompt: list[int], ids: list[int], logprobs: list[float | None], text: str, fault: str
) -> None:
    assert span_fault(prompt, ids, logprobs, text=text, decode=decode).partition(":")[0] == fault


def test_without_a_tokenizer_the_engine_s_own_count_shows_what_is_missing() -> None:
    assert span_fault([9], [3, 5], [-0.3, 0.0], count=5).startswith("ids do not cover the text: 2 ids for 5")
    assert span_fault([9], [3, 5], [-0.3, 0.0], count=2) == ""
