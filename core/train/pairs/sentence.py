"""A sentence asks for the rest of its passage (the inverse cloze task, Lee, Chang & Toutanova 2019)."""

from __future__ import annotations

from collections.abc import Iterator

from core.text.sentences import split
from core.train.pairs.source import Source, asked
from core.train.pairs.words import size
from core.train.types import SENTENCE, Question

LEAST, MOST = 6, 40  # words


def pairs(source: Source) -> Iterator[Question]:
    for piece in source.drawn:
        sentences = [piece.text[start:end] for start, end in split(piece.text)]
        fit = [sentence for sentence in sentences if LEAST <= size(sentence) <= MOST]
        if len(sentences) > 1 and fit:
            yield asked(fit[int(source.chance(piece).integers(len(fit)))], piece, SENTENCE)
