"""The map: each passage that matches is read by itself; what it says of the subject are one or more of its sentences.

A passage that the words found holds what was asked when a sentence, with its neighbours and the headings above it, has
the line's share of the words; one found by its meaning when a sentence is as close to the subject as an answer is to
its question. Whatever a passage is not found to hold, it is told as read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.answer.orders import is_order
from core.answer.scale import Scale
from core.answer.whole.dates import Date, dates
from core.base.events import Control
from core.base.types import Passage
from core.encode.encoder import Encoder
from core.search.every import LINE, Match, Word
from core.text.analyze import term_texts
from core.text.sentences import split

CLOSE = 0.8  # of the way from "about something else" to "says just that"
LONGEST = 600  # characters of a sentence that is quoted; a longer one is a table or a list
_MOST_SENTENCES = 30  # of a passage that are compared by meaning


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence that a passage says of the subject; `start`/`end` count in the passage's text."""

    match: Match
    start: int
    end: int
    share: float  # of the subject's words that stand in it
    date: Date | None = None

    @property
    def passage(self) -> Passage:
        return self.match.passage

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def by_words(self) -> bool:
        return self.match.share > 0.0


@dataclass
class Reader:
    """Reads passages for one subject. `dated` asks for every sentence with a date, else for the best one."""

    subject: str
    words: Sequence[Word]
    encoder: Encoder
    scale: Scale
    control: Control
    line: float = LINE
    dated: bool = False
    _asked: list[np.ndarray] = field(default_factory=list)

    def read(self, match: Match) -> list[Said]:
        """What the passage says of the subject; nothing when it is not found to hold it. Raises Cancelled."""
        self.control.check()
        spans = split(match.passage.text)
        if not spans:
            return []
        if match.share == 0.0:
            return self._by_meaning(match, spans)
        own = [self._held(match.passage.text[a:b], match.passage.language) for a, b in spans]
        above = self._held("\n".join((match.passage.title, *match.passage.heading_path)), match.passage.language)
        around = [self._weigh(above.union(*own[max(0, n - 1) : n + 2])) for n in range(len(spans))]
        holding = [n for n, share in enumerate(around) if share >= self.line - 1e-9]
        if self.dated:
            return self._dates(match, spans, holding, around)
        if not holding:
            return []
        shares = [self._weigh(held) for held in own]
        order = sorted(holding, key=lambda n: (-shares[n], -around[n], n))
        # what is said to a model is quoted where the passage says nothing else of the subject
        best = next((n for n in order if not is_order(match.passage.text[slice(*spans[n])])), order[0])
        return [Said(match, *_cut(match.passage.text, spans[best]), shares[best])]

    def _dates(
        self, match: Match, spans: Sequence[tuple[int, int]], holding: Sequence[int], around: Sequence[float]
    ) -> list[Said]:
        texts = {n: match.passage.text[slice(*spans[n])] for n in holding}
        return [
            Said(match, *_cut(match.passage.text, spans[n]), around[n], date)
            for n, text in texts.items()
            for date in dates(text)
        ]

    def _held(self, text: str, language: str) -> frozenset[int]:
        terms = set(term_texts(text, language))
        return frozenset(n for n, word in enumerate(self.words) if not terms.isdisjoint(word.forms))

    def _weigh(self, held: frozenset[int]) -> float:
        return sum(self.words[n].share for n in held) if self.words else 1.0

    def _by_meaning(self, match: Match, spans: Sequence[tuple[int, int]]) -> list[Said]:
        spans = [span for span in spans[:_MOST_SENTENCES] if span[1] - span[0] <= LONGEST]
        if not spans:
            return []
        texts = [match.passage.text[a:b] for a, b in spans]
        if not self._asked:
            self._asked = [self.encoder.encode([self.subject], kind="query", control=self.control)[0]]
        cosines = self.encoder.encode(texts, control=self.control) @ self._asked[0]
        close = self.scale(cosines, [match.passage.language] * len(spans))
        order = [int(n) for n in np.argsort(-close, kind="stable") if close[n] >= CLOSE]
        if self.dated:
            return [Said(match, *spans[n], 0.0, date) for n in sorted(order) for date in dates(texts[n])]
        return [Said(match, *spans[n], 0.0) for n in order[:1]]


def _cut(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A sentence too long to quote is quoted up to a space."""
    start, end = span
    if end - start <= LONGEST:
        return span
    space = text.rfind(" ", start, start + LONGEST)
    return start, space if space > start else start + LONGEST
