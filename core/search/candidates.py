"""Candidates of a query: the best passages of each channel, and the scores of all channels for their union."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, RERANK, STEER
from core.index.dense import Floats
from core.index.snapshot import Ids, Scores, Snapshot
from core.search import feedback, foreign, fuse
from core.search.fuse import DEFAULT, Fusing, Method, Rule
from core.search.steering import Steered
from core.text.analyze import QueryTerm

DEPTH = 200  # candidates of each channel
_LOOKED_AT = 10  # of each list, to tell which languages they are in
_BEST = 10  # candidates whose multi score is to be exact; those that cannot be among them have an estimate


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query made ready for scoring.

    `terms` are words (BM25), `parts` those of long ones, which count beside them. What is None or empty takes no part:
    `vector` [D] is of the dense channel, `lexical` are tokens with the weights the encoder gives them, `tokens` [T, M]
    the unit vectors of the query's tokens (multi). `strange` are the library's languages that the encoder does not
    know. `concepts` are the latents that are active in the query, with the weights that these give them.
    """

    terms: tuple[QueryTerm, ...]
    vector: Floats | None
    weights: Mapping[str, float] = field(default_factory=dict)
    lexical: tuple[QueryTerm, ...] = ()
    tokens: Floats | None = None
    strange: frozenset[str] = frozenset()
    parts: tuple[QueryTerm, ...] = ()
    concepts: tuple[QueryTerm, ...] = ()
    steered: Steered | None = None  # what the query's factors for concepts add to dense scores

    @property
    def counted(self) -> tuple[QueryTerm, ...]:
        """All that BM25 adds up."""
        return (*self.terms, *self.parts)

    def can(self, channel: str) -> bool:
        """Whether this channel can be scored: words always can."""
        if channel == DENSE:
            return self.vector is not None
        if channel == MULTI:
            return self.tokens is not None
        if channel == STEER:
            return self.steered is not None and self.vector is not None
        return channel == BM25 or bool(self.of(channel))

    def of(self, channel: str) -> tuple[QueryTerm, ...]:
        """What a sparse channel adds up."""
        return {BM25: self.counted, LEXICAL: self.lexical, CONCEPT: self.concepts}[channel]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The union of the candidates, best first.

    `scores` are raw, by channel, beside `ids`; not a number where a channel was not computed (multi beyond what its
    time allowed). `parts` are what they add to `totals`. `ranks` name each channel's own candidates, from 1.
    """

    ids: Ids
    totals: Scores
    scores: Mapping[str, Scores]
    parts: Mapping[str, Scores]
    ranks: Mapping[str, Mapping[int, int]]
    rules: Mapping[str, Rule]
    filtered_out: int = 0  # candidates that only the filters removed
    added: tuple[QueryTerm, ...] = ()  # words beside the query's in the score of bm25

    def place(self, passage_id: int) -> int | None:
        """0-based place of a passage in the ranking."""
        found = np.flatnonzero(self.ids == passage_id)
        return int(found[0]) if len(found) else None


def rank(
    snapshot: Snapshot, prepared: Prepared, channels: Sequence[str], depth: int = DEPTH,
    allowed: npt.NDArray[np.int64] | None = None, fusing: Fusing = DEFAULT,
    kept: feedback.Memory | None = None,
) -> Ranking:  # fmt: skip
    """Rank the union of the channels' candidates by the fused score.

    Beside other channels multi finds no candidates of its own: it scores the best of theirs. The words that the best
    candidates share count in the score of bm25 then.

    Raises:
        IndexDamaged: a dense file cannot be used.
    """
    others = [c for c in channels if c != STEER]
    finding = list(channels) if others == [MULTI] else [c for c in channels if c != MULTI]
    scorers = {channel: _Scorer(snapshot, channel, prepared) for channel in finding}
    own = {channel: scorer.top(depth, allowed) for channel, scorer in scorers.items()}
    added: tuple[QueryTerm, ...] = ()
    if fusing.alone and list(own) == [BM25]:
        added = _shared_words(snapshot, prepared, *own[BM25], kept)
        scorers = {BM25: _Scorer(snapshot, BM25, replace(prepared, parts=(*prepared.parts, *added)))}
        own = {BM25: scorers[BM25].top(depth, allowed)}
    ids = _union(snapshot, [found for found, _ in own.values()])
    scores = {channel: scorer.of(ids) for channel, scorer in scorers.items()}
    ranks = {c: {p: place for place, p in enumerate(found.tolist(), 1)} for c, (found, _) in own.items()}
    prepared = replace(prepared, weights=_weights(snapshot, prepared, scores, own, fusing))
    if STEER in scores:
        prepared = replace(prepared, weights=_steering(snapshot, prepared, ids, scores, others, fusing))
    if fusing.feedback and BM25 in scores and others != [BM25]:
        first = _ordered(_fused(ids, scores, ranks, prepared.weights, fusing))
        added = feedback.expansion(snapshot, prepared.terms, first.ids, first.totals, kept or feedback.memory())
        scores[BM25] = scores[BM25] + snapshot.sparse_scores(BM25, added, ids)
    if len(finding) < len(channels):
        first = _ordered(_fused(ids, scores, ranks, prepared.weights, fusing))
        ids, scores = first.ids, {**first.scores, MULTI: _reranked(snapshot, prepared, first.ids, fusing)}
        ranks[MULTI] = {}
    ranking = _ordered(_fused(ids, {c: scores[c] for c in channels}, ranks, prepared.weights, fusing))
    return replace(ranking, filtered_out=_filtered_out(snapshot, scorers.values(), depth, allowed), added=added)


def _filtered_out(snapshot: Snapshot, scorers: Iterable[_Scorer], depth: int, allowed: Ids | None) -> int:
    """How many candidates only the filters removed."""
    if allowed is None:
        return 0
    unfiltered = _union(snapshot, [scorer.top(depth, None)[0] for scorer in scorers])
    return int((~np.isin(unfiltered, allowed)).sum())


def _shared_words(
    snapshot: Snapshot, prepared: Prepared, ids: Ids, scores: Scores, kept: feedback.Memory | None
) -> tuple[QueryTerm, ...]:
    """Words of the passages that the query's own words find first; trust falls with their scores' deviations, as it
    does with fused ones."""
    spread = fuse.scale(BM25, scores, 1.0).spread
    return feedback.expansion(snapshot, prepared.terms, ids, scores / spread, kept or feedback.memory())


def _weights(
    snapshot: Snapshot,
    prepared: Prepared,
    scores: Mapping[str, Scores],
    own: Mapping[str, tuple[Ids, Scores]],
    fusing: Fusing,
) -> Mapping[str, float]:
    """The weights for this query: words count as far as they can be trusted beside the meaning, and meaning as far as
    the encoder knows the languages; where it does not, words count the more."""
    if not fusing.adaptive or BM25 not in scores or DENSE not in scores or len(scores[BM25]) == 0:
        return prepared.weights
    best, most = float(scores[BM25].max()), snapshot.most(BM25, prepared.counted)
    kin = _kin(snapshot, own[BM25][0], own[DENSE][0]) if snapshot.means is not None else None
    trust = fuse.trust(best, most, len(prepared.terms), kin)
    known = _known(snapshot, own[BM25][0], prepared.strange)
    trusted = {BM25: trust + (1.0 - known) * (1.0 - trust), **dict.fromkeys((DENSE, LEXICAL, MULTI, CONCEPT), known)}
    return {**prepared.weights, **{c: share * fuse.weight_of(c, prepared.weights) for c, share in trusted.items()}}


def _steering(
    snapshot: Snapshot, prepared: Prepared, ids: Ids, scores: Mapping[str, Scores], others: Sequence[str],
    fusing: Fusing,
) -> Mapping[str, float]:  # fmt: skip
    """With the weight that makes what steering adds to dense scores count as it would in them: by their weight, in
    their standard deviations. Where meaning takes no part, in those of the one channel there is."""
    if list(others) == [DENSE]:
        return {**prepared.weights, STEER: 1.0}
    assert prepared.vector is not None
    dense = scores[DENSE] if DENSE in scores else snapshot.dense_scores(prepared.vector, ids)
    weight = fuse.weight_of(DENSE, prepared.weights) if DENSE in scores else 1.0
    if len(others) == 1:
        weight = fuse.scale(others[0], scores[others[0]], 1.0).spread
    elif fusing.method is Method.RECIPROCAL:
        weight *= fuse.FIRST_RANK
    return {**prepared.weights, STEER: weight / fuse.scale(DENSE, dense, 1.0).spread}


def _known(snapshot: Snapshot, by_words: Ids, strange: frozenset[str]) -> float:
    """How far the encoder is to be trusted with what the words found."""
    if not strange:
        return 1.0
    return foreign.trust(list(snapshot.languages_of(by_words[:_LOOKED_AT].tolist()).values()), strange)


def _kin(snapshot: Snapshot, by_words: Ids, by_meaning: Ids) -> float:
    """How far the best of both lists are in the same languages, from 0 to 1."""
    lists = [ids[:_LOOKED_AT].tolist() for ids in (by_words, by_meaning)]
    known = snapshot.languages_of([p for found in lists for p in found])
    left, right = (Counter(known[p] for p in found if p in known) for found in lists)
    return (left & right).total() / max(min(left.total(), right.total()), 1)


def _fused(
    ids: Ids, scores: Mapping[str, Scores], ranks: Mapping[str, Mapping[int, int]], weights: Mapping[str, float],
    fusing: Fusing,
) -> Ranking:  # fmt: skip
    """The candidates with their totals, in the order of `ids`."""
    rules: dict[str, Rule] = {}
    channels = {c: s for c, s in scores.items() if c != STEER}
    if fusing.method is Method.RECIPROCAL and len(channels) > 1:
        ranks = {c: own or _own_ranks(ids, scores[c]) for c, own in ranks.items()}
        rules.update(fuse.reciprocals(tuple(channels), weights))
    else:
        rules.update(fuse.scales(channels, weights))
    if STEER in scores:
        rules[STEER] = fuse.Scale(0.0, 1.0, weights[STEER])
    places = {c: np.array([ranks[c].get(p, 0) for p in ids.tolist()], np.float64) for c in scores}
    parts = {c: rules[c].contributions(values, places[c]) for c, values in scores.items()}
    return Ranking(ids, fuse.fused(parts), scores, parts, ranks, rules)


def _own_ranks(ids: Ids, scores: Scores) -> dict[int, int]:
    """Ranks by one channel of the candidates that it was asked about."""
    order = np.argsort(-scores, kind="stable")[: int((~np.isnan(scores)).sum())]
    return {p: place for place, p in enumerate(ids[order].tolist(), 1)}


def _ordered(ranking: Ranking) -> Ranking:
    """Best first; equal scores stay in the order they come in."""
    order = np.argsort(-ranking.totals, kind="stable")
    return Ranking(
        ranking.ids[order], ranking.totals[order], {c: s[order] for c, s in ranking.scores.items()},
        {c: s[order] for c, s in ranking.parts.items()}, ranking.ranks, ranking.rules,
    )  # fmt: skip


def _reranked(snapshot: Snapshot, prepared: Prepared, ids: Ids, fusing: Fusing) -> Scores:
    """Multi-vector scores of the best candidates, not a number for the others.

    What was scored adds at least 0 to a higher sum, so those left out stay below all that were scored. Candidates that
    cannot be among the best by multi, or that the time is too short for, have an estimate.
    """
    assert prepared.tokens is not None
    scores = np.full(len(ids), np.nan)
    compared = ids[: fusing.reranked]
    until = time.perf_counter() + fusing.budget_seconds
    scores[: len(compared)] = snapshot.multi_rerank(prepared.tokens, compared, _BEST, until)
    return scores


def _union(snapshot: Snapshot, lists: Sequence[Ids]) -> Ids:
    """All ids once, in the snapshot's order of ties, so that no sum depends on how the index came about."""
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *lists]))
    return ids[np.argsort(snapshot.tie_ranks(ids))]


def scores_of(
    snapshot: Snapshot, prepared: Prepared, channels: Sequence[str], ranking: Ranking, passage_id: int
) -> dict[str, float]:
    """Raw scores of any one passage: those of `ranking` where it stands there. Raises NotFound, IndexDamaged.

    A passage that is no candidate has no multi score beside other channels, and was not read closely.
    """
    place = ranking.place(passage_id)
    if place is not None:
        return {c: float(s[place]) for c, s in ranking.scores.items()}
    ids = np.array([passage_id])
    compared = [c for c in channels if c not in (MULTI, RERANK) or len(channels) == 1]
    found = {channel: float(_Scorer(snapshot, channel, prepared).of(ids)[0]) for channel in compared}
    if ranking.added and BM25 in found:
        found[BM25] += float(snapshot.sparse_scores(BM25, ranking.added, ids)[0])
    return {c: found.get(c, float("nan")) for c in channels}


def rank_in(
    snapshot: Snapshot, prepared: Prepared, channel: str, passage_id: int, depth: int, allowed: Ids | None
) -> int | None:
    """The rank (from 1) of a passage among the `depth` best of one channel; None beyond, or where it has nothing."""
    ids, _ = _Scorer(snapshot, channel, prepared).top(depth, allowed)
    found = np.flatnonzero(ids == passage_id)
    return int(found[0]) + 1 if len(found) else None


class _Scorer:
    """One channel's scores for one query."""

    def __init__(self, snapshot: Snapshot, channel: str, prepared: Prepared) -> None:
        self._snapshot, self._channel, self._prepared = snapshot, channel, prepared

    def top(self, depth: int, allowed: Ids | None) -> tuple[Ids, Scores]:
        if self._channel == MULTI:
            assert self._prepared.tokens is not None
            return self._snapshot.multi(self._prepared.tokens, depth, allowed)
        if self._channel == DENSE:
            assert self._prepared.vector is not None
            return self._snapshot.dense(self._prepared.vector, depth, allowed)
        if self._channel == STEER:
            return self._nearest_as_steered(depth, allowed)
        return self._snapshot.sparse(self._channel, self._prepared.of(self._channel), depth, allowed)

    def of(self, ids: Ids) -> Scores:
        if self._channel == MULTI:
            assert self._prepared.tokens is not None
            return self._snapshot.multi_scores(self._prepared.tokens, ids)
        if self._channel == DENSE:
            assert self._prepared.vector is not None
            return self._snapshot.dense_scores(self._prepared.vector, ids)
        if self._channel == STEER:
            assert self._prepared.steered is not None
            return self._prepared.steered.of(ids)
        return self._snapshot.sparse_scores(self._channel, self._prepared.of(self._channel), ids)

    def _nearest_as_steered(self, depth: int, allowed: Ids | None) -> tuple[Ids, Scores]:
        """The passages with the largest dense scores after steering: of those that it does not touch the nearest ones,
        and all that it does."""
        snapshot, vector, steered = self._snapshot, self._prepared.vector, self._prepared.steered
        assert vector is not None
        assert steered is not None
        every = snapshot.ids() if allowed is None else allowed
        untouched, scores = snapshot.dense(vector, depth, np.setdiff1d(every, steered.total.ids))
        touched = steered.total.ids if allowed is None else np.intersect1d(steered.total.ids, allowed)
        ids = np.concatenate([untouched, touched])
        scores = np.concatenate([scores, snapshot.dense_scores(vector, touched) + steered.of(touched)])
        order = np.lexsort((snapshot.tie_ranks(ids), -scores))[:depth]
        return ids[order], scores[order]
