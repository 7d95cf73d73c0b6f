"""Why a passage that was expected is not among the hits: its place, what kept it down, what would lift it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.base.types import BM25, ConceptShare, Query, WhyNot
from core.explain.absence import absence
from core.explain.decompose import NOTABLE, NOTHING
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
    merged: Mapping[int, int] = NOTHING, control: Control | None = None,
) -> WhyNot:  # fmt: skip
    """Compare a passage with the hits of a query. `labels` names the latents that may be shown, `merged` says of a
    latent as which other one it counts.

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
    missing, own = _concepts(found, match, concepts, labels, merged)
    tried = lifts(searcher, found, match.passage, rank, excluded, own, control or Control())
    last = found.hits[-1].score if found.hits else 0.0
    if excluded:
        excluded = tuple(_named(one, labels) for one in excluded)
        tried = tuple(replace(one, what=" ".join(excluded)) for one in tried)
    said = absence(rank, len(found.hits), excluded, instead, words, missing, stands)
    return WhyNot(
        query=query.text, passage=match.passage, rank=rank, score=match.score, last=last, standings=stands,
        excluded=excluded, missing_words=words, missing_concepts=missing, lifts=tried, instead=instead, sentence=said,
    )  # fmt: skip


def _named(excluded: str, labels: Mapping[int, str]) -> str:
    """A required concept, written concept:ID, by its name."""
    kind, _, number = excluded.partition(":")
    known = kind == "concept" and number.isdecimal() and int(number) in labels
    return f"«{labels[int(number)]}»" if known else excluded


def _missing_words(found: Found, match: MatchContext) -> tuple[str, ...]:
    """The question's words of which no form stands in the passage, its title or its headings."""
    if BM25 not in found.ranking.scores:
        return ()
    held = {term.term for term in match.terms if not (term.added or term.part_of)}
    return tuple(term.text for term in found.prepared.terms if term.text not in held)


def _concepts(
    found: Found, match: MatchContext, concepts: ConceptModel | None, labels: Mapping[int, str],
    merged: Mapping[int, int],
) -> tuple[tuple[ConceptShare, ...], tuple[ConceptShare, ...]]:  # fmt: skip
    """What the hits share and the passage lacks; what of the passage counts for the query, the largest first."""
    query, passage = match.query_vector, match.passage_vector
    if concepts is None or query is None or passage is None or concepts.bias.shape != query.shape:
        return (), ()
    hits = np.array([h.passage.id for h in found.hits if h.passage.id != match.passage.id][:_HITS], np.int64)
    vectors_BD = np.concatenate([np.stack([query, passage]), found.snapshot.vectors(hits)])
    active_BM = concepts.encode(vectors_BD)
    adds_BM = _together(active_BM * (concepts.decoder @ query), merged)
    active_BM = _together(active_BM, merged)
    named = [i for i in np.argsort(-adds_BM[1]).tolist() if adds_BM[1, i] > 0 and i in labels]
    held = tuple(_share(labels, i, adds_BM[1, i], match.dense_score, active_BM) for i in named)
    return _missing(active_BM, adds_BM, vectors_BD[2:] @ query, labels), held


def _together(values_BM: Floats, merged: Mapping[int, int]) -> Floats:
    """With each merged latent's values added to those of the concept as which it counts."""
    made = values_BM.copy()
    for latent, concept in merged.items():
        made[:, concept] += made[:, latent]
        made[:, latent] = 0.0
    return made


def _missing(active_BM: Floats, adds_BM: Floats, scores: Floats, labels: Mapping[int, str]) -> tuple[ConceptShare, ...]:
    """Rows are the query, the passage, and the hits; `scores` are the hits' dense scores, of which `adds_BM` are
    parts."""
    if not len(scores):
        return ()
    active_M, shared_M, adds_M = active_BM[2:].mean(0), (active_BM[2:] > 0).mean(0), adds_BM[2:].mean(0)
    score = float(scores.mean())
    lacking = (shared_M >= _SHARED) & (active_BM[1] < _LACKING * active_M) & (adds_M >= NOTABLE * abs(score))
    named = sorted((i for i in np.flatnonzero(lacking).tolist() if i in labels), key=lambda i: -adds_M[i])
    return tuple(_share(labels, i, adds_M[i], score, active_BM) for i in named[:_MOST])


def _share(
    labels: Mapping[int, str], latent: int, contribution: float, score: float, active_BM: Floats
) -> ConceptShare:
    share = float(contribution) / score if score > 0 else 0.0
    asked, held = float(active_BM[0, latent]), float(active_BM[1, latent])
    return ConceptShare(latent, labels[latent], float(contribution), share, asked, held)
