"""The types that cross every border: frozen, plain, and free of behaviour beyond small views of themselves.

Offsets are counts of Unicode code points. Every `start`/`end` of a page, block or passage counts from the
start of its *document's* text, so that one number leads from a citation back to the page. Spans inside a
`Hit` or a `ConceptShare` count from the start of the *passage's* text. Dates are ISO 8601 strings.
"""

from core.base.types.answers import Answer, AnswerMode, AnswerSentence, Citation, Support, Turn
from core.base.types.documents import Block, BlockKind, Document, DocumentState, Passage, ReadDocument, context_title
from core.base.types.places import Box, Page, Span
from core.base.types.reasons import Concept, ConceptShare, Explanation, TermMatch, TokenAlignment
from core.base.types.records import FileFailure, Finding, Generation, IngestReport, SegmentFile
from core.base.types.searching import (
    BM25,
    CONCEPT,
    DENSE,
    FUSED,
    LEXICAL,
    MULTI,
    RERANK,
    RERANKED,
    Copy,
    Filters,
    Hit,
    Level,
    Query,
    ScorePart,
    SearchResult,
)

__all__ = [
    "BM25",
    "CONCEPT",
    "DENSE",
    "FUSED",
    "LEXICAL",
    "MULTI",
    "RERANK",
    "RERANKED",
    "Answer",
    "AnswerMode",
    "AnswerSentence",
    "Block",
    "BlockKind",
    "Box",
    "Citation",
    "Concept",
    "ConceptShare",
    "Copy",
    "Document",
    "DocumentState",
    "Explanation",
    "FileFailure",
    "Filters",
    "Finding",
    "Generation",
    "Hit",
    "IngestReport",
    "Level",
    "Page",
    "Passage",
    "Query",
    "ReadDocument",
    "ScorePart",
    "SearchResult",
    "SegmentFile",
    "Span",
    "Support",
    "TermMatch",
    "TokenAlignment",
    "Turn",
    "context_title",
]
