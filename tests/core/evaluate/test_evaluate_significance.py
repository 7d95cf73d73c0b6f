import itertools
import random

import numpy as np
import pytest

from core.evaluate.significance import compare, interval, randomisation


def exact_p(differences: list[float]) -> float:
    """Every assignment of signs, one by one."""
    seen = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    return sum(total >= seen - 1e-12 for total in sums) / len(sums)


@pytest.mark.parametrize("seed", range(6))
def test_the_randomisation_test_is_near_all_sign_flips(seed: int) -> None:
    luck = random.Random(seed)
    first = [luck.random() for _ in range(10)]
    second = [value - luck.choice([0.0, 0.1, 0.3, -0.2]) for value in first]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    assert randomisation(first, second) == pytest.approx(exact_p(differences), abs=0.025)


def test_equal_systems_do_not_differ_and_clear_ones_do() -> None:
    luck = random.Random(1)
    values = [luck.random() for _ in range(200)]
    assert randomisation(values, values) == 1.0
    better = [value + 0.05 + luck.uniform(-0.01, 0.01) for value in values]
    assert randomisation(better, values) < 0.001
    noise = [value + luck.gauss(0, 0.1) for value in values]
    assert randomisation(noise, values) > 0.01


def test_p_values_of_chance_are_spread_evenly() -> None:
    random_state = np.random.default_rng(7)
    found = [
        randomisation(random_state.normal(size=30).tolist(), random_state.normal(size=30).tolist(), samples=500)
        for _ in range(200)
    ]
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.10
    assert np.mean(found) == pytest.approx(0.5, abs=0.08)


def test_the_interval_is_that_of_the_normal_for_many_values() -> None:
    values = np.random.default_rng(3).normal(0.5, 0.2, 2000)
    found = interval(values.tolist())
    error = 1.96 * values.std() / np.sqrt(len(values))
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=0.1 * error)
    assert found.high == pytest.approx(values.mean() + error, abs=0.1 * error)


def test_intervals_are_the_same_again_and_hold_their_edges() -> None:
    values = [0.0, 1.0, 0.5, 0.25]
    assert interval(values) == interval(values)
    assert (interval([]).mean, interval([0.3]).low, interval([0.3]).high) == (0.0, 0.3, 0.3)


def test_a_comparison_counts_queries() -> None:
    found = compare("a", "b", "ndcg@10", [0.5, 0.2, 0.9, 0.4], [0.4, 0.3, 0.9, 0.1])
    assert (found.won, found.lost, found.equal) == (2, 1, 1)
    assert found.delta == pytest.approx(0.075)
    assert found.low < found.delta < found.high
