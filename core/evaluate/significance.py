"""How far a mean over queries can be trusted, and whether two systems differ: by resampling, with fixed seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

SAMPLES = 5_000
_AT_ONCE = 2_000_000  # random numbers held at a time
_SEED = 20_24
_SAME = 1e-12  # differences below this are rounding


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of a measure and the interval that holds it with 95 % confidence."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """`first` against `second` on the same queries. `delta` is the difference of the means, with its interval;
    `p` the probability of a difference as large by chance; `won`, `lost` and `equal` count queries."""

    first: str
    second: str
    measure: str
    delta: float
    low: float
    high: float
    p: float
    won: int
    lost: int
    equal: int


def interval(values: Sequence[float], level: float = 0.95, samples: int = SAMPLES, seed: int = _SEED) -> Interval:
    """Percentile bootstrap of the mean (Efron 1979; for retrieval Sakai 2006)."""
    table = np.asarray(values, np.float64)
    if len(table) == 0:
        return Interval(0.0, 0.0, 0.0)
    means = np.concatenate([table[drawn].mean(axis=1) for drawn in _draws(len(table), samples, seed)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(table.mean()), float(low), float(high))


def randomisation(first: Sequence[float], second: Sequence[float], samples: int = SAMPLES, seed: int = _SEED) -> float:
    """Two-sided p of a paired randomisation test (Fisher; for retrieval Smucker, Allan & Carterette 2007).

    If the systems were equal, each query's difference could as well have the other sign.
    """
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    differences = differences[np.abs(differences) > _SAME]
    if len(differences) == 0:
        return 1.0
    seen = abs(differences.sum())
    random = np.random.default_rng(seed)
    as_large = 0
    for rows in _rows(len(differences), samples):
        signs = random.integers(0, 2, (rows, len(differences)), dtype=np.int8) * 2.0 - 1.0
        as_large += int((np.abs(signs @ differences) >= seen - _SAME).sum())
    return (as_large + 1) / (samples + 1)


def compare(first: str, second: str, measure: str, values: Sequence[float], others: Sequence[float]) -> Comparison:
    """`values` of the first system and those of the `others`, by query in the same order."""
    differences = np.asarray(values, np.float64) - np.asarray(others, np.float64)
    found = interval(differences.tolist())
    won, lost = int((differences > _SAME).sum()), int((differences < -_SAME).sum())
    p = randomisation(values, others)
    equal = len(differences) - won - lost
    return Comparison(first, second, measure, found.mean, found.low, found.high, p, won, lost, equal)


def _draws(queries: int, samples: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Query numbers drawn with replacement [rows, queries], `samples` rows in all."""
    random = np.random.default_rng(seed)
    for rows in _rows(queries, samples):
        yield random.integers(0, queries, (rows, queries))


def _rows(queries: int, samples: int) -> Iterator[int]:
    most = max(1, _AT_ONCE // queries)
    for start in range(0, samples, most):
        yield min(most, samples - start)
