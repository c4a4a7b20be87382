"""A model behind an OpenAI-compatible endpoint (``/v1/chat/completions``), as a policy or as an author.

The answer is read from the endpoint's own JSON and checked field by field; arguments stay the text that was sampled.
Tokens are taken only when the endpoint gives ids for the prompt and for everything sampled, with one finite
log-probability each (vLLM: ``return_token_ids`` and ``--logprobs-mode processed_logprobs``); otherwise the answer
says why it cannot be trained.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import openai

from weft.errors import FormatError, InputError, ModelError
from weft.llm.stream import join_stream
from weft.records.codec import parse_json
from weft.records.tokens import span_fault
from weft.records.trace import FunctionCall, Message, SamplingSettings, TokenSpan, ToolCall

WHOLE: Mapping[str, Any] = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Sent when tokens are asked for: an endpoint's own defaults often cut the distribution, and do not say so."""

NEUTRAL: Mapping[str, Any] = {
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "length_penalty": 1.0,
    "typical_p": 1.0,
    "min_tokens": 0,
    "tool_choice": "auto",
}
"""Further settings that change the distribution, and the value at which they do not."""

RESHAPING = (
    *NEUTRAL,
    "logit_bias",
    "allowed_token_ids",
    "bad_words",
    "response_format",
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
)
"""Every further setting that changes the distribution when it is there."""

SEEDS = 1 << 31
"""Seeds are sent below this: some endpoints keep them in 32 bits."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request as the endpoint counted them; None where it did not say."""

    prompt: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class OpenAICompletion:
    """An answer of an endpoint (see :class:`weft.ports.Completion`).

    Attributes:
        message: as sampled.
        tokens: ids and log-probabilities, when they may be trained.
        truncated: the token limit cut it.
        usage: as counted by the endpoint.
        untrainable: why there are no tokens although they were asked for; empty otherwise.
    """

    message: Message
    tokens: TokenSpan | None = None
    truncated: bool = False
    usage: Usage = Usage()
    untrainable: str = ""


@dataclass(slots=True)
class Tally:
    """What a client has done so far: requests answered, tokens counted, untrainable answers by reason."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    untrainable: Counter[str] = field(default_factory=Counter)


class OpenAIClient:
    """A model client over an OpenAI-compatible endpoint. Use it in ``async with``; it is safe for concurrent requests.

    Args:
        model: name at the endpoint.
        base_url: up to and with ``/v1``.
        api_key: sent as bearer token; a placeholder is sent when it is empty, for endpoints without keys.
        timeout: of one request, in seconds.
        retries: further tries after a lost connection, a timeout or an answer 408, 409, 429 or 5xx. They never look at
            what was answered.
        max_tokens: longest answer; the endpoint's own limit when None.
        tokens: ask for ids and log-probabilities, drawn from the whole distribution unless ``extra`` says otherwise.
        decode: of the model's tokenizer; finds ids outside the vocabulary.
        extra: more members of the request body, e.g. ``top_p``; what changes the sampling is recorded with the tokens.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str = "",
        timeout: float = 300.0,
        retries: int = 3,
        max_tokens: int | None = None,
        tokens: bool = False,
        decode: Callable[[Sequence[int]], str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not model:
            raise InputError("no model name; give the name that the endpoint lists under /v1/models")
        if not base_url.startswith(("http://", "https://")):
            raise InputError(f"base URL {base_url!r} is not http or https; give one such as http://127.0.0.1:8000/v1")
        if timeout <= 0 or retries < 0:
            raise InputError(
                f"timeout {timeout} s with {retries} retries; give a positive timeout and at least 0 retries"
            )
        self._model = model
        self._max_tokens = max_tokens
        self._tokens = tokens
        self._decode = decode
        self._extra = dict(extra or {})
        self.tally = Tally()
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=retries
        )
        # The package takes these from the process's own variables; only the command line reads those.
        self._client.organization = None
        self._client.project = None

    @property
    def name(self) -> str:
        """Name for records."""
        return self._model

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Idempotent."""
        await self._client.close()

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> OpenAICompletion:
        """See :class:`weft.ports.ModelClient`."""
        body = self._body(messages, tools, seed=seed, temperature=temperature)
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**body)
            text = raw.text
        except openai.APIStatusError as error:
            raise ModelError(f"{self._model}: the endpoint answered {error.status_code}: {_said(error)}") from error
        except openai.OpenAIError as error:
            raise ModelError(f"{self._model}: no answer ({type(error).__name__}: {error})") from error
        kind = raw.headers.get("content-type", "no content type")
        try:
            # Some endpoints stream whether asked to or not.
            streamed = "event-stream" in kind
            answer = join_stream(text, model=self._model) if streamed else parse_json(text, "answer")
        except FormatError as error:
            raise ModelError(f"{self._model}: the answer ({kind}) is not JSON: {text[:120]!r}") from error
        completion = read_completion(
            answer, model=self._model, step=len(messages), tokens=self._tokens, sampling=self._sampling(temperature),
            decode=self._decode,
        )  # fmt: skip
        self._count(completion)
        return completion

    def _body(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int, temperature: float
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [message.openai() for message in messages],
            "seed": seed % SEEDS,
            "temperature": temperature,
            "extra_body": dict(self._extra),
        }
        if tools:
            body["tools"] = [dict(tool) for tool in tools]
        if self._max_tokens is not None:
            body["max_tokens"] = self._max_tokens
        if self._tokens:
            body["logprobs"] = True
            body["extra_body"] = {**WHOLE, **self._extra, "return_token_ids": True}
        return body

    def _sampling(self, temperature: float) -> SamplingSettings:
        named = {name: self._extra[name] for name in ("top_p", "top_k", "min_p") if name in self._extra}
        # -1 is how engines say that top_k keeps all.
        named["top_k"] = max(int(named.get("top_k") or 0), 0)
        reshaped = tuple(
            name for name in RESHAPING if name in self._extra and self._extra[name] not in (None, NEUTRAL.get(name))
        )
        return SamplingSettings(temperature=temperature, reshaped=reshaped, **named)

    def _count(self, completion: OpenAICompletion) -> None:
        self.tally.requests += 1
        self.tally.prompt += completion.usage.prompt or 0
        self.tally.completion += completion.usage.completion or 0
        if completion.untrainable:
            self.tally.untrainable[completion.untrainable.partition(":")[0]] += 1


def _said(error: openai.APIStatusError) -> str:
    """Return the endpoint's own words, shortened to one line."""
    body = error.body
    inner = body.get("message", body) if isinstance(body, dict) else body
    return " ".join(str(inner or error.message).split())[:300]


def read_completion(
    answer: Any,
    *,
    model: str,
    step: int,
    tokens: bool = False,
    sampling: SamplingSettings | None = None,
    decode: Callable[[Sequence[int]], str] | None = None,
) -> OpenAICompletion:
    """Read an endpoint's answer (pure).

    Args:
        answer: JSON of a chat completion.
        model: name for errors.
        step: messages before it; part of the id of a call that came without one.
        tokens: ids were asked for.
        sampling: how they were drawn.
        decode: of the model's tokenizer.

    Raises:
        ModelError: it is no chat completion, or a content filter took the answer away.
    """

    def refuse(what: str) -> ModelError:
        return ModelError(f"{model}: not a chat completion: {what}")

    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise refuse(f"no choices in {str(answer)[:200]!r}")
    choice = choices[0]
    said, finish = choice.get("message"), choice.get("finish_reason")
    if not isinstance(said, dict):
        raise refuse(f"choices[0].message is {said!r}")
    if finish == "content_filter":
        raise ModelError(f"{model}: the endpoint's content filter withheld the answer")
    calls = said.get("tool_calls") or []
    if not isinstance(calls, list):
        raise refuse(f"tool_calls is {calls!r}")
    message = Message(
        role="assistant",
        content=_content(said, refuse, bool(calls)),
        reasoning_content=_text(said, "reasoning_content", refuse) or _text(said, "reasoning", refuse),
        tool_calls=tuple(_call(call, f"call_{step}_{at}", refuse) for at, call in enumerate(calls)),
    )
    usage = _usage(answer.get("usage"))
    span, fault = _span(answer, choice, usage, sampling or SamplingSettings(), decode) if tokens else (None, "")
    return OpenAICompletion(message, span, finish == "length", usage, fault)


_Refuse = Callable[[str], ModelError]


def _text(said: Mapping[str, Any], name: str, refuse: _Refuse) -> str | None:
    value = said.get(name)
    if value is not None and not isinstance(value, str):
        raise refuse(f"{name} is a {type(value).__name__}, not a text")
    return value


def _content(said: Mapping[str, Any], refuse: _Refuse, calls: bool) -> str | None:
    content = _text(said, "content", refuse) or _text(said, "refusal", refuse)
    return content if content or calls else ""


def _call(call: Any, otherwise: str, refuse: _Refuse) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise refuse(f"tool call {str(call)[:120]!r} has no function")
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        raise refuse(f"tool call {str(call)[:120]!r} has no name")
    if arguments is not None and not isinstance(arguments, str):
        raise refuse(f"arguments of {name!r} are a {type(arguments).__name__}, not their JSON text")
    identity = call.get("id")
    return ToolCall(
        id=identity if isinstance(identity, str) and identity else otherwise,
        type="function",
        function=FunctionCall(name=name, arguments=arguments or ""),
    )


def _usage(value: Any) -> Usage:
    def count(name: str) -> int | None:
        found = value.get(name) if isinstance(value, dict) else None
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

    return Usage(count("prompt_tokens"), count("completion_tokens"))


def _ids(value: Any) -> list[int] | None:
    """Return token ids, None for anything else."""
    if isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
        return value
    return None


def _span(
    answer: Mapping[str, Any],
    choice: Mapping[str, Any],
    usage: Usage,
    sampling: SamplingSettings,
    decode: Callable[[Sequence[int]], str] | None,
) -> tuple[TokenSpan | None, str]:
    """Return the sampled tokens, or None and why they must not be trained."""
    prompt, drawn = _ids(answer.get("prompt_token_ids")), _ids(choice.get("token_ids"))
    listed = choice.get("logprobs")
    entries = listed.get("content") if isinstance(listed, dict) else None
    logprobs = (
        [entry.get("logprob") if isinstance(entry, dict) else None for entry in entries]
        if isinstance(entries, list)
        else None
    )
    finite = [value if isinstance(value, (int, float)) else None for value in logprobs or ()]
    fault = span_fault(prompt, drawn, finite if logprobs is not None else None, count=usage.completion, decode=decode)
    if fault or prompt is None or drawn is None:
        return None, fault
    sampled = tuple(float(value) for value in finite if value is not None)
    return TokenSpan(
        message=0, prompt_ids=tuple(prompt), token_ids=tuple(drawn), logprobs=sampled, sampling=sampling
    ), ""
