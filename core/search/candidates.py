"""Candidates of a query: the best passages of each channel, and the scores of all channels for their union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.base.types import DENSE
from core.index.dense import Floats
from core.index.snapshot import Ids, Scores, Snapshot
from core.search import fuse
from core.text.analyze import QueryTerm

DEPTH = 200  # candidates of each channel


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query made ready for scoring; what is None or empty takes no part.

    `terms` are words (BM25), `vector` [D] is of the dense channel, `lexical` are tokens with the weights the encoder
    gives them, `tokens` [T, M] the unit vectors of the query's tokens (multi).
    """

    terms: tuple[QueryTerm, ...]
    vector: Floats | None
    weights: Mapping[str, float] = field(default_factory=dict)
    lexical: tuple[QueryTerm, ...] = ()
    tokens: Floats | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The union of the candidates, best first.

    `scores` are raw, by channel, beside `ids`; `ranks` name each channel's own candidates, from 1.
    """

    ids: Ids
    totals: Scores
    scores: Mapping[str, Scores]
    ranks: Mapping[str, Mapping[int, int]]
    scales: Mapping[str, fuse.Scale]
    filtered_out: int = 0  # candidates that only the filters removed

    def place(self, passage_id: int) -> int | None:
        """0-based place of a passage in the ranking."""
        found = np.flatnonzero(self.ids == passage_id)
        return int(found[0]) if len(found) else None


def rank(
    snapshot: Snapshot, prepared: Prepared, channels: Sequence[str], depth: int = DEPTH,
    allowed: npt.NDArray[np.int64] | None = None,
) -> Ranking:  # fmt: skip
    """Rank the union of the channels' candidates by the fused score.

    Raises:
        IndexDamaged: a dense file cannot be used.
    """
    scorers = {channel: _Scorer(snapshot, channel, prepared) for channel in channels}
    own = {channel: scorer.top(depth, allowed) for channel, scorer in scorers.items()}
    union = _union(snapshot, [ids for ids, _ in own.values()])
    scores = {channel: scorer.of(union) for channel, scorer in scorers.items()}
    scales = fuse.scales(scores, prepared.weights)
    totals = fuse.fused(scores, scales)
    order = np.argsort(-totals, kind="stable")  # equal scores stay in the union's order
    ranks = {c: {p: place for place, p in enumerate(ids.tolist(), 1)} for c, (ids, _) in own.items()}
    removed = 0
    if allowed is not None:
        unfiltered = _union(snapshot, [scorer.top(depth, None)[0] for scorer in scorers.values()])
        removed = int((~np.isin(unfiltered, allowed)).sum())
    return Ranking(union[order], totals[order], {c: s[order] for c, s in scores.items()}, ranks, scales, removed)


def _union(snapshot: Snapshot, lists: Sequence[Ids]) -> Ids:
    """All ids once, in the snapshot's order of ties, so that no sum depends on how the index came about."""
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *lists]))
    return ids[np.argsort(snapshot.tie_ranks(ids))]


def scores_of(snapshot: Snapshot, prepared: Prepared, channels: Sequence[str], passage_id: int) -> dict[str, float]:
    """Raw scores of any one passage. Raises NotFound, IndexDamaged."""
    ids = np.array([passage_id])
    return {channel: float(_Scorer(snapshot, channel, prepared).of(ids)[0]) for channel in channels}


class _Scorer:
    """One channel's scores for one query."""

    def __init__(self, snapshot: Snapshot, channel: str, prepared: Prepared) -> None:
        self._snapshot = snapshot
        self._channel = channel
        self._vector = prepared.vector if channel == DENSE else None
        self._all = snapshot.score_all(channel, prepared.terms) if channel != DENSE else None

    def top(self, depth: int, allowed: Ids | None) -> tuple[Ids, Scores]:
        if self._all is not None:
            return self._snapshot.best(self._all, depth, self._snapshot.mask(allowed))
        assert self._vector is not None
        return self._snapshot.dense(self._vector, depth, allowed)

    def of(self, ids: Ids) -> Scores:
        if self._all is not None:
            return self._all[self._snapshot.ordinals(ids)]
        assert self._vector is not None
        return self._snapshot.dense_scores(self._vector, ids)
