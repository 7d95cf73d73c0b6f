from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.base.types import BM25, CONCEPT, DENSE, Generation
from core.search import calibrate as calibrating
from core.search.calibrate import CALIBRATED, Asked, best_weights, calibrate, ndcg_of, stale
from core.search.searcher import Searcher
from tests.shelf import Shelf


def asked(count: int, good: str, seed: int = 1, channels: tuple[str, ...] = (BM25, DENSE)) -> Iterator[Asked]:
    """Questions in which one channel knows what is right, and the other is noise."""
    luck = np.random.default_rng(seed)
    for _ in range(count):
        right = np.zeros(60, np.bool_)
        right[luck.choice(60, 3, replace=False)] = True
        told = np.abs(right * 1.5 + luck.normal(size=60))
        scores = {c: told if c == good else np.abs(luck.normal(size=60)) for c in channels}
        yield Asked(scores, right, 3)


@pytest.mark.parametrize(("good", "more"), [(DENSE, True), (BM25, False)])
def test_the_channel_that_knows_gets_the_weight(good: str, more: bool) -> None:
    weights = best_weights(list(asked(80, good)))
    assert weights[BM25] == 1.0
    assert (weights[DENSE] > 1.0) is more
    assert weights[DENSE] != 1.0


@pytest.mark.parametrize(("good", "counts"), [(CONCEPT, True), (DENSE, False)])
def test_concepts_get_a_weight_only_where_they_add_something(good: str, counts: bool) -> None:
    weights = best_weights(list(asked(80, good, channels=(BM25, DENSE, CONCEPT))))
    assert (weights[CONCEPT] > 0.25) is counts


def test_the_measure_is_that_of_the_fused_order() -> None:
    one = Asked({BM25: np.array([3.0, 0.0, 1.0]), DENSE: np.zeros(3)}, np.array([False, True, True]), 2)
    gains = [0.0, 1 / np.log2(3), 1 / np.log2(4)]
    assert ndcg_of(one, {}) == pytest.approx(sum(gains) / (1 + 1 / np.log2(3)))


def test_a_small_library_keeps_the_defaults(tmp_library: Path, tiny_encoder) -> None:  # type: ignore[no-untyped-def]
    Shelf(tmp_library, tiny_encoder.id, tiny_encoder.dimension)
    searcher = Searcher(tmp_library, tiny_encoder)
    found = calibrate(searcher)
    searcher.close()
    assert (found.accepted, found.weights, found.queries) == (False, {}, 0)


def test_when_to_calibrate() -> None:
    def made(passages: float) -> Generation:
        return Generation(1, "e", 4, (), None, "", metrics={CALIBRATED: passages} if passages else {})

    least = calibrating.LEAST_PASSAGES
    assert stale(made(0), least)
    assert not stale(made(0), least - 1)
    assert not stale(made(1000), 1999)
    assert stale(made(1000), 2000)
