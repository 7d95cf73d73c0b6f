"""Answers, what they cite, and conversations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that supports an answer's sentence. `start`/`end` count in the document's text.

    `place` is that of its passage, in formats with places of their own.
    """

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
    place: str = ""


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
