"""What a coding of token vectors must do; the plainest of them, and helpers of the others."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from core.base.files import write_bytes

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]
Rows = TypeVar("Rows", Numbers, Bytes)
Arrays = dict[str, npt.NDArray[np.generic]]


class TokenCodec(Protocol):
    """`centroids` [C, d] stand in the first d dimensions of `project`; `width` is bytes of a code, `dimension` is M."""

    @property
    def id(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def centroids(self) -> Floats: ...
    @property
    def width(self) -> int: ...

    def project(self, tokens: Floats) -> Floats:
        """Token vectors [T, M] in the space [T, d] in which scores are inner products."""
        ...

    def encode(self, tokens: Floats) -> tuple[Numbers, Bytes]:
        """Numbers of the centroids [T] and codes [T, width] of token vectors [T, M]."""
        ...

    def similarities(
        self, query: CodedQuery, numbers: Numbers, codes: Bytes, ranges: Sequence[slice], *, rough: bool
    ) -> Floats:
        """Inner products [T, K] of a query's tokens with the coded ones in `ranges` of all.

        With `rough` a part of the dimensions may do.
        """
        ...

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        """Token vectors [T, M], as far as they were kept."""
        ...


class CodedQuery:
    """A query's token vectors in the space of a codec."""

    def __init__(self, codec: TokenCodec, tokens: Floats) -> None:
        self.codec = codec
        self.tokens_TD = codec.project(tokens)

    @cached_property
    def near_TC(self) -> Floats:
        """Inner products with all centroids."""
        centroids = self.codec.centroids
        return np.ascontiguousarray(self.tokens_TD[:, : centroids.shape[1]] @ centroids.T)


class Plain:
    """16-bit floats: needs no training and loses nothing that matters. There is one centroid, the origin."""

    id = ""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.centroids: Floats = np.zeros((1, dimension), np.float32)
        self.width = 2 * dimension

    def project(self, tokens: Floats) -> Floats:
        return np.asarray(tokens, np.float32)

    def encode(self, tokens: Floats) -> tuple[Numbers, Bytes]:
        codes = np.ascontiguousarray(tokens, "<f2").view(np.uint8)
        return np.zeros(len(tokens), np.uint16), codes.reshape(len(tokens), self.width)

    def similarities(
        self, query: CodedQuery, numbers: Numbers, codes: Bytes, ranges: Sequence[slice], *, rough: bool
    ) -> Floats:
        return query.tokens_TD @ self.decode(numbers, joined(codes, ranges)).T

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        return np.ascontiguousarray(codes).view("<f2").astype(np.float32)


class Trained(TokenCodec, Protocol):
    """A codec made from a library's own vectors: `tokens` is how many it held then."""

    @property
    def tokens(self) -> int: ...
    def save(self, path: Path) -> None:
        """Raises DiskFull, NoPermission."""
        ...


def joined(rows: Rows, ranges: Sequence[slice]) -> Rows:
    """The rows of these ranges, one after another: copied range by range, not row by row."""
    return np.concatenate([rows[:0], *(rows[r] for r in ranges)])


def save_arrays(path: Path, arrays: Arrays) -> None:
    data = io.BytesIO()
    np.savez(data, **arrays)  # type: ignore[arg-type]
    write_bytes(path, data.getvalue())


def digest_of(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]
