"""Why a passage that was expected is not among the hits: its place, what kept it down, what would lift it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import BM25, ConceptShare, Query, WhyNot
from core.explain.absence import absence
from core.explain.decompose import NOTABLE
from core.explain.lifts import lifts
from core.index.concept_model import ConceptModel
from core.search.found import Found, excluding, place, standings
from core.search.searcher import MatchContext

_HITS = 10  # that a passage is compared with
_SHARED = 0.3  # of the hits: a concept in fewer is none that they share
_LACKING = 0.2  # of the hits' mean activation: below, a passage lacks it
_MOST = 4  # missing concepts

Floats = NDArray[np.float32]


class Finds(Protocol):
    """What is needed of a searcher."""

    def context(self, query: Query, passage_id: int) -> MatchContext: ...

    def found(self, query: Query, *, tried: bool = False) -> Found: ...


def why_not(
    searcher: Finds, concepts: ConceptModel | None, labels: Mapping[int, str], query: Query, passage_id: int,
    control: Control | None = None,
) -> WhyNot:  # fmt: skip
    """Compare a passage with the hits of a query. `labels` names the latents that may be shown.

    A concept that is missing has as `contribution` what it adds to the dense scores of the hits on average.

    Raises:
        NotFound: the passage is not in the index. BadQuery: the query is empty.
        Cancelled: through `control`, between two tries.
    """
    found, match = searcher.found(query), searcher.context(query, passage_id)
    excluded = excluding(found, passage_id)
    rank, instead = (None, 0) if excluded else place(found, found.ranking, passage_id)
    stands = standings(found, match.parts, passage_id)
    words = _missing_words(found, match)
    missing, own = _concepts(found, match, concepts, labels)
    tried = lifts(searcher, found, match.passage, rank, excluded, own, control or Control())
    last = found.hits[-1].score if found.hits else 0.0
    said = absence(rank, len(found.hits), excluded, instead, words, missing, stands)
    return WhyNot(
        query=query.text, passage=match.passage, rank=rank, score=match.score, last=last, standings=stands,
        excluded=excluded, missing_words=words, missing_concepts=missing, lifts=tried, instead=instead, sentence=said,
    )  # fmt: skip


def _missing_words(found: Found, match: MatchContext) -> tuple[str, ...]:
    """The question's words of which no form stands in the passage, its title or its headings."""
    if BM25 not in found.ranking.scores:
        return ()
    held = {term.term for term in match.terms if not (term.added or term.part_of)}
    return tuple(term.text for term in found.prepared.terms if term.text not in held)


def _concepts(
    found: Found, match: MatchContext, concepts: ConceptModel | None, labels: Mapping[int, str]
) -> tuple[tuple[ConceptShare, ...], tuple[ConceptShare, ...]]:
    """What the hits share and the passage lacks; what the passage has of the query's concepts."""
    query, passage = match.query_vector, match.passage_vector
    if concepts is None or query is None or passage is None or concepts.bias.shape != query.shape:
        return (), ()
    hits = np.array([h.passage.id for h in found.hits if h.passage.id != match.passage.id][:_HITS], np.int64)
    vectors = np.concatenate([np.stack([query, passage]), found.snapshot.vectors(hits)])
    active_BM = concepts.encode(vectors)
    toward_M = concepts.decoder @ query
    own = active_BM[1] * toward_M
    named = [i for i in np.flatnonzero(own > 0).tolist() if i in labels]
    held = [_share(labels, i, float(own[i]), match.dense_score, active_BM[:2, i]) for i in named]
    return _missing(active_BM, toward_M, vectors[2:] @ query, labels), tuple(
        sorted(held, key=lambda c: -c.contribution)
    )


def _missing(
    active_BM: Floats, toward_M: Floats, scores: Floats, labels: Mapping[int, str]
) -> tuple[ConceptShare, ...]:
    """`active_BM` are the activations of the query, the passage, and the hits; `scores` the hits' dense scores."""
    hits = active_BM[2:]
    if not len(hits):
        return ()
    mean_M, shared_M = hits.mean(0), (hits > 0).mean(0)
    adds_M = mean_M * toward_M
    score = float(scores.mean())
    lacking = (shared_M >= _SHARED) & (active_BM[1] < _LACKING * mean_M) & (adds_M >= NOTABLE * abs(score))
    named = sorted((i for i in np.flatnonzero(lacking).tolist() if i in labels), key=lambda i: -adds_M[i])
    return tuple(_share(labels, i, float(adds_M[i]), score, active_BM[:2, i]) for i in named[:_MOST])


def _share(labels: Mapping[int, str], latent: int, contribution: float, score: float, active: Floats) -> ConceptShare:
    share = contribution / score if score > 0 else 0.0
    return ConceptShare(latent, labels[latent], contribution, share, float(active[0]), float(active[1]))
