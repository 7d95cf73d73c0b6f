"""Fusing the channels' scores into one, so that the parts of each passage add up to its score exactly.

Pure functions. Per query and channel, over the union of all channels' candidates: a score is taken above the
channel's floor and divided by the channel's standard deviation. That ranks like the z-normalised weighted sum,
from which it differs by one constant per query, and leaves parts that are not negative for candidates. Reciprocal
ranks (Cormack, Clarke & Büttcher 2009) are the alternative; they rank worse on every collection measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, RERANK

Scores = npt.NDArray[np.float64]

# of dense, lexical and multi as M3-Embedding has them (section 3.1); the words count as much as the meaning. Concepts
# are made of the dense vector: they count only where calibration finds that they add to it
DEFAULT_WEIGHTS = {BM25: 1.0, DENSE: 1.0, LEXICAL: 0.3, MULTI: 1.0, RERANK: 1.0, CONCEPT: 0.0}
_SAME = 1e-9  # a spread below this is rounding: all candidates count as equal
# the share of a query (times the root of its length) at which words begin to count, and at which they count fully;
# the second pair is for libraries of several languages
_BETWEEN, _BETWEEN_OF_MANY = (0.0, 0.83), (0.55, 1.3)
_LONGER = 1.5  # added to the length, so that a single word that stands once in a passage is met fully
_FEW_WORDS = 2  # so few are names more often than questions: where they stand, they are meant
_RANK_OFFSET = 60.0  # k of the reciprocal ranks, as its authors have it

FIRST_RANK = 1.0 / _RANK_OFFSET  # about what the first place of a channel adds by reciprocal ranks

# channels in which 0 says that nothing matched; the others' floor is the weakest candidate
_ZERO_IS_NOTHING = frozenset({BM25, LEXICAL, CONCEPT})


class Method(StrEnum):
    Z_SUM = "z"
    RECIPROCAL = "rrf"


@dataclass(frozen=True, slots=True)
class Fusing:
    """How channels become one ranking. `weights` are the library's; those of a query go before them.

    Token vectors (multi) are compared for the `reranked` best of the other channels, best first, as many as are done in
    `budget_seconds`. With `feedback` the words that the best candidates share count beside the query's, and with
    `alone` also where words are the only channel, which then searches again by all of them. `adaptive`
    makes words count less beside meaning where even the best passage holds little of what was asked. A reranker reads
    the `closely` best, best first, as many as are done in `closely_seconds`.
    """

    method: Method = Method.Z_SUM
    weights: Mapping[str, float] = field(default_factory=dict)
    feedback: bool = True
    adaptive: bool = True
    reranked: int = 200
    budget_seconds: float = 0.12
    closely: int = 50
    closely_seconds: float = 0.3
    alone: bool = False


DEFAULT = Fusing()


@dataclass(frozen=True, slots=True)
class Scale:
    """contribution = weight * (score - floor) / spread; a score that is not a number was not computed and adds 0."""

    floor: float
    spread: float
    weight: float

    def contribution(self, score: float, rank: int | None = None) -> float:
        return float(self.contributions(np.array([score]), np.zeros(1))[0])

    def contributions(self, scores: Scores, ranks: Scores) -> Scores:
        parts = self.weight * ((scores - self.floor) / self.spread)
        return np.where(np.isnan(scores), 0.0, parts) + 0.0


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """contribution = weight / (60 + rank), 0 for passages that the channel did not find."""

    weight: float

    def contribution(self, score: float, rank: int | None = None) -> float:
        return float(self.contributions(np.array([score]), np.array([float(rank or 0)]))[0])

    def contributions(self, scores: Scores, ranks: Scores) -> Scores:
        """`ranks` from 1; 0 for none."""
        return np.where(ranks > 0, self.weight / (_RANK_OFFSET + ranks), 0.0)


Rule = Scale | Reciprocal

RAW = Scale(0.0, 1.0, 1.0)


def scale(channel: str, scores: Scores, weight: float) -> Scale:
    """The scale of a channel for one query, from its scores [U] over the union of the candidates.

    Without spread (one candidate, equal scores, nothing matched) the raw difference to the floor is taken.
    """
    scores = scores[~np.isnan(scores)]
    if len(scores) == 0:
        return Scale(0.0, 1.0, weight)
    floor = 0.0 if channel in _ZERO_IS_NOTHING else float(scores.min())
    spread = float(scores.std())
    return Scale(floor, spread if spread > _SAME else 1.0, weight)


def weight_of(channel: str, weights: Mapping[str, float]) -> float:
    return weights.get(channel, DEFAULT_WEIGHTS.get(channel, 1.0))


def trust(best: float, most: float, words: int, kin: float | None = None) -> float:
    """How far words are to be trusted for a query, from 0 to 1.

    `best` is the highest score among the candidates, `most` that of a passage which holds nothing but the query's
    `words`. A long query is never met as fully as a short one: the share counts times the root of its length. Where
    even the best passage holds next to nothing of what was asked (asked in another language, or in other words),
    the words say little, and their order is mostly chance.

    `kin` is given in a library of several languages: how far the nearest passages in meaning are in the languages of
    those that the words find. Words cannot reach the others, and must be met more fully to count as much.
    """
    if most <= 0.0:
        return 0.0
    if words <= _FEW_WORDS:
        kin = None
    least, enough = _BETWEEN if kin is None else _BETWEEN_OF_MANY
    met = (best / most * math.sqrt(words + _LONGER) - least) / (enough - least)
    return min(1.0, max(0.0, met)) * (1.0 if kin is None else kin)


def scales(scores: Mapping[str, Scores], weights: Mapping[str, float]) -> dict[str, Scale]:
    """Scales of all channels. A single channel keeps its raw scores."""
    if len(scores) == 1:
        return dict.fromkeys(scores, RAW)
    return {c: scale(c, s, weight_of(c, weights)) for c, s in scores.items()}


def reciprocals(channels: Sequence[str], weights: Mapping[str, float]) -> dict[str, Reciprocal]:
    return {c: Reciprocal(weight_of(c, weights)) for c in channels}


def total(parts: Sequence[float]) -> float:
    """The score: the parts added from left to right."""
    result = 0.0
    for part in parts:
        result += part
    return result


def fused(parts: Mapping[str, Scores]) -> Scores:
    """`total` of the contributions [U] of many passages: the same operations in the same order."""
    result: Scores | None = None
    for values in parts.values():
        result = values + 0.0 if result is None else result + values
    return np.empty(0) if result is None else result
