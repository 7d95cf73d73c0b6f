"""Questions about made-up documents in words of their own, and searches that stand for weaker negatives."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

from core.train.negatives import Ranked
from core.train.types import WRITTEN, Piece, Question
from tests.tiny import sentence, topics


def questions(pieces: Sequence[Piece], *, seed: int = 0) -> list[Question]:
    """One of each document, about things that it is about, in words and frame of chance."""
    luck = random.Random(seed)
    things = [thing for topic in topics().values() for thing in topic]
    made = []
    for piece in pieces:
        words = Counter(piece.text.lower().replace(",", " ").replace(".", " ").split())
        told = sorted(things, key=lambda thing: -sum(words[word] for word in thing))[:3]
        made.append(Question(sentence(luck.sample(told, 3), luck), piece.id, WRITTEN, piece.group, "en"))
    return made


class ByWords:
    """A `Search` by BM25."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._ids = [piece.id for piece in pieces]
        self._counts = [Counter(_words(piece.text)) for piece in pieces]
        self._mean = sum(counts.total() for counts in self._counts) / len(pieces)
        self._spread = Counter(word for counts in self._counts for word in counts)

    def __call__(self, texts: Sequence[str], depth: int) -> list[Ranked]:
        return [self._ranked(set(_words(text)), depth) for text in texts]

    def _ranked(self, words: set[str], depth: int) -> Ranked:
        scored = [
            (id, sum(self._weight(word, counts) for word in words))
            for id, counts in zip(self._ids, self._counts, strict=True)
        ]
        return sorted(scored, key=lambda one: (-one[1], one[0]))[:depth]

    def _weight(self, word: str, counts: Counter[str]) -> float:
        rare = math.log(1 + (len(self._ids) - self._spread[word] + 0.5) / (self._spread[word] + 0.5))
        return rare * 2.2 * counts[word] / (counts[word] + 1.2 * (0.25 + 0.75 * counts.total() / self._mean))


class AtRandom:
    """A `Search` that finds anything: each question's own passage first, so that there are candidates."""

    def __init__(self, pieces: Sequence[Piece], asked: Sequence[Question], seed: int = 0) -> None:
        self._ids = [piece.id for piece in pieces]
        self._own = {question.text: question.positive for question in asked}
        self._luck = random.Random(seed)

    def __call__(self, texts: Sequence[str], depth: int) -> list[Ranked]:
        return [
            [(self._own[text], 1.0), *((id, 0.0) for id in self._luck.sample(self._ids, depth - 1))] for text in texts
        ]


def _words(text: str) -> list[str]:
    return text.lower().replace(",", " ").replace(".", " ").replace("?", " ").split()
