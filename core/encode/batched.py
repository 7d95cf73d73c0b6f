"""The common part of all encoders: tokenise, batch by length, pool, normalise. Only the forward pass differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import DENSE, MULTI
from core.encode.encoder import PASSAGE, Encoded, FloatArray, TokenStates
from core.encode.tokens import Tokens
from core.models.bundles import Bundle

_WINDOW = 4096  # texts tokenised and sorted together: bounds memory, keeps batches even
_TINY = 1e-12


class BatchedEncoder(ABC):
    """An `Encoder` whose `_pool` or `_states` runs the model.

    `batch_tokens` bounds a batch's padded size (texts x longest).
    """

    batch_tokens = 1024  # larger ones were slower on the CPU: their states leave the cache

    def __init__(self, bundle: Bundle) -> None:
        config = bundle.config
        self._id = bundle.id
        self._dimension = int(config["dimension"])
        self._max_tokens = int(config["max_tokens"])
        self._pooling = str(config["pooling"])
        self._prefixes = dict(config["prefixes"])
        self._tokens = Tokens(bundle.path("tokenizer.json"), self._max_tokens)

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    @abstractmethod
    def _states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Last-layer states [B, T, D] of right-padded `ids` [B, T]; `mask` is 1 where a token stands."""

    def _pool(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Pooled states [B, D], not normalised."""
        states = self._states(ids, mask)
        if self._pooling == "cls":
            return np.ascontiguousarray(states[:, 0])
        weights = mask.astype(np.float32)
        sums = np.matmul(weights[:, None, :], states)[:, 0]
        return np.asarray(sums / weights.sum(axis=1, keepdims=True), np.float32)

    def encode(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """See `Encoder.encode`."""
        vectors = np.empty((len(texts), self._dimension), np.float32)
        prefix, done = self._prefixes.get(kind, ""), 0
        for first in range(0, len(texts), _WINDOW):
            if control is not None:
                control.check()
            ids = self._tokens.ids([prefix + text for text in texts[first : first + _WINDOW]])
            for rows in batches([len(row) for row in ids], self.batch_tokens):
                if control is not None:
                    control.check()
                vectors[first + rows] = unit(self._pool(*pad([ids[row] for row in rows], self._tokens.pad)))
                done += len(rows)
                if on_batch is not None:
                    on_batch(done)
        return vectors

    @property
    def heads(self) -> frozenset[str]:
        return frozenset((DENSE, MULTI))

    def encode_heads(
        self,
        texts: Sequence[str],
        heads: Collection[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> Encoded:
        """See `Encoder.encode_heads`."""
        if unknown := set(heads) - self.heads:
            raise ValueError(f"{self.id} has no head {', '.join(sorted(unknown))}")
        dense = self.encode(texts, kind=kind, control=control, on_batch=on_batch) if DENSE in heads else None
        multi = tuple(self.token_states(text, kind).vectors for text in texts) if MULTI in heads else None
        return Encoded(dense, None, multi)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Encoder.count_tokens`."""
        return self._tokens.count(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See `Encoder.token_spans`."""
        return self._tokens.spans(text)

    def token_states(self, text: str, kind: str = PASSAGE) -> TokenStates:
        """See `Encoder.token_states`."""
        prefix = self._prefixes.get(kind, "")
        tokenised = self._tokens.tokenise(prefix + text)
        states = unit(self._states(*pad([tokenised.ids], self._tokens.pad))[0])
        own = [
            i for i, (span, special) in enumerate(zip(tokenised.spans, tokenised.special, strict=True))
            if not special and span[0] >= len(prefix) and span[1] > span[0]
        ]  # fmt: skip
        spans = [(tokenised.spans[i][0] - len(prefix), tokenised.spans[i][1] - len(prefix)) for i in own]
        return TokenStates(spans, states[own])


def batches(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.int64]]:
    """Row numbers of texts of like length, so many at a time that texts x longest stays within `budget`.

    Longest first: the largest need of memory shows at once, and a time estimate only gets better.
    """
    order = np.argsort(-np.asarray(lengths, np.int64), kind="stable")
    first = 0
    while first < len(order):
        count = max(1, budget // max(1, lengths[order[first]]))
        yield order[first : first + count]
        first += count


def pad(ids: Sequence[Sequence[int]], fill: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Right-padded ids [B, T] and their mask."""
    width = max(len(row) for row in ids)
    padded = np.full((len(ids), width), fill, np.int64)
    mask = np.zeros_like(padded)
    for i, row in enumerate(ids):
        padded[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return padded, mask


def unit(vectors: FloatArray) -> FloatArray:
    """Rows of length 1 (a zero row stays zero)."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, _TINY), np.float32)
