from collections.abc import Iterator

import anyio
import pytest

from weft.errors import InputError, ModelError
from weft.records.trace import Message, Segment, StopReason
from weft.train.alignment import sequences_of
from weft.train.trainer import exact

pytestmark = pytest.mark.train
pytest.importorskip("torch", reason="needs torch: scripts/install train")
pytest.importorskip("transformers", reason="needs transformers: scripts/install train")

from weft.llm.chatml import Piece  # noqa: E402
from weft.llm.local import LocalModel  # noqa: E402
from weft.llm.tiny import tiny_model, tiny_policy, tiny_tokenizer  # noqa: E402

TEXTS = ["Look up the order and say when it ships.", '{"name": "find_order", "arguments": {"id": 4}}'] * 3
ASKED = [Message(role="system", content="Be brief."), Message(role="user", content="When does order 4 ship?")]
TOOLS = [{"type": "function", "function": {"name": "find_order", "description": "", "parameters": {}}}]


@pytest.fixture(scope="module", autouse=True)
def _exact() -> Iterator[None]:
    with exact():
        yield


@pytest.fixture(scope="module")
def policy() -> LocalModel:
    return tiny_policy(TEXTS, seed=3, vocabulary=300, max_tokens=24)


def answer(policy: LocalModel, messages: list[Message], *, seed=1, temperature=1.0, tools=TOOLS):  # noqa: ANN001, ANN201
    async def ask():  # noqa: ANN202
        return await policy.complete(messages, tools, seed=seed, temperature=temperature)

    return anyio.run(ask)


def test_the_same_seed_gives_the_same_tokens_and_another_seed_others(policy: LocalModel) -> None:
    one, again, other = (answer(policy, ASKED, seed=seed) for seed in (5, 5, 6))
    assert one == again
    assert one.tokens.token_ids != other.tokens.token_ids


def test_log_probabilities_are_those_of_the_whole_distribution_at_full_precision(policy: LocalModel) -> None:
    import torch

    span = answer(policy, ASKED).tokens
    ids = torch.tensor([[*span.prompt_ids, *span.token_ids]])
    with torch.no_grad():
        spread = policy.module(input_ids=ids).logits[0].double().log_softmax(-1)
    start = len(span.prompt_ids)
    wanted = [float(spread[start + at - 1, token]) for at, token in enumerate(span.token_ids)]
    assert list(span.logprobs) == pytest.approx(wanted, abs=1e-5)
    assert span.sampling.whole


def test_a_reshaped_distribution_is_recorded(policy: LocalModel) -> None:
    assert answer(policy, ASKED, temperature=0.5).tokens.sampling.temperature == 0.5
    greedy = [answer(policy, ASKED, seed=seed, temperature=0.0).tokens.token_ids for seed in (1, 2)]
    assert greedy[0] == greedy[1]
    with pytest.raises(InputError, match="temperature"):
        answer(policy, ASKED, temperature=-1.0)


def test_a_continued_conversation_keeps_the_ids_that_were_sampled(policy: LocalModel) -> None:
    first = answer(policy, ASKED)
    follow = [*ASKED, first.message, Message(role="user", content="And order 5?")]
    second = answer(policy, follow)
    sampled = first.tokens.prompt_ids + first.tokens.token_ids
    assert second.tokens.prompt_ids[: len(sampled)] == sampled
    added = policy.tokenizer.decode(second.tokens.prompt_ids[len(sampled) :])
    assert added.endswith("\n<|im_start|>user\nAnd order 5?<|im_end|>\n<|im_start|>assistant\n")


def test_a_conversation_that_it_never_had_is_rendered_from_its_messages(policy: LocalModel) -> None:
    told = [*ASKED, Message(role="assistant", content="Tomorrow."), Message(role="user", content="Thanks.")]
    prompt = policy.tokenizer.decode(answer(policy, told).tokens.prompt_ids)
    assert "<|im_start|>assistant\nTomorrow.<|im_end|>\n<|im_start|>user\nThanks.<|im_end|>\n" in prompt


def test_an_answer_that_the_limit_cut_says_so(policy: LocalModel) -> None:
    short = LocalModel(policy.module, policy.tokenizer, max_tokens=2)
    cut = answer(short, ASKED, seed=2)
    assert cut.truncated == (cut.tokens.token_ids[-1] != policy.tokenizer.end)
    assert len(cut.tokens.token_ids) <= 2


def test_a_conversation_without_room_for_an_answer_is_a_model_error(policy: LocalModel) -> None:
    narrow = LocalModel(policy.module, policy.tokenizer, context=10)
    with pytest.raises(ModelError, match="fill the context of 10"):
        answer(narrow, ASKED)


def test_two_calls_and_their_results_join_to_the_template_s_rendering_with_ends_trained_and_line_breaks_not() -> None:
    tokenizer = tiny_tokenizer(TEXTS, vocabulary=300)
    said = ["CALL A CALL B<|im_end|>", "done<|im_end|>"]

    class Told(LocalModel):
        def _sample(self, prompt, room, *, seed, temperature):  # noqa: ANN001, ANN202
            ids = tokenizer.encode([Piece(said.pop(0), markup=True)])
            return ids, [-0.5] * len(ids)

    policy = Told(tiny_model(tokenizer, seed=1), tokenizer)
    messages = [Message(role="user", content="both")]
    spans = []
    for results in (("ra", "rb"), ()):
        answered = answer(policy, messages, tools=[])
        spans.append(answered.tokens.model_copy(update={"message": len(messages)}))
        messages += [answered.message, *(Message(role="tool", content=text) for text in results)]
    segment = Segment(messages=tuple(messages), stop=StopReason.REPLY, tokens=tuple(spans))
    (row,) = sequences_of(segment, group="t/0", sample=0, advantage=1.0)
    assert tokenizer.decode(row.token_ids) == (
        "<|im_start|>user\nboth<|im_end|>\n<|im_start|>assistant\nCALL A CALL B<|im_end|>\n<|im_start|>user\n"
        "<tool_response>\nra\n</tool_response>\n<tool_response>\nrb\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\ndone<|im_end|>"
    )
    trained = [token for token, flag in zip(row.token_ids, row.trainable, strict=True) if flag]
    assert tokenizer.decode(trained) == "CALL A CALL B<|im_end|>done<|im_end|>"


def test_an_example_is_trained_on_what_the_assistant_said(policy: LocalModel) -> None:
    told = [message.openai() for message in (*ASKED, Message(role="assistant", content="Tomorrow."))]
    ids, trained = policy.encode_example(told, TOOLS)
    assert policy.tokenizer.decode([i for i, flag in zip(ids, trained, strict=True) if flag]) == "Tomorrow.<|im_end|>"
    assert policy.tokenizer.decode(ids).endswith("<|im_end|>\n")


def test_the_same_texts_give_the_same_tokenizer_and_the_same_seed_the_same_weights() -> None:
    import torch

    one, two = tiny_tokenizer(TEXTS, vocabulary=300), tiny_tokenizer(TEXTS, vocabulary=300)
    pieces = [Piece("When does order 4 ship?\n"), Piece("<|im_end|>", markup=True)]
    assert one.encode(pieces) == two.encode(pieces)
    before = torch.random.get_rng_state()
    models = [tiny_model(one, seed=seed) for seed in (7, 7, 8)]
    assert torch.equal(torch.random.get_rng_state(), before)
    weights = [dict(model.named_parameters())["model.embed_tokens.weight"] for model in models]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_text_from_outside_cannot_end_a_message() -> None:
    tokenizer = tiny_tokenizer(TEXTS, vocabulary=300)
    ids = tokenizer.encode([Piece("<|im_end|>")])
    assert tokenizer.end not in ids
    assert tokenizer.decode(ids) == "<|im_end|>"
    assert tokenizer.encode([Piece("<|im_end|>", markup=True)]) == [tokenizer.end]


def test_an_id_outside_the_vocabulary_has_no_text() -> None:
    tokenizer = tiny_tokenizer(TEXTS, vocabulary=300)
    with pytest.raises(LookupError):
        tokenizer.decode([tokenizer.size])
    with pytest.raises(InputError, match="too small"):
        tiny_tokenizer(TEXTS, vocabulary=100)
