"""Which candidate is taken: one that keeps the ranking, is understood, and is sparse, in this order."""

from __future__ import annotations

import pytest

from core.concepts.choice import choose
from core.concepts.settings import candidates, plan


def figures(k: int, ndcg: float, recall: float, intruder: float, dead: float = 0.0) -> dict[str, float]:
    return {"k": k, "ndcg_kept": ndcg, "recall_kept": recall, "intruder": intruder, "dead": dead}


def test_one_that_keeps_too_little_is_not_taken_however_clear_it_is() -> None:
    found = choose([figures(16, 0.90, 0.99, 0.9), figures(32, 0.95, 0.99, 0.6)])
    assert found.index == 1
    assert "k = 32" in found.reason
    assert choose([figures(16, 0.95, 0.97, 0.9), figures(32, 0.95, 0.99, 0.6)]).index == 1


def test_of_those_that_keep_the_ranking_the_clearest_is_taken() -> None:
    assert choose([figures(16, 0.94, 0.99, 0.5), figures(32, 0.96, 0.99, 0.7)]).index == 1


def test_of_two_alike_the_sparser_is_taken() -> None:
    assert choose([figures(32, 0.97, 1.0, 0.70), figures(16, 0.94, 0.99, 0.68)]).index == 1


def test_many_dead_latents_speak_against_a_candidate() -> None:
    assert choose([figures(16, 0.95, 1.0, 0.8, dead=0.2), figures(32, 0.95, 1.0, 0.6)]).index == 1
    assert choose([figures(16, 0.95, 1.0, 0.8, dead=0.2)]).index == 0


def test_where_none_keeps_enough_the_one_that_keeps_most_is_taken_and_that_is_said() -> None:
    found = choose([figures(16, 0.7, 0.9, 0.8), figures(32, 0.8, 0.9, 0.6)])
    assert found.index == 1
    assert found.reason.startswith("None keeps")


def test_what_was_not_measured_counts_as_met() -> None:
    assert choose([{"k": 8.0}]).index == 0
    with pytest.raises(ValueError, match="no candidates"):
        choose([])


def test_a_small_library_has_one_candidate_a_larger_one_a_choice_of_k() -> None:
    assert candidates(200, 900, 384) == (plan(200, 900, 384),)
    for passages, vectors in ((300, 1_500), (5_000, 7_000), (50_000, 22_000)):
        found = candidates(passages, vectors, 384)
        assert len({config.k for config in found}) == len(found) > 1
        assert all(config.latents <= max(vectors * config.k / 30, 2 * config.k) for config in found)
