import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.types import BM25, DENSE
from core.search.fuse import RAW, contributions, fused, scale, scales, total

numbers = st.floats(-1e3, 1e3, allow_nan=False, width=32)
pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30)
weights = st.fixed_dictionaries({BM25: st.floats(0, 10), DENSE: st.floats(0, 10)})


def arrays(rows: list[tuple[float, float]]) -> dict[str, np.ndarray]:
    table = np.array(rows, np.float64)
    return {BM25: table[:, 0], DENSE: table[:, 1]}


@given(pairs, weights)
def test_parts_add_up_to_the_score_exactly(rows: list[tuple[float, float]], by_channel: dict[str, float]) -> None:
    scores = arrays(rows)
    found = scales(scores, by_channel)
    totals = fused(scores, found)
    for place, (bm25, dense) in enumerate(rows):
        parts = contributions({BM25: bm25, DENSE: dense}, found)
        assert total(list(parts.values())) == totals[place]
        assert sum(parts.values()) == totals[place]


@given(pairs)
def test_the_order_is_that_of_the_z_normalised_sum(rows: list[tuple[float, float]]) -> None:
    scores = arrays(rows)
    totals = fused(scores, scales(scores, {}))
    z = sum((s - s.mean()) / (s.std() if s.std() > 1e-9 else 1.0) for s in scores.values())
    np.testing.assert_allclose(totals - totals[0], z - z[0], atol=1e-6, rtol=1e-9)


@given(pairs)
def test_no_part_of_a_candidate_is_negative_unless_its_raw_score_is(rows: list[tuple[float, float]]) -> None:
    scores = arrays(rows)
    found = scales(scores, {})
    for bm25, dense in rows:
        parts = contributions({BM25: bm25, DENSE: dense}, found)
        assert parts[DENSE] >= 0
        assert parts[BM25] >= 0 or bm25 < 0


def test_one_candidate_keeps_its_word_score() -> None:
    scores = {BM25: np.array([4.0]), DENSE: np.array([0.7])}
    assert contributions({BM25: 4.0, DENSE: 0.7}, scales(scores, {})) == {BM25: 4.0, DENSE: 0.0}


def test_equal_scores_and_no_matching_word_add_nothing() -> None:
    scores = {BM25: np.zeros(3), DENSE: np.full(3, 0.5)}
    assert fused(scores, scales(scores, {})).tolist() == [0.0, 0.0, 0.0]


def test_a_single_channel_keeps_raw_scores() -> None:
    scores = {DENSE: np.array([0.9, 0.2])}
    assert scales(scores, {DENSE: 5.0}) == {DENSE: RAW}
    assert fused(scores, scales(scores, {})).tolist() == [0.9, 0.2]


def test_weights() -> None:
    scores = {BM25: np.array([0.0, 2.0]), DENSE: np.array([0.5, 0.1])}
    assert fused(scores, scales(scores, {BM25: 3.0, DENSE: 0.0})).tolist() == pytest.approx([0.0, 6.0])
    assert scale(BM25, np.empty(0), 2.0).spread == 1.0
