"""Measures of a ranking against judgements, as trec_eval computes them.

`ranking` lists document ids, best first; `gains` maps judged ids to gains (0 or less: not relevant).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain at `k`, with linear gains (Järvelin & Kekäläinen 2002)."""
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(document, 0) for document in ranking[:k]]) / ideal if ideal > 0 else 0.0


def mrr(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """Reciprocal rank of the first relevant document among the first `k`, 0 when there is none."""
    for rank, document in enumerate(ranking[:k], 1):
        if gains.get(document, 0) > 0:
            return 1.0 / rank
    return 0.0


def recall(ranking: Sequence[str], gains: Mapping[str, int], k: int = 100) -> float:
    """Share of the relevant documents that are among the first `k`."""
    relevant = {document for document, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def _dcg(gains: Sequence[int]) -> float:
    return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of `values` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0
