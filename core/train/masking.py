"""Hiding words for a masked language model: whole words, not pieces of them.

A piece of a word is guessed from its other pieces, which teaches little. What begins a word is told by the
vocabulary: WordPiece marks what continues one ("##"), SentencePiece and byte-level vocabularies what begins one.
Scripts without spaces have no mark there, so each of their tokens counts as a word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.encode.tokens import Tokens

IGNORED = -100  # label of a token that need not be guessed, as torch's cross entropy has it
SHARE = 0.15
_HIDDEN, _OTHER = 0.8, 0.1  # of the chosen tokens; the rest stay as they are (BERT)
_PIECE = "##"
_BEGINS = ("\u2581", "\u0120")  # of SentencePiece and of byte-level vocabularies
_NO_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text's token ids with some of them hidden, and what stood there (`IGNORED` elsewhere)."""

    ids: list[int]
    labels: list[int]


class WholeWordMask:
    """
    Raises:
        ValueError: the vocabulary has no token for the mask.
    """

    def __init__(self, tokens: Tokens, share: float = SHARE) -> None:
        mask = tokens.mask()
        if mask is None:
            raise ValueError("this vocabulary has no mask token")
        names = tokens.names()
        self._mask, self._share = mask, share
        self._special = tokens.special()
        self._begins = _beginnings(names)
        self._real = np.array([id for id, name in enumerate(names) if name and id not in self._special])

    def words(self, ids: Sequence[int]) -> list[list[int]]:
        """Places of the tokens of each word, in order; special tokens belong to none."""
        found: list[list[int]] = []
        fresh = True
        for place, id in enumerate(ids):
            if id in self._special:
                fresh = True
            elif fresh or self._begins[id]:
                found.append([place])
                fresh = False
            else:
                found[-1].append(place)
        return found

    def __call__(self, ids: Sequence[int], random: np.random.Generator) -> Masked:
        """Hide about the share of the tokens, at least one: 80 % by the mask, 10 % by any token, 10 % not at all.

        Source: BERT (Devlin et al. 2019) with whole words, as Condenser's collator has it.
        """
        chosen = self._chosen(ids, random)
        hidden, labels = list(ids), [IGNORED] * len(ids)
        for place, lot in zip(chosen, random.random(len(chosen)).tolist(), strict=True):
            labels[place] = ids[place]
            if lot < _HIDDEN:
                hidden[place] = self._mask
            elif lot < _HIDDEN + _OTHER:
                hidden[place] = int(random.choice(self._real))
        return Masked(hidden, labels)

    def _chosen(self, ids: Sequence[int], random: np.random.Generator) -> list[int]:
        words = self.words(ids)
        wanted = max(1, round(self._share * sum(map(len, words))))
        chosen: list[int] = []
        for number in random.permutation(len(words)).tolist():
            word = words[number]
            if not chosen or len(chosen) + len(word) <= wanted:
                chosen += word
        return sorted(chosen)


def _beginnings(names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """By id, whether a token begins a word."""
    if any(name.startswith(_PIECE) and len(name) > len(_PIECE) for name in names):
        return np.array([not name.startswith(_PIECE) for name in names])
    return np.array([name.startswith(_BEGINS) or _stands_alone(name) for name in names])


def _stands_alone(name: str) -> bool:
    return any(unicodedata.name(letter, "").startswith(_NO_SPACES) for letter in name)
