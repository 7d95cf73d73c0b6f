"""Texts with tokens hidden, once for an encoder and once for the decoder behind its vector. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.encode.tokens import Tokens
from core.train.masking import IGNORED, WholeWordMask
from core.train.plans import Plan


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text's token ids, and as encoder and decoder see them: what is hidden is the mask there.

    `asked_encoder` and `asked_decoder` are the places in which each must say what stood there. Special tokens are
    neither hidden nor asked, and from whom nothing is hidden nothing is asked.
    """

    ids: Sequence[int]
    encoder: list[int]
    decoder: list[int]
    asked_encoder: list[int]
    asked_decoder: list[int]


class Corruptor:
    """
    Raises:
        ValueError: the vocabulary has no token for the mask.
    """

    def __init__(self, tokens: Tokens, plan: Plan) -> None:
        mask = tokens.mask()
        if mask is None:
            raise ValueError("this vocabulary has no mask token")
        self._mask, self._plan, self._special = mask, plan, tokens.special()
        self._words = WholeWordMask(tokens, plan.encoder)

    def __call__(self, ids: Sequence[int], random: np.random.Generator) -> Corrupted:
        """Hide the plan's shares of the text's own tokens, at least one of them where a share is above 0.

        What the decoder does not see holds what the encoder does not see, so that the vector cannot simply tell what
        is missing. Source: SimLM, section 3.1, and its code.
        """
        own = self.own(ids)
        if self._plan.hiding == "words":
            return self._by_words(ids, own, random)
        drawn = random.permutation(own).tolist()
        first = drawn[: _count(self._plan.encoder, len(own))]
        second = drawn[: max(len(first), _count(self._plan.decoder, len(own)))]
        asked = (own if first else [], own) if self._plan.everywhere else (sorted(first), sorted(second))
        return Corrupted(ids, self._hidden(ids, first), self._hidden(ids, second), *asked)

    def own(self, ids: Sequence[int]) -> list[int]:
        """Places of the tokens that are of the text."""
        return [place for place, id in enumerate(ids) if id not in self._special]

    def _by_words(self, ids: Sequence[int], own: list[int], random: np.random.Generator) -> Corrupted:
        """The encoder guesses hidden words as in BERT, also where the plan asks its decoder for all."""
        if not own:
            return Corrupted(ids, list(ids), list(ids), [], [])
        masked = self._words(ids, random)
        hidden = [place for place, label in enumerate(masked.labels) if label != IGNORED]
        return Corrupted(ids, masked.ids, list(ids), hidden, own if self._plan.everywhere else hidden)

    def _hidden(self, ids: Sequence[int], places: Sequence[int]) -> list[int]:
        shown = list(ids)
        for place in places:
            shown[place] = self._mask
        return shown


def _count(share: float, tokens: int) -> int:
    return max(1, round(share * tokens)) if share and tokens else 0
