"""The label candidates of a set of texts: how present each is in each text, and how it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.concepts.terms import Text, best_surface, candidates

_PHRASE = 1.5  # how much a phrase is preferred to a word: it is rarer, and says more
_CARRIES = 0.2  # weighted presence with which a term of a single strong text may name
_VERBAL = 0.5  # English participles and adverbs seldom name a subject
_VERBAL_ENDING = re.compile(r"[a-z]{2,}(?:ed|ly)$")


class Ranked(NamedTuple):
    """A term of some texts: its stems, score, and weighted presence in them."""

    id: int
    words: tuple[str, ...]
    score: float
    share: float


class Vocabulary:
    """Built once over all texts; `ranked` and `surface` answer for any few of them."""

    def __init__(self, texts: Sequence[Text], control: Control | None = None) -> None:
        self._texts = texts
        self._ids: dict[tuple[str, ...], int] = {}
        self._forms: list[dict[str, float]] = []
        self._rows: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        for text in texts:
            if control is not None:
                control.check()
            self._rows.append(self._read(text))
        self._words = list(self._ids)
        self._presence = np.zeros(len(self._words))
        self._texts_with = np.zeros(len(self._words), np.int64)
        for ids, presence in self._rows:
            self._presence[ids] += presence
            self._texts_with[ids] += 1
        self._presence /= max(1, len(texts))

    def _read(self, text: Text) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        counts: dict[int, int] = {}
        for words, surface, weight in candidates(text):
            term = self._ids.setdefault(words, len(self._forms))
            if term == len(self._forms):
                self._forms.append({})
            forms = self._forms[term]
            forms[surface] = forms.get(surface, 0.0) + weight
            counts[term] = counts.get(term, 0) + 1
        n = np.fromiter(counts.values(), np.float32, len(counts))
        return np.fromiter(counts.keys(), np.int64, len(counts)), n / (n + 1)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The stems of each term, by its id."""
        return self._words

    @property
    def rows(self) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """For each text its terms' ids and their presence in it, n / (n + 1)."""
        return self._rows

    def surface(self, term: int) -> str:
        return best_surface(self._forms[term])

    def stands(self, phrase: str, rows: Sequence[int]) -> bool:
        """Whether the phrase stands in at least two of these texts, word for word."""
        folded = phrase.casefold()
        return sum(folded in self._texts[row].text.casefold() for row in rows) >= min(2, len(rows))

    def ranked(self, rows: Sequence[int], weights: NDArray[np.float32], most: int = 60) -> list[Ranked]:
        """The best terms of these texts by contrast.

        A term must stand in two and in a quarter of them, or else carry the strongest one and stand elsewhere too.
        """
        ids = np.concatenate([self._rows[row][0] for row in rows])
        parts = weights / weights.sum()
        presence = np.concatenate([w * self._rows[row][1] for row, w in zip(rows, parts, strict=True)])
        terms, where, texts = np.unique(ids, return_inverse=True, return_counts=True)
        share = np.bincount(where, presence)
        keep = texts >= min(len(rows), max(2, math.ceil(len(rows) / 4)))
        keep |= (share >= _CARRIES) & (self._texts_with[terms] >= 2)
        terms, share = terms[keep], share[keep]
        scores = share * np.log(share / self._presence[terms])
        first = np.argsort(-scores, kind="stable")[: 2 * most]
        found = [Ranked(int(t), self._words[t], float(s * self._preference(int(t))), float(p))
                 for t, s, p in zip(terms[first], scores[first], share[first], strict=True) if s > 0]  # fmt: skip
        return sorted(found, key=lambda r: (-r.score, r.words))[:most]

    def _preference(self, term: int) -> float:
        phrase = len(self._words[term]) > 1
        verbal = not phrase and bool(_VERBAL_ENDING.fullmatch(self.surface(term)))
        return _PHRASE if phrase else _VERBAL if verbal else 1.0
