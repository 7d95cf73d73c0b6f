"""The dense part of a segment: one immutable FAISS file of full vectors, with short codes beside them when it is large.

Up to `FLAT_UP_TO` rows all vectors are compared, exactly. Beyond that, all codes are: 4 bits for every two numbers
(product quantisation, Jegou et al. 2011, scanned in registers as by Andre et al. 2015), and the best of them are
compared again by their full vectors. Measured against exact search on 60,000 to 1,000,000 vectors of two encoders this
finds every one of the ten nearest, where graphs and cells of equal speed lost 3 of 100 and took longer to build.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import atomic_file
from core.index.generation import damaged

Floats = npt.NDArray[np.float32]
Ordinals = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FLAT_UP_TO = 20_000  # rows: some 2 ms of exact search on one core; beyond, the codes are compared faster
_TRAINED_ON = 20_000  # rows, spread evenly
_AGAIN = 5  # times as many rows as asked for are compared again by their full vectors,
_LEAST_AGAIN = 1_000  # and no fewer than these
_PART = 1 << 20  # bytes written at a time


class Candidates(NamedTuple):
    """Rows of one file, best first, with their inner products as FAISS computes them; `complete` when these are all
    there are."""

    ordinals: Ordinals
    scores: Floats
    complete: bool


def write(path: Path, vectors: Floats) -> str:
    """Write `vectors` [N, D] as an index file, synced to the disk; returns its sha256."""
    index = _made(np.ascontiguousarray(vectors, dtype=np.float32))
    digest = hashlib.sha256()
    with atomic_file(path) as file:

        def take(part: bytes) -> None:
            digest.update(part)
            file.write(part)

        # in parts: the vectors of a large library are held often enough
        faiss.write_index(index, faiss.PyCallbackIOWriter(take, _PART))  # type: ignore[attr-defined]
    return digest.hexdigest()


def _made(vectors: Floats) -> faiss.Index:
    _one_thread()
    dimension = vectors.shape[1]
    if len(vectors) <= FLAT_UP_TO or dimension % 2:
        index: faiss.Index = faiss.IndexFlatIP(dimension)
    else:
        # one cell: FAISS lets only indexes with cells choose among their rows
        codes = faiss.index_factory(dimension, f"IVF1,PQ{dimension // 2}x4fs", faiss.METRIC_INNER_PRODUCT)
        faiss.downcast_index(codes).by_residual = False  # type: ignore[attr-defined]
        index = faiss.IndexRefineFlat(codes)
        index.train(np.ascontiguousarray(vectors[:: -(-len(vectors) // _TRAINED_ON)]))
    index.add(vectors)
    return index


def _one_thread() -> None:
    """One query is too little work to share: on a busy machine waiting for a second thread took 45 ms of 46."""
    faiss.omp_set_num_threads(1)


class DenseFile:
    """An index file, memory-mapped for reading."""

    def __init__(self, path: Path, passages: int, dimension: int) -> None:
        """
        Raises:
            IndexDamaged: the file is lost, cannot be read, or does not hold `passages` x `dimension` numbers.
        """
        _one_thread()
        self._index = _read(path)
        coded = isinstance(self._index, faiss.IndexRefineFlat)
        self._flat = faiss.downcast_index(self._index.refine_index) if coded else self._index  # type: ignore[attr-defined]
        shape = (self._index.ntotal, self._index.d)
        if shape != (passages, dimension):
            raise damaged(path, f"{shape[0]} x {shape[1]} numbers instead of {passages} x {dimension}")
        # where the file is mapped; valid as long as the index is open
        first = self._flat.get_xb()  # type: ignore[attr-defined]
        vectors: Floats = faiss.rev_swig_ptr(first, passages * dimension).reshape(shape)
        # as bytes, since numbers may begin at any byte of the file: `take` would copy all of them first
        self._bytes = vectors.view(np.uint8)

    def top(self, vector: Floats, k: int, mask: Mask) -> Candidates:
        """The `k` rows with the largest inner product with `vector` [D] among those that `mask` [N] allows."""
        allowed = int(np.count_nonzero(mask))
        k = min(k, allowed)
        if k == 0:
            return Candidates(np.empty(0, np.int64), np.empty(0, np.float32), True)
        parameters = _parameters(mask, allowed)
        if self._flat is self._index or allowed <= FLAT_UP_TO:
            scores, ordinals = self._flat.search(vector[None, :], k, params=parameters)
        else:
            scores, ordinals = self._index.search(vector[None, :], k, params=_refined(k, parameters))
        return Candidates(ordinals[0], scores[0], k == allowed)  # 64-bit integers, as FAISS returns them

    def at_least(self, vector: Floats, threshold: float, mask: Mask) -> Ordinals:
        """All allowed rows whose inner product with `vector` is above `threshold`, found exactly."""
        parameters = _parameters(mask, int(np.count_nonzero(mask)))
        _, _, ordinals = self._flat.range_search(vector[None, :], threshold, params=parameters)
        return ordinals.astype(np.int64)

    def rows(self, ordinals: Ordinals) -> Floats:
        """The vectors [len(ordinals), D]."""
        return self._bytes.take(ordinals, axis=0).view(np.float32)  # faster than by an index in brackets


def _read(path: Path) -> faiss.Index:
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
    if (
        not isinstance(index, faiss.IndexFlat | faiss.IndexRefineFlat)
        or index.metric_type != faiss.METRIC_INNER_PRODUCT
    ):
        raise damaged(path, "not an inner-product index of full vectors")
    return index


def _parameters(mask: Mask, allowed: int) -> faiss.SearchParameters | None:
    if allowed == len(mask):
        return None
    bits = np.packbits(mask, bitorder="little")
    # the Python layer of FAISS takes arrays and keywords that its type stubs do not know
    return faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))  # type: ignore[call-arg,arg-type]


def _refined(k: int, rows: faiss.SearchParameters | None) -> faiss.SearchParameters:
    """Compare again more rows than the `k` asked for; `rows` choose among them."""
    selector = {} if rows is None else {"sel": rows.sel}
    codes = faiss.SearchParametersIVF(nprobe=1, **selector)  # type: ignore[call-arg]
    times = max(_AGAIN, _LEAST_AGAIN / k)
    return faiss.IndexRefineSearchParameters(k_factor=times, base_index_params=codes)  # type: ignore[call-arg]
