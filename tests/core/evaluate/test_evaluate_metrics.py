import math
import random

import pytest

from core.base.errors import BadSetting
from core.evaluate.metrics import hole, mean, mrr, named, ndcg, percentile, recall, success

Judged = dict[str, dict[str, int]]

NAMES = ["ndcg@5", "ndcg@10", "ndcg@100", "mrr@10", "recall@20", "recall@100", "success@1", "success@5", "ap@10",
         "ap@100", "hole@10"]  # fmt: skip


def made(seed: int) -> tuple[Judged, dict[str, list[str]]]:
    luck = random.Random(seed)
    documents = [f"d{n}" for n in range(300)]
    qrels = {
        f"q{n}": {d: luck.choice([0, 0, 1, 1, 2, 3]) for d in luck.sample(documents, luck.randint(1, 60))}
        for n in range(8)
    }
    return qrels, {q: luck.sample(documents, luck.randint(10, 150)) for q in qrels}


@pytest.mark.parametrize("seed", range(25))
def test_measures_agree_with_ir_measures(seed: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels, rankings = made(seed)
    run = {q: {d: 1.0 / (place + 1) for place, d in enumerate(r)} for q, r in rankings.items()}
    theirs_by_name = {"ndcg": "nDCG", "mrr": "RR", "recall": "R", "success": "Success", "ap": "AP", "hole": "Judged"}
    for name in NAMES:
        kind, _, depth = name.partition("@")
        measure = ir_measures.parse_measure(f"{theirs_by_name[kind]}@{depth}")
        theirs = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        expected = 1.0 - theirs if kind == "hole" else theirs
        assert mean([named(name)(rankings[q], qrels[q]) for q in qrels]) == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("seed", range(10))
def test_measures_agree_with_their_definitions(seed: int) -> None:
    qrels, rankings = made(seed)
    for query, gains in qrels.items():
        ranking = rankings[query]
        for name in NAMES:
            kind, _, depth = name.partition("@")
            assert named(name)(ranking, gains) == pytest.approx(slow(kind, ranking, gains, int(depth)), abs=1e-12)


def slow(kind: str, ranking: list[str], gains: dict[str, int], k: int) -> float:
    """The textbook's formulas, one document at a time."""
    relevant = [d for d in gains if gains[d] > 0]
    hits = [place for place in range(1, min(k, len(ranking)) + 1) if ranking[place - 1] in relevant]
    match kind:
        case "ndcg":
            best = sorted((gains[d] for d in relevant), reverse=True)[:k]
            ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best))
            return sum(gains[ranking[p - 1]] / math.log2(p + 1) for p in hits) / ideal if best else 0.0
        case "mrr":
            return 1.0 / hits[0] if hits else 0.0
        case "recall":
            return len(hits) / len(relevant) if relevant else 0.0
        case "success":
            return 1.0 if hits else 0.0
        case "ap":
            precision = [len([h for h in hits if h <= p]) / p for p in hits]
            return sum(precision) / len(relevant) if relevant else 0.0
    return 1.0 - len([d for d in ranking[:k] if d in gains]) / min(k, len(ranking))


def test_names_that_are_no_measure() -> None:
    for name in ("ndcg", "ndcg@0", "NDCG@10", "precision@5", "@10", "ndcg@-1", "ndcg@1e3", ""):
        with pytest.raises(BadSetting):
            named(name)


def test_edges() -> None:
    assert ndcg([], {"a": 1}) == mrr([], {"a": 1}) == recall([], {"a": 1}) == 0.0
    assert ndcg(["a"], {"a": 0}) == recall(["a"], {}) == 0.0
    assert ndcg(["a", "b"], {"a": 3, "b": 1}) == mrr(["a"], {"a": 1}) == recall(["b", "a"], {"a": 1}) == 1.0
    assert mrr(["x"] * 10 + ["a"], {"a": 1}) == 0.0
    assert hole([], {"a": 1}) == success([], {"a": 1}) == 0.0
    assert hole(["a", "x"], {"a": 0}) == 0.5


def test_percentiles() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile(list(range(1, 101)), 0.95) == 95
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([], 0.5) == 0.0
