"""The common part of all encoders: tokenise, batch by length, pool, apply heads. Only the forward pass differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import DENSE, LEXICAL, MULTI
from core.encode.encoder import PASSAGE, Encoded, FloatArray, TokenStates
from core.encode.heads import read_heads, unit
from core.encode.long import LONGEST, Window, average, framed, mcls_windows, mean_windows
from core.encode.padding import batches, pad, weighted_mean
from core.encode.tokens import Tokens
from core.models.bundles import Bundle

_WINDOW = 4096  # texts tokenised and sorted together: bounds memory, keeps batches even
_TOKEN_WINDOW = 1024  # the same where each token's characters are kept
_LONG_WINDOW = 32


@dataclass(frozen=True, slots=True)
class Applied:
    """What one batch gives: `pooled` [B, D]; `weights` [K] and `vectors` [K, M] of the K tokens of the token heads;
    `expanded` [B, V] of a lexical head that expands."""

    pooled: FloatArray | None = None
    weights: FloatArray | None = None
    vectors: FloatArray | None = None
    expanded: FloatArray | None = None


class BatchedEncoder(ABC):
    """An `Encoder` whose `_states` runs the model. `batch_tokens` bounds a batch's padded size (texts x longest).

    Raises:
        ModelDamaged: the heads differ from what was installed.
    """

    batch_tokens = 1024  # larger ones were slower on the CPU: their states leave the cache

    def __init__(self, bundle: Bundle) -> None:
        config = bundle.config
        self._id = bundle.id
        self._dimension = int(config["dimension"])
        self._max_tokens = int(config["max_tokens"])
        self._positions = int(config.get("positions", self._max_tokens))
        self._pooling = str(config["pooling"])
        self._prefixes = dict(config["prefixes"])
        self._tokens = Tokens(bundle.path("tokenizer.json"), self._max_tokens)
        self._heads = read_heads(bundle)

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    @property
    def heads(self) -> frozenset[str]:
        return self._heads.names

    @abstractmethod
    def _states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Last-layer states [B, T, D] of right-padded `ids` [B, T]; `mask` is 1 where a token stands."""

    def _pool(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        """Pooled states [B, D], not normalised, before the dense head."""
        return self._pooled(self._states(ids, mask), ids, mask)

    def _pooled(self, states: FloatArray, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        if self._pooling == "cls":
            return np.ascontiguousarray(states[:, 0])
        return weighted_mean(states, self._heads.shares(ids, mask))

    def _apply(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], own: NDArray[np.bool_], wanted: Collection[str]
    ) -> Applied:
        """One pass over the model for all `wanted` heads; `own` [B, T] marks the K tokens of the token heads."""
        states = self._states(ids, mask)
        expansion = self._heads.expansion if LEXICAL in wanted else None
        return Applied(
            self._pooled(states, ids, mask) if DENSE in wanted else None,
            self._heads.token_weights(states[own]) if LEXICAL in wanted and expansion is None else None,
            self._heads.token_vectors(states[own]) if MULTI in wanted else None,
            None if expansion is None else np.stack([expansion(row[of]) for row, of in zip(states, own, strict=True)]),
        )

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
        prefix, turns = self._prefixes.get(kind, ""), _Turns(control, on_batch)
        for first in range(0, len(texts), _WINDOW):
            turns.check()
            ids = self._tokens.ids([prefix + text for text in texts[first : first + _WINDOW]])
            for rows in batches([len(row) for row in ids], self.batch_tokens):
                turns.check()
                pooled = self._pool(*pad([ids[row] for row in rows], self._tokens.pad))
                vectors[first + rows] = self._heads.dense_vectors(pooled)
                turns.done(len(rows))
        return vectors

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
        if set(heads) == {DENSE}:  # no token's characters are needed
            return Encoded(self.encode(texts, kind=kind, control=control, on_batch=on_batch))
        dense = np.empty((len(texts), self._dimension), np.float32)
        lexical: list[dict[str, float]] = [{}] * len(texts)
        multi: list[FloatArray] = [dense[:0]] * len(texts)
        turns = _Turns(control, on_batch)
        for first in range(0, len(texts), _TOKEN_WINDOW):
            self._apply_window(texts[first:], first, heads, kind, turns, dense, lexical, multi)
        return Encoded(
            dense if DENSE in heads else None,
            tuple(lexical) if LEXICAL in heads else None,
            tuple(multi) if MULTI in heads else None,
        )

    def _apply_window(
        self, texts: Sequence[str], first: int, heads: Collection[str], kind: str, turns: _Turns,
        dense: FloatArray, lexical: list[dict[str, float]], multi: list[FloatArray],
    ) -> None:  # fmt: skip
        """Fill in the results of `texts[:_TOKEN_WINDOW]`, from row `first` on."""
        turns.check()
        prefix = self._prefixes.get(kind, "")
        tokenised = self._tokens.tokenise_all([prefix + text for text in texts[:_TOKEN_WINDOW]])
        own = [one.own(len(prefix)) for one in tokenised]
        for rows in batches([len(one.ids) for one in tokenised], self.batch_tokens):
            turns.check()
            ids, mask = pad([tokenised[row].ids for row in rows], self._tokens.pad)
            own_BT = pad([own[row].tolist() for row in rows], 0)[0].astype(bool)
            applied = self._apply(ids, mask, own_BT, heads)
            ends = np.cumsum(own_BT.sum(axis=1))[:-1]
            if applied.pooled is not None:
                dense[first + rows] = self._heads.dense_vectors(applied.pooled)
            if applied.weights is not None:
                parts = zip(np.split(ids[own_BT], ends), np.split(applied.weights, ends), strict=True)
                for row, (of_text, weights) in zip(rows, parts, strict=True):
                    lexical[first + row] = self._tokens.largest(of_text.tolist(), weights.tolist())
            if applied.expanded is not None:
                for row, weights in zip(rows, applied.expanded, strict=True):
                    lexical[first + row] = self._expanded(weights)
            if applied.vectors is not None:
                for row, vectors in zip(rows, np.split(applied.vectors, ends), strict=True):
                    multi[first + row] = vectors.copy()  # a view would keep the whole batch
            turns.done(len(rows))

    def _expanded(self, weights_V: FloatArray) -> dict[str, float]:
        """The terms that an expansion gives a weight above 0."""
        assert self._heads.expansion is not None
        there = np.flatnonzero(weights_V)
        return self._tokens.largest(self._heads.expansion.ids[there].tolist(), weights_V[there].tolist())

    def encode_long(
        self,
        texts: Sequence[str],
        *,
        kind: str = PASSAGE,
        control: Control | None = None,
        on_batch: Callable[[int], None] | None = None,
    ) -> FloatArray:
        """See `Encoder.encode_long`."""
        vectors = np.empty((len(texts), self._dimension), np.float32)
        turns = _Turns(control, on_batch)
        for first in range(0, len(texts), _LONG_WINDOW):
            turns.check()
            part = texts[first : first + _LONG_WINDOW]
            windows = [self._windows(text, kind) for text in part]
            short = [i for i, cut in enumerate(windows) if not cut]
            long = [i for i, cut in enumerate(windows) if cut]
            vectors[[first + i for i in short]] = self.encode([part[i] for i in short], kind=kind, control=control)
            if long:
                pooled = average([windows[i] for i in long], self._pool_windows, self.batch_tokens, turns.check)
                vectors[[first + i for i in long]] = self._heads.dense_vectors(pooled)
            turns.done(len(part))
        return vectors

    def _windows(self, text: str, kind: str) -> list[Window]:
        """How a text longer than the window is read; none for a text within it."""
        prefix = self._prefixes.get(kind, "")
        whole = self._tokens.tokenise_whole(prefix + text)
        if len(whole.ids) <= self._max_tokens:
            return []
        frame, body = framed(whole, len(prefix))
        if self._pooling == "cls":
            return mcls_windows(body, frame, min(self._positions, max(LONGEST, self._max_tokens)))
        return mean_windows(body, frame, self._max_tokens)

    def _pool_windows(self, windows: Sequence[Window]) -> FloatArray:
        ids, mask = pad([window.ids for window in windows], self._tokens.pad)
        if self._pooling != "cls":
            return self._pool(ids, mask)
        at = np.zeros(ids.shape, np.float32)
        for row, window in zip(at, windows, strict=True):
            row[window.at] = 1
        return weighted_mean(self._states(ids, mask), at)

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
        ids, mask = pad([tokenised.ids], self._tokens.pad)
        states = self._states(ids, mask)
        pooled = self._heads.dense_vectors(self._pooled(states, ids, mask))[0]
        own = np.flatnonzero(tokenised.own(len(prefix)))
        spans = [(tokenised.spans[i][0] - len(prefix), tokenised.spans[i][1] - len(prefix)) for i in own]
        return TokenStates(spans, unit(states[0])[own], pooled)


class _Turns:
    """Between two batches: a wish to cancel is heard, progress is told."""

    def __init__(self, control: Control | None, on_batch: Callable[[int], None] | None) -> None:
        self._control, self._on_batch, self._count = control, on_batch, 0

    def check(self) -> None:
        if self._control is not None:
            self._control.check()

    def done(self, count: int) -> None:
        self._count += count
        if self._on_batch is not None:
            self._on_batch(self._count)
