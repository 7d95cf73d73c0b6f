"""Words strengthened by feedback and by written questions, beside words alone: on the same queries, told apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.encode.encoder import Encoder
from core.evaluate.datasets import CorpusDocument, Dataset
from core.evaluate.run import evaluate_encoder
from core.evaluate.variants import fitting, strengthened
from tests.tiny import topics

FILLER = "keeper walks along the rows and notes the weight of every box in a small green book number"


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Every topic has documents in the first words of its things and others in the second ones, and documents of
    neither. A query in the first words asks for all of a topic: by words alone half of them cannot be found, but some
    documents hold both."""
    corpus, queries, qrels = [], {}, {}
    for name, things in topics().items():
        first, second = ([thing[min(at, len(thing) - 1)] for thing in things] for at in (0, 1))
        kinds = ((" ".join(first), 3), (" ".join(first[:3] + second[:3]), 3), (" ".join(second), 3))
        own = [f"{name}-{kind}-{n}" for kind, (_, count) in enumerate(kinds) for n in range(count)]
        texts = [f"{words} {FILLER} {name}{n}" for words, count in kinds for n in range(count)]
        corpus += [CorpusDocument(id, "", text) for id, text in zip(own, texts, strict=True)]
        queries[name], qrels[name] = " ".join(first[:3]), dict.fromkeys(own, 1)
    return Dataset("topics", Path("topics"), tuple(corpus), queries, qrels)


def test_feedback_finds_what_no_word_of_the_query_stands_in(data: Dataset, tiny_encoder: Encoder) -> None:
    plain = evaluate_encoder(data, tiny_encoder, ("bm25", "fused"), clock=False)
    found = strengthened(plain, data, tiny_encoder, rm3=True)
    assert list(found.values) == ["bm25", "bm25+rm3", "fused"]
    assert found.values["bm25"] == plain.values["bm25"]  # what is compared with stays as it was
    assert found.channels["bm25+rm3"]["recall@100"] > found.channels["bm25"]["recall@100"] + 0.2
    by_pair = {(one.first, one.second): one for one in found.comparisons}
    assert by_pair.keys() == {("fused", "bm25"), ("fused", "bm25+rm3"), ("bm25+rm3", "bm25")}
    assert by_pair["bm25+rm3", "bm25"].delta > 0


def test_questions_are_found_by_words_and_change_nothing_else(data: Dataset, tiny_encoder: Encoder) -> None:
    questions = {one.id: (data.queries[one.id.split("-")[0]],) for one in data.corpus if one.id.split("-")[1] == "2"}
    plain = evaluate_encoder(data, tiny_encoder, ("bm25", "dense", "fused"), clock=False)
    found = strengthened(plain, data, tiny_encoder, questions=questions, rm3=True)
    assert list(found.values) == [
        "bm25", "dense", "bm25+rm3", "bm25+doc2query", "fused+doc2query", "bm25+doc2query+rm3", "fused",
    ]  # fmt: skip
    assert found.channels["bm25+doc2query"]["recall@100"] == 1.0 > found.channels["bm25"]["recall@100"]
    dense = evaluate_encoder(data, tiny_encoder, ("dense",), clock=False, expansion=questions)
    assert dense.values["dense"] == plain.values["dense"]


class _Flat:
    """An encoder of given unit vectors."""

    def __init__(self, vectors: dict[str, tuple[float, float]]) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str], *, kind: str = "passage", control: object = None) -> np.ndarray:
        return np.array([self._vectors[text] for text in texts], np.float32)


def test_the_questions_that_fit_least_fall(data: Dataset) -> None:
    corpus = (CorpusDocument("a", "", "one"), CorpusDocument("b", "", "two"), CorpusDocument("c", "", "three"))
    small = Dataset("small", Path("small"), corpus, {}, {})
    encoder = _Flat(
        {"one": (1, 0), "two": (0, 1), "good?": (1, 0), "fair?": (0.8, 0.6), "bad?": (-1, 0), "poor?": (0.6, 0.8)}
    )
    questions = {"a": ("bad?", "good?", "fair?"), "b": ("bad?",), "gone": ("good?",)}
    assert fitting(small, questions, encoder, share=0.5) == {"a": ("good?", "fair?")}  # type: ignore[arg-type]
    assert fitting(small, questions, encoder, share=1.0) == {"a": questions["a"], "b": ("bad?",)}  # type: ignore[arg-type]
    assert fitting(small, {}, encoder) == {}  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="share"):
        fitting(small, questions, encoder, share=1.5)  # type: ignore[arg-type]
