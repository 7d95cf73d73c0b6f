import random

import ir_measures
import pytest
from ir_measures import RR, R, nDCG

from core.evaluate.metrics import mean, mrr, ndcg, percentile, recall


@pytest.mark.parametrize("seed", range(25))
def test_measures_agree_with_ir_measures(seed: int) -> None:
    luck = random.Random(seed)
    documents = [f"d{n}" for n in range(300)]
    qrels = {
        f"q{n}": {d: luck.choice([0, 0, 1, 1, 2, 3]) for d in luck.sample(documents, luck.randint(1, 60))}
        for n in range(8)
    }
    rankings = {q: luck.sample(documents, luck.randint(0, 150)) for q in qrels}
    run = {q: {d: 1.0 / (place + 1) for place, d in enumerate(r)} for q, r in rankings.items()}
    for measure, mine in ((nDCG @ 10, ndcg), (RR @ 10, mrr), (R @ 100, recall)):
        theirs = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        assert mean([mine(rankings[q], qrels[q]) for q in qrels]) == pytest.approx(theirs, abs=1e-9)


def test_edges() -> None:
    assert ndcg([], {"a": 1}) == mrr([], {"a": 1}) == recall([], {"a": 1}) == 0.0
    assert ndcg(["a"], {"a": 0}) == recall(["a"], {}) == 0.0
    assert ndcg(["a", "b"], {"a": 3, "b": 1}) == mrr(["a"], {"a": 1}) == recall(["b", "a"], {"a": 1}) == 1.0
    assert mrr(["x"] * 10 + ["a"], {"a": 1}) == 0.0


def test_percentiles() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile(list(range(1, 101)), 0.95) == 95
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([], 0.5) == 0.0
