"""The token vectors of a segment: coded tokens in one immutable file, memory-mapped for reading.

Layout, little-endian: a head of 64 bytes; tokens of each passage, int32 [N] (-1: it has no token vectors); for each
centroid the passages that hold it, as bounds int64 [C + 1] and ordinals uint32 [P]; centroid numbers uint16 [K]; codes
uint8 [K, W]. The tokens of a passage stand together, passages stand in the segment's order.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.base.errors import from_os_error
from core.base.files import atomic_file
from core.index.codec import Bytes, Floats, Numbers, TokenCodec
from core.index.generation import damaged

Counts = npt.NDArray[np.int64]
Ordinals = npt.NDArray[np.int64]
Array = TypeVar("Array", Numbers, Bytes)

_MAGIC = b"WMTOKEN1"
_HEAD = struct.Struct("<8s16s5q")  # magic, codec, passages, tokens, width, centroids, pairs
_PART = 1 << 20  # bytes written at a time
LACKING = -1  # the count of a passage whose tokens were never encoded


@dataclass(frozen=True, slots=True)
class Coded:
    """Coded tokens of N passages: `counts` [N] of them (or LACKING), `numbers` [K] of centroids, `codes` [K, W]."""

    codec: str
    counts: Counts
    numbers: Numbers
    codes: Bytes

    def take(self, ordinals: Ordinals) -> Coded:
        """Those of some passages, in the order asked for."""
        counts, numbers, codes = _taken(self.counts, _ends(self.counts), self.numbers, self.codes, ordinals)
        return Coded(self.codec, counts, numbers, codes)


def code(codec: TokenCodec, tokens: Sequence[Floats | None]) -> Coded:
    """Code the token vectors [T, M] of passages; None for one that has none."""
    counts = np.array([LACKING if t is None else len(t) for t in tokens], np.int64)
    given = [t for t in tokens if t is not None and len(t)]
    if not given:
        return empty(codec, counts)
    numbers, codes = codec.encode(np.concatenate(given))
    return Coded(codec.id, counts, numbers, codes)


def empty(codec: TokenCodec, counts: Counts) -> Coded:
    return Coded(codec.id, counts, np.empty(0, np.uint16), np.empty((0, codec.width), np.uint8))


def recode(coded: Coded, old: TokenCodec, new: TokenCodec) -> Coded:
    """The same tokens in another codec, by way of the vectors as far as they were kept."""
    if old.id == new.id:
        return coded
    numbers, codes = np.empty(len(coded.numbers), np.uint16), np.empty((len(coded.numbers), new.width), np.uint8)
    for start in range(0, len(numbers), _PART // 16):
        part = slice(start, start + _PART // 16)
        numbers[part], codes[part] = new.encode(old.decode(coded.numbers[part], coded.codes[part]))
    return Coded(new.id, coded.counts, numbers, codes)


def joined(parts: Sequence[Coded]) -> Coded:
    """The passages of several, one after another; all of one codec."""
    assert len({part.codec for part in parts}) == 1
    return Coded(
        parts[0].codec,
        np.concatenate([p.counts for p in parts]),
        np.concatenate([p.numbers for p in parts]),
        np.concatenate([p.codes for p in parts]),
    )


def write(path: Path, coded: Coded, centroids: int) -> str:
    """Write the file, synced to the disk; returns its sha256. Raises DiskFull, NoPermission."""
    bounds, holders = _lists(coded, centroids)
    size = len(coded.counts), len(coded.numbers), coded.codes.shape[1], centroids, len(holders)
    head = _HEAD.pack(_MAGIC, coded.codec.encode(), *size)
    arrays = (
        coded.counts.astype("<i4"), bounds.astype("<i8"), holders.astype("<u4"), coded.numbers.astype("<u2"),
        coded.codes,
    )  # fmt: skip
    digest = hashlib.sha256()
    with atomic_file(path) as file:
        for part in (head, *_parts(arrays)):
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


def _parts(arrays: Sequence[npt.NDArray[np.generic]]) -> Iterator[memoryview]:
    for array in arrays:
        data = memoryview(np.ascontiguousarray(array)).cast("B") if array.size else memoryview(b"")
        for start in range(0, len(data), _PART):
            yield data[start : start + _PART]


def _lists(coded: Coded, centroids: int) -> tuple[Counts, Ordinals]:
    """For each centroid the passages that hold it, each once."""
    counts = coded.counts.clip(min=0)
    owners = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(coded.numbers.astype(np.int64) * max(len(counts), 1) + owners)
    numbers, holders = np.divmod(pairs, max(len(counts), 1))
    return np.searchsorted(numbers, np.arange(centroids + 1)), holders


class TokenFile:
    """The file of a segment of `passages` passages, opened for reading."""

    def __init__(self, path: Path, passages: int) -> None:
        """
        Raises:
            IndexDamaged: the file is lost, cannot be read, or does not hold `passages` passages.
        """
        data = _mapped(path)
        if len(data) < _HEAD.size:
            raise damaged(path, "cut off")
        magic, codec, count, tokens, width, centroids, pairs = _HEAD.unpack(data[: _HEAD.size].tobytes())
        self.codec = codec.rstrip(b"\0").decode("ascii", "replace")
        self.width = width
        if magic != _MAGIC or count != passages or min(tokens, width, centroids, pairs) < 0:
            raise damaged(path, f"not the token vectors of {passages} passages")
        sizes = (4 * count, 8 * (centroids + 1), 4 * pairs, 2 * tokens, tokens * width)
        if len(data) != _HEAD.size + sum(sizes):
            raise damaged(path, f"{len(data)} bytes")
        parts = np.split(data, np.cumsum([_HEAD.size, *sizes[:-1]]))[1:]
        self.counts: Counts = parts[0].view("<i4").astype(np.int64)
        self._bounds = parts[1].view("<i8")
        self._holders = parts[2].view("<u4")
        self._numbers: Numbers = parts[3].view("<u2")
        self._codes: Bytes = parts[4].reshape(tokens, width)
        self._ends = _ends(self.counts)
        if (self._ends[-1] if count else 0) != tokens or self._bounds[-1] != pairs:
            raise damaged(path, "its counts do not add up")

    @property
    def tokens(self) -> int:
        return len(self._numbers)

    def holders(self, centroid: int) -> Ordinals:
        """Ordinals of the passages that hold the centroid, ascending."""
        return self._holders[self._bounds[centroid] : self._bounds[centroid + 1]].astype(np.int64)

    def numbers(self, ordinals: Ordinals) -> tuple[Counts, Numbers]:
        """Counts of tokens, and their centroids."""
        counts = self.counts[ordinals]
        return counts, _ranges(self._numbers, self._ends, counts, ordinals)

    def coded(self, ordinals: Ordinals) -> Coded:
        """The tokens of some passages, in the order asked for."""
        counts, numbers, codes = _taken(self.counts, self._ends, self._numbers, self._codes, ordinals)
        return Coded(self.codec, counts, numbers, codes)


def _ends(counts: Counts) -> Counts:
    return np.cumsum(counts.clip(min=0))


def _taken(
    counts: Counts, ends: Counts, numbers: Numbers, codes: Bytes, ordinals: Ordinals
) -> tuple[Counts, Numbers, Bytes]:
    wanted = counts[ordinals]
    return wanted, _ranges(numbers, ends, wanted, ordinals), _ranges(codes, ends, wanted, ordinals)


def _ranges(rows: Array, ends: Counts, counts: Counts, ordinals: Ordinals) -> Array:
    """The rows of some passages one after another: copied range by range, not row by row."""
    stops = ends[ordinals]
    starts = stops - counts.clip(min=0)
    return np.concatenate([rows[:0], *(rows[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True))])


def _mapped(path: Path) -> Bytes:
    try:
        return np.asarray(np.memmap(path, np.uint8, "r"))
    except FileNotFoundError:
        raise damaged(path, "missing") from None
    except ValueError:  # an empty file cannot be mapped
        raise damaged(path, "empty") from None
    except OSError as error:
        raise from_os_error(error, path) from error
