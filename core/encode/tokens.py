"""Texts to token ids and character spans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """Ids with special tokens; `spans` are characters of the text, `special` marks tokens that are not of it."""

    ids: list[int]
    spans: list[tuple[int, int]]
    special: list[int]


class Tokens:
    """A model's tokenizer: once cutting at the model's window, once whole."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        self._cut = Tokenizer.from_file(str(file))
        self._cut.no_padding()
        self._cut.enable_truncation(max_tokens)
        self._whole = Tokenizer.from_file(str(file))
        self._whole.no_padding()
        self._whole.no_truncation()
        pads = [self._whole.token_to_id(name) for name in ("[PAD]", "<pad>")]
        self.pad = next((id for id in pads if id is not None), 0)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids with special tokens, cut at the window."""
        return [encoded.ids for encoded in self._cut.encode_batch_fast([_valid(text) for text in texts])]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of the whole texts, without special tokens."""
        cleaned = [_valid(text) for text in texts]
        return [len(encoded.ids) for encoded in self._whole.encode_batch_fast(cleaned, add_special_tokens=False)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Characters of each token of the whole text, without special tokens."""
        encoded = self._whole.encode(_valid(text), add_special_tokens=False)
        return [_trimmed(text, start, end) for start, end in encoded.offsets]

    def tokenise(self, text: str) -> TokenisedText:
        """One text, cut at the window, with the characters of each token."""
        encoded = self._cut.encode(_valid(text))
        spans = [_trimmed(text, start, end) for start, end in encoded.offsets]
        return TokenisedText(encoded.ids, spans, encoded.special_tokens_mask)


def _valid(text: str) -> str:
    """`text` in the same length without lone surrogates, which have no UTF-8 form."""
    return _SURROGATES.sub("\ufffd", text)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the space that SentencePiece counts into a word."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
