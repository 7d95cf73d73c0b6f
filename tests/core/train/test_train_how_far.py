"""How far to go: the best share on the questions that choose, of those that forget nothing."""

from __future__ import annotations

import pytest

from core.train.how_far import MARGIN, Tried, best


@pytest.mark.parametrize(
    ("general", "share"),
    [
        ((0.80, 0.80, 0.80), 1.0),  # nothing is forgotten: what finds most
        ((0.80, 0.79, 0.77), 0.66),  # the whole way forgets too much
        ((0.79, 0.77, 0.70), 0.33),
        ((0.60, 0.50, 0.40), 0.33),  # each forgets: least of all
        ((0.60, 0.70, 0.60), 0.66),
        ((0.95, 0.97, 0.99), 1.0),  # knowing more is no fault
    ],
)
def test_what_forgets_is_left_out_where_there_is_another(general: tuple[float, ...], share: float) -> None:
    found = (0.50, 0.55, 0.60)
    tried = [Tried(s, f, g) for s, f, g in zip((0.33, 0.66, 1.0), found, general, strict=True)]
    assert best(tried, 0.80).share == share
    assert best(tried[::-1], 0.80).share == share


def test_the_shorter_way_wins_a_tie_and_the_margin_is_the_last_that_counts() -> None:
    tried = [Tried(0.5, 0.6, 0.8 - MARGIN), Tried(1.0, 0.6, 0.8), Tried(0.25, 0.7, 0.8 - 1.01 * MARGIN)]
    assert best(tried, 0.8) == tried[0]
    assert tried[0].figures == {"ndcg at 0.5": 0.6, "general at 0.5": round(0.8 - MARGIN, 4)}
