"""A search and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum

from core.base.types.documents import Passage
from core.base.types.places import NOWHERE, Span

# channel names: a contract with the command line
BM25, DENSE, LEXICAL, MULTI, CONCEPT, RERANK, FUSED, RERANKED = (
    "bm25", "dense", "lexical", "multi", "concept", "rerank", "fused", "reranked",
)  # fmt: skip
STEER = "steer"  # a part of the score: what `Query.boosts` change; not a channel to search by


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may answer. Values within one field are alternatives; fields combine with *and*."""

    folders: tuple[str, ...] = ()  # path prefixes; what is no absolute path names folders anywhere on the way
    types: tuple[str, ...] = ()  # media types or their short names (pdf, docx, html, md, txt, jsonl)
    languages: tuple[str, ...] = ()  # ISO 639-1
    tags: tuple[str, ...] = ()
    after: str = ""  # ISO date, inclusive, compared with the document's modified date
    before: str = ""  # ISO date, inclusive
    documents: tuple[int, ...] = ()
    titles: tuple[str, ...] = ()  # parts of titles, authors, file names; case and accents do not count
    authors: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # with * and ? a pattern for the whole name
    also: tuple[Filters, ...] = ()  # let through what all of these let through
    none: tuple[Filters, ...] = ()  # and none of these

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


class Level(StrEnum):
    """What a hit is: how much of a document is found and shown as one."""

    SENTENCE = "sentence"
    PASSAGE = "passage"
    SECTION = "section"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Query:
    """One search. `weights` are per channel; a channel left out takes its default.

    Without `channels` the library's own are taken. `literal` text has no syntax: quotes, `-word` and `field:value` are
    plain text in it (questions, evaluation). With `rerank` the library's reranker, where it has one, reads the best
    candidates again; without it the first results are there sooner.
    """

    text: str
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    channels: tuple[str, ...] = ()
    level: Level = Level.PASSAGE
    literal: bool = False
    weights: dict[str, float] = field(default_factory=dict)
    boosts: dict[int, float] = field(default_factory=dict)  # concept id -> factor; 0 mutes
    required: tuple[int, ...] = ()  # concepts of which a hit must have every one
    fold: bool = True  # show one hit for equal passages of copies and versions
    rerank: bool = True
    like: int | None = None  # a passage to find more of; its concepts in `because` alone count, all when there are none
    because: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One channel's part in a hit. The contributions of a hit's parts add up to its score.

    `score` is the channel's raw score, `rank` its rank among the candidates (from 1; None when the channel
    did not find the passage by itself), `weight` the channel's weight in the fusion.
    """

    channel: str
    score: float
    rank: int | None
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Copy:
    """Another place where a hit's passage stands: an exact copy of its document, or another version of it."""

    document_id: int
    path: str
    external_id: str
    title: str
    modified: str  # of the file on disk, ISO 8601
    exact: bool
    passage_id: int | None = None  # of its own passage, when it is a version


@dataclass(frozen=True, slots=True)
class Hit:
    rank: int
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    spans: tuple[Span, ...] = ()  # matched words, in the passage's text
    snippet: Span = NOWHERE  # the window of the passage worth showing
    copies: tuple[Copy, ...] = ()  # newest first
    within: tuple[int, ...] = ()  # ids of all passages found in the hit's section or document, best first


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: Query
    hits: tuple[Hit, ...]
    generation: int
    milliseconds: dict[str, float]
    filtered_out: int = 0  # candidates that only the filters removed
    notice: str = ""  # e.g. that a damaged index file is being rebuilt
    understood: tuple[str, ...] = ()  # what was taken as query syntax, as one writes it: "a phrase", -word, type:pdf
    understood_at: tuple[Span, ...] = ()  # where each of it stands in the query's text
    closer: bool = False  # the same query with `rerank` would read these hits closely, which was not done
    searched: tuple[str, ...] = ()  # of a question: all that was searched for, the whole question first
    newest: tuple[int, ...] = ()  # of a question: passages of which older versions stand behind them
