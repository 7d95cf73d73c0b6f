"""A conversation as what a reader is shown, whatever it is written as: questions, answers, sources.

Only what the documents support is shown: sentences without support are left out here as in the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from core.base.files import path_shown
from core.base.types import Answer, AnswerMode, AnswerSentence, Citation, Support
from core.store.turns import StoredTurn

_HOW = {
    AnswerMode.ABSTAINED: "The documents do not say.",
    AnswerMode.EXTRACTIVE: "Quoted from the documents.",
    AnswerMode.GENERATED: "Written by {model}, checked against the documents.",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and the numbers of the sources behind it."""

    text: str
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Sentences under a heading of their own, or under none."""

    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A place that an answer rests on; `marker` 0: one of the nearest, of an answer that abstains."""

    marker: int
    place: str
    quote: str


@dataclass(frozen=True, slots=True)
class Section:
    """One exchange. `how` tells in a sentence how the answer was made; quoted sentences stand each by itself."""

    question: str
    asked: str
    how: str
    quoted: bool
    parts: tuple[Part, ...]
    sources: tuple[Source, ...]

    @property
    def sources_title(self) -> str:
        return "Sources" if any(source.marker for source in self.sources) else "The nearest passages"


@dataclass(frozen=True, slots=True)
class Content:
    title: str
    sections: tuple[Section, ...]


def content(title: str, turns: Sequence[StoredTurn]) -> Content:
    return Content(one_line(title), tuple(_section(turn) for turn in turns))


def one_line(text: str) -> str:
    return " ".join(text.split())


def supported(answer: Answer) -> list[AnswerSentence]:
    return [s for s in answer.sentences if s.support is Support.SUPPORTED]


def title_of(citation: Citation) -> str:
    """The document's title, else the name of its file."""
    return one_line(citation.title) or PurePath(path_shown(citation.document)).name


def place_of(citation: Citation) -> str:
    """Document and page in one line."""
    page = f", page {citation.page}" if citation.page is not None else ""
    return f"{title_of(citation)}{f', {one_line(citation.place)}' if citation.place else page}"


def _section(turn: StoredTurn) -> Section:
    answer = turn.answer
    return Section(
        one_line(turn.question), turn.asked[:10], _how(answer), answer.mode is AnswerMode.EXTRACTIVE, _parts(answer),
        _sources(answer),
    )  # fmt: skip


def _how(answer: Answer) -> str:
    sent = answer.record.sent_to if answer.record is not None else ""
    model = answer.model if sent else " ".join(filter(None, ("the local model", answer.model)))
    read = f" Read {answer.read} of {answer.matching} matching passages." if answer.matching else ""
    away = f" Question and passages were sent to {sent}." if sent else ""
    return _HOW[answer.mode].format(model=model) + read + away


def _parts(answer: Answer) -> tuple[Part, ...]:
    if answer.mode is AnswerMode.ABSTAINED:
        return ()
    parts, done = [], 0
    for group in answer.groups:
        parts += [Part("", _lines(answer.sentences[done : group.first]))]
        parts += [Part(one_line(group.heading), _lines(answer.sentences[group.first : group.last]))]
        done = group.last
    parts.append(Part("", _lines(answer.sentences[done:])))
    return tuple(part for part in parts if part.lines)


def _lines(sentences: Sequence[AnswerSentence]) -> tuple[Line, ...]:
    return tuple(
        Line(one_line(s.text), tuple(dict.fromkeys(c.marker for c in s.citations)))
        for s in sentences
        if s.support is Support.SUPPORTED
    )


def _sources(answer: Answer) -> tuple[Source, ...]:
    if answer.mode is AnswerMode.ABSTAINED:
        return tuple(dict.fromkeys(Source(0, place_of(c), one_line(c.quote)) for c in answer.near_misses))
    cited = (Source(c.marker, place_of(c), one_line(c.quote)) for s in supported(answer) for c in s.citations)
    return tuple(sorted(dict.fromkeys(cited), key=lambda source: source.marker))
