"""A reranker on the clock: for how many of its candidates a search on this machine has the time.

What the channel "reranked" finds is measured without a look at the clock, so both belong together.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.events import Control
from core.encode.encoder import FloatArray
from core.search.fuse import Fusing
from core.search.rerank import Reranker


@dataclass(frozen=True, slots=True)
class Closely:
    """`read` of the `candidates` are done in the `allowed` milliseconds that a search has for them; all of them take
    `milliseconds` (median)."""

    read: int
    candidates: int
    allowed: float
    milliseconds: float

    def sentence(self) -> str:
        """For people: the time, and what it means for the quality that was measured."""
        told = (
            f"Read closely: {self.read} of {self.candidates} candidates within {self.allowed:.0f} ms here; all of them "
            f"take {self.milliseconds:.0f} ms"
        )
        return told + ("." if self.read == self.candidates else f", and reranked is what all {self.candidates} give.")


class OnTheClock:
    """A reranker that knows what its readings took; those that had to hurry do not count."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._taken: list[tuple[float, int]] = []  # seconds, passages

    @property
    def id(self) -> str:
        return self._reranker.id

    def score(
        self, question: str, passages: list[str], *, until: float = float("inf"), control: Control | None = None
    ) -> FloatArray:
        begun = time.perf_counter()
        scores = self._reranker.score(question, passages, until=until, control=control)
        if until == float("inf"):
            self._taken.append((time.perf_counter() - begun, len(passages)))
        return scores

    def told(self, fusing: Fusing) -> Closely | None:
        """None where nothing was read. Questions with fewer candidates count as if they had them all."""
        seconds = [spent * fusing.closely / count for spent, count in self._taken]
        if not seconds:
            return None
        typical, allowed = 1000 * statistics.median(seconds), 1000 * fusing.closely_seconds
        return Closely(affordable(seconds, fusing), fusing.closely, allowed, round(typical, 2))


def affordable(seconds: Sequence[float], fusing: Fusing) -> int:
    """How many of a search's candidates are read in its time, where all of them take these `seconds` a question."""
    typical = statistics.median(seconds) if seconds else 0.0
    if typical <= fusing.closely_seconds:
        return fusing.closely
    return int(fusing.closely * fusing.closely_seconds / typical)
