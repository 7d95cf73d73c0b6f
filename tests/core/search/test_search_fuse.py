import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.types import BM25, DENSE, LEXICAL, MULTI
from core.search.fuse import RAW, Scale, fused, reciprocals, scale, scales, total, trust

numbers = st.floats(-1e3, 1e3, allow_nan=False, width=32)
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)
weights = st.fixed_dictionaries({BM25: st.floats(0, 10), DENSE: st.floats(0, 10)})
NO_RANKS = np.zeros(0)


def arrays(rows: list[tuple[float, float]]) -> dict[str, np.ndarray]:
    table = np.array(rows, np.float64)
    return {BM25: table[:, 0], DENSE: table[:, 1]}


def parts(scores: dict[str, np.ndarray], rules: dict[str, Scale]) -> dict[str, np.ndarray]:
    return {c: rules[c].contributions(s, NO_RANKS) for c, s in scores.items()}


@given(pairs, weights)
def test_parts_add_up_to_the_score_exactly(rows: list[tuple[float, float]], by_channel: dict[str, float]) -> None:
    scores = arrays(rows)
    rules = scales(scores, by_channel)
    totals = fused(parts(scores, rules))
    for place, (bm25, dense) in enumerate(rows):
        shown = [rules[BM25].contribution(bm25), rules[DENSE].contribution(dense)]
        assert total(shown) == totals[place]
        assert sum(shown) == totals[place]


@given(pairs)
def test_the_order_is_that_of_the_z_normalised_sum(rows: list[tuple[float, float]]) -> None:
    scores = arrays(rows)
    totals = fused(parts(scores, scales(scores, {})))
    z = sum((s - s.mean()) / (s.std() if s.std() > 1e-9 else 1.0) for s in scores.values())
    np.testing.assert_allclose(totals - totals[0], z - z[0], atol=1e-6, rtol=1e-9)


@given(pairs)
def test_no_part_of_a_candidate_is_negative_unless_its_raw_score_is(rows: list[tuple[float, float]]) -> None:
    scores = arrays(rows)
    found = parts(scores, scales(scores, {}))
    assert (found[DENSE] >= 0).all()
    assert ((found[BM25] >= 0) | (scores[BM25] < 0)).all()


def test_one_candidate_keeps_its_word_score() -> None:
    scores = {BM25: np.array([4.0]), DENSE: np.array([0.7])}
    found = parts(scores, scales(scores, {}))
    assert (found[BM25][0], found[DENSE][0]) == (4.0, 0.0)


def test_equal_scores_and_no_matching_word_add_nothing() -> None:
    scores = {BM25: np.zeros(3), DENSE: np.full(3, 0.5)}
    assert fused(parts(scores, scales(scores, {}))).tolist() == [0.0, 0.0, 0.0]


def test_a_single_channel_keeps_raw_scores() -> None:
    scores = {DENSE: np.array([0.9, 0.2])}
    rules = scales(scores, {DENSE: 5.0})
    assert rules == {DENSE: RAW}
    assert fused(parts(scores, rules)).tolist() == [0.9, 0.2]


def test_weights() -> None:
    scores = {BM25: np.array([0.0, 2.0]), DENSE: np.array([0.5, 0.1])}
    assert fused(parts(scores, scales(scores, {BM25: 3.0, DENSE: 0.0}))).tolist() == pytest.approx([0.0, 6.0])
    assert scale(BM25, np.empty(0), 2.0).spread == 1.0


def test_what_was_not_computed_adds_nothing_and_leaves_the_scale_alone() -> None:
    some = np.array([0.8, 0.4, math.nan, math.nan])
    rule = scale(MULTI, some, 1.0)
    assert rule == scale(MULTI, some[:2], 1.0)
    assert rule.contributions(some, NO_RANKS).tolist() == pytest.approx([2.0, 0.0, 0.0, 0.0])
    assert rule.contribution(math.nan) == 0.0
    assert scale(MULTI, some[2:], 1.0) == Scale(0.0, 1.0, 1.0)


def test_reciprocal_ranks() -> None:
    rules = reciprocals((BM25, LEXICAL), {BM25: 2.0})
    assert rules[BM25].contributions(np.array([9.0, 5.0]), np.array([1.0, 0.0])).tolist() == [2.0 / 61.0, 0.0]
    assert rules[LEXICAL].contribution(3.0, 4) == 0.3 / 64.0
    assert rules[LEXICAL].contribution(3.0) == 0.0


def test_words_are_trusted_as_far_as_they_are_met() -> None:
    assert trust(10.0, 10.0, 1) == trust(10.0, 10.0, 5) == 1.0
    assert trust(0.0, 10.0, 3) == trust(1.0, 0.0, 3) == 0.0
    assert trust(2.0, 10.0, 4) == pytest.approx(0.2 * 5.5**0.5 / 0.83)
    assert trust(10.0, 19.0, 1) == pytest.approx(1.0, abs=0.01)  # once in a passage of average length
    assert trust(10.0, 19.0, 1, 0.1) == trust(10.0, 19.0, 1)
    rising = [trust(best, 10.0, 4) for best in (1.0, 2.0, 3.0, 4.0, 8.0)]
    assert rising == sorted(rising)
    assert trust(2.0, 10.0, 4, 1.0) < trust(2.0, 10.0, 4)
    assert trust(10.0, 10.0, 4, 1.0) == 1.0
    assert trust(10.0, 10.0, 4, 0.3) == pytest.approx(0.3)
