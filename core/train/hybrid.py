"""How much each channel of an encoder with token heads should count: weights found on a library's held-out questions.

Which channel is to be trusted differs from library to library (M3-Embedding, appendix C: from 1 : 0.3 : 1 to
0.2 : 0.8 : 0). They are chosen on the questions of one half of the document groups, and measured on the other half.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.base.events import Control, Listener, ignore
from core.base.types import BM25, LEXICAL, MULTI, Query
from core.encode.encoder import Encoder
from core.evaluate.run import passage_names
from core.evaluate.throwaway import build, room
from core.search import fuse
from core.search.calibrate import Asked, ndcg_of
from core.search.candidates import DEPTH
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from core.train.gate import Values, enough, interval
from core.train.pool import Pool

_STEPS = (1.0, 0.5, 2.0, 0.25, 4.0, 0.0)  # times the default weight; words keep theirs
_NO_HEADS = {LEXICAL: 0.0, MULTI: 0.0}
_FUSING = Fusing(budget_seconds=float("inf"))  # all that is to be compared is


@dataclass(frozen=True, slots=True)
class Hybrid:
    """`weights` were found on one half of the questions; the rest is nDCG@10 on the other half: of each channel alone,
    `before` with the default weights and `after` with these. `low` and `high` hold the difference with 95 % confidence.
    `without` is that of the search without token heads, its weights found in the same way, and `gain_low` and
    `gain_high` hold `after` - `without`.
    """

    weights: Mapping[str, float]
    channels: Mapping[str, float]
    before: float
    after: float
    low: float
    high: float
    queries: int
    without: float
    gain_low: float
    gain_high: float
    told: bool  # whether there are enough questions to tell

    @property
    def pays(self) -> bool:
        """Whether search finds more with the heads than without, beyond chance, on enough questions to tell."""
        return self.gain_low > 0 and self.told

    @property
    def accepted(self) -> bool:
        """Better than the defaults beyond chance: otherwise those stay."""
        return self.low > 0


def calibrated(
    pool: Pool, encoder: Encoder, *, without: Collection[str] = (), folder: Path | None = None,
    control: Control | None = None,
    listener: Listener = ignore,
) -> Hybrid:  # fmt: skip
    """In a throw-away library of the pool (in `folder`), with all channels that the encoder has but those `without`.

    Raises:
        ValueError: there are fewer than two document groups with questions.
        Cancelled, DiskFull
    """
    control = control or Control()
    with room(folder) as made:
        build(made, pool.dataset, encoder, control, listener, sorted(encoder.heads - set(without)))
        searcher = Searcher(made, encoder, _FUSING)
        try:
            asked = _ask(pool, searcher, control)
        finally:
            searcher.close()
    groups = [question.group for question in pool.questions]
    choosing = set(sorted(set(groups))[::2])
    if len(choosing) == len(set(groups)):
        raise ValueError("nothing is held out")
    some = [one for one, group in zip(asked, groups, strict=True) if group in choosing]
    weights, plain = _best(some), _best(some, _NO_HEADS)
    rest = [place for place, group in enumerate(groups) if group not in choosing]
    return _told(weights, plain, [asked[place] for place in rest], [groups[place] for place in rest])


def _ask(pool: Pool, searcher: Searcher, control: Control) -> list[Asked]:
    names = passage_names(pool.dataset, searcher)
    asked = []
    for number, question in enumerate(pool.questions):
        control.check()
        ranking = searcher.ranking(Query(question.text, literal=True), DEPTH)
        judged = pool.dataset.qrels[str(number)]
        right = [any(name in judged for name in names[id]) for id in ranking.ids.tolist()]
        asked.append(Asked(dict(ranking.scores), np.array(right, bool), len(judged)))
    return asked


def _best(asked: Sequence[Asked], held: Mapping[str, float] | None = None) -> dict[str, float]:
    """The best of all combinations of steps; of equal ones that which is nearest to the defaults. `held` stay."""
    kept = {c: w for c, w in {BM25: fuse.weight_of(BM25, {}), **(held or {})}.items() if c in asked[0].scores}
    free = [channel for channel in asked[0].scores if channel not in kept]
    ordered = sorted(itertools.product(range(len(_STEPS)), repeat=len(free)), key=sum)
    best, found = -1.0, dict(kept)
    for places in ordered:
        tried = {c: _STEPS[place] * fuse.weight_of(c, {}) for c, place in zip(free, places, strict=True)}
        value = float(np.mean([ndcg_of(one, {**kept, **tried}) for one in asked]))
        if value > best:
            best, found = value, {**kept, **tried}
    return found


def _told(
    weights: Mapping[str, float], plain: Mapping[str, float], asked: Sequence[Asked], groups: Sequence[int]
) -> Hybrid:
    before, after = (np.array([ndcg_of(one, w) for one in asked]) for w in ({}, weights))
    low, high = interval(after - before, groups)
    without = np.array([ndcg_of(one, plain) for one in asked])
    gain = interval(after - without, groups)
    return Hybrid(
        weights, {channel: float(_alone(asked, channel).mean()) for channel in asked[0].scores}, float(before.mean()),
        float(after.mean()), low, high, len(asked), float(without.mean()), *gain, enough(groups),
    )  # fmt: skip


def _alone(asked: Sequence[Asked], channel: str) -> Values:
    """nDCG@10 [Q] of one channel over the candidates of all."""
    return np.array([ndcg_of(Asked({channel: one.scores[channel]}, one.right, one.wanted), {}) for one in asked])
