"""Search by concepts beside words and meaning: what it finds, what it costs, and where words fail.

    python tests/benchmarks/bench_clsr.py DATASETS VECTORS --only scifact,npl [--k 16,32] [--seeds 0] [--out FILE]
        [--models FOLDER]

VECTORS holds MODEL/SET.npz with the unit vectors `P` of the passages in the corpus' order and `Q` of the queries. Of
each set a real library is made; autoencoders are trained on its passages alone (a library's own also learn from
sentences and titles), by the app's plan for the size with another k. Each is written into the index in both settings
and searched through the app's own code. FILE (JSON lines) keeps what was measured, FOLDER
the trained autoencoders: a second run goes on.

Products, terms a passage and bytes a passage are those of the index. "no shared word" counts only those relevant
passages that hold no content word of the question (nor a part of one), over the queries that have such.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.base.events import Control, ignore
from core.base.types import BM25, CONCEPT, DENSE, Query
from core.concepts.sae import export, train
from core.concepts.settings import plan
from core.encode.encoder import input_text
from core.evaluate.datasets import Dataset, load
from core.evaluate.metrics import ndcg, recall
from core.evaluate.sparsity import sparsity
from core.evaluate.throwaway import build
from core.index.concept_coding import KEPT
from core.index.concept_model import ConceptModel
from core.index.postings import LENGTHS
from core.index.sizes import bytes_per_passage
from core.index.writer import IndexWriter
from core.models import adapted
from core.search.concept_terms import concept_terms
from core.search.searcher import Searcher
from core.search.words import without_function_words
from core.store.database import open_writer
from core.text.analyze import query_terms
from core.text.parts import query_parts

DEPTH = 100
Qrels = Mapping[str, Mapping[str, int]]


class Given:
    """An encoder whose vectors are there."""

    heads, max_tokens = frozenset({DENSE}), 256

    def __init__(self, name: str, dataset: Dataset, file: Path) -> None:
        found = np.load(file)
        self.id, self.dimension = name, found["P"].shape[1]
        self.passages = found["P"].astype(np.float32)
        texts = [input_text((), d.text, d.title) for d in dataset.corpus]
        self._known = {("passage", t): v for t, v in zip(texts, self.passages, strict=True)}
        self._known |= {("query", t): v for t, v in zip(dataset.queries.values(), found["Q"], strict=True)}

    def encode(self, texts: Sequence[str], *, kind: str = "passage", **_: object) -> np.ndarray:
        return np.array([self._known[kind, t] for t in texts], np.float32)


class Bench:
    """One data set's library, and what is measured in it."""

    def __init__(self, dataset: Dataset, encoder: Given, folder: Path) -> None:
        self.dataset, self.encoder, self.folder = dataset, encoder, folder
        build(folder, dataset, encoder, Control(), ignore)
        self.searcher = Searcher(folder, encoder)
        rows = self.searcher.snapshot().db.execute(
            "SELECT p.id, d.external_id FROM passage p JOIN document d ON d.id = p.document_id"
        )
        self.names = dict(rows.fetchall())
        self.apart = self._apart()

    def _apart(self) -> Qrels:
        """The relevant passages that share no content word with their question, by question."""
        snapshot, found = self.searcher.snapshot(), {}
        languages = snapshot.languages()
        ids = {name: id for id, name in self.names.items()}
        for query, text in self.dataset.queries.items():
            terms = without_function_words(text, query_terms(text, languages), languages)
            terms = [*terms, *query_parts(terms, languages)]
            relevant = [name for name, gain in self.dataset.qrels[query].items() if gain > 0 and name in ids]
            scores = snapshot.sparse_scores(BM25, terms, np.array([ids[name] for name in relevant], np.int64))
            left = {name: 1 for name, score in zip(relevant, scores.tolist(), strict=True) if score == 0}
            if left:
                found[query] = left
        return found

    def put(self, model: ConceptModel, name: str, codes: str) -> None:
        folder = adapted.folder(self.folder) / name
        if not folder.is_dir():
            folder.mkdir(parents=True)
            model.save(folder)
        db = open_writer(self.folder)
        try:
            writer = IndexWriter(self.folder, db, self.encoder.id, self.encoder.dimension)
            writer.commit(concepts=name, codes=codes)
            writer.collect_garbage(keep=1)
        finally:
            db.conn.close()

    def measured(self, channel: str) -> dict[str, float]:
        quality: dict[str, list[float]] = {"ndcg@10": [], "recall@100": [], "no shared word": []}
        began = time.perf_counter()
        for query, text in self.dataset.queries.items():
            ranking = self.searcher.ranking(Query(text, channels=(channel,), literal=True), DEPTH)
            found = [self.names[i] for i in ranking.ids[:DEPTH].tolist()]
            quality["ndcg@10"].append(ndcg(found, self.dataset.qrels[query]))
            quality["recall@100"].append(recall(found, self.dataset.qrels[query]))
            if query in self.apart:
                quality["no shared word"].append(recall(found, self.apart[query]))
        spent = 1000 * (time.perf_counter() - began) / len(self.dataset.queries)
        means = {name: round(float(np.mean(v)), 4) if v else float("nan") for name, v in quality.items()}
        return means | {"queries without a shared word": len(self.apart), "ms": round(spent, 2)} | self._cost(channel)

    def _cost(self, channel: str) -> dict[str, float]:
        snapshot = self.searcher.snapshot()
        bytes_each = bytes_per_passage(self.folder, snapshot.db)[channel]
        if channel == DENSE:
            return {"bytes": round(bytes_each, 1)}
        held = Counter(dict(self._held(channel)))
        asked = Counter(term for text in self.dataset.queries.values() for term in set(self._asked(channel, text)))
        terms = [*held, *(asked.keys() - held.keys())]
        passages = np.array([held[t] for t in terms]) / snapshot.passage_count
        queries = np.array([asked[t] for t in terms]) / len(self.dataset.queries)
        cost = sparsity(queries, passages)
        return {
            "flops": round(cost.flops, 3), "length": round(cost.length, 1), "asked": round(cost.asked, 1),
            "vocabulary": cost.vocabulary, "bytes": round(bytes_each, 1),
        }  # fmt: skip

    def _held(self, channel: str) -> Iterator[tuple[str, int]]:
        snapshot = self.searcher.snapshot()
        like = f"{CONCEPT}:%" if channel == CONCEPT else channel
        sql = "SELECT term, sum(count) FROM posting WHERE channel LIKE ? AND term != ? GROUP BY term"
        yield from snapshot.db.execute(sql, (like, LENGTHS)).fetchall()

    def _asked(self, channel: str, text: str) -> list[str]:
        snapshot = self.searcher.snapshot()
        if channel == CONCEPT:
            assert snapshot.codes is not None
            vector = snapshot.query_vector(self.encoder.encode([text], kind="query")[0])
            return [t.text for t in concept_terms(snapshot.codes, vector)]
        languages = snapshot.languages()
        terms = without_function_words(text, query_terms(text, languages), languages)
        return [a for t in (*terms, *query_parts(terms, languages)) for a in t.alternatives]


def trained(bench: Bench, k: int, seed: int, models: Path | None) -> tuple[ConceptModel, float]:
    """An autoencoder of what is in the index, which is without what tells the languages."""
    kept = models / f"{bench.dataset.name}-{k}-{seed}" if models else None
    if kept is not None and kept.is_dir():
        return ConceptModel.load(kept), 0.0
    snapshot = bench.searcher.snapshot()
    vectors = snapshot.vectors(snapshot.ids())
    config = replace(plan(len(vectors), len(vectors), vectors.shape[1], k), seed=seed)
    began = time.perf_counter()
    model = export(train(vectors, config))
    if kept is not None:
        kept.mkdir(parents=True)
        model.save(kept)
    return model, time.perf_counter() - began


def run(bench: Bench, options: argparse.Namespace, known: set[str]) -> Iterator[dict[str, object]]:
    name = bench.dataset.name
    for channel in (BM25, DENSE):
        if f"{name} {channel}" not in known:
            yield {"key": f"{name} {channel}", **bench.measured(channel)}
    for k in options.k:
        for seed in options.seeds:
            wanted = [codes for codes in KEPT if f"{name} {codes} k={k} seed={seed}" not in known]
            model, seconds = trained(bench, k, seed, options.models) if wanted else (None, 0.0)
            for codes in wanted:
                assert model is not None
                bench.put(replace(model, config={"encoder": bench.encoder.id}), f"sae-{k}-{seed}", codes)
                sizes = {"latents": model.latents, "train_s": round(seconds, 1)}
                yield {"key": f"{name} {codes} k={k} seed={seed}", **bench.measured(CONCEPT), **sizes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", type=Path)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--only", required=True)
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[16, 32])
    parser.add_argument("--seeds", type=lambda text: [int(k) for k in text.split(",")], default=[0])
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "bench_clsr.jsonl")
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    known = {json.loads(line)["key"] for line in lines}
    for name in options.only.split(","):
        file = next(iter(sorted(options.vectors.glob(f"*/{name}.npz"))))
        dataset = load(options.datasets / name)
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(dataset, Given(file.parent.name, dataset, file), Path(folder))
            for line in run(bench, options, known):
                print(json.dumps(line), flush=True)
                with options.out.open("a") as out:
                    out.write(json.dumps(line) + "\n")
            bench.searcher.close()


if __name__ == "__main__":
    main()
