"""Whether a reranker may read the best candidates of a library's searches: on held-out questions, beyond doubt.

It is compared with the fused ranking that it reorders, in a library of the held-out pool, with as many candidates as
this machine reads in the time that a search has. How much it weighs is chosen on other questions than those that judge.
A reranker that does not beat the search is no teacher of it either.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.base.events import Control, Listener, Progress, ignore
from core.base.types import Query
from core.encode.encoder import QUERY, Encoder
from core.evaluate import metrics
from core.evaluate.closely import affordable
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.evaluate.run import passage_names
from core.evaluate.throwaway import build, room
from core.search.candidates import DEPTH, Ranking
from core.search.fuse import Fusing
from core.search.rerank import Reading, Reranker, reweighed
from core.search.searcher import Searcher
from core.train.gate import Check, Values, Verdict, by_kind, enough, interval, kind_check, reason
from core.train.pool import Pool

JUDGING = "reading"
WEIGHTS = (0.5, 1.0, 2.0, 4.0)
LEAST_READ = 10  # candidates: the hits of a first page
_TOP = 10
_BETTER = "It puts the right passages first more often, on questions that it was not trained on."


@dataclass(frozen=True, slots=True)
class RerankMeasured:
    """nDCG@10 [Q] of the fused ranking, and by weight with the reranker's part; `read` candidates a question, for
    `closely` of which `milliseconds` (median) are taken here."""

    fused: Values
    reranked: Mapping[float, Values]
    read: int
    closely: int
    milliseconds: float

    @property
    def best(self) -> float:
        """The weight that finds most; of equals the smallest."""
        return max(sorted(self.reranked), key=lambda weight: float(self.reranked[weight].mean()))


def measured(
    pool: Pool, encoder: Encoder, reranker: Reranker, kept: KeptVectors, *, fusing: Fusing | None = None,
    weights: Sequence[float] = WEIGHTS, control: Control | None = None, listener: Listener = ignore,
    folder: Path | None = None,
) -> RerankMeasured:  # fmt: skip
    """The pool's questions asked of a library of its passages, as the product's own search does.

    `fusing` is the library's; its `closely_seconds` say how many candidates count as read. The library of the pool is
    made in `folder` (see `core.evaluate.throwaway.room`).

    Raises:
        Cancelled, DiskFull
    """
    control, fusing, remembering = control or Control(), fusing or Fusing(), Remembering(encoder, kept)
    with room(folder) as library:
        build(library, pool.dataset, remembering, control, listener)
        remembering.encode([question.text for question in pool.questions], kind=QUERY, control=control)
        searcher = Searcher(library, remembering, fusing)
        try:
            names = passage_names(pool.dataset, searcher)
            found, seconds = _read(pool, searcher, reranker, fusing, control, listener)
        finally:
            searcher.close()
    read = affordable(seconds, fusing)
    judged = [_judged(*one, read, weights, names, pool.dataset.qrels[str(at)]) for at, one in enumerate(found)]
    return RerankMeasured(
        np.array([fused for fused, _ in judged]),
        {weight: np.array([own[weight] for _, own in judged]) for weight in weights}, read, fusing.closely,
        round(1000 * statistics.median(seconds), 2) if seconds else 0.0,
    )  # fmt: skip


def judge_reranker(found: RerankMeasured, weight: float, kinds: Sequence[str], groups: Sequence[int]) -> Verdict:
    """The verdict on questions [Q] that neither trained the reranker nor chose its `weight`; `kinds` and `groups` are
    theirs. As in `core.train.gate.judge`: bootstrap over document groups, and no kind of question may lose."""
    before, after = found.fused, found.reranked[weight]
    change, count = after - before, len(before)
    low, high = interval(change, groups)
    changed = by_kind(change, kinds)
    checks = (
        Check("gain", low > 0, low, 0.0, "it does not put more of the right passages first beyond doubt"),
        Check("time", found.read >= LEAST_READ, found.read, LEAST_READ, "it is too slow for this computer"),
        *(kind_check(kind, lost) for kind, lost in changed.items()),
    )
    failed = next((check for check in checks if not check.passed), None)
    decided = enough(groups)
    means = (float(before.mean()), float(after.mean())) if count else (0.0, 0.0)
    return Verdict(
        decided and failed is None, decided, reason(groups, failed, _BETTER), *means, means[1] - means[0], low, high,
        *means, count, checks, changed,
    )  # fmt: skip


def _read(
    pool: Pool, searcher: Searcher, reranker: Reranker, fusing: Fusing, control: Control, listener: Listener
) -> tuple[list[tuple[Ranking, Values]], list[float]]:
    """Each question's ranking with what the reranker gives its best, and the seconds that this took."""
    found, seconds = [], []
    for number, question in enumerate(pool.questions):
        control.check()
        listener(Progress(JUDGING, number, len(pool.questions)))
        ranking = searcher.ranking(Query(question.text, literal=True), DEPTH)
        reading = Reading(reranker, question.text, fusing, hurried=False)
        begun = time.perf_counter()
        found.append((ranking, reading.scores(searcher.snapshot(), ranking)))
        seconds.append(time.perf_counter() - begun)
    return found, seconds


def _judged(
    ranking: Ranking, scores: Values, read: int, weights: Sequence[float], names: Mapping[int, Sequence[str]],
    gains: Mapping[str, int],
) -> tuple[float, dict[float, float]]:  # fmt: skip
    """nDCG@10 of a ranking, and of it with the reranker's part by each weight."""
    own = scores.copy()
    own[read:] = np.nan
    return _ndcg(ranking, names, gains), {w: _ndcg(reweighed(ranking, own, w), names, gains) for w in weights}


def _ndcg(ranking: Ranking, names: Mapping[int, Sequence[str]], gains: Mapping[str, int]) -> float:
    found = dict.fromkeys(name for id in ranking.ids.tolist() for name in names.get(id, ()))
    return metrics.ndcg(list(found)[:_TOP], gains)
