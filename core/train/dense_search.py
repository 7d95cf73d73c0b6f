"""Exact search over the passages of a library by the vectors of an encoder in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.train.blocks import Keep, encoded
from core.train.negatives import Ranked
from core.train.types import Piece

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str], str, Control | None], Vectors]
_AT_ONCE = 256  # questions


def nearest(queries: Vectors, passages: Vectors, depth: int) -> tuple[npt.NDArray[np.int64], Vectors]:
    """Places [Q, depth] and scores of the `depth` passages of largest inner product, best first; ties by place."""
    depth = min(depth, len(passages))
    places, scores = [np.empty((0, depth), np.int64)], [np.empty((0, depth), np.float32)]
    for start in range(0, len(queries), _AT_ONCE):
        found = queries[start : start + _AT_ONCE] @ passages.T
        order = np.argsort(-found, axis=1, kind="stable")[:, :depth]
        places.append(order)
        scores.append(np.take_along_axis(found, order, axis=1))
    return np.concatenate(places), np.concatenate(scores)


class DenseSearch:
    """A `Search` by an encoder: `encode(texts, kind)` gives unit vectors. Passages are encoded once, here; with `keep`
    what was encoded before a stop is taken from there.

    Raises:
        Cancelled, DiskFull
    """

    def __init__(
        self, encode: Encode, pieces: Sequence[Piece], control: Control | None = None, keep: Keep | None = None
    ) -> None:
        self._encode = encode
        self._ids = np.array([piece.id for piece in pieces])
        self.vectors = encoded([piece.input for piece in pieces], lambda part: encode(part, "passage", control), keep)

    def __call__(self, texts: Sequence[str], depth: int) -> list[Ranked]:
        places, scores = nearest(self._encode(texts, "query", None), self.vectors, depth)
        return [
            list(zip(self._ids[row].tolist(), own.tolist(), strict=True))
            for row, own in zip(places, scores, strict=True)
        ]
