"""The general probe: whole pairs in many languages, which words alone do not solve and an encoder mostly does."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import KnownError
from core.base.types import BM25
from core.encode.encoder import QUERY, Encoder, FloatArray
from core.evaluate.datasets import Dataset
from core.evaluate.metrics import ndcg
from core.evaluate.run import evaluate_encoder
from core.text.language import detect
from core.train.probe import pairs, probe

_NDCG = "ndcg@10"
_OTHERS = ("de", "fr", "es", "ja", "ko", "zh", "ar", "ru")


def test_every_pair_is_whole_and_stands_once() -> None:
    known = pairs()
    assert all(text.strip() == text and text for pair in known for text in asdict(pair).values())
    for field in ("id", "question", "passage"):
        assert len({getattr(pair, field) for pair in known}) == len(known), field
    assert all(pair.id.startswith(f"{pair.language}-") for pair in known)


def test_there_are_enough_in_every_language() -> None:
    counts = Counter(pair.language for pair in pairs())
    assert counts["en"] >= 100
    assert set(counts) == {"en", *_OTHERS}
    assert min(counts.values()) >= 10


def test_each_passage_has_rivals_of_its_own_field() -> None:
    fields = Counter(pair.id.rpartition("-")[0] for pair in pairs())
    assert min(fields.values()) >= 4


def test_texts_are_in_the_languages_told() -> None:
    known = pairs()
    for kind in ("question", "passage"):
        right = sum(detect(getattr(pair, kind)) == pair.language for pair in known)
        assert right >= 0.95 * len(known), kind


def test_questions_are_chosen_by_language_among_all_passages() -> None:
    everything, some = probe(), probe(("de", "ru"))
    assert len(everything.queries) == len(everything.corpus) == len(pairs())
    assert some.corpus == everything.corpus
    assert {query.partition("-")[0] for query in some.queries} == {"de", "ru"}
    assert some.queries.keys() == some.qrels.keys()
    assert all(judged == {query: 1} for query, judged in some.qrels.items())


def test_languages_without_questions_are_asked_in_all() -> None:
    assert probe(("fi",)) == probe()


@pytest.mark.parametrize("content", [None, "", "{", '{"id": "1"}', "[]", '"text"', b"\xff"])
def test_a_missing_or_damaged_file_is_said(content, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("core.train.probe.resources", lambda: tmp_path)
    if content is not None:
        (tmp_path / "probe").mkdir()
        (tmp_path / "probe" / "probe.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KnownError, match="Install"):
        probe()


def test_words_alone_do_not_solve_it(tiny_encoder: Encoder) -> None:
    # measured: 0.25; in English 0.14
    found = evaluate_encoder(probe(), tiny_encoder, (BM25,), measures=(_NDCG,), clock=False)
    assert found.channels[BM25][_NDCG] < 0.4


@pytest.mark.starter
def test_there_is_something_to_forget_and_something_to_gain(starter_encoder: Encoder) -> None:
    # measured with all-MiniLM-L6-v2: 0.93, with 32 of its 384 dimensions 0.44
    english = probe(("en",))
    passages = starter_encoder.encode([document.text for document in english.corpus])
    queries = starter_encoder.encode(list(english.queries.values()), kind=QUERY)
    whole = _ndcg(english, passages, queries)
    assert 0.7 < whole < 0.98
    few = starter_encoder.dimension // 12  # what is left of an encoder whose vectors have lost most of their content
    assert _ndcg(english, passages[:, :few], queries[:, :few]) < whole - 0.1


def _ndcg(dataset: Dataset, passages: FloatArray, queries: FloatArray) -> float:
    names = [document.id for document in dataset.corpus]
    best = np.argsort(-queries @ passages.T, axis=1, kind="stable")[:, :10]
    judged = dataset.qrels.values()
    return float(np.mean([ndcg([names[i] for i in row], gains) for row, gains in zip(best, judged, strict=True)]))
