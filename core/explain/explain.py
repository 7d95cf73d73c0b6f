"""Why a passage matched a query: the recorded parts of its score, its words, its concepts, one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from core.base.types import ConceptPair, ConceptShare, Explanation, Query
from core.encode.encoder import Encoder
from core.explain.account import account
from core.explain.align import align
from core.explain.decompose import NOTHING, Decomposition, Part, decompose
from core.explain.reason import reason
from core.explain.sentences import Places, places, read
from core.index.concept_model import ConceptModel
from core.search.searcher import MatchContext

_CHARACTERS = 2_000  # of a query that are aligned word by word
_MUTED = 0.01  # of the largest contribution: what rounding leaves of a muted concept


class Matcher(Protocol):
    """What is needed of a searcher."""

    @property
    def encoder(self) -> Encoder: ...

    def context(self, query: Query, passage_id: int) -> MatchContext: ...


def explain(
    searcher: Matcher, concepts: ConceptModel | None, labels: Mapping[int, str], query: Query, passage_id: int,
    merged: Mapping[int, int] = NOTHING,
) -> Explanation:  # fmt: skip
    """Explain one passage's score; works without concepts too, then all of the dense score is residual.

    `labels` names the latents that may be shown, `merged` says of a latent as which other one it counts. The parts come
    from the search itself, and the concepts' shares from the dense score that it computed.

    Raises:
        NotFound: the passage is not in the index. BadQuery: the query is empty.
    """
    match = searcher.context(query, passage_id)
    passage, split_score = match.passage, _decomposed(match, concepts, labels, merged)
    # less than all passages have in common with the question anyway
    loose = split_score.score - split_score.common < abs(split_score.common)
    meant = match.query_vector is not None
    sentences = read(searcher.encoder, passage.text, passage.language) if meant else []
    strongest = [part.latents[0] for part in split_score.listed]
    placed = {} if concepts is None else places(concepts, match.means, passage.language, sentences, strongest)
    shares = tuple(
        _share(part, labels, split_score.score, placed.get(part.latents[0], Places())) for part in split_score.listed
    )
    text = match.query.text[:_CHARACTERS]
    pairs = align(searcher.encoder, text, passage.text, passage.language, sentences) if meant else ()
    said = reason(passage, _steered(match, shares), match.terms, pairs, loose=loose)
    return Explanation(
        query=query.text, passage=passage, score=match.score, parts=match.parts, terms=match.terms, alignment=pairs,
        concepts=shares, dense_score=split_score.score, common=split_score.common, residual=split_score.residual,
        explained_share=split_score.explained_share, sentence=said, tokens=match.tokens,
        account=account(match, shares, split_score.common, labels, merged),
    )  # fmt: skip


def _decomposed(
    match: MatchContext, concepts: ConceptModel | None, labels: Mapping[int, str], merged: Mapping[int, int]
) -> Decomposition:
    query, passage = match.query_vector, match.passage_vector
    if concepts is None or query is None or passage is None or concepts.bias.shape != query.shape:
        return Decomposition(match.dense_score, 0.0, (), match.dense_score, 0.0)
    return decompose(concepts, labels, query, passage, match.dense_score, merged)


def _steered(match: MatchContext, shares: Sequence[ConceptShare]) -> list[ConceptShare]:
    """The shares as they count after steering, the largest first: what is muted is no reason."""
    if not match.steering:
        return list(shares)
    changed = [replace(c, contribution=c.contribution + match.steering.get(c.id, 0.0)) for c in shares]
    least = _MUTED * max((abs(c.contribution) for c in shares), default=0.0)
    return sorted((c for c in changed if abs(c.contribution) > least), key=lambda c: -c.contribution)


def _share(part: Part, labels: Mapping[int, str], score: float, where: Places) -> ConceptShare:
    return ConceptShare(
        id=part.latent, label=labels[part.latent], contribution=part.contribution,
        share=part.contribution / score if score > 0 else 0.0, query_activation=part.query_activation,
        passage_activation=part.passage_activation, spans=where.spans, words=where.words,
        pairs=tuple(ConceptPair(concept, labels[concept], adds) for concept, adds in part.pairs), rest=part.rest,
    )  # fmt: skip
