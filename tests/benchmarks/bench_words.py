"""BM25 alone on test collections: what the analysis of words is worth, without any encoder.

    WHYMATCH_SHARED=... python tests/benchmarks/bench_words.py xquad-zh xquad-ar scifact

Passages are analysed in the language they are found to be in, queries in all languages of the collection, as a
library does it. Prints nDCG@10, recall@100, and the seconds of analysing passages and of asking the queries.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.types import BM25
from core.evaluate.datasets import CorpusDocument, Dataset, load
from core.evaluate.metrics import mean, ndcg, recall
from core.index.build import IndexPassage
from core.index.postings import SCHEMES, Postings, Weights, build, union
from core.search.words import without_function_words
from core.text.analyze import QueryTerm, query_terms, term_texts
from core.text.language import detect

_DEPTH = 100
_SCHEME = SCHEMES[BM25]


@dataclass(frozen=True)
class Index:
    """Postings of all passages with the part of BM25's denominator that each passage has."""

    postings: Mapping[str, Postings]
    norms: Weights

    @classmethod
    def of(cls, passages: Sequence[Sequence[str]]) -> Index:
        postings, lengths = build(passages)
        return cls(postings, _SCHEME.norms(lengths, float(lengths.mean())))

    def scores(self, query: Sequence[QueryTerm]) -> Weights:
        scores = np.zeros(len(self.norms))
        for term in query:
            known = [self.postings[text] for text in term.alternatives if text in self.postings]
            ordinals, weights = union([(p.ordinals.astype(np.int64), p.weights.astype(np.float64)) for p in known])
            idf = _SCHEME.idf(len(scores), len(ordinals))
            scores[ordinals] += term.weight * idf * _SCHEME.impacts(weights, self.norms[ordinals])
        return scores


def measure(dataset: Dataset) -> tuple[float, float, float, float]:
    """nDCG@10, recall@100, seconds for the passages' terms, seconds for all queries."""
    languages = [detect(document.text or document.title) for document in dataset.corpus]
    began = time.perf_counter()
    passages = [term_texts(_indexed(d), language) for d, language in zip(dataset.corpus, languages, strict=True)]
    analysed = time.perf_counter() - began
    index, frequent = Index.of(passages), [language for language, _ in Counter(languages).most_common()]
    began = time.perf_counter()
    found = {query: _ranking(dataset, index, text, frequent) for query, text in dataset.queries.items()}
    asked = time.perf_counter() - began
    quality = mean([ndcg(found[q], gains) for q, gains in dataset.qrels.items()])
    return quality, mean([recall(found[q], gains) for q, gains in dataset.qrels.items()]), analysed, asked


def _indexed(document: CorpusDocument) -> str:
    return IndexPassage(0, document.text, (), document.title).indexed_text


def _ranking(dataset: Dataset, index: Index, text: str, languages: Sequence[str]) -> list[str]:
    scores = index.scores(without_function_words(text, query_terms(text, languages), languages))
    best = np.argsort(-scores, kind="stable")[:_DEPTH]
    return [dataset.corpus[n].id for n in best.tolist() if scores[n] > 0]


def main(names: Sequence[str]) -> None:
    print(f"{'set':18} nDCG@10  recall@100  analysing  asking")
    for name in names:
        quality, found, analysed, asked = measure(load(Path(os.environ["WHYMATCH_SHARED"]) / "datasets" / name))
        print(f"{name:18} {quality:7.4f} {found:11.4f} {analysed:8.2f} s {asked:5.2f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
