"""The channel `rerank`: the best candidates read together with the question by a cross-encoder, as one more part of
their score.

It finds nothing of its own. What was read gains at least nothing, so candidates that were not read stay below the best
ones that were. Its scale is that of the other channels: above the weakest of those read, in standard deviations.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.base.types import RERANK, Level, Query
from core.encode.encoder import FloatArray, input_text
from core.index.snapshot import Snapshot
from core.search import fuse
from core.search.candidates import Ranking
from core.search.fuse import Fusing, Method, Rule

Scores = npt.NDArray[np.float64]

LONGEST_QUESTION = 16_384  # characters: no reranker sees more of a question (512 tokens of 32 characters)
_READINGS = 16  # kept


class Reranker(Protocol):
    """What reads a question and a passage together."""

    @property
    def id(self) -> str: ...

    def score(
        self, question: str, passages: list[str], *, until: float = float("inf"), control: Control | None = None
    ) -> FloatArray:
        """Scores [N], larger is better; not a number for those that the time (`time.perf_counter`) was too short for,
        which are the last ones.

        Raises:
            Cancelled: through `control`, after the passages at work.
        """
        ...


Rerankers = Callable[[str], Reranker | None]  # from the name that a generation has for one; "" where it has none


@dataclass(slots=True)
class Reading:
    """One question to be read with its best candidates, once: the best of the first ranking, as many as the time of
    `fusing` allows; without `hurried` all of them. Later rankings of the same question have what is known from then, so
    that order and parts stay.

    Passages of which the encoder sees the same (equal hashes) are read as one.
    """

    reranker: Reranker
    question: str
    fusing: Fusing
    hurried: bool = True
    _known: dict[str, float] = field(default_factory=dict)  # by the hash of what was read
    _finished: bool = False

    def apply(
        self, snapshot: Snapshot, ranking: Ranking, weights: Mapping[str, float], control: Control | None = None
    ) -> Ranking:
        """The ranking with the part of this channel, in its new order. One of a single channel stays as it is: its
        scores have no scale that another one could be added to. Raises Cancelled."""
        if len(ranking.scores) < 2:
            return ranking
        scores = self.scores(snapshot, ranking, control)
        return reweighed(ranking, scores, fuse.weight_of(RERANK, weights), self.fusing.method)

    def scores(self, snapshot: Snapshot, ranking: Ranking, control: Control | None = None) -> Scores:
        """Raw scores [U] of the candidates, not a number for those that were not read. Raises Cancelled."""
        ids = ranking.ids.tolist()
        hashes = snapshot.hashes_of(ids)
        if not self._finished:
            self._read(snapshot, [id for id in ids[: self.fusing.closely] if id in hashes], hashes, control)
        return np.array([self._known.get(hashes.get(id, ""), np.nan) for id in ids], np.float64)

    def _read(self, snapshot: Snapshot, ids: list[int], hashes: Mapping[int, str], control: Control | None) -> None:
        until = time.perf_counter() + self.fusing.closely_seconds if self.hurried else float("inf")
        first = {hashes[id]: id for id in reversed(ids)}  # of equal ones the best
        found = snapshot.passages(list(first.values()))
        there = [found[id] for id in ids if id in found and first[hashes[id]] == id]
        if there:
            texts = [input_text(one.heading_path, one.text, one.title) for one in there]
            read = self.reranker.score(self.question[:LONGEST_QUESTION], texts, until=until, control=control)
            self._known = {hashes[one.id]: float(score) for one, score in zip(there, read, strict=True)}
        self._finished = True


class Readings:
    """The last readings of a searcher: a question keeps its order and its parts in one state of the library, however
    many hits are asked for, and long after its ranking was forgotten."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, Query, Reading]] = deque(maxlen=_READINGS)

    def of(self, generation: int, query: Query, made: Reading) -> Reading:
        """The one of this question among these candidates, else `made`: neither number nor size of the hits changes
        those."""
        asked = replace(query, k=1, level=Level.PASSAGE, fold=True)
        known = next((one for number, other, one in self._kept if (number, other) == (generation, asked)), None)
        if known is None:
            known = made
            self._kept.append((generation, asked, made))
        return known


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
