"""Encoding: speed and rank agreement of fp32, int8 and torch on real passages, beside sentence-transformers where that
is installed (its own defaults: batches of 32). On demand:

    python tests/benchmarks/bench_encode.py DATASET_FOLDER [PASSAGES] [QUERIES] [ROUNDS] [MODEL]

All have two threads. The rounds of all kinds alternate in one process; medians of CPU seconds (robust against other
work on the machine) and of wall seconds are printed, with the ratio to fp32. Agreement with fp32, over all queries:
mean Spearman correlation of the scores, mean overlap of the ten best.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from core.encode.encoder import input_text
from core.encode.onnx import FP32, INT8, OnnxEncoder
from core.encode.torch_encoder import TorchEncoder
from core.models.bundles import STARTERS, Bundle, find

THREADS = 2


class SentenceTransformers:
    """The named peer, with the bundle's weights, pooling and window."""

    def __init__(self, bundle: Bundle) -> None:
        from sentence_transformers import SentenceTransformer, models

        words = models.Transformer(str(bundle.folder))
        words.max_seq_length = int(bundle.config["max_tokens"])
        pooling = models.Pooling(int(bundle.config["dimension"]), str(bundle.config["pooling"]))
        self._model = SentenceTransformer(modules=[words, pooling, models.Normalize()], device="cpu")
        self._prefixes = bundle.config["prefixes"]

    def encode(self, texts: Sequence[str], *, kind: str = "passage") -> NDArray[np.float32]:
        return np.asarray(self._model.encode([self._prefixes[kind] + text for text in texts]), np.float32)


def lines(file: Path, count: int) -> list[dict[str, str]]:
    with file.open(encoding="utf-8") as rows:
        return [json.loads(row) for _, row in zip(range(count), rows, strict=False)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def spearman(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    ranks = [np.argsort(np.argsort(scores, axis=1), axis=1).astype(float) for scores in (left, right)]
    centred = [rank - rank.mean(axis=1, keepdims=True) for rank in ranks]
    return float(
        np.mean((centred[0] * centred[1]).sum(1) / np.sqrt((centred[0] ** 2).sum(1) * (centred[1] ** 2).sum(1)))
    )


def overlap(left: NDArray[np.float32], right: NDArray[np.float32], k: int = 10) -> float:
    tops = [np.argsort(-scores, axis=1)[:, :k] for scores in (left, right)]
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(*tops, strict=True)]))


def main(arguments: Sequence[str]) -> None:
    dataset = Path(arguments[0])
    given = dict(enumerate(arguments[1:]))
    passages, queries, rounds = (int(given.get(i, default)) for i, default in enumerate((256, 100, 3)))
    texts = [input_text((), row["text"], row.get("title", "")) for row in lines(dataset / "corpus.jsonl", passages)]
    questions = [row["text"] for row in lines(dataset / "queries.jsonl", queries)]
    bundle = find(given.get(3, STARTERS["encoder"]))
    encoders: dict[str, Any] = {
        "onnx fp32": OnnxEncoder(bundle, file=FP32, threads=THREADS),
        "onnx int8": OnnxEncoder(bundle, file=INT8, threads=THREADS),
        "torch": TorchEncoder(bundle, device="cpu"),
    }
    with contextlib.suppress(ImportError):
        encoders["sentence-transformers"] = SentenceTransformers(bundle)
    torch.set_num_threads(THREADS)
    print(f"{len(texts)} passages, {sum(encoders['torch'].count_tokens(texts))} tokens, {rounds} rounds")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in encoders}
    for _ in range(rounds):
        for name, encoder in encoders.items():
            times[name].append(timed(lambda encoder=encoder: encoder.encode(texts)))
    vectors = {name: encoder.encode(texts) for name, encoder in encoders.items()}
    scores = {name: encoder.encode(questions, kind="query") @ vectors[name].T for name, encoder in encoders.items()}
    exact = scores["onnx fp32"]
    base = statistics.median(cpu for cpu, _ in times["onnx fp32"])
    for name in encoders:
        cpu, wall = (statistics.median(column) for column in zip(*times[name], strict=True))
        cosine = float((vectors[name] * vectors["onnx fp32"]).sum(1).min())
        speed = f"cpu {1000 * cpu / len(texts):6.1f} ms/passage ({cpu / base:.2f})  {len(texts) / wall:6.1f} passages/s"
        rank = f"spearman {spearman(exact, scores[name]):.4f}  top-10 overlap {overlap(exact, scores[name]):.3f}"
        print(f"{name:21} {speed}  cosine >= {cosine:.5f}  {rank}")


if __name__ == "__main__":
    main(sys.argv[1:])
