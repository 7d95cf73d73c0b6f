"""The channel `concept`: a query's latents as terms of an inverted index, as the words of BM25 are.

score(q, p) = Σ f_q(i) · f_p(i) · idf(i) over the latents of both; f_q = (k2 + 1) a / (k2 + a) of the query's own
strength a, f_p BM25's saturation in the passage's own length (`core.index.postings.SCHEMES`), idf never negative. The
query is encoded once. Source: Park, Kim, Ko (arXiv 2506.00041) section 4; the number of a passage's latents does not
count (b = 0), but all passages are brought to one length.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.base.types import CONCEPT
from core.index.concept_codes import ConceptCodes
from core.index.concept_coding import strengths
from core.index.dense import Floats
from core.index.snapshot import Snapshot
from core.search.candidates import Prepared
from core.text.analyze import QueryTerm

K2 = 0.5  # of the query's saturation: 1.5 where a latent's direction has length 0.35


def concept_terms(codes: ConceptCodes, vector: Floats) -> tuple[QueryTerm, ...]:
    """The latents of a query by its `vector` [D] as the index has its own, the strongest first, with their weights."""
    kept = codes.kept
    held_M = strengths(codes.model, vector[None, :], kept.query, weak=kept.weak)[0].astype(np.float64)
    latents = np.flatnonzero(held_M)
    weights = (K2 + 1.0) * held_M[latents] / (K2 + held_M[latents])
    order = np.argsort(-weights, kind="stable")
    return tuple(
        QueryTerm(str(i), (str(i),), w) for i, w in zip(latents[order].tolist(), weights[order].tolist(), strict=True)
    )


def with_concepts(snapshot: Snapshot, prepared: Prepared) -> Prepared:
    """The query with its latents; without any where it has no vector, or the index no codes that can be read."""
    if prepared.vector is None or snapshot.codes is None:
        return prepared
    return replace(prepared, concepts=concept_terms(snapshot.codes, prepared.vector))


def concept_matches(snapshot: Snapshot, terms: tuple[QueryTerm, ...], passage_id: int) -> dict[int, float]:
    """What each latent adds to a passage's score in this channel, the most first; they add up to it.

    Raises NotFound, IndexDamaged.
    """
    ids = np.array([passage_id])
    parts = {int(term.text): float(snapshot.sparse_scores(CONCEPT, [term], ids)[0]) for term in terms}
    return dict(sorted(((i, part) for i, part in parts.items() if part), key=lambda item: -item[1]))
