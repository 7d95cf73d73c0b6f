"""Batches of like length, the learning rate over a run, and the clock."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core.train.batches import length_grouped
from core.train.clock import Clock
from core.train.schedule import Decay, factor, share


@pytest.mark.parametrize(("count", "size"), [(1, 4), (7, 3), (1000, 8), (999, 16)])
def test_each_place_stands_in_one_batch(count: int, size: int) -> None:
    lengths = np.random.default_rng(1).integers(1, 200, count).tolist()
    made = length_grouped(lengths, size, np.random.default_rng(2))
    assert sorted(place for batch in made for place in batch) == list(range(count))
    assert sum(len(batch) < size for batch in made) <= 1
    assert made == length_grouped(lengths, size, np.random.default_rng(2))


def test_little_is_padded_and_the_order_is_random() -> None:
    lengths = np.random.default_rng(1).integers(1, 200, 2000).tolist()

    def padded(batches: list[list[int]]) -> int:
        return sum(len(batch) * max(lengths[place] for place in batch) for batch in batches)

    rng = np.random.default_rng(2)
    made, other = length_grouped(lengths, 8, rng), length_grouped(lengths, 8, rng)
    drawn = rng.permutation(2000).tolist()
    at_random = [drawn[first : first + 8] for first in range(0, 2000, 8)]
    waste = padded(made) - sum(lengths)
    assert waste < 0.1 * (padded(at_random) - sum(lengths))
    assert {frozenset(batch) for batch in made}.isdisjoint({frozenset(batch) for batch in other})
    longest = [max(lengths[place] for place in batch) for batch in made]
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.2


def test_a_batch_of_nothing_is_refused() -> None:
    assert length_grouped([], 4, np.random.default_rng(0)) == []
    with pytest.raises(ValueError, match="batches of 0"):
        length_grouped([1], 0, np.random.default_rng(0))


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_the_rate_rises_then_falls_to_nothing(decay: Decay) -> None:
    rates = [factor(share(step, 100), 0.1, decay) for step in range(100)]
    assert rates[:10] == pytest.approx([0.05 + 0.1 * step for step in range(10)])
    assert max(rates) > 0.99
    assert all(later < earlier for earlier, later in pairwise(rates[10:]))
    assert 0 < rates[-1] < 0.01
    assert factor(0.5, 0.0, "constant") == 1.0
    if decay == "linear":
        assert factor(0.55, 0.1, decay) == pytest.approx(0.5)
    else:
        assert factor(0.325, 0.1, decay) == pytest.approx((1 + np.sqrt(0.5)) / 2)


def test_the_clock_counts_where_it_is_further_than_the_steps() -> None:
    assert share(5, 10, seconds=5, minutes=1) == pytest.approx(0.55)
    assert share(5, 10, seconds=54, minutes=1) == pytest.approx(0.9)
    assert share(5, 10, seconds=70, minutes=1) == 1.0
    assert factor(share(5, 10, seconds=70, minutes=1), 0.1, "linear") == 0.0


def test_time_left_is_told_when_known_and_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("core.train.clock.time.monotonic", lambda: now[0])
    clock = Clock(1.0)

    def step(seconds: float) -> None:
        clock.start()
        now[0] += seconds
        clock.lap()
        now[0] += 1000  # a pause

    step(4)
    assert clock.left(100) is None
    assert clock.planned(100) == 100
    step(2)
    step(3)
    assert clock.seconds == 9
    assert clock.left(5) == 15
    assert clock.left(100) == 51  # the budget is nearer
    assert clock.planned(100) == 17
    clock.start()
    now[0] += 49  # a checkpoint
    clock.lap(of_a_step=False)
    assert clock.left(100) == 2
    assert clock.is_up  # a further step of three seconds would go beyond
    assert not Clock(None).is_up
