import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from weft.errors import InputError, ModelError
from weft.llm.openai_api import OpenAIClient, OpenAICompletion, read_completion
from weft.records.trace import Message

ASKED = [Message(role="system", content="Be brief."), Message(role="user", content="When does order 4 ship?")]
TOOLS = [{"type": "function", "function": {"name": "find_order", "parameters": {"type": "object"}}}]


def chat(message: dict[str, Any], **changes: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    choice.update(changes.pop("choice", {}))
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], **changes}


class Endpoint:
    """An endpoint on the loopback that plays answers in order and keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, str, bytes]] = []
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.requests.append(
                    (self.path, {key.lower(): value for key, value in self.headers.items()}, json.loads(body))
                )
                status, kind, data = endpoint.answers.pop(0)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def plays(self, answer: Any, *, status: int = 200, kind: str = "application/json") -> "Endpoint":
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.answers.append((status, kind, data))
        return self


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    found = Endpoint()
    thread = threading.Thread(target=found.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    found.server.shutdown()
    thread.join(10)
    found.server.server_close()


def ask(endpoint: Endpoint, **options: Any) -> tuple[OpenAICompletion, OpenAIClient]:
    async def run() -> tuple[OpenAICompletion, OpenAIClient]:
        seed = options.pop("seed", 7)
        async with OpenAIClient("m", base_url=endpoint.url, timeout=10, **options) as client:
            return await client.complete(ASKED, TOOLS, seed=seed), client

    return anyio.run(run)


def test_the_request_is_the_conversation_with_its_tools_seed_and_key(endpoint: Endpoint) -> None:
    endpoint.plays(chat({"content": "Tomorrow."}))
    ask(endpoint, api_key="secret", max_tokens=50, seed=(1 << 40) + 3, extra={"top_p": 0.9})
    path, headers, body = endpoint.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer secret")
    assert body == {
        "model": "m",
        "messages": [message.openai() for message in ASKED],
        "tools": TOOLS,
        "seed": 3,
        "temperature": 1.0,
        "max_tokens": 50,
        "top_p": 0.9,
    }


def test_the_process_s_own_account_is_not_sent(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "ambient")
    endpoint.plays(chat({"content": "Tomorrow."}))
    ask(endpoint)
    headers = endpoint.requests[0][1]
    assert not {"openai-organization", "openai-project"} & headers.keys()
    assert "ambient" not in headers["authorization"]


def test_arguments_stay_the_text_that_was_sampled_and_reasoning_is_kept(endpoint: Endpoint) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"id":  4.50}'}}
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    message = {"content": None, "reasoning_content": "look it up", "tool_calls": [call]}
    endpoint.plays(chat(message, usage=usage, choice={"finish_reason": "tool_calls"}))
    found, client = ask(endpoint)
    assert found.message.tool_calls[0].function.arguments == '{"id":  4.50}'
    assert found.message.reasoning_content == "look it up"
    assert (found.message.content, found.truncated, found.tokens, found.untrainable) == (None, False, None, "")
    assert (client.tally.requests, client.tally.prompt, client.tally.completion) == (1, 11, 5)


def test_physical_trouble_is_retried_within_its_bound_and_then_typed(endpoint: Endpoint) -> None:
    busy = {"error": {"message": "over capacity"}}
    endpoint.plays(busy, status=503).plays(busy, status=429).plays(chat({"content": "Tomorrow."}))
    assert ask(endpoint, retries=2)[0].message.content == "Tomorrow."
    endpoint.plays(busy, status=503).plays(busy, status=503)
    with pytest.raises(ModelError, match="503: over capacity"):
        ask(endpoint, retries=1)
    assert len(endpoint.requests) == 5


def test_a_refused_request_is_not_retried_and_shows_no_key(endpoint: Endpoint) -> None:
    endpoint.plays({"error": {"message": "no such model"}}, status=404)
    with pytest.raises(ModelError, match="404: no such model") as caught:
        ask(endpoint, api_key="secret")
    assert "secret" not in str(caught.value)
    assert len(endpoint.requests) == 1


def test_an_endpoint_that_is_not_there_is_a_model_error() -> None:
    gone = Endpoint()
    gone.server.server_close()
    with pytest.raises(ModelError, match="no answer"):
        ask(gone, retries=0)


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (b"<html>gateway</html>", "text/html", "text/html.*not JSON"),
        (b'data: {"choices": []}\n\n', "text/event-stream", "ended before"),
        ({"choices": []}, "application/json", "no choices"),
        ({"error": {"message": "no"}}, "application/json", "no choices"),
        ([1], "application/json", "no choices"),
        ({"choices": [{"message": None}]}, "application/json", "message is None"),
        (chat({"content": 3}), "application/json", "content is a int"),
        (chat({"tool_calls": [{"id": "a"}]}), "application/json", "has no function"),
        (chat({"tool_calls": [{"function": {"arguments": "{}"}}]}), "application/json", "has no name"),
        (chat({"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}), "application/json", "are a dict"),
        (chat({"tool_calls": {"a": 1}}), "application/json", "tool_calls is"),
        (chat({"content": ""}, choice={"finish_reason": "content_filter"}), "application/json", "content filter"),
        (b'{"choices": [{"message": {"content": "\\ud800"}}]}', "application/json", "not JSON"),
    ],
)
def test_an_answer_that_is_no_chat_completion_is_typed(endpoint: Endpoint, answer: Any, kind: str, reason: str) -> None:
    endpoint.plays(answer, kind=kind)
    with pytest.raises(ModelError, match=reason):
        ask(endpoint)


def test_a_cut_answer_says_so_and_an_empty_one_is_an_empty_reply() -> None:
    cut = read_completion(chat({"content": "Tomo"}, choice={"finish_reason": "length"}), model="m", step=2)
    assert cut.truncated
    empty = read_completion(chat({"content": None}), model="m", step=2)
    assert (empty.message.content, empty.truncated) == ("", False)
    refusal = read_completion(chat({"content": None, "refusal": "I will not."}), model="m", step=2)
    assert refusal.message.content == "I will not."


def test_a_call_without_an_id_gets_one_and_empty_arguments_stay_empty() -> None:
    calls = [{"function": {"name": "a"}}, {"id": None, "function": {"name": "b", "arguments": ""}}]
    message = read_completion(chat({"tool_calls": calls}), model="m", step=4).message
    assert [(call.id, call.function.arguments) for call in message.tool_calls] == [("call_4_0", ""), ("call_4_1", "")]


TOKENS = {"prompt_token_ids": [9, 8], "usage": {"prompt_tokens": 2, "completion_tokens": 3}}


def listed(*logprobs: float | None) -> dict[str, Any]:
    return {"content": [{"token": "t", "logprob": value} for value in logprobs]}


def tokens_of(choice: dict[str, Any], **changes: Any) -> OpenAICompletion:
    answer = chat({"content": "abc"}, choice=choice, **{**TOKENS, **changes})
    return read_completion(answer, model="m", step=2, tokens=True)


def test_ids_and_log_probabilities_of_everything_sampled_make_a_span(endpoint: Endpoint) -> None:
    choice = {"token_ids": [1, 2, 3], "logprobs": listed(-0.1, -0.20000000000000001, 0)}
    endpoint.plays(chat({"content": "abc"}, choice=choice, **TOKENS))
    found, client = ask(endpoint, tokens=True, extra={"top_k": -1})
    assert found.tokens is not None
    assert (found.tokens.prompt_ids, found.tokens.token_ids) == ((9, 8), (1, 2, 3))
    assert found.tokens.logprobs == (-0.1, -0.2, 0.0)
    assert found.tokens.sampling.whole
    assert client.tally.untrainable == {}
    body = endpoint.requests[0][2]
    assert (body["logprobs"], body["return_token_ids"]) == (True, True)
    # an endpoint's own defaults must not cut the distribution behind our back
    assert (body["top_p"], body["top_k"], body["min_p"], body["repetition_penalty"]) == (1.0, -1, 0.0, 1.0)


@pytest.mark.parametrize(
    ("choice", "changes", "reason"),
    [
        ({"logprobs": listed(-0.1, -0.2, -0.3)}, {}, "no token ids"),
        ({"token_ids": [1, 2, 3], "logprobs": listed(-0.1, -0.2, -0.3)}, {"prompt_token_ids": None}, "no prompt ids"),
        ({"token_ids": [1, 2, 3]}, {}, "lengths differ: 3 ids, 0"),
        ({"token_ids": [1, 2, 3], "logprobs": listed(-0.1, -0.2)}, {}, "lengths differ"),
        ({"token_ids": [1, 2, 3], "logprobs": listed(-0.1, None, -0.3)}, {}, "missing or not finite: None at sampled"),
        ({"token_ids": [2, 3], "logprobs": listed(-0.2, -0.3)}, {}, "ids do not cover the text: 2 ids for 3"),
        ({"token_ids": [1, True, 3], "logprobs": listed(-0.1, -0.2, -0.3)}, {}, "no token ids"),
    ],
)
def test_tokens_that_are_not_all_there_are_untrainable_with_the_reason(
    choice: dict[str, Any], changes: dict[str, Any], reason: str
) -> None:
    found = tokens_of(choice, **changes)
    assert found.tokens is None
    assert reason in found.untrainable
    assert found.message.content == "abc"


def test_untrainable_answers_are_counted_and_the_way_of_sampling_is_recorded(endpoint: Endpoint) -> None:
    endpoint.plays(chat({"content": "abc"}))
    assert ask(endpoint, tokens=True)[1].tally.untrainable == {"no prompt ids": 1}
    choice = {"token_ids": [1, 2, 3], "logprobs": listed(-0.1, -0.2, -0.3)}
    endpoint.plays(chat({"content": "abc"}, choice=choice, **TOKENS))
    found, _ = ask(endpoint, tokens=True, extra={"top_p": 0.9})
    assert found.tokens is not None
    assert found.tokens.sampling.top_p == 0.9
    endpoint.plays(chat({"content": "abc"}, choice=choice, **TOKENS))
    penalised, _ = ask(endpoint, tokens=True, extra={"repetition_penalty": 1.1, "presence_penalty": 0.0})
    assert penalised.tokens is not None
    assert penalised.tokens.sampling.reshaped == ("repetition_penalty",)
    assert not penalised.tokens.sampling.whole


@pytest.mark.parametrize("wrong", [{"base_url": "ftp://x"}, {"timeout": 0}, {"retries": -1}, {"model": ""}])
def test_impossible_options_are_refused_when_the_client_is_made(wrong: dict[str, Any]) -> None:
    options = {"model": "m", "base_url": "http://127.0.0.1:1/v1", **wrong}
    with pytest.raises(InputError):
        OpenAIClient(options.pop("model"), **options)
