"""Token vectors in few bytes, in one of three codings, by how many tokens the library has.

- `Plain`: 16-bit floats, while there are too few to train anything on.
- `Rounded`: a byte a dimension, in the space of the principal directions. Ranks as exact vectors do; the first
  dimensions alone give a first impression.
- `Residual`: for a library too large for that. As in ColBERTv2 (Santhanam et al. 2022, section 3.3) a token is stored
  as its nearest centroid and a compressed residual; the residual is product-quantised by FAISS (Jegou et al. 2011)
  instead of rounded dimension by dimension. The last byte of a code brings the decoded vector back to unit length: it
  costs nothing and ranks nearer to the exact scores.

Vectors are projected onto the directions that carry most of their energy, and rotated at random there so that each
dimension carries as much. Each token also has the number of its nearest centroid, by which passages are found. A codec
is trained on a sample; when the library has grown eightfold since, it is trained anew.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import faiss
import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import write_bytes
from core.index.generation import damaged

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint16]
Counts = npt.NDArray[np.int64]
Rows = TypeVar("Rows", Numbers, Bytes)
Arrays = dict[str, npt.NDArray[np.generic]]

LEAST_TOKENS = 50_000  # fewer cannot train 256 centroids for each part of the quantiser well
GROWTH = 8  # trained anew when the library holds this many times the tokens it held at the last training
MOST_ROUNDED = 10_000_000  # rows: with 384 dimensions 3.9 GB; more are coded in fewer bytes
_DIMENSION = 192  # of MiniLM's 384: 0.87 of the energy
_SCALES = (0.5, 2.5)  # range of the last byte
_PART = 8  # dimensions in a byte of the code
_MOST_CENTROIDS = 4_096
_SAMPLE = 40  # tokens a centroid is trained on
_ROUNDS = 10
_HEADROOM = 1.5  # for what the sample lacks
_AT_ONCE = 65_536  # tokens
_IN_CACHE = 1024  # tokens whose floats are made and used while they are in the cache: a third of the time saved


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
    _nearest: faiss.IndexFlatL2 = field(init=False, repr=False)

    def __post_init__(self) -> None:
        faiss.omp_set_num_threads(1)
        object.__setattr__(self, "_nearest", _flat(self.centroids))
        object.__setattr__(self, "id", _digest(self._arrays()))

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
            numbers[part] = self._nearest.assign(np.ascontiguousarray(projected[:, : self._nearest.d]), 1)[:, 0]
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
        _save(path, self._arrays())

    def _arrays(self) -> Arrays:
        return {
            "projection": self.projection,
            "centroids": self.centroids,
            "steps": self.steps,
            "tokens": np.array(self.tokens, np.int64),
        }


def joined(rows: Rows, ranges: Sequence[slice]) -> Rows:
    """The rows of these ranges, one after another: copied range by range, not row by row."""
    return np.concatenate([rows[:0], *(rows[r] for r in ranges)])


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


@dataclass(frozen=True)
class Residual:
    """A trained codec.

    `projection` [M, d] has orthonormal columns, `centroids` are [K, d], `parts` [m, 256, d / m] the quantiser's.
    `tokens` is how many the library held when it was trained.
    """

    projection: Floats
    centroids: Floats
    parts: Floats
    tokens: int
    id: str = ""
    _quantiser: faiss.ProductQuantizer = field(init=False, repr=False)
    _nearest: faiss.IndexFlatL2 = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # as for dense files: on a busy machine waiting for a second thread costs more than it gives
        faiss.omp_set_num_threads(1)
        count, _, size = self.parts.shape
        quantiser = faiss.ProductQuantizer(count * size, count, 8)
        faiss.copy_array_to_vector(self.parts.ravel(), quantiser.centroids)
        object.__setattr__(self, "_quantiser", quantiser)
        object.__setattr__(self, "_nearest", _flat(self.centroids))
        object.__setattr__(self, "id", _digest(self._arrays()))

    @property
    def dimension(self) -> int:
        return len(self.projection)

    @property
    def width(self) -> int:
        return len(self.parts) + 1

    def project(self, tokens: Floats) -> Floats:
        return np.asarray(tokens, np.float32) @ self.projection

    def encode(self, tokens: Floats) -> tuple[Numbers, Bytes]:
        numbers, codes = np.empty(len(tokens), np.uint16), np.empty((len(tokens), self.width), np.uint8)
        for start in range(0, len(tokens), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            projected = self.project(tokens[part])
            numbers[part] = self._nearest.assign(projected, 1)[:, 0]
            codes[part, :-1] = self._quantiser.compute_codes(projected - self.centroids[numbers[part]])
            lengths = np.linalg.norm(self.centroids[numbers[part]] + self.residuals(codes[part]), axis=1)
            steps = (1 / np.maximum(lengths, 1e-6) - _SCALES[0]) / (_SCALES[1] - _SCALES[0]) * 255
            codes[part, -1] = np.rint(steps).clip(0, 255)
        return numbers, codes

    def residuals(self, codes: Bytes) -> Floats:
        if len(codes) == 0:
            return np.empty((0, self.centroids.shape[1]), np.float32)
        # the Python layer of FAISS takes and returns arrays, which its type stubs do not know
        return self._quantiser.decode(np.ascontiguousarray(codes[:, :-1]))  # type: ignore[call-arg,func-returns-value,return-value]

    def similarities(
        self, query: CodedQuery, numbers: Numbers, codes: Bytes, ranges: Sequence[slice], *, rough: bool
    ) -> Floats:
        codes = joined(codes, ranges)
        similar_TK = query.tokens_TD @ self.residuals(codes).T
        similar_TK += np.take(query.near_TC, joined(numbers, ranges), axis=1)
        similar_TK *= self.scales(codes)
        return similar_TK

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        vectors = (self.residuals(codes) + self.centroids[numbers]) * self.scales(codes)[:, None]
        return np.asarray(vectors @ self.projection.T, np.float32)

    def scales(self, codes: Bytes) -> Floats:
        return np.float32(_SCALES[0]) + codes[:, -1] * np.float32((_SCALES[1] - _SCALES[0]) / 255)

    def save(self, path: Path) -> None:
        _save(path, self._arrays())

    def _arrays(self) -> Arrays:
        return {
            "projection": self.projection,
            "centroids": self.centroids,
            "parts": self.parts,
            "tokens": np.array(self.tokens, np.int64),
        }


def load(path: Path) -> Trained:
    """The codec of a file.

    Raises:
        IndexDamaged: it is lost, or not what was written (its name tells its content).
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            made, own = (Residual, "parts") if "parts" in found else (Rounded, "steps")
            codec: Trained = made(found["projection"], found["centroids"], found[own], int(found["tokens"]))
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except PermissionError as error:
        raise from_os_error(error, path) from error
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        raise damaged(path) from error
    if path.stem != f"codec-{codec.id}":
        raise damaged(path, "its content does not fit its name")
    return codec


def train(sample: Floats, tokens: int) -> Trained:
    """A codec from a sample [S, M] of the library's `tokens` token vectors. The same sample gives the same codec.

    Raises:
        ValueError: there are fewer than 256 vectors.
    """
    faiss.omp_set_num_threads(1)
    dimension = _dimension(sample.shape[1])
    whole = _projection(sample, dimension)
    projection = np.ascontiguousarray(whole[:, :dimension])
    projected = np.ascontiguousarray(sample @ projection)
    centroids = _centroids(projected, centroid_count(tokens))
    if tokens <= MOST_ROUNDED:
        steps = _HEADROOM * np.abs(sample @ whole).max(axis=0) / 127
        return Rounded(whole, centroids, np.where(steps > 0, steps, 1).astype(np.float32), tokens)
    residuals = projected - centroids[_flat(centroids).assign(projected, 1)[:, 0]]
    quantiser = faiss.ProductQuantizer(dimension, dimension // _PART, 8)
    quantiser.cp.niter, quantiser.cp.max_points_per_centroid = _ROUNDS, _SAMPLE
    quantiser.train(residuals)
    parts = faiss.vector_to_array(quantiser.centroids).reshape(dimension // _PART, 256, _PART)
    return Residual(projection, centroids, parts.astype(np.float32), tokens)


def centroid_count(tokens: int) -> int:
    """A power of two near 4 sqrt(tokens): PLAID (Santhanam et al. 2022) takes 16, which two cores cannot train."""
    return int(min(_MOST_CENTROIDS, max(16, 2 ** round(np.log2(4 * np.sqrt(max(tokens, 1)))))))


def sample_size(tokens: int) -> int:
    """How many tokens to train on."""
    return int(min(tokens, max(LEAST_TOKENS, _SAMPLE * centroid_count(tokens))))


def _dimension(size: int) -> int:
    return min(_DIMENSION, size - size % _PART) or size


def _projection(sample: Floats, dimension: int) -> Floats:
    """The eigenvectors of the second moments [M, M], the first `dimension` and the others rotated at random.

    Each dimension then carries as much as the others of its group.
    """
    _, vectors = np.linalg.eigh(sample.T.astype(np.float64) @ sample / len(sample))
    vectors, rng = vectors[:, ::-1], np.random.default_rng(0)
    groups = [group for group in np.split(vectors, [dimension], axis=1) if group.shape[1]]
    turned = [group @ np.linalg.qr(rng.standard_normal((group.shape[1],) * 2))[0] for group in groups]
    return np.ascontiguousarray(np.concatenate(turned, axis=1), dtype=np.float32)


def _centroids(projected: Floats, count: int) -> Floats:
    kmeans = faiss.Kmeans(
        projected.shape[1], count, niter=_ROUNDS, seed=0, min_points_per_centroid=1,
        max_points_per_centroid=_SAMPLE,
    )  # fmt: skip
    kmeans.train(projected)
    return np.asarray(kmeans.centroids, np.float32).reshape(count, -1)


def _flat(centroids: Floats) -> faiss.IndexFlatL2:
    nearest = faiss.IndexFlatL2(centroids.shape[1])
    nearest.add(centroids)
    return nearest


def _save(path: Path, arrays: Arrays) -> None:
    data = io.BytesIO()
    np.savez(data, **arrays)  # type: ignore[arg-type]
    write_bytes(path, data.getvalue())


def _digest(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]
