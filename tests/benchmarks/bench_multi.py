r"""Rerank by token vectors: coded tokens against exact MaxSim in torch, as ColBERT does it, and against fast-plaid.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 WHYMATCH_SHARED=... \
        python tests/benchmarks/bench_multi.py [--passages 2000] [--queries 40] [--tokens FILE]

Token states of SciFact's passages by the starter encoder (kept in FILE, so that the next run need not encode). Each
query reranks its 200 nearest passages by dense vector; ours and torch take turns. Both work on one thread, and the
time is that of the processor, so that other work on the machine has no say. `nDCG@10` is that of the reranked lists by
the collection's judgements. All is measured in both codings: a byte a dimension, and product-quantised residuals, as a
library has them that is too large for that. fast-plaid takes part when it can be imported.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from core.base.events import Control
from core.base.types import DENSE, MULTI, DocumentState, ReadDocument
from core.encode.encoder import input_text
from core.encode.load import open_encoder
from core.evaluate.datasets import CorpusDocument, Dataset, load
from core.evaluate.metrics import ndcg
from core.index import codec as codecs
from core.index.sizes import bytes_per_passage
from core.index.snapshot import Snapshot
from core.index.writer import IndexPassage, IndexWriter
from core.store import database, documents
from core.store.database import transaction
from core.store.passages import NewPassage, replace_passages

DEPTH, BEST = 200, 10


@dataclass
class Texts:
    """Unit vectors [N, D] and unit token vectors [T, M] of passages and of queries."""

    dense: np.ndarray
    tokens: list[np.ndarray]
    query_dense: np.ndarray
    query_tokens: list[np.ndarray]


def chosen(data: Dataset, passages: int) -> list[CorpusDocument]:
    """Judged passages first, so that queries have something to find."""
    judged = {document for gains in data.qrels.values() for document in gains}
    return sorted(data.corpus, key=lambda document: document.id not in judged)[:passages]


def encoded(data: Dataset, passages: int, queries: int, kept: Path | None) -> Texts:
    if kept is not None and kept.is_file():
        found = np.load(kept)
        parts = [_split(found[f"{name}_tokens"], found[f"{name}_counts"]) for name in ("passage", "query")]
        return Texts(found["passage_dense"], parts[0], found["query_dense"], parts[1])
    corpus = chosen(data, passages)
    encoder = open_encoder()
    made = encoder.encode_heads([input_text((), d.text, d.title) for d in corpus], {DENSE, MULTI})
    asked = encoder.encode_heads(list(data.queries.values())[:queries], {DENSE, MULTI}, kind="query")
    assert made.dense is not None
    assert made.multi is not None
    assert asked.dense is not None
    assert asked.multi is not None
    texts = Texts(made.dense, list(made.multi), asked.dense, list(asked.multi))
    if kept is not None:
        _keep(kept, texts)
    return texts


def _split(tokens: np.ndarray, counts: np.ndarray) -> list[np.ndarray]:
    return [part.astype(np.float32) for part in np.split(tokens, np.cumsum(counts)[:-1])]


def _keep(path: Path, texts: Texts) -> None:
    arrays = {"passage_dense": texts.dense, "query_dense": texts.query_dense}
    for name, tokens in (("passage", texts.tokens), ("query", texts.query_tokens)):
        arrays[f"{name}_tokens"] = np.concatenate(tokens).astype(np.float16)
        arrays[f"{name}_counts"] = np.array([len(t) for t in tokens])
    np.savez(path, **arrays)


def build(folder: Path, texts: Texts) -> list[int]:
    """A library with these vectors; returns the passages' ids."""
    folder.mkdir()
    db = database.create(folder)
    with transaction(db):
        root = documents.add_root(db, "/bench", is_folder=False)
        file = documents.put_file(db, root, "/bench", 0, 0, "")
        for n in range(len(texts.tokens)):
            read = ReadDocument("-", external_id=str(n), state=DocumentState.READ)
            row = documents.put_document(db, file, "/bench", "", read, language="en", size=1)
            replace_passages(db, row, [NewPassage("-", 0, 1, None, None, (), "en", str(n))])
    ids = [row[0] for row in db.execute("SELECT id FROM passage ORDER BY id")]
    began = time.process_time()
    writer = IndexWriter(folder, db, "bench", texts.dense.shape[1])
    for start in range(0, len(ids), 500):
        part = slice(start, start + 500)
        writer.add([IndexPassage(i, "-") for i in ids[part]], texts.dense[part], None, texts.tokens[part])
    writer.merge(Control())
    writer.commit()
    writer.collect_garbage(keep=1)
    print(f"index with coarse vectors and training of its codec {time.process_time() - began:.1f} s of CPU")
    per = np.mean([len(t) for t in texts.tokens])
    size = bytes_per_passage(folder, db)[MULTI]
    print(f"{size:,.0f} bytes a passage, {size / per:.1f} a token; as 16-bit floats {per * 2 * 384:,.0f}")
    db.conn.close()
    return ids


class Exact:
    """Padded batches in 32 bits (colbert.modeling.colbert.colbert_score)."""

    def __init__(self, tokens: Sequence[np.ndarray]) -> None:
        longest = max(len(t) for t in tokens)
        self.padded = torch.zeros(len(tokens), longest, tokens[0].shape[1])
        self.mask = torch.zeros(len(tokens), longest, dtype=torch.bool)
        for n, one in enumerate(tokens):
            self.padded[n, : len(one)] = torch.from_numpy(one)
            self.mask[n, : len(one)] = True

    def scores(self, query: np.ndarray) -> np.ndarray:
        similar = torch.einsum("td,nld->ntl", torch.from_numpy(query), self.padded)
        best = similar.masked_fill(~self.mask[:, None], -9999.0).amax(dim=2)
        return best.mean(dim=1).numpy()


def timed(call: Callable[..., Any], *arguments: object) -> tuple[Any, float]:
    """The result and the processor time in milliseconds."""
    began = time.process_time()
    found = call(*arguments)
    return found, (time.process_time() - began) * 1000


def overlap(scores: np.ndarray, exact: np.ndarray) -> float:
    return len(set(np.argsort(-scores)[:BEST]) & set(np.argsort(-exact)[:BEST])) / BEST


def spearman(scores: np.ndarray, exact: np.ndarray) -> float:
    ranks = [np.argsort(np.argsort(values)) for values in (scores, exact)]
    return float(np.corrcoef(*ranks)[0, 1])


def rerank(snapshot: Snapshot, ids: np.ndarray, texts: Texts, data: Dataset) -> None:
    names = [d.id for d in chosen(data, len(ids))]
    quality: dict[str, list[float]] = {"torch": [], "all": [], "cascade": []}
    times: dict[str, list[float]] = {"torch": [], "all": [], "cascade": []}
    shared: dict[str, list[float]] = {"all": [], "cascade": []}
    between, ranks = [], []
    for number, (query, dense) in enumerate(zip(texts.query_tokens, texts.query_dense, strict=True)):
        near = np.argsort(-(texts.dense @ dense))[:DEPTH]
        peer = Exact([texts.tokens[n] for n in near])
        found: dict[str, np.ndarray] = {}
        for name, call, arguments in (
            ("torch", peer.scores, (query,)),
            ("all", snapshot.multi_scores, (query, ids[near])),
            ("cascade", snapshot.multi_rerank, (query, ids[near], BEST)),
        ):
            found[name], spent = timed(call, *arguments)
            times[name].append(spent)
            order = np.argsort(-found[name])[:BEST]
            quality[name].append(ndcg([names[near[n]] for n in order], list(data.qrels.values())[number]))
        for name, own in shared.items():
            own.append(overlap(found[name], found["torch"]))
        between.append(overlap(found["cascade"], found["all"]))
        ranks.append(spearman(found["all"], found["torch"]))
    base = float(np.median(times["torch"]))
    print(f"rerank of {DEPTH}: torch exact {base:.1f} ms of CPU (median)")
    for name, own in shared.items():
        mine = float(np.median(times[name]))
        print(f"  {name}: {mine:.1f} ms, {base / mine:.1f} x as fast, top {BEST} equal to exact {np.mean(own):.3f}")
    print(f"  Spearman of all with exact over the {DEPTH}: {np.mean(ranks):.4f}")
    print(f"  nDCG@10: {', '.join(f'{name} {np.mean(values):.4f}' for name, values in quality.items())}")
    print(f"  top {BEST} of cascade and all equal: {np.mean(between):.3f}")


def search(snapshot: Snapshot, ids: np.ndarray, texts: Texts) -> None:
    """Multi alone, over all passages."""
    everything = Exact(texts.tokens)
    exact = [everything.scores(query) for query in texts.query_tokens]
    places = {int(i): n for n, i in enumerate(ids)}
    shared, times = [], []
    for query, scores in zip(texts.query_tokens, exact, strict=True):
        (found, _), spent = timed(snapshot.multi, query, BEST)
        times.append(spent)
        shared.append(len({places[int(i)] for i in found} & set(np.argsort(-scores)[:BEST])) / BEST)
    print(f"search of all: {np.median(times):.1f} ms of CPU, top {BEST} equal to exact {np.mean(shared):.3f}")


def _plaid(texts: Texts) -> None:
    try:
        from fast_plaid.search import FastPlaid
    except ImportError as error:
        print(f"fast-plaid takes no part: {error}")
        return
    everything = Exact(texts.tokens)
    exact = [everything.scores(query) for query in texts.query_tokens]
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        index = FastPlaid(folder, device="cpu")
        index.create([torch.from_numpy(t) for t in texts.tokens])
        built = time.process_time() - began
        size = sum(p.stat().st_size for p in Path(folder).rglob("*") if p.is_file())
        shared, times = [], []
        for query, scores in zip(texts.query_tokens, exact, strict=True):
            began = time.process_time()
            found = index.search(torch.from_numpy(query)[None], top_k=BEST, show_progress=False)[0]
            times.append((time.process_time() - began) * 1000)
            shared.append(len({int(n) for n, _ in found} & set(np.argsort(-scores)[:BEST])) / BEST)
    print(
        f"fast-plaid: {built:.1f} s to build, {size / len(texts.tokens):,.0f} bytes a passage, "
        f"search of all {np.median(times):.1f} ms of CPU, top {BEST} equal to exact {np.mean(shared):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--tokens", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    data = load(Path(os.environ["WHYMATCH_SHARED"]) / "datasets" / "scifact")
    texts = encoded(data, asked.passages, asked.queries, asked.tokens)
    for most in (codecs.MOST_ROUNDED, 0):
        codecs.MOST_ROUNDED = most
        with tempfile.TemporaryDirectory() as folder:
            ids = np.array(build(Path(folder) / "library", texts))
            with Snapshot.open(Path(folder) / "library") as snapshot:
                snapshot.multi_scores(texts.query_tokens[0], ids[:DEPTH])  # opens its file
                print(type(codecs.load(Path(folder) / "library" / snapshot.generation.codec)).__name__)
                rerank(snapshot, ids, texts, data)
                search(snapshot, ids, texts)
    _plaid(texts)


if __name__ == "__main__":
    main()
