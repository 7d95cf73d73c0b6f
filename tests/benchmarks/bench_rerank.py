r"""Rerankers: milliseconds for 50 candidates, and what a library's own one does to the fused ranking.

    PYTHONPATH=. python tests/benchmarks/bench_rerank.py speed FOLDER_OF_A_SET [--model ID] [--layers 6,3,2] \
        [--tokens 160,96] [--rounds 7]
    PYTHONPATH=. python tests/benchmarks/bench_rerank.py quality FOLDER_OF_A_SET [--vectors FOLDER] [--keep FOLDER] \
        [--layers 3] [--minutes 20] [--reranker ID] [--out FILE.jsonl]

`speed` takes a question of the set and 50 passages that share a word with it. The peer is the same model in PyTorch on
two threads, padded in batches; all take turns, and figures are medians of wall time and of processor time, which other
work on the machine hardly changes. Weights do not matter to it.
`quality` makes a library of the set, trains a reranker on the questions that the library makes of itself (or takes an
installed one), puts it before the gate, and asks the set's own judged questions of the fused and the reranked search;
queries and judgements of the set are used for nothing else. What was trained in the folder of --keep is gone on with.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from bench_adapt import library, told  # the folder of a script is on its path

from core.base.events import Control
from core.base.wire import to_plain
from core.encode.cross_encoder import CrossEncoder
from core.encode.encoder import input_text
from core.encode.load import open_reranker
from core.encode.onnx import FP32, INT8
from core.evaluate.datasets import Dataset, load
from core.evaluate.kept_vectors import KeptVectors
from core.evaluate.run import FUSED, RERANKED, evaluate
from core.models import adapted
from core.models.bundles import find
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from core.store import database
from core.train import ground as grounds
from core.train import pool
from core.train.cross import score
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.train.outcome import StageReport
from core.train.rerank_stage import NAME, RerankStage, chosen, judged, train_reranker
from core.worker.finding import encoder_for

CANDIDATES = 50
QUESTIONS = 2_000


def candidates(data: Dataset) -> tuple[str, list[str]]:
    """The question of the set with the most words, and passages that hold one of them."""
    question = max(data.queries.values(), key=lambda text: len(text.split()))
    words = {word for word in question.lower().split() if len(word) > 4}
    texts = [input_text((), one.text, one.title) for one in data.corpus if words & set(one.text.lower().split())]
    return question, texts[:CANDIDATES]


def speed(options: argparse.Namespace) -> None:
    data, base = load(options.folder), find(options.model)
    question, passages = candidates(data)
    for layers in map(int, options.layers.split(",")):
        for tokens in map(int, options.tokens.split(",")):
            model = CrossModel.from_encoder(base, layers=layers, pair_tokens=tokens, device="cpu")
            with tempfile.TemporaryDirectory() as folder:
                bundle = save_reranker(model, Path(folder), {}, INT8)
                served = {
                    f"{file.removesuffix('.onnx')} {threads}": CrossEncoder(bundle, file=file, threads=threads)
                    for file in (INT8, FP32) for threads in (1, 2)
                }  # fmt: skip
                print(layers, tokens, timed(model, served, question, passages, options.rounds), flush=True)


def timed(
    model: CrossModel, served: dict[str, CrossEncoder], question: str, passages: list[str], rounds: int
) -> dict[str, tuple[int, ...]]:
    spent: dict[str, list[tuple[float, float]]] = {}
    torch.set_num_threads(2)
    works: dict[str, Callable[[], object]] = {
        name: partial(one.score, question, passages) for name, one in served.items()
    }
    works["torch 2"] = lambda: score(model, [(question, passage) for passage in passages])
    for _ in range(rounds):
        for name, work in works.items():
            begun = time.perf_counter(), time.process_time()
            work()
            now = time.perf_counter(), time.process_time()
            spent.setdefault(name, []).append((now[0] - begun[0], now[1] - begun[1]))
    return {
        name: tuple(round(1000 * statistics.median(column)) for column in zip(*some, strict=True))
        for name, some in spent.items()
    }


def quality(options: argparse.Namespace, where: Path) -> dict[str, object]:
    data, begun = load(options.folder), time.monotonic()
    if not (where / "library.db").exists():
        library(where, data, options.model, options.vectors)
    encoder, run = encoder_for(where), where / "jobs" / "reranker"
    run.mkdir(parents=True, exist_ok=True)
    searcher, db = Searcher(where, encoder), database.open_reader(where)
    stage = RerankStage(layers=options.layers_taken, questions=QUESTIONS)
    try:
        ground = grounds.settle(db, searcher, run, QUESTIONS, control=Control(), listener=told)
        if options.reranker:
            bundle, report = find(options.reranker), StageReport(options.reranker, 0, 0.0)
        else:
            bundle, report = train_reranker(
                lambda: CrossModel.from_encoder(find(encoder.id), layers=stage.layers, device="cpu"), ground, searcher,
                stage, run / NAME, adapted.folder(where), minutes=options.minutes, listener=told,
            )  # fmt: skip
    finally:
        searcher.close()
        db.conn.close()
    reranker = open_reranker(bundle.id, also=adapted.folder(where))
    tune, final = (pool.make(ground.pieces, own, most=1_500) for own in (ground.split.tune, ground.split.final))
    with KeptVectors(run / "vectors.db") as kept:
        candidate = chosen(bundle, report, reranker, tune, encoder, kept, listener=told)
        verdict = judged(candidate, reranker, final, encoder, kept, listener=told)
    asked = Searcher(where, encoder, Fusing(weights={"rerank": candidate.weight}), lambda name: reranker)
    try:
        found = evaluate(data, asked, (FUSED, RERANKED), measures=("ndcg@10",), clock=False)
    finally:
        asked.close()
    return {
        "set": data.name, "bundle": bundle.id, "serving": bundle.config["serving"], "int8": bundle.config.get("int8"),
        "weight": candidate.weight, "report": to_plain(candidate.report), "verdict": to_plain(verdict),
        "channels": found.channels, "comparison": to_plain(found.comparisons[0]),
        "seconds": round(time.monotonic() - begun, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "quality"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--layers", default="6,3,2")
    parser.add_argument("--tokens", default="160,96")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--reranker", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.what == "speed":
        return speed(options)
    options.layers_taken = int(options.layers.split(",")[0])
    with tempfile.TemporaryDirectory() as thrown:
        found = quality(options, (options.keep or Path(thrown)) / options.folder.name / "library")
    print(json.dumps(found), file=sys.stdout, flush=True)
    if options.out is not None:
        with options.out.open("a") as file:
            file.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
