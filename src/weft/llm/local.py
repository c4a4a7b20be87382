"""A causal language model in this process as a policy, token in, token out (Weft B.1; the ``train`` extra).

What was sampled is never tokenised again: the client remembers the ids of the conversations that it answered, and a
later request that continues one of them gets those ids with the new messages appended. A conversation that it has not
seen is rendered from its messages.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from weft.errors import InputError, MissingExtra, ModelError
from weft.llm.chatml import STOP, after, render
from weft.llm.protocol import parse_spoken
from weft.llm.tokenizer import ChatTokenizer
from weft.records.codec import content_hash
from weft.records.trace import FunctionCall, Message, SamplingSettings, TokenSpan, ToolCall

REMEMBERED = 4096
"""Conversations whose ids are kept; the oldest go first, and are then rendered again from their messages."""


@dataclass(frozen=True, slots=True)
class LocalCompletion:
    """An answer of a local model (see :class:`weft.ports.Completion`); ``faults`` say what was malformed in it."""

    message: Message
    tokens: TokenSpan | None
    truncated: bool
    faults: tuple[str, ...] = ()


class LocalModel:
    """A model client over a causal language model of ``transformers``.

    Generation runs on the calling thread: with the same weights, inputs and seed it gives the same tokens.

    Args:
        module: the model; it is used as it is now, so a policy in training answers with its newest weights.
        tokenizer: with the ChatML tokens.
        name: for records.
        max_tokens: longest assistant message.
        context: most tokens of a conversation; that of the model when None.
    """

    def __init__(
        self,
        module: Any,
        tokenizer: ChatTokenizer,
        *,
        name: str = "local",
        max_tokens: int = 512,
        context: int | None = None,
    ) -> None:
        if max_tokens < 1:
            raise InputError(f"max_tokens is {max_tokens}; give at least 1")
        self.module = module
        self.tokenizer = tokenizer
        self._name = name
        self._max_tokens = max_tokens
        self._context = context or int(module.config.max_position_embeddings)
        self._known: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    @classmethod
    def load(cls, folder: str, *, max_tokens: int = 512) -> Self:
        """Load a model and its tokenizer from a local folder in float32.

        Raises:
            InputError: the folder does not hold a ChatML model.
            MissingExtra: the packages are not installed.
        """
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingExtra("torch and transformers are not installed: run scripts/install train") from error
        try:
            module = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).float().eval()
            fast = AutoTokenizer.from_pretrained(folder, local_files_only=True).backend_tokenizer
        except (OSError, ValueError, AttributeError) as error:
            raise InputError(f"{folder}: no causal language model with a fast tokenizer ({error})") from error
        return cls(module, ChatTokenizer(fast), name=f"local:{folder}", max_tokens=max_tokens)

    @property
    def name(self) -> str:
        """Name for records."""
        return self._name

    def encode_example(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> tuple[list[int], list[int]]:
        """Return a conversation's ids, and 1 at each token of an assistant message, its end token included, else 0."""
        ids: list[int] = []
        trained: list[int] = []
        for piece in render(messages, tools, answer=False):
            new = self.tokenizer.encode_piece(piece)
            ids += new
            trained += [int(piece.trained)] * len(new)
        return ids, trained

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        temperature: float = 1.0,
    ) -> LocalCompletion:
        """See :class:`weft.ports.ModelClient`. Temperature 0 takes the likeliest token, and cannot be trained on.

        Raises:
            ModelError: the conversation leaves no room for an answer.
        """
        if temperature < 0:
            raise InputError(f"temperature is {temperature}; give 0 or more")
        spoken = [message.openai() for message in messages]
        prompt = self._prompt(spoken, tools)
        room = min(self._max_tokens, self._context - len(prompt))
        if room < 1:
            raise ModelError(f"{self._name}: {len(prompt)} tokens of conversation fill the context of {self._context}")
        ids, logprobs = self._sample(prompt, room, seed=_step_seed(seed, len(messages)), temperature=temperature)
        message, faults = self._spoken(prompt, ids)
        self._remember([*spoken, message.openai()], tools, (*prompt, *ids))
        return LocalCompletion(
            message=message,
            tokens=TokenSpan(
                message=0,
                prompt_ids=tuple(prompt),
                token_ids=tuple(ids),
                logprobs=tuple(logprobs),
                sampling=SamplingSettings(temperature=temperature),
            ),
            truncated=ids[-1] not in self._ends,
            faults=faults,
        )

    @property
    def _ends(self) -> tuple[int, int]:
        return self.tokenizer.end, self.tokenizer.id_of(STOP)

    def _prompt(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        last = max((at for at, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
        known = self._known.get(_key(messages[: last + 1], tools)) if last >= 0 else None
        if known is None:
            return self.tokenizer.encode(render(messages, tools, answer=True))
        ended = known[-1] == self.tokenizer.end
        return [*known, *self.tokenizer.encode(after(messages[last + 1 :], ended=ended))]

    def _remember(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], ids: tuple[int, ...]
    ) -> None:
        key = _key(messages, tools)
        # Two samples may say the same in other tokens; which of them is kept must not depend on who came first.
        self._known[key] = min(ids, self._known.get(key, ids))
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _spoken(self, prompt: Sequence[int], ids: Sequence[int]) -> tuple[Message, tuple[str, ...]]:
        said = ids[:-1] if ids[-1] in self._ends else ids
        parsed = parse_spoken(self.tokenizer.decode(said))
        # The id of a call depends on every token before it: equal messages come from equal tokens.
        drawn = hashlib.sha256(" ".join(map(str, (*prompt, *ids))).encode()).hexdigest()[:16]
        calls = tuple(
            ToolCall(
                id=f"call_{drawn}_{number}",
                type="function",
                function=FunctionCall(name=call.name, arguments=call.arguments),
            )
            for number, call in enumerate(parsed.calls)
        )
        content = parsed.content or (None if calls else "")
        message = Message(role="assistant", content=content, reasoning_content=parsed.reasoning, tool_calls=calls)
        return message, parsed.faults

    def _sample(
        self, prompt: Sequence[int], room: int, *, seed: int, temperature: float
    ) -> tuple[list[int], list[float]]:
        """Draw up to ``room`` tokens; return them with their log-probabilities under the sampling distribution."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        ids: list[int] = []
        logprobs: list[float] = []
        step: Any = torch.tensor([list(prompt)], dtype=torch.long)
        state: dict[str, Any] = {}
        with torch.inference_mode():
            while len(ids) < room:
                out = self.module(input_ids=step, use_cache=True, logits_to_keep=1, **state)
                # Renamed within version 5 of transformers; what is there goes back in under its own name.
                name = "cache" if "cache" in out else "past_key_values"
                state = {name: out[name]}
                logits = out.logits[0, -1].double()
                spread = torch.log_softmax(logits / temperature if temperature else logits, dim=-1)
                drawn = (
                    int(torch.multinomial(spread.exp(), 1, generator=generator))
                    if temperature
                    else int(spread.argmax())
                )
                ids.append(drawn)
                logprobs.append(min(float(spread[drawn]), 0.0))
                if drawn in self._ends:
                    break
                step = torch.tensor([[drawn]], dtype=torch.long)
        return ids, logprobs


def _step_seed(seed: int, messages: int) -> int:
    """Return the seed of one message: a segment passes the same seed for all of its messages."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{messages}".encode()).digest()[:8], "big") >> 1


def _key(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> str:
    return content_hash([list(messages), list(tools)])
