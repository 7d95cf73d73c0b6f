"""Which questions are held out: by document group, before anything is trained.

What judges a model must not be near what trained it: passages of one document, its copies and its versions stay on one
side. The held-out questions are split once more, so that what is chosen by some of them (how far to go between two
encoders: a third) is judged by the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.train.types import JUDGED, Question

SHARE = 0.25
MOST = 750  # held-out questions, but for the person's own


@dataclass(frozen=True, slots=True)
class Split:
    """`train` may be learnt from; `tune` chooses, `final` judges and is asked once."""

    train: tuple[Question, ...]
    tune: tuple[Question, ...]
    final: tuple[Question, ...]


def hold_out(questions: Sequence[Question], *, share: float = SHARE, most: int = MOST, seed: int = 0) -> Split:
    """Hold out about `share` of the questions, at most about `most`, by group; the same for the same questions.

    What the person has judged by hand is the library's test set: it always judges, and nothing of its groups is
    learnt from.
    """
    by_group: dict[int, list[Question]] = defaultdict(list)
    for question in questions:
        by_group[question.group].append(question)
    judged = {question.group for question in questions if question.kind == JUDGED}
    drawn = _drawn(by_group, judged, min(share * len(questions), most), seed)
    tune, final = set(drawn[::3]), set(drawn) - set(drawn[::3]) | judged
    return Split(
        tuple(q for q in questions if q.group not in tune | final),
        tuple(q for q in questions if q.group in tune),
        tuple(q for q in questions if q.group in final),
    )


def spread(questions: Sequence[Question], most: int) -> tuple[Question, ...]:
    """At most so many, evenly over the list, in which kinds follow one another."""
    if len(questions) <= most:
        return tuple(questions)
    return tuple(questions[place * len(questions) // most] for place in range(most))


def _drawn(by_group: dict[int, list[Question]], judged: set[int], wanted: float, seed: int) -> list[int]:
    """Groups at random until they hold enough questions; at least two, where there are three."""
    groups = sorted(by_group.keys() - judged)
    drawn: list[int] = []
    held = 0
    for place in np.random.default_rng(seed).permutation(len(groups)).tolist():
        if (held >= wanted and len(drawn) >= 2) or len(drawn) + 1 >= len(groups):
            break
        drawn.append(groups[place])
        held += len(by_group[groups[place]])
    return drawn
