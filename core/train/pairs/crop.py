"""A run of words at a place of chance asks for its passage (independent cropping, Izacard et al. 2022)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.train.pairs.source import Source, asked
from core.train.pairs.words import units
from core.train.types import CROP, Question

LEAST, MOST = 6, 24  # words
_LEFT = 2  # times its length must be left of the passage
_DENSE = 2  # characters of a script without spaces that count as a word


def pairs(source: Source) -> Iterator[Question]:
    for piece in source.drawn:
        words = [match.span() for match in re.finditer(r"\S+", piece.text)]
        dense = len(units(piece.text)) > 4 * len(words)
        if dense:
            words = [(place, place + 1) for place in range(len(piece.text))]
        chance, times = source.chance(piece), _DENSE if dense else 1
        most = min(MOST * times, len(words) // (1 + _LEFT))
        if most < LEAST * times:
            continue
        length = int(chance.integers(LEAST * times, most + 1))
        first = int(chance.integers(len(words) - length + 1))
        yield asked(piece.text[words[first][0] : words[first + length - 1][1]], piece, CROP)
