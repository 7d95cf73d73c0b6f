"""The library's own search as a teacher of its encoder: what all channels find together, but the question's passage.

The fused ranking stands points above the dense channel alone, so there is something to learn from it. The passage that
a question was taken from is left out of everything: with it the lesson would be to compare words. What is left is
how the library's other passages relate to the question. Two things make the ranking a better teacher yet: passages
near the best ones count more (feedback), and passages near each other get scores near each other (smoothing).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.base.events import Control, Listener, Progress, ignore
from core.base.types import Query
from core.search.searcher import Searcher
from core.train.types import Question

Floats = npt.NDArray[np.float64]

MINING = "mining"
NEAR, FAR = 48, 16  # passages of a lesson: the best, and others by chance from further down
DEPTH = 200
LEAST = 2  # passages of a lesson
_KNOWN = 20  # questions after which it is known how long one takes
_LEAST = 20  # ranked passages, below which nothing is said of neighbours
_BEST = 10  # that are believed
_FEEDBACK = 0.3  # of a standard deviation of the scores
_SMOOTHED, _NEIGHBOURS, _SHARE, _WIDTH = 100, 10, 0.5, 0.1


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the teacher says of one question: passages with scores, best first. `question` is its place."""

    question: int
    passages: tuple[int, ...]
    scores: tuple[float, ...]


def teach(
    questions: Sequence[Question], searcher: Searcher, *, near: int = NEAR, far: int = FAR, seed: int = 0,
    control: Control | None = None, listener: Listener = ignore,
) -> tuple[Lesson, ...]:  # fmt: skip
    """A lesson for each question that anything is found for.

    Raises:
        Cancelled, NotALibrary, IndexDamaged
    """
    control = control or Control()
    random = np.random.default_rng(seed)
    lessons = []
    spent = 0.0  # seconds at work, pauses not counted
    for number, question in enumerate(questions):
        control.check()
        left = spent / number * (len(questions) - number) if number >= _KNOWN else None
        listener(Progress(MINING, number, len(questions), seconds_left=left))
        begun = time.monotonic()
        ranking = searcher.ranking(Query(question.text, literal=True), DEPTH, without=question.positive)
        if len(ranking.ids) >= LEAST:
            vectors = searcher.snapshot().vectors(ranking.ids)
            scores = strengthened(ranking.totals, vectors.astype(np.float64))
            lessons.append(_lesson(number, ranking.ids, scores, near, far, random))
        spent += time.monotonic() - begun
    return tuple(lessons)


def among(lessons: Sequence[Lesson], there: frozenset[int]) -> tuple[Lesson, ...]:
    """The lessons as far as their passages are `there`; one of which fewer than two are left compares nothing."""
    kept = []
    for one in lessons:
        places = [place for place, id in enumerate(one.passages) if id in there]
        if len(places) >= LEAST:
            passages = tuple(one.passages[place] for place in places)
            kept.append(Lesson(one.question, passages, tuple(one.scores[place] for place in places)))
    return tuple(kept)


def strengthened(totals: Floats, vectors: Floats) -> Floats:
    """Scores [U] of passages with unit `vectors` [U, D] and fused scores `totals` [U], best first."""
    scores = totals - totals.min()
    if len(scores) < _LEAST:
        return scores
    trust = np.exp(totals[:_BEST] - totals[0])
    centre = trust @ vectors[:_BEST]
    nearness = vectors @ (centre / max(float(np.linalg.norm(centre)), 1e-12))
    spread = max(float(nearness.std()), 1e-9)
    scores = scores + _FEEDBACK * scores.std() * (nearness - nearness.mean()) / spread
    return _smoothed(scores, vectors)


def _smoothed(scores: Floats, vectors: Floats) -> Floats:
    """The best ones' scores, half of each taken from its nearest neighbours among them."""
    some = vectors[:_SMOOTHED]
    likeness = some @ some.T
    np.fill_diagonal(likeness, -np.inf)
    place = max(len(some) - _NEIGHBOURS, 0)
    least = np.partition(likeness, place, axis=1)[:, place : place + 1]
    weights = np.where(likeness >= least, np.exp((likeness - 1.0) / _WIDTH), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    head = scores[:_SMOOTHED]
    return np.concatenate([(1 - _SHARE) * head + _SHARE * (weights @ head), scores[_SMOOTHED:]])


def _lesson(
    number: int, ids: npt.NDArray[np.int64], scores: Floats, near: int, far: int, random: np.random.Generator
) -> Lesson:
    order = np.argsort(-scores, kind="stable")
    rest = order[near:]
    if len(rest) > far:
        rest = rest[np.sort(random.choice(len(rest), far, replace=False))]
    taken = np.concatenate([order[:near], rest])
    return Lesson(number, tuple(ids[taken].tolist()), tuple(scores[taken].tolist()))
