"""BM25 of a library against the package bm25s: the same tokens, the same k1, b and idf, in turns.

    PYTHONPATH=folder-with-bm25s WHYMATCH_SHARED=... python tests/benchmarks/bench_bm25.py scifact --runs 9

Quality is nDCG@10. Times are of all queries of the collection, tokens to ranked ids, medians over the runs, wall and
CPU; `cold` is opening what lies on disk and asking all queries once (ours reads from SQLite what the queries need,
bm25s loads its whole index). Queries are made into tokens beforehand, for both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import bm25s

from core.base.types import BM25
from core.evaluate.datasets import Dataset, load
from core.evaluate.metrics import mean, ndcg
from core.index.postings import SCHEMES
from core.index.snapshot import Snapshot
from core.search.words import without_function_words
from core.text.analyze import QueryTerm, query_terms, term_texts
from tests.shelf import DIMENSION, Item, Shelf

Run = Callable[[], list[list[int]]]


class Ours:
    def __init__(self, folder: Path, dataset: Dataset, queries: Sequence[list[QueryTerm]], k: int) -> None:
        self.folder, self.queries, self.k = folder, queries, k
        shelf = Shelf(folder)
        vector = np.eye(1, DIMENSION, dtype=np.float32)[0]
        names = [f"/s/{n:07d}" for n in range(len(dataset.corpus))]
        made = [Item(name, d.text, vector, title=d.title) for name, d in zip(names, dataset.corpus, strict=True)]
        writer = shelf.writer()
        stored = shelf.store(made)
        writer.add(stored, np.stack([item.vector for item in made]))
        writer.commit()
        shelf.close()
        self.places = {passage.id: place for place, passage in enumerate(stored)}
        self.texts = [passage.indexed_text for passage in stored]
        self.snapshot = Snapshot.open(folder)

    def ask(self) -> list[list[int]]:
        found = [self.snapshot.sparse(BM25, query, self.k)[0] for query in self.queries]
        return [[self.places[i] for i in ids.tolist()] for ids in found]

    def cold(self) -> list[list[int]]:
        self.snapshot.close()
        self.snapshot = Snapshot.open(self.folder)
        return self.ask()


class Theirs:
    def __init__(self, folder: Path, texts: Sequence[str], queries: Sequence[list[QueryTerm]], k: int) -> None:
        self.folder, self.k = folder, k
        self.queries = [[a for t in q for a in t.alternatives for _ in range(int(t.weight))] for q in queries]
        scheme = SCHEMES[BM25]
        self.index: Any = bm25s.BM25(method="lucene", k1=scheme.k1, b=scheme.b)
        self.index.index([term_texts(text, "en") for text in texts], show_progress=False)
        self.index.save(str(folder))

    def ask(self) -> list[list[int]]:
        found, scores = self.index.retrieve(self.queries, k=self.k, show_progress=False)
        return [ids[s > 0].tolist() for ids, s in zip(found, scores, strict=True)]

    def cold(self) -> list[list[int]]:
        self.index = bm25s.BM25.load(str(self.folder), load_vocab=True)
        return self.ask()


def compare(dataset: Dataset, runs: int, k: int, folder: Path) -> dict[str, object]:
    texts = list(dataset.queries.values())
    queries = [without_function_words(text, query_terms(text, ["en"])) for text in texts]
    ours = Ours(folder / "ours", dataset, queries, k)
    theirs = Theirs(folder / "theirs", ours.texts, queries, k)
    times: dict[str, list[tuple[float, float]]] = {}
    quality = {}
    for _ in range(runs):
        for name, work in (
            ("ours cold", ours.cold), ("bm25s cold", theirs.cold), ("ours", ours.ask), ("bm25s", theirs.ask),
        ):  # fmt: skip
            found, *spent = timed(work)
            times.setdefault(name, []).append((spent[0], spent[1]))
            quality[name] = judged(dataset, found)
    wall = {name: statistics.median(t[0] for t in spent) for name, spent in times.items()}
    cpu = {name: statistics.median(t[1] for t in spent) for name, spent in times.items()}
    return {
        "dataset": dataset.name, "passages": len(dataset.corpus), "queries": len(texts), "k": k, "runs": runs,
        "ndcg@10": {name: round(value, 4) for name, value in quality.items() if "cold" not in name},
        "wall ms": {name: round(value, 1) for name, value in wall.items()},
        "cpu ms": {name: round(value, 1) for name, value in cpu.items()},
        "ours / bm25s (cpu)": round(cpu["ours"] / cpu["bm25s"], 3),
        "ours / bm25s (cpu, cold)": round(cpu["ours cold"] / cpu["bm25s cold"], 3),
    }  # fmt: skip


def timed(work: Run) -> tuple[list[list[int]], float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, 1000 * (time.perf_counter() - wall), 1000 * (time.process_time() - cpu)


def judged(dataset: Dataset, found: Sequence[Sequence[int]]) -> float:
    names = [document.id for document in dataset.corpus]
    pairs = zip(found, dataset.queries, strict=True)
    return mean([ndcg([names[place] for place in ranking], dataset.qrels[query]) for ranking, query in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 200])
    arguments = parser.parse_args()
    dataset = load(Path(os.environ["WHYMATCH_SHARED"]) / "datasets" / arguments.dataset)
    for k in arguments.k:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(compare(dataset, arguments.runs, k, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
