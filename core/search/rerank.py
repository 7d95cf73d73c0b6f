"""The channel `rerank`: the best candidates read together with the question by a cross-encoder, as one more part of
their score.

It finds nothing of its own. What was read gains at least nothing, so candidates that were not read stay below those
that were. Its scale is that of the other channels: above the weakest of those read, in standard deviations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.base.types import RERANK
from core.encode.encoder import FloatArray, input_text
from core.index.snapshot import Snapshot
from core.search import fuse
from core.search.candidates import Ranking
from core.search.fuse import Fusing, Method, Rule

Scores = npt.NDArray[np.float64]


class Reranker(Protocol):
    """What reads a question and a passage together."""

    @property
    def id(self) -> str: ...

    def score(self, question: str, passages: list[str], *, until: float = float("inf")) -> FloatArray:
        """Scores [N], larger is better; not a number for those that the time (`time.perf_counter`) was too short for,
        which are the last ones."""
        ...


Rerankers = Callable[[str], Reranker | None]  # from the name that a generation has for one; "" where it has none


@dataclass(slots=True)
class Reading:
    """One question to be read with its best candidates. What was read once is known, whatever ranking asks for it.

    The time of `fusing` runs from the first ranking on; without `hurried` there is time for all.
    """

    reranker: Reranker
    question: str
    fusing: Fusing
    hurried: bool = True
    _known: dict[int, float] = field(default_factory=dict)
    _until: float = 0.0

    def apply(self, snapshot: Snapshot, ranking: Ranking, weights: Mapping[str, float]) -> Ranking:
        """The ranking with the part of this channel, in its new order. One of a single channel stays as it is: its
        scores have no scale that another one could be added to."""
        if len(ranking.scores) < 2:
            return ranking
        return reweighed(ranking, self.scores(snapshot, ranking), fuse.weight_of(RERANK, weights), self.fusing.method)

    def scores(self, snapshot: Snapshot, ranking: Ranking) -> Scores:
        """Raw scores [U] of the candidates, not a number for those that were not read."""
        best = ranking.ids[: self.fusing.closely].tolist()
        self._read(snapshot, [id for id in best if id not in self._known])
        found = np.full(len(ranking.ids), np.nan)
        found[: len(best)] = [self._known.get(id, np.nan) for id in best]
        return found

    def _read(self, snapshot: Snapshot, ids: list[int]) -> None:
        self._until = self._until or time.perf_counter() + self.fusing.closely_seconds
        found = snapshot.passages(ids)
        there = [found[id] for id in ids if id in found]
        if there:
            texts = [input_text(one.heading_path, one.text, one.title) for one in there]
            until = self._until if self.hurried else float("inf")
            read = self.reranker.score(self.question, texts, until=until)
            self._known |= {one.id: float(score) for one, score in zip(there, read, strict=True)}


def reweighed(ranking: Ranking, scores: Scores, weight: float, method: Method = Method.Z_SUM) -> Ranking:
    """`ranking` with these raw scores [U] of the channel, not a number where nothing was read, in its new order."""
    order = np.argsort(-scores, kind="stable")[: int((~np.isnan(scores)).sum())]
    ranks = {id: place for place, id in enumerate(ranking.ids[order].tolist(), 1)}
    places = np.array([ranks.get(id, 0) for id in ranking.ids.tolist()], np.float64)
    rule: Rule = fuse.Reciprocal(weight) if method is Method.RECIPROCAL else fuse.scale(RERANK, scores, weight)
    parts = {**ranking.parts, RERANK: rule.contributions(scores, places)}
    totals = fuse.fused(parts)
    order = np.argsort(-totals, kind="stable")
    return replace(
        ranking, ids=ranking.ids[order], totals=totals[order], parts={c: s[order] for c, s in parts.items()},
        scores={c: s[order] for c, s in {**ranking.scores, RERANK: scores}.items()},
        ranks={**ranking.ranks, RERANK: ranks}, rules={**ranking.rules, RERANK: rule},
    )  # fmt: skip
