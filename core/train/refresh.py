"""Negatives by the weights of the moment: encode the passages, search, mine; and how far the ones in use are behind.

Source: Xiong et al. 2021 (ANCE), section 4: negatives from the top 200 of the index of a recent checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.train.backbone import Backbone
from core.train.blocks import Keep, encoded
from core.train.dense_search import nearest
from core.train.negatives import Mining, Ranked, mine
from core.train.types import Candidates, Piece, Question

Vectors = npt.NDArray[np.float32]


class Refresher:
    """Mines for the questions of a run with the weights that `backbone` has at each call.

    `piece_ids` are the pieces' token ids as training cuts them; questions are cut at `query_tokens`.
    """

    def __init__(
        self, backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece],
        piece_ids: Sequence[Sequence[int]], query_tokens: int, mining: Mining,
    ) -> None:  # fmt: skip
        self.questions, self.pieces, self.mining = questions, pieces, mining
        self._backbone, self._piece_ids, self._query_tokens = backbone, piece_ids, query_tokens
        self._ids = np.array([piece.id for piece in pieces], np.int64)
        self._places = {piece.id: place for place, piece in enumerate(pieces)}

    def renew(
        self, before: Sequence[Candidates], number: int, control: Control | None = None, keep: Keep | None = None
    ) -> tuple[tuple[Candidates, ...], tuple[bool, ...]]:
        """New candidates of the same questions, and which are new: where mining finds none the earlier ones stay.

        `number` counts the refreshes: each draws other passages out of the first ranks. With `keep` what was encoded
        before a stop is taken from there. Raises Cancelled, DiskFull.
        """
        passages = encoded(self._piece_ids, lambda part: self._backbone.vectors_of(part, control), keep)

        def search(texts: Sequence[str], depth: int) -> list[Ranked]:
            places, scores = nearest(self._asked(texts, control), passages, depth)
            ids = self._ids[places]
            return [list(zip(row.tolist(), own.tolist(), strict=True)) for row, own in zip(ids, scores, strict=True)]

        mining = replace(self.mining, seed=self.mining.seed + number)
        asked = [self.questions[one.question] for one in before]
        found = {one.question: one for one in mine(asked, self.pieces, search, mining)}
        fresh = tuple(place in found for place in range(len(before)))
        return tuple(
            replace(found[place], question=one.question) if place in found else one for place, one in enumerate(before)
        ), fresh

    def drift(self, probes: Sequence[Candidates], sample: int, seed: int = 0, control: Control | None = None) -> float:
        """1 - the share of the probes' negatives that the present weights rank among the first `mining.depth`.

        Exact where the library has at most `sample` passages; else a passage's rank is estimated from as many drawn at
        random, so that looking costs far less than renewing. Raises Cancelled.
        """
        drawn = self._drawn(sample, seed)
        wanted = sorted({self._places[id] for one in probes for id in one.negatives} | set(drawn.tolist()))
        row = {place: at for at, place in enumerate(wanted)}
        vectors = self._backbone.vectors_of([self._piece_ids[place] for place in wanted], control)
        asked = self._asked([self.questions[one.question].text for one in probes], control)
        others = [row[place] for place in drawn.tolist()]
        shares = []
        for scores, one in zip(asked @ vectors.T, probes, strict=True):
            own = scores[[row[self._places[id]] for id in one.negatives]]
            above = (scores[others] > own[:, None]).sum(1) * (len(self.pieces) / len(drawn))
            shares.append(float(np.mean(above < self.mining.depth)))
        return 1.0 - float(np.mean(shares))

    def _asked(self, texts: Sequence[str], control: Control | None) -> Vectors:
        return self._backbone.vectors_of(self._backbone.ids(texts, "query", self._query_tokens), control)

    def _drawn(self, sample: int, seed: int) -> npt.NDArray[np.int64]:
        if len(self.pieces) <= sample:
            return np.arange(len(self.pieces))
        return np.random.default_rng(seed).choice(len(self.pieces), sample, replace=False)


def overlap(negatives: Sequence[Candidates], best: Mapping[int, Sequence[int]]) -> float:
    """The share of each question's negatives that are among its `best` passages, as a mean over questions.

    `best` maps a question's number to passage ids. Source: Xiong et al. 2021, section 5.4.
    """
    return float(np.mean([np.mean([id in set(best[one.question]) for id in one.negatives]) for one in negatives]))
