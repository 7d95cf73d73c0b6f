"""Answers, what they cite, and conversations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.base.types.searching import Filters


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
class AnswerRecord:
    """What an answer was made of: enough to make it again, and to tell what is different when it is made again.

    `searched` are the queries that were asked, `passages` the hits that were given to the answer, with the `hashes` of
    their texts. `prompt` is the sha256 of what the model was given, empty without a model. `sent_to` is the endpoint
    that question and passages went to for it (host and port), empty where all stayed in this program.
    """

    filters: Filters = field(default_factory=Filters)
    searched: tuple[str, ...] = ()
    passages: tuple[int, ...] = ()
    hashes: tuple[str, ...] = ()
    encoder: str = ""
    prompt: str = ""
    seed: int = 0
    asked_mode: str = "auto"
    sent_to: str = ""


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """A part of an answer under a heading of its own: a document, a year, a thing that is compared. `sentences` count
    among those of the answer: [first, last)."""

    heading: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is the plain answer: the supported sentences only, with their markers.

    `near_misses` are the best passages when the answer abstains. Questions about the whole library are answered from
    all that matches: of `matching` passages `read` were read. When it abstains and a search without the filters in
    force finds enough, `hidden` are the places that would have answered.
    """

    question: str
    mode: AnswerMode
    text: str
    sentences: tuple[AnswerSentence, ...]
    near_misses: tuple[Citation, ...] = ()
    reason: str = ""  # why this mode: no model, no support, evidence too weak
    model: str = ""
    generation: int = 0
    record: AnswerRecord | None = None
    groups: tuple[AnswerGroup, ...] = ()
    read: int = 0
    matching: int = 0
    hidden: tuple[Citation, ...] = ()


def with_hidden(answer: Answer, wide: Answer) -> Answer:
    """An answer that abstains, with the places by which `wide`, made without its filters, answers; if it does."""
    places = dict.fromkeys(citation for sentence in wide.sentences for citation in sentence.citations)
    return replace(answer, hidden=tuple(places)) if wide.mode is not AnswerMode.ABSTAINED else answer


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a conversation, as kept and as given back for a follow-up question."""

    question: str
    answer: str
    search_text: str = ""  # the stand-alone question that was searched
