"""All that matches, not the best ten: every passage above a stated line, for answers that read the whole library.

By words: a passage matches that holds at least a given share of the weight of the query's words (a word weighs as much
as it is rare in the library, the idf of BM25; a word that stands nowhere weighs most). By meaning: of the others the
nearest ones, as far as they stand out from the library. Without any word, all match that the filters let through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.base.types import BM25, Copy, Filters, Passage, Query
from core.index.dense import Floats
from core.index.snapshot import Ids, Snapshot
from core.search import filters as filtering
from core.search.candidates import Ranking
from core.search.fold import Folded, fold
from core.search.searcher import Searcher
from core.text.analyze import QueryTerm

LINE = 0.5  # share of the weight of the words
MOST = 2_000  # matches handed over, at most
NEAR = 40  # passages looked at for their meaning alone
_SURELY_NEAR = 10  # of them, however small the library is
_STANDS_OUT = 2.0  # standard deviations above the library's mean cosine
_SAMPLE = 2_000  # passages that tell that mean


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query: its forms in the index, its share of the query's weight, how many passages hold it."""

    text: str
    forms: frozenset[str]
    share: float
    passages: int


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that matches, shown where its newest copy or version stands. `share` of the words' weight is 0 where
    only its meaning is near; `cosine` is None where the meaning was not looked at."""

    passage: Passage
    share: float
    cosine: float | None
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """`matches` are a page of the `total`, those by words first, the largest share first. `searched` passages were
    let through by the filters."""

    words: tuple[Word, ...]
    matches: tuple[Match, ...]
    total: int
    searched: int
    generation: int


def every(
    searcher: Searcher,
    text: str,
    filters: Filters,
    *,
    first: int = 0,
    count: int = MOST,
    near: int = NEAR,
    line: float = LINE,
) -> Matches:
    """The matches [first, first + count) of `text`, which has no syntax; of all passages where it is empty.

    Raises:
        BadQuery: a bad date in the filters.
        NotALibrary, LibraryDamaged, IndexDamaged
    """
    if not text.strip():
        snapshot = searcher.snapshot()
        allowed = filtering.allowed(snapshot.db, filters)
        ids = snapshot.ids() if allowed is None else np.intersect1d(snapshot.ids(), allowed)
        ids = ids[np.argsort(snapshot.tie_ranks(ids))]
        return _page(snapshot, (), ids, np.ones(len(ids)), {}, filters, len(ids), first, count)
    found = searcher.found(Query(text, filters=filters, literal=True, rerank=False), tried=True)
    snapshot, allowed = found.snapshot, found.allowed
    words, ids, shares = _by_words(snapshot, found.prepared.terms, allowed, line)
    cosines: dict[int, float] = {}
    if found.prepared.vector is not None and near:
        cosines = _by_meaning(snapshot, found.prepared.vector, allowed, near)
    near_ids = np.fromiter(cosines, np.int64, len(cosines))
    others = near_ids[~np.isin(near_ids, ids)]
    both, shares = np.concatenate([ids, others]), np.concatenate([shares, np.zeros(len(others))])
    searched = snapshot.passage_count if allowed is None else len(allowed)
    return _page(snapshot, words, both, shares, cosines, filters, searched, first, count)


def _by_words(
    snapshot: Snapshot, terms: Sequence[QueryTerm], allowed: Ids | None, line: float
) -> tuple[tuple[Word, ...], Ids, npt.NDArray[np.float64]]:
    """The words, and the passages above the line with their shares: the largest first, then in the order of ties."""
    total = snapshot.passage_count
    everywhere = [snapshot.sparse(BM25, [term], max(total, 1))[0] for term in terms]
    rarity = [math.log(1.0 + (total - len(ids) + 0.5) / (len(ids) + 0.5)) for ids in everywhere]
    weights = [r / max(sum(rarity), 1e-9) for r in rarity]
    held = [ids if allowed is None else np.intersect1d(ids, allowed) for ids in everywhere]
    words = tuple(
        Word(term.text, frozenset(term.alternatives), weight, len(ids))
        for term, weight, ids in zip(terms, weights, held, strict=True)
    )
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *held]))
    shares = np.zeros(len(ids))
    for weight, holding in zip(weights, held, strict=True):
        shares[np.searchsorted(ids, np.sort(holding))] += weight
    above = shares >= line - 1e-9
    ids, shares = ids[above], shares[above]
    order = np.lexsort((snapshot.tie_ranks(ids), -np.round(shares, 6)))
    return words, ids[order], shares[order]


def _by_meaning(snapshot: Snapshot, vector: Floats, allowed: Ids | None, near: int) -> dict[int, float]:
    """The nearest passages with their cosines: those that stand out, and a few in any case."""
    ids, cosines = snapshot.dense(vector, near, allowed)
    every_id = snapshot.ids()
    if not len(ids) or not len(every_id):
        return {}
    sample = snapshot.dense_scores(vector, every_id[:: max(1, len(every_id) // _SAMPLE)])
    line = float(sample.mean() + _STANDS_OUT * sample.std())
    pairs = list(zip(ids.tolist(), cosines.tolist(), strict=True))
    return {i: c for place, (i, c) in enumerate(pairs) if place < _SURELY_NEAR or c >= line}


def _page(
    snapshot: Snapshot, words: tuple[Word, ...], ids: Ids, shares: npt.NDArray[np.float64],
    cosines: dict[int, float], filters: Filters, searched: int, first: int, count: int,
) -> Matches:  # fmt: skip
    """Copies and versions are folded among the first of them; `total` counts the others as they are."""
    reached = ids[: first + count]
    ranking = Ranking(reached, shares[: first + count], {}, {}, {}, {})
    folded = fold(snapshot, ranking, filters, len(reached))
    total = len(folded) + len(ids) - len(reached)
    chosen = folded[first : first + count]
    made = _matches(snapshot, chosen, shares, cosines)
    return Matches(words, made, total, searched, snapshot.generation.number)


def _matches(
    snapshot: Snapshot, chosen: Sequence[Folded], shares: npt.NDArray[np.float64], cosines: dict[int, float]
) -> tuple[Match, ...]:
    stored = snapshot.passages([one.passage_id for one in chosen])
    made = []
    for one in chosen:
        if one.passage_id in stored:  # not deleted just now
            shown = one.shown
            passage = replace(
                stored[one.passage_id], document_id=shown.document_id, path=shown.path, title=shown.title,
                external_id=shown.external_id,
            )  # fmt: skip
            made.append(Match(passage, float(shares[one.row]), cosines.get(one.passage_id), one.copies))
    return tuple(made)
