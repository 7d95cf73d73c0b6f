"""How one passage scores for one query, with all that an explanation of it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.base.types import Passage, Query, ScorePart, TermMatch
from core.index.dense import Floats
from core.index.neutral import Means
from core.search.fuse import Rule


@dataclass(frozen=True, slots=True)
class MatchContext:
    """All that an explanation of one passage's score needs.

    `parts` add up to `score`, `terms` to the BM25 part's raw score, `tokens` to the lexical part's. The vectors [D]
    are unit vectors, None when the index has no dense part that fits the encoder.
    """

    query: Query
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    terms: tuple[TermMatch, ...]
    query_vector: Floats | None
    passage_vector: Floats | None
    dense_score: float
    tokens: tuple[TermMatch, ...] = ()
    means: Means | None = None  # what was taken out of both vectors
    rules: Mapping[str, Rule] = field(default_factory=dict)  # what makes contributions of the channels' scores
    steering: Mapping[int, float] = field(default_factory=dict)  # concept -> what steering it adds to the dense score
    concepts: Mapping[int, float] = field(default_factory=dict)  # latent -> its part of the concept part's raw score
