import json
from typing import Any

import pytest

from weft.errors import ModelError
from weft.llm.openai_api import read_completion
from weft.llm.stream import events, join_stream

PARIS, TOKYO = '{"city": "Paris"}', '{"city": "Tokyo"}'


def stream(*deltas: dict[str, Any], finish: str | None = "stop", **last: Any) -> str:
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **last})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def call(arguments: str, *, name: str = "", **rest: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    return {"tool_calls": [{**rest, "function": function}]}


def calls_of(text: str) -> list[tuple[str, str]]:
    message = read_completion(join_stream(text, model="m"), model="m", step=2).message
    return [(one.function.name, one.function.arguments) for one in message.tool_calls]


BOTH = [("get", PARIS), ("get", TOKYO)]


@pytest.mark.parametrize(
    "deltas",
    [
        [
            call("", name="get", index=0, id="a"), call('{"city": ', index=0), call('"Paris"}', index=0),
            call("", name="get", index=1, id="b"), call(TOKYO, index=1),
        ],
        [
            call("", name="get", index=0, id="a"), call("", name="get", index=1, id="b"),
            call('{"city": ', index=0), call('{"city": ', index=1), call('"Paris"}', index=0), call('"Tokyo"}',
            index=1),
        ],
        [call(PARIS, name="get", id="a"), call(TOKYO, name="get", id="b")],
        [call(PARIS, name="get", index=0, id="a"), call(TOKYO, name="get", index=0, id="b")],
        [call(PARIS, name="get", index=0), call(TOKYO, name="get", index=1)],
        [call(PARIS[:5], name="get", id="a"), call(PARIS[5:], id="a"), call(TOKYO, name="get", id="b")],
        [
            call(PARIS[:5], name="get", index=0, id="a"), call(PARIS[5:], name="get", index=0),
            call(TOKYO, name="get", id="b"),
        ],
        [call(PARIS, name="get", index=0, id="a"), call("", index=0), call(TOKYO, name="get", index=1, id="b")],
        [{"tool_calls": [call(PARIS, name="get", index=0, id="a")["tool_calls"][0],
                         call(TOKYO, name="get", index=1, id="b")["tool_calls"][0]]}],
    ],
)  # fmt: skip
def test_two_calls_stay_two_however_their_fragments_are_marked(deltas: list[dict[str, Any]]) -> None:
    assert calls_of(stream(*deltas)) == BOTH


def test_a_call_without_arguments_has_none() -> None:
    assert calls_of(stream(call("", name="list_ticks", index=0, id="a"), finish="tool_calls")) == [("list_ticks", "")]


@pytest.mark.parametrize(
    "deltas",
    [
        [call('{"a', name="f", index=0, id="x"), call('{"b', name="g", index=0, id="y"), call('": 1}', index=0)],
        [call('{"a', name="f", id="x"), call('{"b', name="g", id="y"), call('": 1}')],
        [call('{"a": ', name="f", index=0), call('{"b": 1}', name="g", index=0)],
        [call(PARIS, name="f", index=0), call(TOKYO, name="f", index=0)],
        [call('{"a": 1}', index=0, id="x")],
        [{"tool_calls": ["f"]}],
        [{"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": {"a": 1}}}]}],
    ],
)
def test_a_fragment_that_fits_no_one_call_is_an_upstream_fault(deltas: list[dict[str, Any]]) -> None:
    with pytest.raises(ModelError):
        join_stream(stream(*deltas), model="m")


@pytest.mark.parametrize("noise", ["retry: 1000\n\n", "id: 1\n\n", ": ping\n\n", "data:\n\n", "event: x\n\n", "\n\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_without_data_are_passed_over(noise: str, end: str) -> None:
    one, two, *rest = stream({"content": "A\u2028"}, {"content": "B"}).split("\n\n")
    text = noise + one + "\n\n" + noise + two + "\n\n" + noise + "\n\n".join(rest)
    joined = join_stream(text.replace("\n", end), model="m")
    assert joined["choices"][0]["message"]["content"] == "A\u2028B"


def test_data_of_several_lines_is_one_event() -> None:
    assert list(events('data: {"a":\ndata: 1}\n\ndata: last')) == ['{"a":\n1}', "last"]


def test_token_ids_log_probabilities_and_usage_are_gathered_and_checked_like_any_others() -> None:
    parts = [
        {"prompt_token_ids": [9], "choices": [{"index": 0, "delta": {"reasoning_content": "hm"}, "token_ids": [1]}]},
        {"choices": [{"index": 0, "delta": {"content": "hi"}, "token_ids": [2], "finish_reason": "stop",
                      "logprobs": {"content": [{"logprob": -0.1}, {"logprob": -0.2}]}}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]  # fmt: skip
    text = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
    found = read_completion(join_stream(text, model="m"), model="m", step=1, tokens=True)
    assert found.tokens is not None
    assert (found.tokens.prompt_ids, found.tokens.token_ids, found.tokens.logprobs) == ((9,), (1, 2), (-0.1, -0.2))
    assert (found.message.content, found.message.reasoning_content, found.usage.completion) == ("hi", "hm", 2)
    parts[2]["usage"]["completion_tokens"] = 3
    text = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
    assert "do not cover" in read_completion(join_stream(text, model="m"), model="m", step=1, tokens=True).untrainable


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (stream({"content": "A"}, finish=None), "ended before"),
        ("", "ended before"),
        ("data: {oops\n\n", "not JSON"),
        ('data: {"error": {"message": "overloaded"}}\n\n', "overloaded"),
        ("data: [1]\n\n", "reports"),
    ],
)
def test_a_stream_that_breaks_is_typed(text: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        join_stream(text, model="m")
