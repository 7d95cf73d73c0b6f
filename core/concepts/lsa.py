"""Latent semantic analysis: a space made of the words of a library's texts alone, in which a judge compares them.

It knows nothing of the encoder whose vectors an autoencoder was trained on, so that what it finds alike is evidence.
Rows of TF-IDF, projected on the largest singular directions. Source: Deerwester et al. (1990); the decomposition by
a random range finder, Halko, Martinsson, Tropp (arXiv 0909.4061) algorithm 4.4.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.concepts.terms import Text, candidates
from core.concepts.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DIMENSIONS = 150
_TEXTS_EACH = 4  # texts to a dimension, at least: with fewer the space repeats the words
_OVERSAMPLED = 10
_ROUNDS = 3  # of the power iteration: singular values of words fall slowly
_COMMONEST = 0.5  # share of the texts above which a word tells nothing
_SEED = 0

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WordSpace:
    """`vectors` [N, L] of the texts, unit rows (zero where a text has no word of its own); new texts by `fold`."""

    vectors: Floats
    _ids: dict[tuple[str, ...], int]  # term to its row of `_terms_WL`
    _terms_WL: Floats  # idf · right singular vectors

    def fold(self, text: Text) -> Floats:
        """The vector [L] of a text that is none of the space's, for example of a name."""
        counts = Counter(self._ids[c.words] for c in candidates(text) if c.words in self._ids)
        if not counts:
            return np.zeros(self._terms_WL.shape[1], np.float32)
        n = np.fromiter(counts.values(), np.float32, len(counts))
        return _unit((n / (n + 1)).astype(np.float32) @ self._terms_WL[list(counts)])


def word_space(vocabulary: Vocabulary, dimensions: int = DIMENSIONS) -> WordSpace:
    """The space of a vocabulary's texts; smaller where there are few texts. The same texts give the same space."""
    counts_NW, terms = _counts(vocabulary)
    idf_W = np.log(len(vocabulary) / np.bincount(counts_NW.indices, minlength=len(terms))).astype(np.float32)
    counts_NW.data *= idf_W[counts_NW.indices]
    kept = max(1, min(dimensions, len(vocabulary) // _TEXTS_EACH, len(terms)))
    directions_WL = _right_singular(counts_NW, kept)
    ids = {vocabulary.words[term]: n for n, term in enumerate(terms)}
    return WordSpace(_unit(counts_NW @ directions_WL), ids, idf_W[:, None] * directions_WL)


def _counts(vocabulary: Vocabulary) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Presence of each word in each text, [N, W], and the words' terms [W]: single ones that stand in some texts."""
    from scipy.sparse import csr_matrix

    lengths = np.array([len(ids) for ids, _ in vocabulary.rows])
    ids = np.concatenate([ids for ids, _ in vocabulary.rows])
    presence = np.concatenate([p for _, p in vocabulary.rows])
    texts_with = np.bincount(ids, minlength=len(vocabulary.words))
    single = np.fromiter((len(words) == 1 for words in vocabulary.words), bool, len(texts_with))
    kept = single & (texts_with >= 2) & (texts_with <= max(2, _COMMONEST * len(vocabulary)))
    terms = np.flatnonzero(kept)
    column = np.cumsum(kept) - 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(np.repeat(np.arange(len(lengths)), lengths), kept[ids]))])
    shape = (len(lengths), len(terms))
    return csr_matrix((presence[kept[ids]], column[ids[kept[ids]]], starts), shape=shape), terms


def _right_singular(matrix_NW: csr_matrix, kept: int) -> Floats:
    """The `kept` largest right singular vectors [W, L] of a sparse matrix."""
    luck = np.random.default_rng(_SEED)
    width = min(kept + _OVERSAMPLED, *matrix_NW.shape)
    range_NL = matrix_NW @ luck.normal(size=(matrix_NW.shape[1], width)).astype(np.float32)
    for _ in range(_ROUNDS):
        range_NL = matrix_NW @ (matrix_NW.T @ np.linalg.qr(range_NL)[0])
    seen_LW = np.asarray(np.linalg.qr(range_NL)[0].T @ matrix_NW)
    values_L, turn_LL = np.linalg.eigh(seen_LW @ seen_LW.T)  # ascending
    lengths_L = np.sqrt(np.maximum(values_L[::-1][:kept], 1e-12))
    return np.ascontiguousarray((seen_LW.T @ turn_LL[:, ::-1][:, :kept]) / lengths_L, dtype=np.float32)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
