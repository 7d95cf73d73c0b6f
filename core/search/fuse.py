"""Fusing the channels' scores into one, so that the parts of each passage add up to its score exactly.

Pure functions. Per query and channel, over the union of all channels' candidates: a score is taken above the
channel's floor and divided by the channel's standard deviation. That ranks like the z-normalised weighted sum,
from which it differs by one constant per query, and leaves parts that are not negative for candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.types import BM25, DENSE

Scores = npt.NDArray[np.float64]

DEFAULT_WEIGHTS = {BM25: 1.0, DENSE: 1.0}
_SAME = 1e-9  # a spread below this is rounding: all candidates count as equal

# channels in which 0 says that nothing matched; the others' floor is the weakest candidate
_ZERO_IS_NOTHING = frozenset({BM25})


@dataclass(frozen=True, slots=True)
class Scale:
    """contribution = weight * (score - floor) / spread"""

    floor: float
    spread: float
    weight: float

    def contribution(self, score: float) -> float:
        return self.weight * ((score - self.floor) / self.spread)


RAW = Scale(0.0, 1.0, 1.0)


def scale(channel: str, scores: Scores, weight: float) -> Scale:
    """The scale of a channel for one query, from its scores [U] over the union of the candidates.

    Without spread (one candidate, equal scores, nothing matched) the raw difference to the floor is taken.
    """
    if len(scores) == 0:
        return Scale(0.0, 1.0, weight)
    floor = 0.0 if channel in _ZERO_IS_NOTHING else float(scores.min())
    spread = float(scores.std())
    return Scale(floor, spread if spread > _SAME else 1.0, weight)


def scales(scores: Mapping[str, Scores], weights: Mapping[str, float]) -> dict[str, Scale]:
    """Scales of all channels. A single channel keeps its raw scores."""
    if len(scores) == 1:
        return dict.fromkeys(scores, RAW)
    return {c: scale(c, s, weights.get(c, DEFAULT_WEIGHTS.get(c, 1.0))) for c, s in scores.items()}


def contributions(scores: Mapping[str, float], by_channel: Mapping[str, Scale]) -> dict[str, float]:
    """A passage's part from each channel, in the order of `scores`."""
    return {channel: by_channel[channel].contribution(score) for channel, score in scores.items()}


def total(parts: Sequence[float]) -> float:
    """The score: the parts added from left to right."""
    result = 0.0
    for part in parts:
        result += part
    return result


def fused(scores: Mapping[str, Scores], by_channel: Mapping[str, Scale]) -> Scores:
    """`total` of the contributions of many passages: the same operations in the same order."""
    result: Scores | None = None
    for channel, values in scores.items():
        one = by_channel[channel]
        part = one.weight * ((values - one.floor) / one.spread)
        result = part + 0.0 if result is None else result + part
    return np.empty(0) if result is None else result
