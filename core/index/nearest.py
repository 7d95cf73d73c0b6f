"""The dense channel of a snapshot: nearest neighbours over the files of its segments, scored exactly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.types import Generation
from core.index.dense import DenseFile, Floats, Mask, Ordinals
from core.index.members import Members

Scores = npt.NDArray[np.float64]

_NO_SCORES = np.empty(0, np.float32)
_NO_ORDINALS = np.empty(0, np.int64)
_SPARE = 4  # rows more than asked for: seldom are there more as near as the last one
_AT_ONCE = 100  # rows made numbers of 64 bits: more of them leave the processor's cache before they are used
_TIE = 1e-5  # FAISS sums in 32 bits: what is this close to the last candidate is scored again exactly


class Nearest:
    """Opens a file when it is first needed. All methods raise IndexDamaged when one cannot be used."""

    def __init__(self, library: Path, made: Generation, members: Members) -> None:
        self._library, self._made, self._members = library, made, members
        self._files: dict[int, DenseFile] = {}

    def close(self) -> None:
        self._files.clear()

    def candidates(self, vector: Floats, k: int, mask: Mask) -> Ordinals:
        """At least the `k` nearest: all whose 32-bit score is not clearly below the k-th."""
        if k < 1:
            return np.empty(0, np.int64)
        segments = self._members.segments()
        tops = [self._file(n).top(vector, k + _SPARE, mask[first:end]) for n, first, end in segments]
        threshold = _kth([top.scores for top in tops], k) - _TIE
        found = []
        for (number, first, end), top in zip(segments, tops, strict=True):
            near = _above(top.scores, threshold)
            if near == len(top.scores) and not top.complete:  # more may be as near as the last one
                ordinals = self._file(number).at_least(vector, threshold, mask[first:end])
            else:
                ordinals = top.ordinals[:near]
            found.append(ordinals + first if first else ordinals)
        return found[0] if len(found) == 1 else np.concatenate([_NO_ORDINALS, *found])

    def scores(self, vector: Floats, ordinals: Ordinals) -> Scores:
        """Inner products, row by row in 64 bits: the same number whatever else is scored with it."""
        scores, query = np.empty(len(ordinals)), vector.astype(np.float64)
        for start in range(0, len(ordinals), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            np.vecdot(self.rows(ordinals[part]).astype(np.float64), query, out=scores[part])
        return scores

    def rows(self, ordinals: Ordinals) -> Floats:
        """The vectors [len(ordinals), D]."""
        segments = self._members.segments()
        if len(segments) == 1:
            return self._file(0).rows(ordinals)
        found = np.empty((len(ordinals), self._made.dimension), np.float32)
        for number, first, end in segments:
            inside = (ordinals >= first) & (ordinals < end)
            if inside.any():
                found[inside] = self._file(number).rows(ordinals[inside] - first)
        return found

    def _file(self, number: int) -> DenseFile:
        if number not in self._files:
            file = self._made.segments[number]
            self._files[number] = DenseFile(self._library / file.dense_path, file.passages, self._made.dimension)
        return self._files[number]


def _above(scores: Floats, threshold: float) -> int:
    """How many of the scores, best first, are above the threshold."""
    return len(scores) - int(scores[::-1].searchsorted(threshold, side="right"))


def _kth(scores: Sequence[Floats], k: int) -> float:
    """The k-th largest of the scores, each part best first; the smallest where there are fewer."""
    every = scores[0] if len(scores) == 1 else np.sort(np.concatenate([_NO_SCORES, *scores]))[::-1]
    return float(every[min(k, len(every)) - 1]) if len(every) else 0.0
