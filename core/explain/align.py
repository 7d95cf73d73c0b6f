"""Which words of a passage come nearest to each word of a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.types import Span, TokenAlignment
from core.encode.encoder import QUERY, Encoder
from core.explain.sentences import Sentence, Word, read_one

_NEAR = 0.45  # cosine of token states below which two words are no pair
_MOST_WORDS = 32  # of a query

Floats = NDArray[np.float32]


def align(
    encoder: Encoder, query: str, passage: str, language: str, sentences: Sequence[Sentence]
) -> tuple[TokenAlignment, ...]:
    """For each content word of the query the passage's content word with the nearest contextual state, if near.

    Words, not the encoder's pieces of words: a word's state is the mean of its pieces' states. `sentences` are the
    passage as it was read.
    """
    asked = read_one(encoder, query, Span(0, len(query)), language, QUERY).words[:_MOST_WORDS]
    found = [word for sentence in sentences for word in sentence.words]
    if not asked or not found:
        return ()
    cosine_QP = _directions(asked) @ _directions(found).T
    pairs = []
    for word, row in zip(asked, cosine_QP, strict=True):
        best = int(row.argmax())
        if row[best] >= _NEAR:
            span = found[best].span
            said, meant = query[word.span.start : word.span.end], passage[span.start : span.end]
            pairs.append(TokenAlignment(said, meant, float(row[best]), span))
    return tuple(pairs)


def _directions(words: Sequence[Word]) -> Floats:
    """Unit states [W, D]."""
    states = np.stack([word.state for word in words])
    return states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-9)
