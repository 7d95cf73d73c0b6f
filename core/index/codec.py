"""Token vectors in few bytes: a projection, coarse centroids, and the rest by product quantisation.

As in ColBERTv2 (Santhanam et al. 2022, section 3.3) a token is stored as the number of its nearest centroid and a
compressed residual; the residual is product-quantised by FAISS (Jegou et al. 2011) instead of rounded dimension by
dimension. Before that, vectors are projected onto the directions that carry most of their energy, and rotated at random
so that each part of the quantiser carries as much. The last byte of a code brings the decoded vector back to unit
length: it costs nothing and ranks nearer to the exact scores (top ten of MiniLM's token states: 0.92 equal, not 0.90).

A small library cannot train a quantiser: its tokens are kept plainly, as 16-bit floats (`Plain`). When there are
enough, a codec is trained on a sample; when the library has grown eightfold since, it is trained anew.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import faiss
import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import write_bytes
from core.index.generation import damaged

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint16]

LEAST_TOKENS = 50_000  # fewer cannot train 256 centroids for each part of the quantiser well
GROWTH = 8  # trained anew when the library holds this many times the tokens it held at the last training
_DIMENSION = (
    192  # of MiniLM's 384: 0.87 of the energy; 256 rank a little nearer to exact, in a third more time and room
)
_SCALES = (0.5, 2.5)  # range of the last byte
_PART = 4  # dimensions in a byte of the code
_MOST_CENTROIDS = 4_096
_SAMPLE = 40  # tokens a centroid is trained on
_ROUNDS = 10
_AT_ONCE = 65_536  # tokens


class TokenCodec(Protocol):
    """`centroids` [K, d] stand in the space of `project`; `width` is the bytes of a code, `dimension` is M."""

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

    def residuals(self, codes: Bytes) -> Floats:
        """What is added to the centroids [T, d]."""
        ...

    def scales(self, codes: Bytes) -> Floats | None:
        """What centroids with residuals are multiplied by [T]; None: by 1."""
        ...

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        """Token vectors [T, M], as far as they were kept."""
        ...


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

    def residuals(self, codes: Bytes) -> Floats:
        return np.ascontiguousarray(codes).view("<f2").astype(np.float32)

    def scales(self, codes: Bytes) -> Floats | None:
        return None

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        return self.residuals(codes)


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
        nearest = faiss.IndexFlatL2(self.centroids.shape[1])
        nearest.add(self.centroids)
        object.__setattr__(self, "_quantiser", quantiser)
        object.__setattr__(self, "_nearest", nearest)
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

    def decode(self, numbers: Numbers, codes: Bytes) -> Floats:
        vectors = (self.residuals(codes) + self.centroids[numbers]) * self.scales(codes)[:, None]
        return np.asarray(vectors @ self.projection.T, np.float32)

    def scales(self, codes: Bytes) -> Floats:
        return np.float32(_SCALES[0]) + codes[:, -1] * np.float32((_SCALES[1] - _SCALES[0]) / 255)

    def save(self, path: Path) -> None:
        """Raises DiskFull, NoPermission."""
        data = io.BytesIO()
        np.savez(data, **self._arrays())  # type: ignore[arg-type]
        write_bytes(path, data.getvalue())

    def _arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        return {
            "projection": self.projection,
            "centroids": self.centroids,
            "parts": self.parts,
            "tokens": np.array(self.tokens, np.int64),
        }


def load(path: Path) -> Residual:
    """The codec of a file.

    Raises:
        IndexDamaged: it is lost, or not what was written (its name tells its content).
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
            codec = Residual(found["projection"], found["centroids"], found["parts"], int(found["tokens"]))
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except PermissionError as error:
        raise from_os_error(error, path) from error
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        raise damaged(path) from error
    if path.stem != f"codec-{codec.id}":
        raise damaged(path, "its content does not fit its name")
    return codec


def train(sample: Floats, tokens: int) -> Residual:
    """A codec from a sample [S, M] of the library's `tokens` token vectors. The same sample gives the same codec.

    Raises:
        ValueError: there are fewer than 256 vectors.
    """
    faiss.omp_set_num_threads(1)
    dimension = _dimension(sample.shape[1])
    projection = _projection(sample, dimension)
    projected = np.ascontiguousarray(sample @ projection)
    centroids = _centroids(projected, centroid_count(tokens))
    nearest = faiss.IndexFlatL2(dimension)
    nearest.add(centroids)
    residuals = projected - centroids[nearest.assign(projected, 1)[:, 0]]
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
    """The first eigenvectors of the second moments [M, d], rotated at random: each part then carries as much."""
    _, vectors = np.linalg.eigh(sample.T.astype(np.float64) @ sample / len(sample))
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((dimension, dimension)))
    return np.ascontiguousarray(vectors[:, ::-1][:, :dimension] @ rotation, dtype=np.float32)


def _centroids(projected: Floats, count: int) -> Floats:
    kmeans = faiss.Kmeans(
        projected.shape[1], count, niter=_ROUNDS, seed=0, min_points_per_centroid=1,
        max_points_per_centroid=_SAMPLE,
    )  # fmt: skip
    kmeans.train(projected)
    return np.asarray(kmeans.centroids, np.float32).reshape(count, -1)


def _digest(arrays: dict[str, npt.NDArray[np.generic]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()[:16]
