"""ANCE's comparison (Xiong et al. 2020, section 5.3): dense retrieval against BM25 and a cross-encoder over 100 of its
candidates, per query, both served by ONNX Runtime on one thread. On demand:

    python tests/benchmarks/bench_ance.py DATASET_FOLDER [PASSAGES] [QUERIES]

The cross-encoder has the shape of ms-marco-MiniLM-L6 (six layers of width 384) and random weights: time does not
depend on them. Dense retrieval encodes the query and searches a flat index of all passages; for time any unit vectors
do. The two take turns; medians of CPU and wall seconds a query.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import faiss
import numpy as np
import onnxruntime

from core.encode.encoder import QUERY, input_text
from core.encode.graph import build
from core.encode.onnx import OnnxEncoder
from core.encode.tokens import Tokens
from core.evaluate.datasets import load
from core.models.bundles import STARTERS, find

CANDIDATES, WINDOW, WIDTH, LAYERS, INNER = 100, 512, 384, 6, 1536


def random_weights(vocabulary: int) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    luck = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (vocabulary, WIDTH),
        "embeddings.position_embeddings.weight": (WINDOW, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        dense = [f"attention.self.{part}" for part in ("query", "key", "value")] + ["attention.output.dense"]
        sizes = {f"{name}.{part}": (WIDTH, WIDTH) for part in dense}
        sizes |= {f"{name}.intermediate.dense": (INNER, WIDTH), f"{name}.output.dense": (WIDTH, INNER)}
        for part, size in sizes.items():
            shapes |= {f"{part}.weight": size, f"{part}.bias": size[:1]}
        norms += [f"{name}.attention.output", f"{name}.output"]
    weights = {name: luck.normal(0, 0.05, size).astype(np.float32) for name, size in shapes.items()}
    for name in norms:
        weights |= {f"{name}.LayerNorm.weight": np.ones(WIDTH), f"{name}.LayerNorm.bias": np.zeros(WIDTH)}
    config = {
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
        "num_attention_heads": 12, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    return weights, config


def timed(work: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


class Bm25AndCross:
    """BM25 over an inverted index held in memory, then each candidate read together with the query."""

    def __init__(self, texts: Sequence[str], tokens: Tokens, vocabulary: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = build(*random_weights(vocabulary)).SerializeToString()
        self._session = onnxruntime.InferenceSession(model, options)
        self._head = np.random.default_rng(1).normal(size=WIDTH).astype(np.float32)
        self._tokens, self._ids = tokens, tokens.ids(texts)
        counts: dict[str, dict[int, int]] = {}
        for row, text in enumerate(texts):
            for word in text.lower().split():
                postings = counts.setdefault(word, {})
                postings[row] = postings.get(row, 0) + 1
        self._postings = {w: (np.array(list(p)), np.array(list(p.values()))) for w, p in counts.items()}
        self._lengths = np.array([len(text.split()) for text in texts])

    def search(self, query: str) -> list[int]:
        scores = np.zeros(len(self._lengths))
        norm = 0.9 * (0.6 + 0.4 * self._lengths / self._lengths.mean())
        for word in query.lower().split():
            if word in self._postings:
                rows, counts = self._postings[word]
                idf = np.log1p((len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += idf * counts * 1.9 / (counts + norm[rows])
        best = np.argpartition(-scores, CANDIDATES)[:CANDIDATES]
        asked = self._tokens.ids([query])[0]
        return sorted(best.tolist(), key=lambda row: -self._read(asked, self._ids[row]))

    def _read(self, asked: list[int], found: list[int]) -> float:
        pair = np.array([[*asked, *found[1:]][:WINDOW]], np.int64)
        return float(self._session.run(["states"], {"input_ids": pair})[0][0, 0] @ self._head)


def main(arguments: Sequence[str]) -> None:
    passages, queries = (int(value) for value in [*arguments[1:], *("5000", "12")[len(arguments) - 1 :]])
    data = load(Path(arguments[0]))
    texts = [input_text((), document.text, document.title) for document in data.corpus][:passages]
    bundle = find(STARTERS["encoder"])
    encoder = OnnxEncoder(bundle, threads=1)
    tokens = Tokens(bundle.path("tokenizer.json"), int(bundle.config["max_tokens"]))
    vectors = np.random.default_rng(2).normal(size=(len(texts), encoder.dimension)).astype(np.float32)
    faiss.normalize_L2(vectors)
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(encoder.dimension)
    index.add(vectors)
    cross = Bm25AndCross(texts, tokens, 30_522)
    ways: dict[str, Callable[[str], object]] = {
        "dense": lambda query: index.search(encoder.encode([query], kind=QUERY), CANDIDATES),
        "bm25 and cross-encoder": cross.search,
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for query in list(data.queries.values())[:queries]:
        for name, way in ways.items():
            times[name].append(timed(lambda way=way, query=query: way(query)))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}
    for name, (cpu, wall) in medians.items():
        print(f"{name:24} {1000 * cpu:8.1f} ms CPU {1000 * wall:8.1f} ms wall")
    print(f"ratio: {medians['bm25 and cross-encoder'][0] / medians['dense'][0]:.0f} (CPU)")


if __name__ == "__main__":
    main(sys.argv[1:])
