"""The test collection that a library makes of itself: held-out questions, and passages to look for them in.

A question made of a passage stands in that passage, so finding it there would prove nothing. Its words are taken out
of the passage before it is searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.encode.encoder import input_text
from core.evaluate.datasets import CorpusDocument, Dataset
from core.train.reduced import reduced
from core.train.types import Piece, Question

MOST = 4_000  # passages; more would cost minutes of encoding for each candidate
LEAST_LETTERS = 40  # of a passage that is left when the question's words are out
_NAME = "held-out"


@dataclass(frozen=True, slots=True)
class Pool:
    """`dataset` holds the passages (ids as text) and the questions, which are called by their place in `questions`."""

    dataset: Dataset
    questions: tuple[Question, ...]

    @property
    def passages(self) -> list[str]:
        """What an encoder sees of each passage."""
        return [input_text((), document.text, document.title) for document in self.dataset.corpus]


def make(pieces: Sequence[Piece], questions: Sequence[Question], *, most: int = MOST, seed: int = 0) -> Pool:
    """A collection of at most about `most` passages: those that answer, and others drawn at random.

    Questions are left out whose passage is nothing without their words. Passages equal to the one that answers count
    as right, too.
    """
    by_id = {piece.id: piece for piece in pieces}
    asked: dict[int, list[Question]] = defaultdict(list)
    for question in questions:
        if question.positive in by_id:
            asked[question.positive].append(question)
    shown = {id: reduced(by_id[id], own) for id, own in asked.items()}
    kept = [q for q in questions if q.positive in shown and _says_something(shown[q.positive])]
    chosen = _drawn(pieces, {q.positive for q in kept}, most, seed)
    corpus = [shown.get(piece.id, piece) for piece in chosen]
    same = defaultdict(list)
    for piece in corpus:
        same[piece.text].append(str(piece.id))
    qrels = {str(i): dict.fromkeys(same[shown[q.positive].text], 1) for i, q in enumerate(kept)}
    texts = {str(i): q.text for i, q in enumerate(kept)}
    return Pool(Dataset(_NAME, Path(_NAME), tuple(_document(p) for p in corpus), texts, qrels), tuple(kept))


def _says_something(piece: Piece) -> bool:
    return len(piece.text) >= LEAST_LETTERS


def _drawn(pieces: Sequence[Piece], wanted: set[int], most: int, seed: int) -> list[Piece]:
    """The wanted passages and others, in the order of the library."""
    others = [i for i, piece in enumerate(pieces) if piece.id not in wanted]
    room = max(most - len(wanted), 0)
    if len(others) > room:
        others = np.random.default_rng(seed).choice(others, room, replace=False).tolist()
    taken = set(others)
    return [piece for i, piece in enumerate(pieces) if piece.id in wanted or i in taken]


def _document(piece: Piece) -> CorpusDocument:
    return CorpusDocument(
        str(piece.id), ". ".join(dict.fromkeys((piece.title, *piece.section))).strip(". "), piece.text
    )
