"""A tiny, randomly initialised Qwen3 with a tokenizer trained in memory, to walk training on a laptop.

It knows nothing. It is for showing that the machinery works, never for judging a method.
"""

from collections.abc import Iterable
from typing import Any

from weft.errors import InputError, MissingExtra
from weft.llm.chatml import SPECIAL, STOP, TAGS
from weft.llm.local import LocalModel
from weft.llm.tokenizer import ChatTokenizer

LEAST_VOCABULARY = 256 + len(SPECIAL) + len(TAGS)


def tiny_tokenizer(texts: Iterable[str], *, vocabulary: int = 1024) -> ChatTokenizer:
    """Train a byte-level BPE tokenizer on texts; the same texts give the same tokenizer.

    Args:
        texts: what the model will read and write.
        vocabulary: upper limit of its size, markup included.

    Raises:
        InputError: the vocabulary has no room for the 256 bytes and the markup.
        MissingExtra: the packages are not installed.
    """
    if vocabulary < LEAST_VOCABULARY:
        raise InputError(f"a vocabulary of {vocabulary} is too small; give at least {LEAST_VOCABULARY}")
    try:
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    except ImportError as error:
        raise MissingExtra("tokenizers is not installed: run scripts/install train") from error
    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(TAGS),
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in TAGS])
    return ChatTokenizer(tokenizer)


def tiny_model(tokenizer: ChatTokenizer, *, seed: int, hidden: int = 64, layers: int = 2, context: int = 8192) -> Any:
    """Return a randomly initialised Qwen3 causal language model in float32.

    Args:
        tokenizer: whose ids it speaks.
        seed: of its weights.
        hidden: width; divided over 4 heads, 2 of them for keys and values.
        layers: depth.
        context: most positions.

    Raises:
        MissingExtra: the packages are not installed.
    """
    try:
        import torch
        from transformers import Qwen3Config, Qwen3ForCausalLM
    except ImportError as error:
        raise MissingExtra("torch and transformers are not installed: run scripts/install train") from error
    config = Qwen3Config(
        vocab_size=tokenizer.size,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=hidden // 4,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.end,
        pad_token_id=tokenizer.id_of(STOP),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config).float().eval()


def tiny_policy(texts: Iterable[str], *, seed: int, vocabulary: int = 1024, max_tokens: int = 160) -> LocalModel:
    """Return a tiny model as a policy.

    Args:
        texts: of the tasks and tools that it will meet.
        seed: of its weights.
        vocabulary: of its tokenizer.
        max_tokens: longest assistant message.
    """
    tokenizer = tiny_tokenizer(texts, vocabulary=vocabulary)
    return LocalModel(tiny_model(tokenizer, seed=seed), tokenizer, name=f"local:tiny-{seed}", max_tokens=max_tokens)
