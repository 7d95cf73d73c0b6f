"""The dense part of a segment: one FAISS flat inner-product index in one immutable file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import atomic_file
from core.index.generation import damaged

Floats = npt.NDArray[np.float32]
Ordinals = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_PART = 1 << 20  # bytes written at a time


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of one file with their inner products as FAISS computes them; `complete` when no other row scores
    as much as the last one."""

    ordinals: Ordinals
    scores: Floats
    complete: bool


def write(path: Path, vectors: Floats) -> str:
    """Write `vectors` [N, D] as an index file, synced to the disk; returns its sha256."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    digest = hashlib.sha256()
    with atomic_file(path) as file:

        def take(part: bytes) -> None:
            digest.update(part)
            file.write(part)

        # in parts: the vectors of a large library are held often enough
        faiss.write_index(index, faiss.PyCallbackIOWriter(take, _PART))  # type: ignore[attr-defined]
    return digest.hexdigest()


class DenseFile:
    """An index file, memory-mapped for reading."""

    def __init__(self, path: Path, passages: int, dimension: int) -> None:
        """
        Raises:
            IndexDamaged: the file is lost, cannot be read, or does not hold `passages` x `dimension` numbers.
        """
        # one query is too little work to share: on a busy machine waiting for a second thread took 45 ms of 46
        faiss.omp_set_num_threads(1)
        self._index = _read(path)
        shape = (self._index.ntotal, self._index.d)
        if shape != (passages, dimension):
            raise damaged(path, f"{shape[0]} x {shape[1]} numbers instead of {passages} x {dimension}")

    def top(self, vector: Floats, k: int, mask: Mask) -> Candidates:
        """The `k` rows with the largest inner product with `vector` [D] among those that `mask` [N] allows."""
        allowed = int(mask.sum())
        k = min(k, allowed)
        if k == 0:
            return Candidates(np.empty(0, np.int64), np.empty(0, np.float32), True)
        scores, ordinals = self._index.search(vector[None, :], k, params=_parameters(mask, allowed))
        return Candidates(ordinals[0].astype(np.int64), scores[0], k == allowed)

    def at_least(self, vector: Floats, threshold: float, mask: Mask) -> Ordinals:
        """All allowed rows whose inner product with `vector` is above `threshold`."""
        parameters = _parameters(mask, int(mask.sum()))
        _, _, ordinals = self._index.range_search(vector[None, :], threshold, params=parameters)
        return ordinals.astype(np.int64)

    def rows(self, ordinals: Ordinals) -> Floats:
        """The vectors [len(ordinals), D]."""
        if len(ordinals) == 0:
            return np.empty((0, self._index.d), np.float32)
        return self._index.reconstruct_batch(np.ascontiguousarray(ordinals, dtype=np.int64))


def _read(path: Path) -> faiss.IndexFlat:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except OSError as error:
        raise from_os_error(error, path) from error
    try:
        index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except (RuntimeError, MemoryError) as error:
        raise damaged(path, f"{size} bytes cannot be read") from error
    if not isinstance(index, faiss.IndexFlat) or index.metric_type != faiss.METRIC_INNER_PRODUCT:
        raise damaged(path, "not a flat inner-product index")
    return index


def _parameters(mask: Mask, allowed: int) -> faiss.SearchParameters | None:
    if allowed == len(mask):
        return None
    bits = np.packbits(mask, bitorder="little")
    # the Python layer of FAISS takes arrays and keywords that its type stubs do not know
    return faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))  # type: ignore[call-arg,arg-type]
