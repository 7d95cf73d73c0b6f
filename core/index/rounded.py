"""Token vectors with a byte a dimension: they rank as exact vectors do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.index.coding import Arrays, Bytes, CodedQuery, Floats, Numbers, digest_of, save_arrays

_AT_ONCE = 4_096  # tokens
_IN_CACHE = 1_024  # tokens whose floats are made and used while they are in the cache: a third of the time saved


@dataclass(frozen=True)
class Rounded:
    """A signed byte a dimension, each in `steps` [M] of its own.

    `projection` [M, M] is orthonormal, its first columns span the principal directions, where the `centroids` [K, d]
    stand.
    """

    projection: Floats
    centroids: Floats
    steps: Floats
    tokens: int
    id: str = ""
    _lengths: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lengths", (self.centroids**2).sum(axis=1) / 2)
        object.__setattr__(self, "id", digest_of(self._arrays()))

    @property
    def dimension(self) -> int:
        return len(self.projection)

    @property
    def width(self) -> int:
        return self.projection.shape[1]

    def project(self, tokens: Floats) -> Floats:
        return np.asarray(tokens, np.float32) @ self.projection

    def encode(self, tokens: Floats) -> tuple[Numbers, Bytes]:
        numbers, codes = np.empty(len(tokens), np.uint16), np.empty((len(tokens), self.width), np.uint8)
        for start in range(0, len(tokens), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            projected = self.project(tokens[part])
            near = projected[:, : self.centroids.shape[1]] @ self.centroids.T - self._lengths
            numbers[part] = near.argmax(axis=1)  # the least distance
            codes[part] = np.rint(projected / self.steps).clip(-127, 127).astype(np.int8).view(np.uint8)
        return numbers, codes

    def similarities(
        self, query: CodedQuery, numbers: Numbers, codes: Bytes, ranges: Sequence[slice], *, rough: bool
    ) -> Floats:
        used = self.centroids.shape[1] if rough else self.dimension
        query_TD = np.ascontiguousarray((query.tokens_TD * self.steps)[:, :used])
        similar_TK = np.empty((len(query_TD), sum(r.stop - r.start for r in ranges)), np.float32)
        coded = codes[:, :used].view(np.int8)
        room, done = np.empty((0, used), np.float32), 0
        for block in _blocks(ranges, _IN_CACHE):
            size = sum(r.stop - r.start for r in block)
            if size > len(room):
                room = np.empty((max(size, _IN_CACHE), used), np.float32)
            np.concatenate([coded[r] for r in block], out=room[:size], casting="unsafe")
            np.matmul(query_TD, room[:size].T, out=similar_TK[:, done : done + size])
            done += size
        return similar_TK

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        vectors = codes.view(np.int8) * self.steps
        return np.asarray(vectors @ self.projection.T, np.float32)

    def save(self, path: Path) -> None:
        save_arrays(path, self._arrays())

    def _arrays(self) -> Arrays:
        return {
            "projection": self.projection,
            "centroids": self.centroids,
            "steps": self.steps,
            "tokens": np.array(self.tokens, np.int64),
        }


def _blocks(ranges: Sequence[slice], size: int) -> Iterator[list[slice]]:
    """Ranges in turn, together no more rows than `size` unless a single one has more."""
    block: list[slice] = []
    rows = 0
    for one in ranges:
        if block and rows + one.stop - one.start > size:
            yield block
            block, rows = [], 0
        block.append(one)
        rows += one.stop - one.start
    if rows:
        yield block
