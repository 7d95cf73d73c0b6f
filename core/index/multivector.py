"""The multi-vector channel of a snapshot: token vectors of all segments, scored by MaxSim.

A passage's score is computed from its own coded tokens alone, so it is the same whatever is scored with it. Only which
passages are worth that is found by centroids (PLAID; Santhanam et al. 2022): those that hold one of the nearest
centroids of a query token, then the best by the centroids of all their tokens.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.base.errors import IndexDamaged
from core.base.types import Generation
from core.index import codec as codecs
from core.index.codec import Floats, TokenCodec
from core.index.dense import Mask, Ordinals
from core.index.generation import damaged
from core.index.maxsim import maxsim
from core.index.members import Members
from core.index.token_file import LACKING, TokenFile

Scores = npt.NDArray[np.float64]

PROBES = 8  # nearest centroids looked up for each query token
_LEAST_PROBED = 1_024  # passages found by single centroids whose centroids are all compared
_LEAST_EXACT = 256  # the best of those, whose tokens are compared


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
        return self._by_segment(tokens, ordinals, exact=True)

    def best(self, tokens: Floats, ordinals: Ordinals, keep: int) -> Scores:
        """As `scores`, but only for the `keep` best of these passages by their tokens' centroids."""
        if len(ordinals) <= keep or not self._codec_of(tokens.shape[1]).id:  # plain tokens have no centroids
            return self.scores(tokens, ordinals)
        found = np.full(len(ordinals), np.nan)
        kept = _largest(self._by_segment(tokens, ordinals, exact=False), keep)
        found[kept] = self.scores(tokens, ordinals[kept])
        return found

    def candidates(self, tokens: Floats, k: int, mask: Mask) -> Ordinals:
        """The passages that are most likely the `k` best."""
        if not self.available or k < 1 or len(tokens) == 0:
            return np.empty(0, np.int64)
        probed = self._probed(tokens, mask)
        found = _largest(probed, max(4 * k, _LEAST_PROBED))
        wanted = max(2 * k, _LEAST_EXACT)
        if len(found) <= wanted:
            return found
        near = self._by_segment(tokens, found, exact=False)
        return found[_largest(near, wanted)]

    def _probed(self, tokens: Floats, mask: Mask) -> Scores:
        """Bounds of the scores by ordinal, from the centroids nearest to each query token; -inf where none is held.

        What holds none of a token's nearest centroids can have no more than the next one's inner product with it.
        """
        codec = self._codec_of(tokens.shape[1])
        near_TC = codec.project(tokens) @ codec.centroids.T
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

    def _by_segment(self, tokens: Floats, ordinals: Ordinals, *, exact: bool) -> Scores:
        """Scores by all tokens, or by their centroids alone."""
        found = np.full(len(ordinals), np.nan)
        if not self.available or len(ordinals) == 0:
            return found
        codec = self._codec_of(tokens.shape[1])
        query_TD = codec.project(tokens)
        near_TC = np.ascontiguousarray(query_TD @ codec.centroids.T)
        for number, first, end in self._with_tokens():
            inside = np.flatnonzero((ordinals >= first) & (ordinals < end))
            if len(inside):
                own = ordinals[inside] - first
                file = self._file(number)
                found[inside] = _exact(codec, file, query_TD, near_TC, own) if exact else _near(file, near_TC, own)
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
    return codecs.load(library / path) if path else codecs.Plain(dimension)


def _exact(codec: TokenCodec, file: TokenFile, query_TD: Floats, near_TC: Floats, ordinals: Ordinals) -> Scores:
    coded = file.coded(ordinals)
    similar_TK = query_TD @ codec.residuals(coded.codes).T
    if near_TC.shape[1] > 1:
        similar_TK += np.take(near_TC, coded.numbers, axis=1)
    scales = codec.scales(coded.codes)
    if scales is not None:
        similar_TK *= scales
    return _told(similar_TK, coded.counts)


def _near(file: TokenFile, near_TC: Floats, ordinals: Ordinals) -> Scores:
    counts, numbers = file.numbers(ordinals)
    return _told(np.take(near_TC, numbers, axis=1), counts)


def _told(similar_TK: Floats, counts: npt.NDArray[np.int64]) -> Scores:
    return np.where(counts == LACKING, np.nan, maxsim(similar_TK, counts.clip(min=0)))


def _largest(scores: Scores, count: int) -> Ordinals:
    """Places of the largest finite scores, at least `count` of them if there are so many: ties all stay."""
    found = np.flatnonzero(np.isfinite(scores))
    if len(found) > count:
        last = np.partition(scores[found], len(found) - count)[len(found) - count]
        found = found[scores[found] >= last]
    return found
