"""Words taken apart into the pieces that they are built of: `kernkraftwerk` into kern, kraft and werk.

A unigram model: among all ways to write a word as pieces of a table, the one whose pieces are the likeliest together,
found by dynamic programming (Kudo 2018, section 3.1). The table is part of the vocabulary of XLM-RoBERTa
(`packaging/word_pieces.py`). It is the app's own and does not change with the encoder of a library.
"""

from __future__ import annotations

import lzma
from functools import cache, lru_cache

from core.base.paths import resources

_START = "_"  # before the first letter of a word
_UNKNOWN = -25.0  # log probability of a letter that no piece holds
_SCALE = 0.1  # of the table's numbers


@lru_cache(maxsize=1 << 16)
def split(word: str) -> tuple[str, ...]:
    """The pieces of a folded word, in order; together they are the word."""
    scores, longest = _table()
    marked = _START + word
    best = [0.0, *[float("-inf")] * len(marked)]  # log probability of the likeliest way to write the first i letters
    begun = [0] * (len(marked) + 1)  # where the last piece of that begins
    for end in range(1, len(marked) + 1):
        best[end], begun[end] = best[end - 1] + _UNKNOWN, end - 1
        for start in range(max(0, end - longest), end):
            score = scores.get(marked[start:end])
            if score is not None and best[start] + score > best[end]:
                best[end], begun[end] = best[start] + score, start
    return tuple(piece for piece in _read_back(marked, begun) if piece)


def _read_back(marked: str, begun: list[int]) -> list[str]:
    pieces, end = [], len(marked)
    while end:
        pieces.append(marked[begun[end] : end].removeprefix(_START))
        end = begun[end]
    return pieces[::-1]


@cache
def _table() -> tuple[dict[str, float], int]:
    """The log probability of each piece, and the letters of the longest."""
    path = resources() / "words" / "pieces.txt.xz"
    scores: dict[str, float] = {}
    for line in lzma.decompress(path.read_bytes()).decode("utf-8").splitlines():
        score, *pieces = line.split()
        scores.update(dict.fromkeys(pieces, _SCALE * int(score)))
    return scores, max(map(len, scores))
