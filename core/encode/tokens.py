"""Texts to token ids, character spans and the names of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNKNOWN = ("[UNK]", "<unk>")  # stands for what has no token: a state it has, a name it has not
_MASKS = ("[MASK]", "<mask>")
_SPACES = " \u2581"  # the space before a word, decoded and as SentencePiece writes it


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """Ids with special tokens; `spans` are characters of the text, `special` marks tokens that are not of it."""

    ids: list[int]
    spans: list[tuple[int, int]]
    special: list[int]

    def own(self, skip: int = 0) -> NDArray[np.bool_]:
        """Which tokens [T] are the text's own: not special, not before character `skip`, not a mere space."""
        marks = [
            not special and start >= skip and end > start
            for (start, end), special in zip(self.spans, self.special, strict=True)
        ]
        return np.array(marks, bool)


class Tokens:
    """A model's tokenizer: once cutting at the model's window, once whole."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        self._cut = Tokenizer.from_file(str(file))
        self._cut.no_padding()
        self._cut.enable_truncation(max_tokens)
        self._whole = _sharing(self._cut)
        pads = [self._whole.token_to_id(name) for name in ("[PAD]", "<pad>")]
        self.pad = next((id for id in pads if id is not None), 0)
        self._terms: dict[int, str] = dict.fromkeys(self._nameless(), "")

    def names(self) -> list[str]:
        """The vocabulary as the model spells it, by id; "" where an id has no token."""
        by_name = self._whole.get_vocab()
        found = [""] * (max(by_name.values()) + 1)
        for name, id in by_name.items():
            found[id] = name
        return found

    def special(self) -> set[int]:
        """Ids of tokens that stand for no text, such as the mask."""
        return {id for id, token in self._whole.get_added_tokens_decoder().items() if token.special}

    def mask(self) -> int | None:
        """The id that hides a token from a masked language model; None where the vocabulary has none."""
        return next((id for id in map(self._whole.token_to_id, _MASKS) if id is not None), None)

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
        return _tokenised(text, self._cut.encode(_valid(text)))

    def tokenise_all(self, texts: Sequence[str]) -> list[TokenisedText]:
        """Several texts, cut at the window, with the characters of each token."""
        encoded = self._cut.encode_batch([_valid(text) for text in texts])
        return [_tokenised(text, one) for text, one in zip(texts, encoded, strict=True)]

    def tokenise_whole(self, text: str) -> TokenisedText:
        """One text, not cut, with special tokens and the characters of each token."""
        return _tokenised(text, self._whole.encode(_valid(text)))

    def term(self, id: int) -> str:
        """The text of a vocabulary token, by which lexical weights are named; "" for special and unknown tokens.

        SentencePiece has a word with and without a space before it as two tokens: both have one name, so that a word
        after a bracket is the word after a space. A WordPiece continuation keeps its "##": it is no word.
        """
        if id not in self._terms:
            self._terms[id] = self._decoded(self._whole.id_to_token(id) or "")
        return self._terms[id]

    def largest(self, ids: Sequence[int], weights: Sequence[float]) -> dict[str, float]:
        """Term -> its largest weight above 0."""
        terms: dict[str, float] = {}
        for id, weight in zip(ids, weights, strict=True):
            if weight > 0 and (name := self.term(id)):
                terms[name] = max(weight, terms.get(name, 0.0))
        return terms

    def _decoded(self, token: str) -> str:
        decoder = self._whole.decoder
        # bytes of a part of a character cannot be decoded alone: their token keeps the vocabulary's spelling
        text = decoder.decode([token]) if decoder is not None else token
        return (token if "\ufffd" in text else text).strip(_SPACES)

    def _nameless(self) -> set[int]:
        special = {id for id, token in self._whole.get_added_tokens_decoder().items() if token.special}
        return special | {id for id in map(self._whole.token_to_id, _UNKNOWN) if id is not None}


def _tokenised(text: str, encoded: Encoding) -> TokenisedText:
    spans = [_trimmed(text, start, end) for start, end in encoded.offsets]
    return TokenisedText(encoded.ids, spans, encoded.special_tokens_mask)


def _sharing(made: Tokenizer) -> Tokenizer:
    """The same tokenizer without truncation; the vocabulary is shared: reading a large one takes a second."""
    other = Tokenizer(made.model)
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if getattr(made, part) is not None:
            setattr(other, part, getattr(made, part))
    added = [token for _, token in sorted(made.get_added_tokens_decoder().items())]
    other.add_special_tokens([token for token in added if token.special])
    other.add_tokens([token for token in added if not token.special])
    return other


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
