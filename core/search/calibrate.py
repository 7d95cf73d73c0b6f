"""Weights of the channels for one library, found on questions that the library asks of itself.

A sentence taken from a passage should lead to the passages around it: those of its section and the next ones of its
document (an inverse cloze task, Lee, Chang & Toutanova 2019). The passage itself is left out of the ranking, so that
nothing is found by its own words. Weights are chosen on one half of the questions, and accepted only when they are
better on the other half beyond what chance explains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.events import Control, Listener, Progress, ignore
from core.base.types import BM25, CONCEPT, Generation, Passage, Query
from core.index.snapshot import Snapshot
from core.search import fuse
from core.search.candidates import DEPTH, Ranking
from core.search.searcher import Searcher
from core.text.sentences import split

LEAST_PASSAGES = 300  # a smaller library keeps the defaults
CALIBRATED = "calibrated_passages"  # among a generation's metrics: how many there were
_GROWN = 2.0
_QUESTIONS, _LEAST_QUESTIONS = 240, 60
_LEAST_LETTERS, _MOST_LETTERS = 40, 240  # of a sentence that is asked
_STEPS = (0.5, 0.7, 1.0, 1.4, 2.0)  # times the default weight
_FROM_NOTHING = (0.25, 0.5, 1.0)  # weights tried for a channel that takes no part by default
_HARDLY = 1e-9  # a weight by which a channel is scored, but moves nothing
_ROUNDS = 2
_SAMPLES = 2_000
_TOP = 10
_SEED = 7

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """`before` and `after` are nDCG@10 with the default and the found weights, on questions that chose neither;
    `low` and `high` hold their difference with 95 % confidence. `weights` are those in force from now on."""

    before: float
    after: float
    low: float
    high: float
    queries: int
    weights: dict[str, float]
    accepted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's candidates: raw scores [U] by channel, and which of them are right."""

    scores: Mapping[str, Floats]
    right: npt.NDArray[np.bool_]
    wanted: int


def stale(made: Generation, passages: int) -> bool:
    """Whether a library of so many passages should be calibrated (again)."""
    return passages >= LEAST_PASSAGES and passages >= _GROWN * made.metrics.get(CALIBRATED, 0.0)


def calibrate(searcher: Searcher, control: Control | None = None, listener: Listener = ignore) -> Calibration:
    """
    Raises:
        NotALibrary, IndexDamaged, Cancelled
    """
    control = control or Control()
    asked = _ask(searcher, control, listener)
    if len(asked) < _LEAST_QUESTIONS or len(asked[0].scores) < 2:
        return Calibration(0.0, 0.0, 0.0, 0.0, len(asked), {}, False, "Too few questions can be made of this library.")
    found = best_weights(asked[::2])
    default = np.array([ndcg_of(one, {}) for one in asked[1::2]])
    better = np.array([ndcg_of(one, found) for one in asked[1::2]])
    low, high = _interval(better - default)
    accepted = low > 0
    reason = "Better on questions held out." if accepted else "Not better than the default beyond chance."
    return Calibration(
        float(default.mean()), float(better.mean()), low, high, len(asked), found if accepted else {}, accepted, reason
    )


def _ask(searcher: Searcher, control: Control, listener: Listener) -> list[Asked]:
    snapshot = searcher.snapshot()
    chosen = _passages(snapshot)
    asked = []
    for done, passage in enumerate(chosen):
        control.check()
        listener(Progress("calibrating", done, len(chosen)))
        sentence, right = _sentence(passage), _around(snapshot, passage)
        if sentence and right:
            ranking = searcher.ranking(Query(sentence, literal=True, weights={CONCEPT: _HARDLY}), DEPTH)
            asked.append(_without(ranking, passage.id, right))
    return asked


def _passages(snapshot: Snapshot) -> list[Passage]:
    """A sample spread over the library, always the same one."""
    ids = snapshot.ids()
    drawn = np.random.default_rng(_SEED).permutation(len(ids))[:_QUESTIONS]
    found = snapshot.passages(ids[drawn].tolist())
    return [found[i] for i in ids[drawn].tolist() if i in found]


def _sentence(passage: Passage) -> str:
    """The sentence in the middle of those that are long enough to mean something."""
    spans = split(passage.text)
    fit = [passage.text[a:b] for a, b in spans if _LEAST_LETTERS <= b - a <= _MOST_LETTERS]
    return fit[len(fit) // 2] if fit else ""


def _around(snapshot: Snapshot, passage: Passage) -> set[int]:
    """The next passages of the document, and those of the same section."""
    rows = snapshot.db.execute(
        "SELECT id, ordinal, heading_path FROM passage WHERE document_id = "
        "(SELECT document_id FROM passage WHERE id = ?)", (passage.id,)
    ).fetchall()  # fmt: skip
    own = next((path for id, _, path in rows if id == passage.id), None)
    return {
        id for id, ordinal, path in rows
        if id != passage.id and (abs(ordinal - passage.ordinal) == 1 or (passage.heading_path and path == own))
    }  # fmt: skip


def _without(ranking: Ranking, passage: int, right: set[int]) -> Asked:
    kept = ranking.ids != passage
    ids = ranking.ids[kept]
    return Asked({c: s[kept] for c, s in ranking.scores.items()}, np.isin(ids, list(right)), len(right))


def best_weights(asked: Sequence[Asked]) -> dict[str, float]:
    """Coordinate search: one channel's weight after the other, the words' staying as they are."""
    weights = {c: fuse.weight_of(c, {}) for c in asked[0].scores}
    best = _mean(asked, weights)
    for _ in range(_ROUNDS):
        for channel in weights:
            if channel == BM25:
                continue
            default = fuse.weight_of(channel, {})
            for weight in [step * default for step in _STEPS] if default else _FROM_NOTHING:
                tried = {**weights, channel: weight}
                value = _mean(asked, tried)
                if value > best:
                    best, weights = value, tried
    return weights


def _mean(asked: Sequence[Asked], weights: Mapping[str, float]) -> float:
    return float(np.mean([ndcg_of(one, weights) for one in asked]))


def ndcg_of(one: Asked, weights: Mapping[str, float]) -> float:
    """nDCG@10 of the candidates fused with these weights."""
    rules = fuse.scales(one.scores, weights)
    none = np.zeros(len(one.right))
    totals = fuse.fused({c: rules[c].contributions(s, none) for c, s in one.scores.items()})
    order = np.argsort(-totals, kind="stable")[:_TOP]
    gained = sum(1.0 / math.log2(place + 2) for place in np.flatnonzero(one.right[order]).tolist())
    return gained / sum(1.0 / math.log2(place + 2) for place in range(min(one.wanted, _TOP)))


def _interval(differences: Floats) -> tuple[float, float]:
    """Bootstrap interval of the mean."""
    drawn = np.random.default_rng(_SEED).integers(0, len(differences), (_SAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)
