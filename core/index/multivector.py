"""The multi-vector channel of a snapshot: token vectors of all segments, scored by MaxSim.

A passage's score is computed from its own coded tokens alone, so it is the same whatever is scored with it. Which
passages are worth that is found in steps: those that hold one of the nearest centroids of a query token, the best of
them by the centroids of their coarse vectors (PLAID; Santhanam et al. 2022), the best of those by the coarse vectors.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.base.errors import IndexDamaged
from core.base.types import Generation
from core.index import codec as codecs
from core.index.coding import CodedQuery, Floats, Plain, TokenCodec, joined
from core.index.dense import Mask, Ordinals
from core.index.generation import damaged
from core.index.maxsim import maxsim
from core.index.members import Members
from core.index.token_file import LACKING, TokenFile

Scores = npt.NDArray[np.float64]

PROBES = 8  # nearest centroids looked up for each query token
_LEAST_PROBED = 1_024  # passages found by single centroids whose centroids are all compared
_LEAST_COARSE = 256  # the best of those, whose coarse vectors are compared
_STEP = 12  # passages whose tokens are compared before it is asked again whether others can be among the best
_FIRST = 24  # at first: what they gain by their tokens over their coarse vectors tells what others can gain
_SURE = 3.0  # standard deviations of the gain

Level = Literal["centroids", "coarse", "tokens"]


class MultiVectors:
    """Opens a file when it is first needed. All methods raise IndexDamaged when one cannot be used."""

    def __init__(self, library: Path, made: Generation, members: Members) -> None:
        self._library, self._made, self._members = library, made, members
        self._files: dict[int, TokenFile] = {}
        self._codec: TokenCodec | None = None

    def close(self) -> None:
        self._files.clear()

    @property
    def available(self) -> bool:
        """Whether any passage has token vectors."""
        return any(file.multi_path for file in self._made.segments)

    def scores(self, tokens: Floats, ordinals: Ordinals) -> Scores:
        """MaxSim of the query's `tokens` [T, M] with these passages, not a number for those without token vectors."""
        return self._by_segment(self._query(tokens), ordinals, "tokens")

    def reranked(self, tokens: Floats, ordinals: Ordinals, best: int, until: float) -> Scores:
        """As `scores` for all that can be among the `best`, an estimate for the others.

        Passages are compared in the order of their coarse vectors' scores, until even an uncommonly large gain would
        not lift the next one among the best, or time.perf_counter() is past `until`. The others get their coarse score
        and the mean gain.
        """
        query = self._query(tokens)
        found = self._by_segment(query, ordinals, "coarse")
        order = np.argsort(-found)[: int(np.isfinite(found).sum())]
        gains = np.empty(0)
        while len(gains) < len(order):
            if len(gains) and time.perf_counter() >= until:
                break
            if len(gains) >= best:
                least = np.partition(found[order[: len(gains)]], len(gains) - best)[len(gains) - best]
                if found[order[len(gains)]] + gains.mean() + _SURE * gains.std() < least:
                    break
            some = order[len(gains) : len(gains) + (_STEP if len(gains) else max(_FIRST, best))]
            compared = self._by_segment(query, ordinals[some], "tokens")
            gains = np.append(gains, compared - found[some])
            found[some] = compared
        if len(gains):
            found[order[len(gains) :]] += gains.mean()
        return found

    def candidates(self, tokens: Floats, k: int, mask: Mask) -> Ordinals:
        """The passages that are most likely the `k` best."""
        if not self.available or k < 1 or len(tokens) == 0:
            return np.empty(0, np.int64)
        query = self._query(tokens)
        probed = self._probed(query.near_TC, mask)
        found = _largest(probed, max(4 * k, _LEAST_PROBED))
        levels: tuple[tuple[Level, int], ...] = (("centroids", max(2 * k, _LEAST_COARSE)), ("coarse", max(2 * k, 64)))
        for level, wanted in levels:
            if len(found) > wanted:
                found = found[_largest(self._by_segment(query, found, level), wanted)]
        return found

    def _probed(self, near_TC: Floats, mask: Mask) -> Scores:
        """Bounds of the scores by ordinal, from the centroids nearest to each query token; -inf where none is held.

        What holds none of a token's nearest centroids can have no more than the next one's inner product with it.
        """
        probes = min(PROBES, near_TC.shape[1] - 1)
        order_TC = np.argsort(-near_TC, axis=1)[:, : probes + 1]
        total = np.full(len(self._members.ids), -np.inf)
        for number, first, end in self._with_tokens():
            file = self._file(number)
            if probes < 1:  # a single centroid says nothing
                total[first:end] = np.where(file.counts >= 0, 0.0, -np.inf)
                continue
            held = np.zeros(end - first, np.bool_)
            gained = np.zeros(end - first, np.float32)
            for near, order in zip(near_TC, order_TC, strict=True):
                one = np.zeros(end - first, np.float32)
                for centroid in order[probes - 1 :: -1].tolist():  # the best last: it stays
                    holders = file.holders(centroid)
                    one[holders] = near[centroid] - near[order[probes]]
                    held[holders] = True
                gained += one
            total[first:end] = np.where(held, gained, -np.inf)
        return np.where(mask, total, -np.inf)

    def _by_segment(self, query: CodedQuery, ordinals: Ordinals, level: Level) -> Scores:
        """Scores by the passages' tokens, by their coarse vectors, or by the centroids of these."""
        found = np.full(len(ordinals), np.nan)
        if not self.available or len(ordinals) == 0:
            return found
        for number, first, end in self._with_tokens():
            inside = np.flatnonzero((ordinals >= first) & (ordinals < end))
            if len(inside):
                own = ordinals[inside] - first
                found[inside] = _scored(query, self._file(number), own, level)
        return found

    def _with_tokens(self) -> list[tuple[int, int, int]]:
        return [s for s in self._members.segments() if self._made.segments[s[0]].multi_path]

    def _file(self, number: int) -> TokenFile:
        if number not in self._files:
            file = self._made.segments[number]
            path = self._library / file.multi_path
            opened = TokenFile(path, file.passages)
            if opened.codec != (self._codec.id if self._codec else ""):
                raise damaged(path, "of another codec")
            self._files[number] = opened
        return self._files[number]

    def _query(self, tokens: Floats) -> CodedQuery:
        return CodedQuery(self._codec_of(tokens.shape[1]), tokens)

    def _codec_of(self, dimension: int) -> TokenCodec:
        if self._codec is None:
            codec = open_codec(self._library, self._made.codec, dimension)
            if codec.dimension != dimension:
                raise IndexDamaged(
                    f"The token vectors have {codec.dimension} dimensions, the encoder's have {dimension}.",
                    "Repair the library: the index is made again from the stored text.",
                )
            self._codec = codec
        return self._codec


def open_codec(library: Path, path: str, dimension: int) -> TokenCodec:
    """The codec that a generation names; without a name vectors of `dimension` are kept plainly.

    Raises:
        IndexDamaged
    """
    return codecs.load(library / path) if path else Plain(dimension)


def _scored(query: CodedQuery, file: TokenFile, ordinals: Ordinals, level: Level) -> Scores:
    counts, ranges = file.level(ordinals, coarse=level != "tokens")
    if level == "centroids":
        similar_TK = np.take(query.near_TC, joined(file.centroids, ranges), axis=1)
    else:
        rough = level == "coarse"
        similar_TK = query.codec.similarities(query, file.centroids, file.codes, ranges, rough=rough)
    return np.where(counts == LACKING, np.nan, maxsim(similar_TK, counts.clip(min=0)))


def _largest(scores: Scores, count: int) -> Ordinals:
    """Places of the largest finite scores, at least `count` of them if there are so many: ties all stay."""
    found = np.flatnonzero(np.isfinite(scores))
    if len(found) > count:
        last = np.partition(scores[found], len(found) - count)[len(found) - count]
        found = found[scores[found] >= last]
    return found
