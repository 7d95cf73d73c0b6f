"""Which of an encoder's two graphs is served: the one in 8 bits where it ranks the same and is faster on this machine.

Agreement is the mean, over questions, of Spearman's correlation between the scores that the exact and the rounded
encoder give to the sample's texts. The sample is small: it finds a graph that went wrong, and it was near the figures
of real collections, but it does not replace them.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from core.encode.encoder import QUERY, Encoder, FloatArray
from core.encode.sample import JUDGED, QUESTIONS

LEAST_AGREEMENT = 0.99
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Comparison:
    """`agreement` of rankings, at most 1; `speed` is the processor time of the exact graph over that of the other."""

    agreement: float
    speed: float

    @property
    def passed(self) -> bool:
        return self.agreement >= LEAST_AGREEMENT and self.speed > 1


def compare(exact: Encoder, rounded: Encoder) -> Comparison:
    """Encode the sample with both, by turns."""
    seconds: list[tuple[float, float]] = []
    for _ in range(_ROUNDS):
        (left, first), (right, second) = _passages(exact), _passages(rounded)
        seconds.append((first, second))
    scores = (
        encoder.encode(QUESTIONS, kind=QUERY) @ vectors.T for encoder, vectors in ((exact, left), (rounded, right))
    )
    times = [statistics.median(column) for column in zip(*seconds, strict=True)]
    return Comparison(spearman(*scores), times[0] / max(times[1], 1e-9))


def spearman(left: FloatArray, right: FloatArray) -> float:
    """Mean over the rows [Q, N] of the correlation of ranks."""
    first, second = (_centred_ranks(scores) for scores in (left, right))
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / norms).mean())


def _centred_ranks(scores: FloatArray) -> FloatArray:
    ranks = scores.argsort(axis=1, kind="stable").argsort(axis=1)
    return np.asarray(ranks - ranks.mean(axis=1, keepdims=True), np.float32)


def _passages(encoder: Encoder) -> tuple[FloatArray, float]:
    start = time.process_time()
    return encoder.encode(JUDGED), time.process_time() - start
