"""Why a passage matched, and the concepts of a library."""

from __future__ import annotations

from dataclasses import dataclass

from core.base.types.documents import Passage
from core.base.types.places import Span
from core.base.types.searching import ScorePart


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A query term found in a passage: its part of the BM25 score and where it stands in the passage."""

    term: str
    weight: float
    spans: tuple[Span, ...]
    added: bool = False  # not of the query: a word that its best passages share
    part_of: str = ""  # the query word that the term is a part of (of a compound)


@dataclass(frozen=True, slots=True)
class TokenAlignment:
    """A query word and the passage word nearest to it in meaning (cosine of contextual token states)."""

    query_token: str
    passage_token: str
    score: float
    span: Span


@dataclass(frozen=True, slots=True)
class ConceptShare:
    """A concept's part of the dense score. `contribution` is in units of the score, `share` is of its whole."""

    id: int
    label: str
    contribution: float
    share: float
    query_activation: float
    passage_activation: float
    spans: tuple[Span, ...] = ()  # sentences of the passage in which the concept is strongest


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a passage matched a query.

    `parts` add up to `score`. The dense score s = q·p is taken apart by the sparse autoencoder,
    p = W z + b + r: `concepts` (each z_i q·W_i), `common` (q·b: what all passages share) and `residual`
    (q·r: what the concepts leave unexplained) add up to `dense_score`. `explained_share` is the part of
    (dense_score - common) that the listed concepts carry, clipped to [0, 1].
    """

    query: str
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    terms: tuple[TermMatch, ...]
    alignment: tuple[TokenAlignment, ...]
    concepts: tuple[ConceptShare, ...]
    dense_score: float
    common: float
    residual: float
    explained_share: float
    sentence: str = ""  # the reason in one sentence
    tokens: tuple[TermMatch, ...] = ()  # shared tokens, with their parts of the score of learned words


@dataclass(frozen=True, slots=True)
class Concept:
    id: int
    label: str
    terms: tuple[str, ...]
    passages: int  # in how many passages it is active
    examples: tuple[int, ...]  # passage ids, strongest first
    idf: float
