"""The types that cross every border: frozen, plain, and free of behaviour beyond small views of themselves.

Offsets are counts of Unicode code points. Every `start`/`end` of a page, block or passage counts from the
start of its *document's* text, so that one number leads from a citation back to the page. Spans inside a
`Hit` or a `ConceptShare` count from the start of the *passage's* text. Dates are ISO 8601 strings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath

# channel names: a contract with the command line
BM25, DENSE, LEXICAL, MULTI, CONCEPT, RERANK, FUSED = (
    "bm25", "dense", "lexical", "multi", "concept", "rerank", "fused",
)  # fmt: skip


class DocumentState(StrEnum):
    """How reading a document ended. Every document is in exactly one of these."""

    WAITING = "waiting"  # found, not read yet
    READ = "read"  # text and passages are stored
    TRUNCATED = "truncated"  # read up to a limit; the reason says which
    EMPTY = "empty"  # opened well, holds no text at all
    SCANNED = "scanned"  # pages are pictures without a text layer
    LOCKED = "locked"  # needs a password
    BROKEN = "broken"  # cannot be parsed
    UNSUPPORTED = "unsupported"  # a kind of file that is not read
    TOO_LARGE = "too-large"  # above the size limit
    TIMED_OUT = "timed-out"  # reading took longer than allowed
    CRASHED = "crashed"  # the reading child died or ran out of memory
    DENIED = "denied"  # no permission
    MISSING = "missing"  # vanished before it could be read
    CHANGING = "changing"  # kept changing while it was read

    @property
    def has_text(self) -> bool:
        return self in (DocumentState.READ, DocumentState.TRUNCATED)


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list-item"
    TABLE_ROW = "table-row"
    CODE = "code"
    CAPTION = "caption"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page in points (1/72 inch), origin at the page's top left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document: its number (from 1), its range in the document's text, its size in points."""

    number: int
    start: int
    end: int
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class Block:
    """A reader's unit. `text` equals `document_text[start:end]`.

    `boxes` holds the rectangle(s) of the block on `page`; empty where the format has no layout.
    `heading_path` lists the headings above it, outermost first (a heading block does not list itself).
    `level` is the depth of a heading (1 = top), 0 for other kinds.
    """

    kind: BlockKind
    start: int
    end: int
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    level: int = 0


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """What a reader makes of one document: whole text, pages, blocks, and what is known of it.

    A file holds one document, except collections (JSON Lines), whose documents carry an `external_id`.
    `state` is READ, TRUNCATED, EMPTY, SCANNED, LOCKED or BROKEN; `reason` is a sentence for the person.
    """

    text: str
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""  # declared by the file; detected later when empty
    external_id: str = ""
    reader: str = ""
    media_type: str = ""
    state: DocumentState = DocumentState.READ
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a library, as listed (its text is fetched apart)."""

    id: int
    path: str
    external_id: str
    title: str
    author: str
    media_type: str
    language: str
    created: str
    modified: str
    state: DocumentState
    reason: str
    reader: str
    pages: int
    characters: int
    passages: int
    warnings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    size: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """What is searched. `text` equals `document_text[start:end]`; pages are None where there are none."""

    id: int
    document_id: int
    ordinal: int  # position in its document, from 0
    text: str
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    heading_path: tuple[str, ...]
    language: str
    # repeated from the document, so that a hit can be shown without a second look-up
    path: str = ""
    title: str = ""
    external_id: str = ""
    media_type: str = ""

    @property
    def context_title(self) -> str:
        return context_title(self.title, self.path, self.external_id)


def context_title(title: str, path: str, external_id: str) -> str:
    """The title that gives a passage its context: the document's own, else its file's name.

    The documents of a collection share one file, whose name says nothing of them.
    """
    return title or ("" if external_id else PurePath(path).stem)


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may answer. Values within one field are alternatives; fields combine with *and*."""

    folders: tuple[str, ...] = ()  # path prefixes
    types: tuple[str, ...] = ()  # media types or their short names (pdf, docx, html, md, txt, jsonl)
    languages: tuple[str, ...] = ()  # ISO 639-1
    tags: tuple[str, ...] = ()
    after: str = ""  # ISO date, inclusive, compared with the document's modified date
    before: str = ""  # ISO date, inclusive
    documents: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return any((self.folders, self.types, self.languages, self.tags, self.after, self.before, self.documents))


@dataclass(frozen=True, slots=True)
class Query:
    """One search. `weights` are per channel; a channel left out takes its default."""

    text: str
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    channels: tuple[str, ...] = (BM25, DENSE)
    weights: dict[str, float] = field(default_factory=dict)
    boosts: dict[int, float] = field(default_factory=dict)  # concept id -> factor; 0 mutes


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
class Hit:
    rank: int
    passage: Passage
    score: float
    parts: tuple[ScorePart, ...]
    spans: tuple[Span, ...] = ()  # matched words, in the passage's text
    snippet: Span = Span(0, 0)  # the window of the passage worth showing


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: Query
    hits: tuple[Hit, ...]
    generation: int
    milliseconds: dict[str, float]
    filtered_out: int = 0  # candidates that only the filters removed
    notice: str = ""  # e.g. that a damaged index file is being rebuilt


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A query term found in a passage: its part of the BM25 score and where it stands in the passage."""

    term: str
    weight: float
    spans: tuple[Span, ...]


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


@dataclass(frozen=True, slots=True)
class Concept:
    id: int
    label: str
    terms: tuple[str, ...]
    passages: int  # in how many passages it is active
    examples: tuple[int, ...]  # passage ids, strongest first
    idf: float


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that supports an answer's sentence. `start`/`end` count in the document's text."""

    marker: int
    passage_id: int
    document_id: int
    document: str  # path
    title: str
    external_id: str
    page: int | None
    start: int
    end: int
    quote: str


class Support(StrEnum):
    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"


class AnswerMode(StrEnum):
    GENERATED = "generated"
    EXTRACTIVE = "extractive"
    ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    text: str
    support: Support
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is the plain answer: the supported sentences only, with their markers.

    `near_misses` are the best passages when the answer abstains.
    """

    question: str
    mode: AnswerMode
    text: str
    sentences: tuple[AnswerSentence, ...]
    near_misses: tuple[Citation, ...] = ()
    reason: str = ""  # why this mode: no model, no support, evidence too weak
    model: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a conversation, as kept and as given back for a follow-up question."""

    question: str
    answer: str
    search_text: str = ""  # the stand-alone question that was searched


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """One immutable part of an index. Paths are relative to the library folder, `sha256` is of the file."""

    segment: int
    passages: int
    dense_path: str
    dense_sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """An index as of one commit; `number` names its folder `generations/NNNN`."""

    number: int
    encoder: str
    dimension: int
    segments: tuple[SegmentFile, ...]
    parent: int | None
    created: str
    concepts: str = ""  # folder of the sparse autoencoder under models/, empty when there is none
    counts: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    format: int = 1


@dataclass(frozen=True, slots=True)
class FileFailure:
    path: str
    state: DocumentState
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    documents: int
    passages: int
    skipped: int  # unchanged since last time
    removed: int
    failed: tuple[FileFailure, ...]
    seconds: float
    encoded: int = 0  # passages that went through the encoder (the rest were known)
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of the doctor."""

    check: str
    severity: str  # ok, warning, error
    detail: str
    repaired: bool = False
