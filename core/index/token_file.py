"""The token vectors of a segment: coded tokens in one immutable file, memory-mapped for reading.

Layout, little-endian: codes uint8 [K, W]; centroid numbers uint16 [K]; for each centroid the passages that hold it, as
bounds int64 [C + 1] and ordinals uint32 [P]; rows of each passage, int32 [N] (-1: it has no token vectors); a foot of
64 bytes. The rows of a passage stand together, first its coarse vectors, then those of its tokens (`pooling.levels`);
passages stand in the segment's order. What is known last comes last, so a file is written as a stream.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import atomic_file
from core.index.coding import Bytes, Counts, Floats, Numbers, TokenCodec, joined
from core.index.generation import damaged
from core.index.pooling import coarse_of, levels

Ordinals = npt.NDArray[np.int64]

_MAGIC = b"WMTOKEN2"
_FOOT = struct.Struct("<8s16s5q")  # magic, codec, passages, tokens, width, centroids, pairs
_RECODED = 16_384  # tokens at a time
Part = tuple[Numbers, Bytes]  # centroid numbers and codes of some tokens

LACKING = -1  # the count of a passage whose tokens were never encoded


@dataclass(frozen=True, slots=True)
class Coded:
    """Coded rows of N passages: `counts` [N] of them (or LACKING), `numbers` [K] of centroids, `codes` [K, W]."""

    codec: str
    counts: Counts
    numbers: Numbers
    codes: Bytes


def code(codec: TokenCodec, tokens: Sequence[Floats | None]) -> Coded:
    """Code the token vectors [T, M] of passages at both levels; None for one that has none."""
    rows = [None if t is None else levels(t) for t in tokens]
    counts = np.array([LACKING if r is None else len(r) for r in rows], np.int64)
    given = [r for r in rows if r is not None and len(r)]
    if not given:
        return Coded(codec.id, counts, np.empty(0, np.uint16), np.empty((0, codec.width), np.uint8))
    return Coded(codec.id, counts, *codec.encode(np.concatenate(given)))


def recoded(parts: Iterable[Part], old: TokenCodec, new: TokenCodec) -> Iterator[Part]:
    """The same tokens in another codec, by way of the vectors as far as they were kept."""
    for numbers, codes in parts:
        for start in range(0, len(numbers), _RECODED):
            part = slice(start, start + _RECODED)
            yield new.encode(old.decode(numbers[part], codes[part]))


def write(path: Path, codec: TokenCodec, counts: Counts, parts: Iterable[Part]) -> str:
    """Write the file, synced to the disk; returns its sha256. `parts` are the tokens, one after another.

    Raises:
        DiskFull, NoPermission
    """
    digest = hashlib.sha256()
    numbers: list[Numbers] = [np.empty(0, np.uint16)]
    with atomic_file(path) as file:

        def put(data: bytes) -> None:
            digest.update(data)
            file.write(data)

        for some, codes in parts:
            numbers.append(np.asarray(some, np.uint16))
            put(np.ascontiguousarray(codes).tobytes())
        all_numbers = np.concatenate(numbers)
        centroids = len(codec.centroids)
        bounds, holders = _lists(counts, all_numbers, centroids)
        for array, kind in ((all_numbers, "<u2"), (bounds, "<i8"), (holders, "<u4"), (counts, "<i4")):
            put(array.astype(kind).tobytes())
        sizes = len(counts), len(all_numbers), codec.width, centroids, len(holders)
        put(_FOOT.pack(_MAGIC, codec.id.encode(), *sizes))
    return digest.hexdigest()


def _lists(counts: Counts, numbers: Numbers, centroids: int) -> tuple[Counts, Ordinals]:
    """For each centroid the passages that hold it, each once."""
    owners = np.repeat(np.arange(len(counts)), counts.clip(min=0))
    pairs = np.unique(numbers.astype(np.int64) * max(len(counts), 1) + owners)
    held, holders = np.divmod(pairs, max(len(counts), 1))
    return np.searchsorted(held, np.arange(centroids + 1)), holders


class TokenFile:
    """The file of a segment of `passages` passages, opened for reading.

    `codes` [K, W], `centroids` [K] and `counts` [N] are as in the layout.
    """

    def __init__(self, path: Path, passages: int) -> None:
        """
        Raises:
            IndexDamaged: the file is lost, cannot be read, or does not hold `passages` passages.
        """
        data = _mapped(path)
        if len(data) < _FOOT.size:
            raise damaged(path, "cut off")
        magic, codec, count, tokens, width, centroids, pairs = _FOOT.unpack(data[-_FOOT.size :].tobytes())
        self.codec = codec.rstrip(b"\0").decode("ascii", "replace")
        self.width = width
        if magic != _MAGIC or count != passages or min(tokens, width, centroids, pairs) < 0:
            raise damaged(path, f"not the token vectors of {passages} passages")
        sizes = (tokens * width, 2 * tokens, 8 * (centroids + 1), 4 * pairs, 4 * count, _FOOT.size)
        if len(data) != sum(sizes):
            raise damaged(path, f"{len(data)} bytes")
        codes, numbers, bounds, holders, counts, _ = np.split(data, np.cumsum(sizes[:-1]))
        self.codes: Bytes = codes.reshape(tokens, width)
        self.centroids: Numbers = numbers.view("<u2")
        self._bounds = bounds.view("<i8")
        self._holders = holders.view("<u4")
        self.counts: Counts = counts.view("<i4").astype(np.int64)
        self._ends = np.cumsum(self.counts.clip(min=0))
        if (self._ends[-1] if count else 0) != tokens or self._bounds[-1] != pairs:
            raise damaged(path, "its counts do not add up")

    @property
    def tokens(self) -> int:
        return len(self.centroids)

    def holders(self, centroid: int) -> Ordinals:
        """Ordinals of the passages that hold the centroid, ascending."""
        return self._holders[self._bounds[centroid] : self._bounds[centroid + 1]].astype(np.int64)

    def coded(self, ordinals: Ordinals) -> Coded:
        """All rows of some passages, in the order asked for."""
        counts = self.counts[ordinals]
        ranges = _ranges(counts, self._ends[ordinals])
        return Coded(self.codec, counts, joined(self.centroids, ranges), joined(self.codes, ranges))

    def level(self, ordinals: Ordinals, *, coarse: bool) -> tuple[Counts, list[slice]]:
        """Counts of coarse vectors or of tokens of some passages, and where they stand in `codes`."""
        rows = self.counts[ordinals]
        few = coarse_of(rows.clip(min=0))
        counts = np.where(rows == LACKING, LACKING, few if coarse else rows - few)
        return counts, _ranges(counts, self._ends[ordinals] - (rows - few if coarse else 0))

    def parts(self, kept: npt.NDArray[np.bool_]) -> Iterator[Part]:
        """The tokens of the passages that `kept` [N] marks, in order, as views of the file."""
        edges = np.flatnonzero(np.diff(kept.astype(np.int8), prepend=0, append=0))
        for first, end in edges.reshape(-1, 2).tolist():
            part = slice(int(self._ends[first - 1]) if first else 0, int(self._ends[end - 1]))
            yield self.centroids[part], self.codes[part]


def _ranges(counts: Counts, stops: Counts) -> list[slice]:
    return [slice(b - max(n, 0), b) for n, b in zip(counts.tolist(), stops.tolist(), strict=True)]


def _mapped(path: Path) -> Bytes:
    try:
        return np.asarray(np.memmap(path, np.uint8, "r"))
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except ValueError:  # an empty file cannot be mapped
        raise damaged(path, "empty") from None
    except OSError as error:
        raise from_os_error(error, path) from error
