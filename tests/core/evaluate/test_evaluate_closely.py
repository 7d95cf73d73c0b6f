"""What a reranker's readings took, and how many candidates that leaves time for."""

from __future__ import annotations

import time

import numpy as np
import pytest

from core.base.events import Control
from core.encode.encoder import FloatArray
from core.evaluate.closely import Closely, OnTheClock, affordable
from core.search.fuse import Fusing


class Slow:
    id = "slow"

    def score(self, question: str, passages: list[str], *, until: float, control: Control | None) -> FloatArray:
        time.sleep(0.001 * len(passages))
        return np.arange(len(passages), dtype=np.float32)


def test_as_many_as_fit_into_the_time() -> None:
    fusing = Fusing(closely=50, closely_seconds=0.3)
    assert affordable([0.1, 0.2, 9.0], fusing) == 50
    assert affordable([0.6, 0.6, 0.1], fusing) == 25
    assert affordable([], fusing) == 50


def test_readings_are_timed_and_hurried_ones_do_not_count() -> None:
    clock = OnTheClock(Slow())
    fusing = Fusing(closely=50, closely_seconds=0.001)
    clock.score("a", ["x"] * 50, until=time.perf_counter() + 9)
    assert clock.told(fusing) is None
    np.testing.assert_array_equal(clock.score("a", ["x"] * 5), np.arange(5))
    told = clock.told(fusing)
    assert told is not None
    assert told.milliseconds >= 50  # five took 5 ms at least: fifty take ten times that
    assert told.read <= 1
    assert (clock.id, told.candidates, told.allowed) == ("slow", 50, pytest.approx(1.0))


def test_it_says_whether_the_quality_can_be_had() -> None:
    assert Closely(50, 50, 300.0, 120.0).sentence().endswith("take 120 ms.")
    assert "20 of 50 candidates within 300 ms" in Closely(20, 50, 300.0, 750.0).sentence()
    assert "reranked is what all 50 give" in Closely(20, 50, 300.0, 750.0).sentence()
