"""Measures of a ranking against judgements, as trec_eval computes them, by name at any depth (`ndcg@10`).

`ranking` lists document ids, best first; `gains` maps judged ids to gains (0 or less: not relevant).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from core.base.errors import BadSetting

Measure = Callable[[Sequence[str], Mapping[str, int]], float]

DEFAULTS = ("ndcg@10", "mrr@10", "recall@100", "success@10", "ap@100", "hole@10")


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


def success(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """1 when a relevant document is among the first `k`, else 0."""
    return float(any(gains.get(document, 0) > 0 for document in ranking[:k]))


def average_precision(ranking: Sequence[str], gains: Mapping[str, int], k: int = 100) -> float:
    """Precision at each relevant document among the first `k`, averaged over all relevant documents."""
    relevant = sum(gain > 0 for gain in gains.values())
    found, total = 0, 0.0
    for rank, document in enumerate(ranking[:k], 1):
        if gains.get(document, 0) > 0:
            found += 1
            total += found / rank
    return total / relevant if relevant else 0.0


def hole(ranking: Sequence[str], gains: Mapping[str, int], k: int = 10) -> float:
    """Share of the first `k` that nobody judged: where it is high, the other measures understate (ANCE, section 5)."""
    shown = ranking[:k]
    return sum(document not in gains for document in shown) / len(shown) if shown else 0.0


_KINDS: dict[str, Callable[[Sequence[str], Mapping[str, int], int], float]] = {
    "ndcg": ndcg, "mrr": mrr, "recall": recall, "success": success, "ap": average_precision, "hole": hole,
}  # fmt: skip


def named(name: str) -> Measure:
    """The measure of a name such as `recall@100`.

    Raises:
        BadSetting: there is no such measure.
    """
    found = re.fullmatch(r"([a-z]+)@([1-9]\d{0,5})", name)
    if found is None or found[1] not in _KINDS:
        raise BadSetting(f"{name!r} is no measure.", f"Write one of {', '.join(_KINDS)} with a depth, as in ndcg@10.")
    kind, depth = _KINDS[found[1]], int(found[2])
    return lambda ranking, gains: kind(ranking, gains, depth)


def higher_is_better(name: str) -> bool:
    return not name.startswith("hole@")


def _dcg(gains: Sequence[int]) -> float:
    return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of `values` do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0
