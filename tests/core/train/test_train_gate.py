"""The gate: what is better beyond doubt gets through, all else is refused with its reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.train.gate import Health, Measured, Values, interval, judge

_HEALTHY = Health(True, 0.1, 100.0)
_QUESTIONS = 200


def _measured(ndcg: Values, **other: Values) -> Measured:
    return Measured(ndcg, other.get("recall", ndcg), other.get("fused", ndcg), other.get("probe", np.full(50, 0.8)))


def _base(count: int = _QUESTIONS, seed: int = 0) -> Values:
    return np.random.default_rng(seed).uniform(0.2, 0.8, count)


def _judge(present: Measured, candidate: Measured, kinds: list[str] | None = None, groups: list[int] | None = None):  # type: ignore[no-untyped-def]
    count = len(present.ndcg)
    return judge(present, candidate, kinds or ["title"] * count, groups or list(range(count)), (_HEALTHY, _HEALTHY))


def test_an_identical_model_is_not_improved() -> None:
    present = _measured(_base())
    verdict = _judge(present, present)
    assert not verdict.accepted
    assert verdict.decided
    assert (verdict.delta, verdict.low, verdict.high) == (0, 0, 0)


def test_a_gain_beyond_doubt_is_accepted() -> None:
    base = _base()
    verdict = _judge(_measured(base), _measured(base + 0.05 + np.random.default_rng(1).normal(0, 0.1, len(base))))
    assert verdict.accepted
    assert 0 < verdict.low < verdict.delta < verdict.high
    assert verdict.after - verdict.before == pytest.approx(verdict.delta)


def test_a_gain_within_doubt_is_refused() -> None:
    base = _base()
    noise = np.random.default_rng(2).normal(0, 0.3, len(base))
    verdict = _judge(_measured(base), _measured(base + noise - noise.mean() + 0.01))
    assert not verdict.accepted
    assert verdict.delta == pytest.approx(0.01)
    assert "beyond doubt" in verdict.reason


def test_few_questions_tell_nothing_however_large_the_gain() -> None:
    base = _base(40)
    verdict = _judge(_measured(base), _measured(base + 0.2))
    assert (verdict.accepted, verdict.decided) == (False, False)
    assert "Cannot tell" in verdict.reason


def test_one_document_cannot_carry_a_model_through() -> None:
    """Fifty questions of one document gain much, the others nothing: by questions that were beyond doubt."""
    base = _base()
    gain = np.zeros(_QUESTIONS)
    gain[:50] = 0.3
    groups = [0] * 50 + list(range(1, _QUESTIONS - 49))
    assert interval(gain, list(range(_QUESTIONS)))[0] > 0
    assert not _judge(_measured(base), _measured(base + gain), groups=groups).accepted


def test_chance_gets_through_no_more_often_than_promised() -> None:
    """Without any true gain the lower bound of 95 % is above 0 in about one case in forty, with groups too."""
    random, above, runs = np.random.default_rng(3), 0, 300
    groups = np.repeat(np.arange(60), 4)
    for _ in range(runs):
        values = random.normal(0, 0.1, 60)[groups] + random.normal(0, 0.1, 240)
        above += interval(values, groups.tolist(), samples=500)[0] > 0
    assert above / runs < 0.06


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        ("recall", "no longer among the first"),
        ("fused", "together with the words"),
        ("probe", "forgotten"),
    ],
)
def test_a_gain_that_costs_elsewhere_is_refused(harm: str, word: str) -> None:
    base = _base()
    good = _measured(base + 0.05, recall=base, fused=base)
    bad = replace(good, **{harm: getattr(good, harm) - 0.05})
    present = _measured(base, recall=base, fused=base)
    assert _judge(present, good).accepted
    verdict = _judge(present, bad)
    assert not verdict.accepted
    assert word in verdict.reason
    assert [check.name for check in verdict.checks if not check.passed] == [harm]


def test_a_kind_of_question_that_loses_is_named() -> None:
    base = _base()
    kinds = ["title"] * 150 + ["heading"] * 50
    change = np.where(np.array(kinds) == "title", 0.1, -0.1)
    verdict = _judge(_measured(base), _measured(base + change, recall=base, fused=base), kinds)
    assert verdict.delta > 0
    assert not verdict.accepted
    assert "heading" in verdict.reason
    assert verdict.kinds == pytest.approx({"heading": -0.1, "title": 0.1})


@pytest.mark.parametrize("ill", [Health(False, 1, 0), Health(True, 0.1, 40.0), Health(True, 0.95, 100.0)])
def test_collapsed_vectors_are_refused(ill: Health) -> None:
    base = _base()
    verdict = judge(
        _measured(base), _measured(base + 0.1), ["title"] * len(base), list(range(len(base))), (_HEALTHY, ill)
    )
    assert not verdict.accepted
    assert "collapsed" in verdict.reason


def test_few_documents_decide_nothing() -> None:
    """Drawing one document again and again gives the same gain each time: an interval without any width."""
    base = np.full(60, 0.5)
    gain = np.zeros(60)
    gain[:2] = (0.3, -0.2)
    few = _judge(_measured(base), _measured(base + gain), groups=[1] * 60)
    assert not few.accepted
    assert not few.decided
    assert few.reason == (
        "Cannot tell: the held-out questions come from too few documents (1; 6 are needed). Nothing was changed."
    )
