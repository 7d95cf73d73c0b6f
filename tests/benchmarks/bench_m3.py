r"""Token heads trained on a library's own questions, with and without self-knowledge distillation, on the judgements.

    PYTHONPATH=. python tests/benchmarks/bench_m3.py FOLDER_OF_SETS --sets cranfield [--seeds 0,1,2] \
        [--questions 1500] [--epochs 3] [--rate 1e-3] [--dimension 128] [--expansion] [--served] [--vectors FOLDER] \
        [--keep FOLDER] [--out FILE.jsonl]

Each set becomes a library of its own (each line of its corpus a passage); queries and judgements are used for nothing
but the measuring. For every seed and each of both ways: nDCG@10 of each head alone (by the encoder in training, exact),
the terms of a passage that have a weight, and seconds. With `--served` the bundle of the first seed is served in a
library with all channels: each channel, their fusion with default weights and with those calibrated on the library's
held-out questions, and the bytes of a passage in each index. Rows that are in FILE already are not made again. Vectors
that are there already (NAME.npz with P and Q) are not encoded again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_adapt import library  # the folder of a script is on its path

from core.base.events import Control
from core.base.types import BM25, DENSE, FUSED, LEXICAL, MULTI
from core.encode.cached import CachedEncoder
from core.encode.encoder import input_text
from core.encode.load import open_encoder, serve
from core.evaluate import metrics
from core.evaluate.datasets import Dataset, load
from core.evaluate.run import evaluate
from core.evaluate.throwaway import build
from core.index.sizes import bytes_per_passage
from core.models.bundles import find
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from core.store import database
from core.train.backbone import Backbone
from core.train.bundle import save, weights_hash
from core.train.finetune import FineTuneSettings
from core.train.ground import Ground, settle
from core.train.hybrid import calibrated
from core.train.kept_states import KeptStates
from core.train.m3 import M3, M3Settings
from core.train.m3_heads import HeadSettings
from core.train.m3_recipe import HeadsStage
from core.train.m3_stage import HeadsCandidate, train_heads
from core.train.pool import make
from core.train.types import Candidates

MEASURE = "ndcg@10"
_TUNE = 1_500


def heads_alone(data: Dataset, backbone: Backbone, found: HeadsCandidate, ground: Ground, states: KeptStates) -> dict:
    """nDCG@10 of each head over all passages of the set."""
    settings = M3Settings(
        FineTuneSettings(), HeadSettings(expansion=found.trained.expander is not None)
    )  # fmt: skip
    question, piece = ground.split.train[0], ground.pieces[0]
    task = M3(backbone, found.trained, [question], [Candidates(0, piece.id, ())], [piece], settings, kept=states)
    passages = [input_text((), document.text, document.title) for document in data.corpus]
    scores = task.scores(list(data.queries.values()), passages)
    names = [document.id for document in data.corpus]
    told = {}
    for head, table in scores.items():
        best = np.argsort(-table, axis=1, kind="stable")[:, :10]
        told[head] = np.mean([
            metrics.ndcg([names[i] for i in row], data.qrels[q]) for q, row in zip(data.queries, best, strict=True)
        ])  # fmt: skip
    return {head: round(float(value), 4) for head, value in told.items()}


def served(data: Dataset, found: HeadsCandidate, ground: Ground, options: argparse.Namespace) -> dict:
    """In a library with all channels, by the weights calibrated on held-out questions and by the defaults."""
    with tempfile.TemporaryDirectory() as own:
        bundle = save(found.weights, find(options.model), Path(own) / "models", {}, heads=found.heads)
        encoder, channels = serve(bundle), (BM25, DENSE, LEXICAL, MULTI, FUSED)
        hybrid = calibrated(make(ground.pieces, ground.split.tune, most=_TUNE), encoder)
        folder, told = Path(own) / "library", {}
        folder.mkdir()
        build(folder, data, encoder, Control(), lambda event: None, sorted(encoder.heads))
        for name, weights in (("default", {}), ("calibrated", dict(hybrid.weights))):
            searcher = Searcher(folder, encoder, Fusing(weights=weights, budget_seconds=60.0))
            try:
                wanted = channels if not told else (FUSED,)
                made = evaluate(data, searcher, wanted, measures=(MEASURE,), clock=False).channels
            finally:
                searcher.close()
            told[name] = {channel: values[MEASURE] for channel, values in made.items()}
        room = _room(folder)
    return {
        "served": told, "hybrid": {"weights": hybrid.weights, "channels": hybrid.channels, "before": hybrid.before,
        "after": hybrid.after, "low": hybrid.low, "high": hybrid.high, "queries": hybrid.queries}, "bytes": room,
    }  # fmt: skip


def _room(folder: Path) -> dict[str, int]:
    db = database.open_reader(folder)
    try:
        return {channel: round(size) for channel, size in bytes_per_passage(folder, db).items()}
    finally:
        db.conn.close()


def one(data: Dataset, options: argparse.Namespace, root: Path, done: set[tuple]) -> None:
    where = root / data.name / "library"
    if not (where / "library.db").exists():
        library(where, data, options.model, options.vectors)
    present = open_encoder(options.model)
    db, searcher = database.open_reader(where), Searcher(where, CachedEncoder(present, 30_000))
    ground = settle(db, searcher, root / data.name, options.questions)
    backbone = Backbone.open(find(options.model))
    states = root / data.name / "states"
    for seed in map(int, options.seeds.split(",")):
        for distil in (True, False):
            key = (data.name, seed, distil, options.expansion, options.dimension, options.epochs, options.rate)
            if key in done:
                continue
            stage = HeadsStage(
                options.epochs, options.rate, options.questions, options.dimension, options.expansion, distil
            )
            run = root / data.name / "-".join(map(str, key))
            begun = time.monotonic()
            found = train_heads(backbone, ground, searcher, present, stage, run, seed=seed, states=states)
            row: dict[str, Any] = {"key": key, "seconds": round(time.monotonic() - begun, 1)}
            row |= {"training": {k: round(v, 4) for k, v in found.report.metrics.items()}, "steps": found.report.steps}
            with KeptStates(backbone, states, weights_hash(found.weights)[:16]) as kept:
                row["alone"] = heads_alone(data, backbone, found, ground, kept)
                kept.flush()
            if options.served and seed == 0:
                row |= served(data, found, ground, options)
            print(json.dumps(row), flush=True)
            if options.out is not None:
                with options.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    searcher.close()
    db.conn.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", required=True)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--questions", type=int, default=1_500)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--dimension", type=int, default=128)
    parser.add_argument("--expansion", action="store_true")
    parser.add_argument("--served", action="store_true")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    done = set()
    if options.out is not None and options.out.exists():
        done = {tuple(json.loads(line)["key"]) for line in options.out.read_text().splitlines()}
    with tempfile.TemporaryDirectory() as thrown:
        for name in options.sets.split(","):
            one(load(options.folder / name), options, options.keep or Path(thrown), done)


if __name__ == "__main__":
    main()
