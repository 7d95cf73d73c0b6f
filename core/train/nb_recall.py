"""How many of the passages that the second stage ranks first the first stage had at hand.

nb-recall_n@k is the share of the second stage's `n` best that are among the first stage's `k` best, as a mean over
queries. A first stage that knows the library well leaves few surprises: its negatives are the ones that matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NS = (1, 5, 10, 50)


def nb_recall(first: Mapping[int, Sequence[int]], second: Mapping[int, Sequence[int]], n: int, k: int) -> float:
    """Over the queries of `second`; both map a query to passage ids, best first (ties in the order given).

    Where fewer than `n` passages were ranked the share is of those. 0 for no queries.

    Raises:
        ValueError: `n` or `k` is below 1.
    """
    if n < 1 or k < 1:
        raise ValueError(f"nb-recall of {n}@{k}")
    shares = []
    for query, ranked in second.items():
        best = set(ranked[:n])
        if best:
            shares.append(len(best & set(first.get(query, ())[:k])) / len(best))
    return sum(shares) / len(shares) if shares else 0.0


def report(first: Mapping[int, Sequence[int]], second: Mapping[int, Sequence[int]], k: int) -> dict[str, float]:
    """The figures for several `n` at the depth of mining `k`."""
    return {f"nb-recall_{n}@{k}": round(nb_recall(first, second, n, k), 4) for n in NS}
