"""Keywords, as people type them: the terms of a passage that are rare in the library, and those that its neighbours
share with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterator, Sequence

from core.text.analyze import Term, is_han, term_texts, terms
from core.train.pairs.source import Source, asked
from core.train.types import KEYWORDS, Piece, Question

LEAST, MOST = 3, 6  # terms
_COUNTED = 20_000  # passages that the frequencies are counted on
_COMMON = 0.1  # share of passages; a term that is in more tells nothing
_FREE = 10  # passages that a term may stand in whatever the share


def pairs(source: Source) -> Iterator[Question]:
    said = _Said()
    idf = _Idf([said(piece) for piece in source.drawn[:_COUNTED]])
    beside = _neighbours(source)
    for piece in source.drawn:
        found = terms(piece.text, piece.language)
        count = int(source.chance(piece).integers(LEAST, MOST + 1))
        rare = idf.rarest(found, count)
        around = frozenset[str]().union(*map(said, beside[piece.id]))
        shared = idf.rarest(found, count, around) if around else []
        for chosen in (rare, shared) if shared != rare else (rare,):
            if len(chosen) >= LEAST:
                yield asked(_spoken(piece.text, chosen), piece, KEYWORDS)


class _Said:
    """The different terms of a passage, remembered."""

    def __init__(self) -> None:
        self._known: dict[int, frozenset[str]] = {}

    def __call__(self, piece: Piece) -> frozenset[str]:
        if piece.id not in self._known:
            self._known[piece.id] = frozenset(term_texts(piece.text, piece.language))
        return self._known[piece.id]


class _Idf:
    """Inverse passage frequency: log(N / n) of a term in n of N passages."""

    def __init__(self, passages: Sequence[frozenset[str]]) -> None:
        self._passages = max(len(passages), 1)
        self._counts = Counter(term for found in passages for term in found)

    def rarest(self, found: Sequence[Term], count: int, among: Container[str] | None = None) -> list[Term]:
        """The first places of the `count` terms that say most, in reading order: rare ones, and those said again and
        again (tf-idf). What stands in one passage only counts half: much of it is slips and numbers."""
        first: dict[str, Term] = {}
        said = Counter(term.text for term in found)
        for term in found:
            if self._tells(term.text) and (among is None or term.text in among):
                first.setdefault(term.text, term)
        best = sorted(first.values(), key=lambda term: (-self._weight(term.text, said[term.text]), term.start))[:count]
        return sorted(best, key=lambda term: term.start)

    def _tells(self, text: str) -> bool:
        common = max(_COMMON * self._passages, min(_FREE, self._passages / 2))
        return self._counts[text] <= common and any(c.isalpha() for c in text) and not is_han(text)

    def _weight(self, text: str, said: int) -> float:
        held = self._counts[text]
        return (1 + math.log(said)) * math.log(self._passages / max(held, 1)) * (1.0 if held > 1 else 0.5)


def _neighbours(source: Source) -> dict[int, list[Piece]]:
    found = {}
    for pieces in source.documents.values():
        for place, piece in enumerate(pieces):
            found[piece.id] = [pieces[n] for n in (place - 1, place + 1) if 0 <= n < len(pieces)]
    return found


def _spoken(text: str, chosen: Sequence[Term]) -> str:
    """The terms as the passage writes them; overlapping ones (parts of a word without spaces) as one."""
    spans: list[list[int]] = []
    for term in chosen:
        if spans and term.start < spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], term.end)
        else:
            spans.append([term.start, term.end])
    return " ".join(text[start:end] for start, end in spans)
