"""What is kept of an index and of work that was done."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.types.documents import DocumentState


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """One immutable part of an index. Paths are relative to the library folder, `sha256` is of the file."""

    segment: int
    passages: int
    dense_path: str
    dense_sha256: str
    multi_path: str = ""  # compressed token vectors; empty when the segment has none
    multi_sha256: str = ""


EFFICIENT, MAX = "efficient", "max"  # codes of concepts


@dataclass(frozen=True, slots=True)
class Generation:
    """An index as of one commit; `number` names its folder `generations/NNNN`.

    `means`, `codec`: paths relative to the library folder, empty when there is none. `fusion` are the channels' weights
    as calibrated on this library; a channel left out takes its default. `queries` names the encoder that queries go
    through, where the query side was adapted to the library and the passages kept the vectors of `encoder`. `reranker`
    names the cross-encoder that reads the best candidates again, where one proved better on this library.
    """

    number: int
    encoder: str
    dimension: int
    segments: tuple[SegmentFile, ...]
    parent: int | None
    created: str
    concepts: str = ""  # folder of the sparse autoencoder under models/, empty when there is none
    counts: dict[str, int] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    means: str = ""  # the languages' mean vectors that were taken out of the dense vectors
    codec: str = ""  # centroids and quantiser of the token vectors
    fusion: dict[str, float] = field(default_factory=dict)
    queries: str = ""
    reranker: str = ""
    codes: str = MAX  # how many latents stand for a passage: efficient or max (`core.index.concept_coding`)
    analysis: int = 1  # how texts were taken apart into words: `core.text.analyze.ANALYSIS` at that time
    format: int = 1


@dataclass(frozen=True, slots=True)
class FileFailure:
    path: str
    state: DocumentState
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    documents: int  # in the library, after all
    passages: int
    skipped: int  # unchanged since last time
    removed: int
    failed: tuple[FileFailure, ...]
    seconds: float
    encoded: int = 0  # passages that went through the encoder (the rest were known)
    generation: int = 0
    moved: int = 0  # files found at another place, by their content
    away: tuple[str, ...] = ()  # folders that are not there just now; their documents stay
    read: int = 0  # files whose text was read this time
    gave_way: bool = False  # ended early, for other work; what is left is done by the next run


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of the doctor."""

    check: str
    severity: str  # ok, warning, error
    detail: str
    repaired: bool = False
