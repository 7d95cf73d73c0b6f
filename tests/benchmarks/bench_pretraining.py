r"""The table of SimLM and coCondenser at small scale: how a library's encoder was pre-trained, by how it is fine-tuned.

    PYTHONPATH=. python tests/benchmarks/bench_pretraining.py FOLDER_OF_SETS --sets scifact,cranfield \
        --out table.jsonl [--objectives none,mlm,simlm] [--tunings untuned,words,two-stage,distilled] [--seeds 0,1,2] \
        [--model ID] [--vectors FOLDER] [--pretraining 60] [--questions 640] [--keep FOLDER]
    PYTHONPATH=. python tests/benchmarks/bench_pretraining.py --out table.jsonl --show

Each set becomes a library, questions are made of its passages alone; queries and judgements of the set only measure.
Tuned is against what words find, in two stages, or in two stages by the scores of the library's own search. Each line
of the output is one run with nDCG@10 and recall@100 of the dense channel by query. A run that is there is not made
again; with --keep one that was killed goes on. --show prints means over seeds in points against the encoder as it was;
a star marks what is beyond noise (paired bootstrap over queries, each query's values averaged over the seeds).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from bench_adapt import library  # the folder of a script is on its path

from core.base.types import BM25, Query
from core.encode.encoder import PASSAGE, QUERY, input_text
from core.evaluate.datasets import Dataset, load
from core.evaluate.metrics import ndcg, recall
from core.evaluate.significance import compare
from core.models.bundles import find
from core.search.searcher import Searcher
from core.store.database import open_reader
from core.train import spans
from core.train.backbone import Backbone
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.generator import GeneratorSettings
from core.train.ground import searching, settle
from core.train.loop import Settings, train
from core.train.negatives import DEPTH, Mining, Ranked, mine
from core.train.objectives import OBJECTIVES, pretrain_by
from core.train.pretrain import PretrainSettings
from core.train.simlm import BottleneckSettings
from core.train.two_stage import two_stage
from core.worker.finding import encoder_for

NONE, UNTUNED, WORDS, TWO_STAGE, DISTILLED = "none", "untuned", "words", "two-stage", "distilled"
TUNINGS = (UNTUNED, WORDS, TWO_STAGE, DISTILLED)
MEASURES = ("ndcg@10", "recall@100")
SEEN = 100


class Library:
    """A set as a library: its passages, its questions with their first vectors, and what its searches find."""

    def __init__(self, data: Dataset, folder: Path, options: argparse.Namespace) -> None:
        self.data, self.folder = data, folder
        if not (folder / "library.db").exists():
            library(folder, data, options.model, options.vectors)
        self.searcher = Searcher(folder, encoder_for(folder))
        db = open_reader(folder)
        ground = settle(db, self.searcher, folder.parent / "ground", 4 * options.questions)
        db.conn.close()
        every = ground.split.train
        self.pieces = ground.pieces
        self.questions = [every[at * len(every) // options.questions] for at in range(options.questions)]
        self.questions = list(dict.fromkeys(self.questions))
        ids = np.array([piece.id for piece in self.pieces])
        asked = self.searcher.encoder.encode([q.text for q in self.questions], kind="query")
        self.frozen = Frozen(asked, self.searcher.snapshot().vectors(ids))
        self.teacher = dict(enumerate(map(dict, searching(self.searcher)([q.text for q in self.questions], DEPTH))))

    def by_words(self, texts: Sequence[str], depth: int) -> list[Ranked]:
        """What BM25 finds."""
        found = []
        for text in texts:
            ranking = self.searcher.ranking(Query(text, literal=True, channels=(BM25,)), depth)
            found.append(list(zip(ranking.ids[:depth].tolist(), ranking.totals[:depth].tolist(), strict=True)))
        return found


def pretrained(one: Library, backbone: Backbone, objective: str, seed: int, options: argparse.Namespace) -> float:
    """Pre-train `backbone` in place; returns seconds of work."""
    if objective == NONE:
        return 0.0
    folder = options.keep / one.data.name / "runs" / f"{objective}-{seed}"
    record = pretrain_by(
        objective, backbone, spans.make(one.pieces), one.pieces,
        PretrainSettings(documents=options.documents, warmup_steps=options.warm_up),
        Settings(options.pretraining, options.pretraining_rate, seed=seed, checkpoint_every=20), folder,
        bottleneck=BottleneckSettings(generator=GeneratorSettings(steps=options.generator)),
    )  # fmt: skip
    return record.seconds


def tuned(one: Library, backbone: Backbone, way: str, folder: Path, seed: int, options: argparse.Namespace) -> None:
    """Fine-tune `backbone` in place."""
    kl = way == DISTILLED
    settings = FineTuneSettings(loss="kl" if kl else "infonce", anchor=options.anchor)
    steps = options.epochs * -(-len(one.questions) // settings.questions)
    training = Settings(steps, options.rate, seed=seed, checkpoint_every=20)
    mining = Mining(seed=seed)
    if way == WORDS:
        candidates = mine(one.questions, one.pieces, one.by_words, mining)
        task = FineTune(backbone, one.questions, candidates, one.pieces, settings, frozen=one.frozen)
        train(task, training, folder, data_hash=task.data_hash())
    elif way != UNTUNED:
        two_stage(
            backbone, one.questions, one.pieces, one.by_words, folder, settings=settings, training=training,
            mining=mining, frozen=one.frozen, teacher=one.teacher if kl else None,
        )  # fmt: skip


def measured(one: Library, backbone: Backbone) -> dict[str, list[float]]:
    """By query, in the order of the set's queries that are judged."""
    corpus = one.data.corpus
    passages = backbone.vectors([input_text((), document.text, document.title) for document in corpus], PASSAGE)
    judged = [name for name in one.data.queries if one.data.qrels.get(name)]
    asked = backbone.vectors([one.data.queries[name] for name in judged], QUERY)
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    for name, query in zip(judged, asked, strict=True):
        best = np.argsort(-(passages @ query), kind="stable")[:SEEN]
        ranking, gains = [corpus[place].id for place in best.tolist()], one.data.qrels[name]
        values[MEASURES[0]].append(ndcg(ranking, gains))
        values[MEASURES[1]].append(recall(ranking, gains, SEEN))
    return values


def runs(one: Library, options: argparse.Namespace, done: set[tuple[str, str, str, int]]) -> None:
    for seed in map(int, options.seeds.split(",")):
        for objective in options.objectives.split(","):
            wanted = [w for w in options.tunings.split(",") if (one.data.name, objective, w, seed) not in done]
            if not wanted:
                continue
            backbone = Backbone.open(find(options.model))
            seconds = pretrained(one, backbone, objective, seed, options)
            start = backbone.weights()
            for way in wanted:
                begun = time.monotonic()
                backbone.load_weights(start)
                folder = options.keep / one.data.name / "runs" / f"{objective}-{seed}-{way}"
                tuned(one, backbone, way, folder, seed, options)
                row = {
                    "set": one.data.name, "objective": objective, "tuning": way, "seed": seed, "model": options.model,
                    "pretraining": options.pretraining, "questions": len(one.questions), "rate": options.rate,
                    "pretraining seconds": seconds, "seconds": round(time.monotonic() - begun, 1),
                    "values": measured(one, backbone),
                }  # fmt: skip
                with options.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                means = {measure: round(float(np.mean(values)), 4) for measure, values in row["values"].items()}
                print(one.data.name, objective, way, seed, means, row["seconds"], flush=True)


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def show(path: Path) -> None:
    """A Markdown table: objective x tuning, a column each, for every set and measure."""
    found: dict[tuple[str, str, str], list[dict[str, list[float]]]] = defaultdict(list)
    for row in rows(path):
        found[row["set"], row["objective"], row["tuning"]].append(row["values"])
    for name in dict.fromkeys(key[0] for key in found):
        for measure in MEASURES:
            by_query = {k[1:]: np.mean([v[measure] for v in own], 0) for k, own in found.items() if k[0] == name}
            base = by_query.get((NONE, UNTUNED))
            ways = [way for way in TUNINGS if any(key[1] == way for key in by_query)]
            started = "" if base is None else f" (as it was: {base.mean():.4f})"
            print(f"\n{name}, {measure}{started}\n\n| objective | {' | '.join(ways)} | paper |")
            print("|---" * (len(ways) + 2) + "|")
            for objective in dict.fromkeys(key[0] for key in by_query):
                cells = [cell(by_query.get((objective, way)), base, measure) for way in ways]
                told = 33.7 if objective == NONE else OBJECTIVES[objective].paper
                print(f"| {objective} | {' | '.join(cells)} | {told or '–'} |")


def cell(values: np.ndarray | None, base: np.ndarray | None, measure: str) -> str:
    if values is None:
        return "–"
    if base is None:
        return f"{100 * values.mean():.1f}"
    told = compare("run", "start", measure, values.tolist(), base.tolist())
    return f"{100 * told.delta:+.1f}{'*' if told.low > 0 or told.high < 0 else ''}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sets", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument(
        "--objectives", default=",".join((NONE, "mlm", "condenser", "cocondenser", "simlm", "retromae"))
    )
    parser.add_argument("--tunings", default=",".join(TUNINGS))
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    for name, default in (("pretraining", 60), ("warm-up", 50), ("generator", 100), ("documents", 16)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("questions", 640), ("epochs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, rate in (("pretraining-rate", 2e-5), ("rate", 1e-5), ("anchor", 0.0)):
        parser.add_argument(f"--{name}", type=float, default=rate)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.show:
        show(options.out)
        return
    torch.set_num_threads(options.threads)
    done = {(row["set"], row["objective"], row["tuning"], row["seed"]) for row in rows(options.out)}
    with tempfile.TemporaryDirectory() as thrown:
        options.keep = options.keep or Path(thrown)
        for name in options.sets.split(","):
            runs(Library(load(options.folder / name), options.keep / name / "library", options), options, done)


if __name__ == "__main__":
    main()
