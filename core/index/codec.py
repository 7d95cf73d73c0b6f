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

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import faiss
import numpy as np

from core.base.errors import from_os_error
from core.index.coding import Arrays, Bytes, CodedQuery, Floats, Numbers, Trained, digest_of, joined, save_arrays
from core.index.generation import damaged
from core.index.rounded import Rounded

LEAST_TOKENS = 50_000  # fewer cannot train 256 centroids for each part of the quantiser well
GROWTH = 8  # trained anew when the library holds this many times the tokens it held at the last training
MOST_ROUNDED = 500_000  # rows: with 384 dimensions 190 MB; more are coded in fewer bytes
_DIMENSION = 192  # of MiniLM's 384: 0.87 of the energy
_SCALES = (0.5, 2.5)  # range of the last byte
_PART = 8  # dimensions in a byte of the code
_MOST_CENTROIDS = 4_096
_SAMPLE = 40  # tokens a centroid is trained on
_ROUNDS = 10
_QUANTILE = 0.9999  # of a dimension's values in the sample: the few beyond are cut off
_AT_ONCE = 65_536  # tokens


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
        object.__setattr__(self, "id", digest_of(self._arrays()))

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
        save_arrays(path, self._arrays())

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
        steps = np.quantile(np.abs(sample @ whole), _QUANTILE, axis=0) / 127
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
