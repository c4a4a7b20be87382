"""Pieces of a conversation to token ids and back, with any fast tokenizer that has the ChatML tokens."""

from collections.abc import Sequence
from typing import Any

from weft.errors import InputError, MissingExtra
from weft.llm.chatml import END, SPECIAL, Piece


class ChatTokenizer:
    """A tokenizer that keeps markup and text apart.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``, or the text of one (its ``tokenizer.json``).

    Raises:
        InputError: it lacks one of the ChatML tokens.
        MissingExtra: the package is not installed.
    """

    def __init__(self, tokenizer: Any) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise MissingExtra("tokenizers is not installed: run scripts/install train") from error
        described = tokenizer if isinstance(tokenizer, str) else tokenizer.to_str()
        self._markup = tokenizers.Tokenizer.from_str(described)
        self._text = tokenizers.Tokenizer.from_str(described)
        # In what came from outside, the letters of a special token are letters.
        self._text.encode_special_tokens = True
        absent = [token for token in SPECIAL if self._markup.token_to_id(token) is None]
        if absent:
            raise InputError(f"the tokenizer has no {', '.join(absent)}; use one of a ChatML model")

    @property
    def size(self) -> int:
        """Ids run from 0 to this, exclusive."""
        return int(self._markup.get_vocab_size(with_added_tokens=True))

    @property
    def end(self) -> int:
        """Id of the token that ends a message."""
        return self.id_of(END)

    def id_of(self, token: str) -> int:
        """Return the id of a token.

        Raises:
            InputError: there is none.
        """
        found = self._markup.token_to_id(token)
        if found is None:
            raise InputError(f"the tokenizer has no token {token!r}")
        return int(found)

    def encode(self, pieces: Sequence[Piece]) -> list[int]:
        """Return the ids of pieces, each encoded on its own."""
        return [identity for piece in pieces for identity in self.encode_piece(piece)]

    def encode_piece(self, piece: Piece) -> list[int]:
        """Return the ids of one piece."""
        encoder = self._markup if piece.markup else self._text
        return list(encoder.encode(piece.text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, special tokens included.

        Raises:
            LookupError: an id is outside the vocabulary.
        """
        for identity in ids:
            if identity < 0 or self._markup.id_to_token(identity) is None:
                raise LookupError(f"{identity} of {self.size}")
        return str(self._markup.decode(list(ids), skip_special_tokens=False))
