"""Held-out questions share no document group with those that train."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.train.split import hold_out
from core.train.types import JUDGED, TITLE, Question


def _question(number: int, group: int, kind: str = TITLE) -> Question:
    return Question(f"question {number}", number, kind, group)


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=60), st.integers(0, 5))
def test_no_group_is_on_two_sides(made: list[tuple[int, bool]], seed: int) -> None:
    questions = [_question(i, group, JUDGED if judged else TITLE) for i, (group, judged) in enumerate(made)]
    split = hold_out(questions, seed=seed)
    sides = [{q.group for q in side} for side in (split.train, split.tune, split.final)]
    assert not sides[0] & sides[1]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
    assert sorted(q.positive for side in (split.train, split.tune, split.final) for q in side) == list(range(len(made)))
    assert all(q in split.final for q in questions if q.kind == JUDGED)


def test_about_a_quarter_is_held_out_and_never_more_than_the_most() -> None:
    random = np.random.default_rng(0)
    questions = [_question(i, int(random.integers(300))) for i in range(2_000)]
    split = hold_out(questions)
    held = len(split.tune) + len(split.final)
    assert 500 <= held <= 520
    assert 1.5 < len(split.final) / len(split.tune) < 2.7
    few = hold_out(questions, most=100)
    assert 100 <= len(few.tune) + len(few.final) <= 120


def test_the_same_questions_are_split_in_the_same_way() -> None:
    questions = [_question(i, i // 3) for i in range(90)]
    assert hold_out(questions, seed=1) == hold_out(questions, seed=1)
    assert hold_out(questions, seed=1) != hold_out(questions, seed=2)
