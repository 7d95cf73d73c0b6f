"""Why a passage matched a query: the recorded parts of its score, its words, its concepts, one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from core.base.types import ConceptShare, Explanation, Query, Span
from core.encode.encoder import Encoder
from core.explain.align import align, sentence_spans
from core.explain.decompose import Decomposition, Part, decompose
from core.explain.reason import reason
from core.index.concept_model import ConceptModel
from core.index.neutral_encoder import alike
from core.search.searcher import MatchContext

_CHARACTERS = 2_000  # of a query that are aligned word by word


class Matcher(Protocol):
    """What is needed of a searcher."""

    @property
    def encoder(self) -> Encoder: ...

    def context(self, query: Query, passage_id: int) -> MatchContext: ...


def explain(
    searcher: Matcher, concepts: ConceptModel | None, labels: Mapping[int, str], query: Query, passage_id: int
) -> Explanation:
    """Explain one passage's score; works without concepts too, then all of the dense score is residual.

    `labels` names the latents that may be shown. The parts come from the search itself, and the concepts' shares
    from the dense score that it computed.

    Raises:
        NotFound: the passage is not in the index. BadQuery: the query is empty.
    """
    match = searcher.context(query, passage_id)
    split_score = _decomposed(match, concepts, labels)
    # less than all passages have in common with the question anyway
    loose = split_score.score - split_score.common < abs(split_score.common)
    passage = match.passage
    spans: dict[int, tuple[Span, ...]] = {}
    if concepts is not None and split_score.listed:
        latents = [part.latent for part in split_score.listed]
        encoder = alike(searcher.encoder, match.means)
        spans = sentence_spans(encoder, concepts, passage.text, latents)
    shares = tuple(_share(part, labels, split_score.score, spans) for part in split_score.listed)
    pairs = () if match.query_vector is None else align(
        searcher.encoder, match.query.text[:_CHARACTERS], passage.text, passage.language
    )  # fmt: skip
    said = reason(passage, shares, match.terms, pairs, loose=loose)
    return Explanation(
        query=query.text, passage=passage, score=match.score, parts=match.parts, terms=match.terms, alignment=pairs,
        concepts=shares, dense_score=split_score.score, common=split_score.common, residual=split_score.residual,
        explained_share=split_score.explained_share, sentence=said, tokens=match.tokens,
    )  # fmt: skip


def _decomposed(match: MatchContext, concepts: ConceptModel | None, labels: Mapping[int, str]) -> Decomposition:
    query, passage = match.query_vector, match.passage_vector
    if concepts is None or query is None or passage is None or concepts.bias.shape != query.shape:
        return Decomposition(match.dense_score, 0.0, (), match.dense_score, 0.0)
    return decompose(concepts, labels, query, passage, match.dense_score)


def _share(part: Part, labels: Mapping[int, str], score: float, spans: Mapping[int, tuple[Span, ...]]) -> ConceptShare:
    return ConceptShare(
        id=part.latent, label=labels[part.latent], contribution=part.contribution,
        share=part.contribution / score if score > 0 else 0.0, query_activation=part.query_activation,
        passage_activation=part.passage_activation, spans=spans.get(part.latent, ()),
    )  # fmt: skip
