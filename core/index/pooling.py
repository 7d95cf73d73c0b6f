"""A passage's token vectors at two levels: a few that stand for all, then all.

Tokens are clustered by Ward's method and each cluster is replaced by its mean, as unit vector (Clavie, Chaffin & Adams
2024, "Reducing the footprint of multi-vector retrieval with minimal performance impact via token pooling"). The few
tell which passages can be among the best; the score comes from all. A quarter of MiniLM's vectors put the ten best of
200 candidates among their first 48, half of them nine or ten of them in the first ten: too few to do without the rest.
"""

from __future__ import annotations

import numpy as np

from core.index.coding import Counts, Floats

FACTOR = 4  # tokens to a coarse vector


def levels(tokens: Floats) -> Floats:
    """The rows kept for the unit `tokens` [T, M]: ceil(T / FACTOR) coarse ones, then all [T + ceil(T / FACTOR), M]."""
    return np.concatenate([pooled(tokens), np.asarray(tokens, np.float32)])


def coarse_of(rows: Counts) -> Counts:
    """How many of so many rows of a passage are coarse."""
    return -(-rows // (FACTOR + 1))


def pooled(tokens: Floats, factor: int = FACTOR) -> Floats:
    """ceil(T / factor) unit vectors [P, M] for the unit `tokens` [T, M]; with factor 1 they stay as they are.

    Always the two clusters are joined whose joining adds least to the squared distances within clusters (Ward 1963);
    distances to the joined one follow from those to its parts (Lance & Williams 1967).
    """
    count = len(tokens)
    sums = tokens.astype(np.float32)
    sizes = np.ones(count, np.float32)
    costs = 2 - 2 * (sums @ sums.T)
    np.fill_diagonal(costs, np.inf)
    left = np.ones(count, np.bool_)
    for _ in range(count - -(-count // factor)):
        one, other = divmod(int(costs.argmin()), count)
        total = sizes + sizes[one] + sizes[other]
        joined = (sizes + sizes[one]) * costs[one] + (sizes + sizes[other]) * costs[other]
        joined = (joined - sizes * costs[one, other]) / total
        joined[[one, other]] = np.inf
        costs[one], costs[:, one] = joined, joined
        costs[other], costs[:, other] = np.inf, np.inf
        sums[one] += sums[other]
        sizes[one] += sizes[other]
        left[other] = False
    kept = sums[left]
    return np.asarray(kept / np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), 1e-12), np.float32)
