"""Simulation: what a judge foretells who has nothing but the names of concepts.

A name is good when it leads to the passages in which its latent is active, and names together are good when they tell
which of two passages a search ranks higher. Source: Park, Kim, Ko (arXiv 2506.00041) section 5; Bills et al. (2023,
"Language models can explain neurons") for the idea.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NAMES = 10  # of a passage, that the judge sees
_NEAR = 10  # the better passage of a pair is among the query's first ones
_DEPTH = 1_000  # the other one is behind it, among as many

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


def picked(scores: Floats, members: Rows, others: Rows) -> float:
    """How often a judge prefers a member to another passage by its `scores` [N] for a name; 0.5 by guessing, or NaN.

    Exact over all pairs; equal scores count one half.
    """
    if not len(members) or not len(others):
        return float("nan")
    ordered = np.sort(scores[others])
    below = np.searchsorted(ordered, scores[members], "left")
    up_to = np.searchsorted(ordered, scores[members], "right")
    return float((below + up_to).mean() / (2 * len(others)))


def foretold(
    names: Floats, activations: Floats, idf: Floats, queries: Floats, scores: Floats, seed: int, *, pairs: int = 500,
) -> float:  # fmt: skip
    """How often the names alone tell which of two passages is nearer to a query; 0.5 by guessing.

    `names` [M, L] and `queries` [Q, L] are unit vectors in the judge's space, a row of zeros for a latent without a
    name; `activations` [N, M]; `idf` [M]; `scores` [Q, N] is the ranking to foretell. The judge sees the ten names with
    the largest activation · IDF of each passage, and prefers the passage whose names are nearer to the query.
    """
    luck = np.random.default_rng(seed)
    named_M = np.linalg.norm(names, axis=1) > 0
    right = []
    for query in luck.integers(len(queries), size=pairs):
        order = np.argsort(-scores[query], kind="stable")[:_DEPTH]
        near = min(_NEAR, len(order) // 2)
        better, worse = luck.choice(order[:near]), luck.choice(order[near:])
        seen = [_nearness(activations[row] * idf * named_M, names, queries[query]) for row in (better, worse)]
        right.append(1.0 if seen[0] > seen[1] else 0.5 if seen[0] == seen[1] else 0.0)
    return float(np.mean(right))


def _nearness(strengths: Floats, names: Floats, query: Floats) -> float:
    """Mean similarity of a passage's strongest names to the query, weighted by their strength."""
    first = np.argsort(-strengths, kind="stable")[:NAMES]
    total = float(strengths[first].sum())
    return float(strengths[first] @ (names[first] @ query)) / total if total > 0 else 0.0
