"""Hard negatives: passages that a search takes for the answer and that are not, as far as can be told.

Without judgements many of the best-ranked passages are answers that nobody marked (RocketQA found 70 % of them to be),
and training against them does harm. So what is the same as the answer, or stands beside it, or scores nearly as high,
is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.train.alike import alike, shingles
from core.train.types import Candidates, Piece, Question

Ranked = list[tuple[int, float]]  # passage ids with their scores, best first
Search = Callable[[Sequence[str], int], list[Ranked]]

DEPTH = 200  # ANCE draws from as many


@dataclass(frozen=True, slots=True)
class Mining:
    """`count` negatives a question out of the first `depth` ranks, the first `skip` left out. Candidates above
    `ceiling` times the positive's score are taken for answers (NV-Retriever); scores count from the lowest of the
    ranking, since some encoders' cosines are all near 1. With `spread` they are drawn at random over the ranks (ANCE),
    else the hardest are taken. `denoise` False leaves out nothing but the positive itself."""

    count: int = 8
    depth: int = DEPTH
    skip: int = 0
    ceiling: float = 0.95
    spread: bool = False
    denoise: bool = True
    seed: int = 0


def mine(
    questions: Sequence[Question], pieces: Sequence[Piece], search: Search, mining: Mining | None = None
) -> tuple[Candidates, ...]:
    """Negatives of each question by `search`, with the search's scores as those of a teacher.

    A question whose own passage the search does not find has no candidates: nobody can say then what is too near.
    """
    mining = mining or Mining()
    by_id = {piece.id: piece for piece in pieces}
    known: dict[int, frozenset[int]] = {}
    random = np.random.default_rng(mining.seed)
    found = []
    for number, ranked in enumerate(search([q.text for q in questions], mining.depth)):
        positive = questions[number].positive
        scores = dict(ranked)
        if positive not in scores or positive not in by_id:
            continue
        kept = [(id, s) for id, s in ranked if id in by_id and id != positive]
        if mining.denoise:
            highest = ceiling_of(scores[positive], min(scores.values()), mining.ceiling)
            kept = _clean(kept, highest, by_id[positive], by_id, known)
        kept = _chosen(kept[mining.skip :], mining, random)
        if kept:
            teacher = (scores[positive], *(score for _, score in kept))
            found.append(Candidates(number, positive, tuple(id for id, _ in kept), teacher))
    return tuple(found)


def ceiling_of(own: float, floor: float, ceiling: float) -> float:
    """The score above which a passage is taken for an answer, too: so much of the way from `floor` to the positive's
    `own` score."""
    return own - (1 - ceiling) * abs(own - floor)


def _clean(
    ranked: Ranked, highest: float, positive: Piece, by_id: dict[int, Piece], known: dict[int, frozenset[int]]
) -> Ranked:
    """Without what is probably an answer, too."""
    kept = []
    for id, score in ranked:
        if score <= highest and not _beside(by_id[id], positive):
            left, right = (_known(piece, known) for piece in (by_id[id], positive))
            if not alike(left, right):
                kept.append((id, score))
    return kept


def _beside(piece: Piece, positive: Piece) -> bool:
    """In the same section of the same document, or its versions."""
    return piece.group == positive.group and piece.section == positive.section


def _known(piece: Piece, known: dict[int, frozenset[int]]) -> frozenset[int]:
    if piece.id not in known:
        known[piece.id] = shingles(piece.text)
    return known[piece.id]


def _chosen(ranked: Ranked, mining: Mining, random: np.random.Generator) -> Ranked:
    if not mining.spread or len(ranked) <= mining.count:
        return ranked[: mining.count]
    places = np.sort(random.choice(len(ranked), mining.count, replace=False))
    return [ranked[place] for place in places.tolist()]


def united(*pools: Sequence[Candidates]) -> tuple[Candidates, ...]:
    """The candidates of several searches, each passage once; the first search's scores go before.

    Scores of different searches are on different scales, so only those of the first keep a teacher's: a question that
    has others, too, has none.
    """
    by_question: dict[int, Candidates] = {}
    for one in (one for pool in pools for one in pool):
        before = by_question.get(one.question)
        if before is None:
            by_question[one.question] = one
        elif fresh := tuple(id for id in one.negatives if id not in before.negatives):
            by_question[one.question] = Candidates(one.question, one.positive, before.negatives + fresh)
    return tuple(by_question[number] for number in sorted(by_question))
