r"""What each part of learning from a library does: variants trained on its own questions, measured on real ones.

    PYTHONPATH=. python tests/benchmarks/bench_ablation.py FOLDER_OF_SETS --set cranfield --library FOLDER \
        --work FOLDER --out FILE.jsonl [--variants infonce,kl,...] [--questions 600] [--seed 0]

The library is made of the set's corpus and has its questions of itself; the set's queries and judgements do nothing but
measure. Every variant starts from the present encoder, trains all weights, and is told with nDCG@10 of the dense
channel on the real queries (paired difference, 95 %) and with what the gate would have said. A variant that is in FILE
already is not run again; one that was killed goes on from its last checkpoint.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.encode.encoder import input_text
from core.evaluate import metrics
from core.evaluate.datasets import load
from core.evaluate.significance import compare
from core.models.bundles import find
from core.search.searcher import Searcher
from core.store import database
from core.train import pool, spans
from core.train.ance import Ance, AnceSettings
from core.train.backbone import Backbone
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.finishing import teacher_of
from core.train.gate import interval
from core.train.ground import Ground, searching, settle
from core.train.loop import Callback, Settings, train
from core.train.measure import dense_ndcg
from core.train.negatives import Mining, mine
from core.train.pretrain import PretrainSettings, pretrain
from core.train.two_stage import SECOND, two_stage
from core.train.types import SENTENCE, TITLE, Question
from core.worker.finding import encoder_for

MEASURE = "ndcg@10"


@dataclass(frozen=True)
class Variant:
    """What differs from plain contrastive fine-tuning against de-noised negatives of the fused search."""

    settings: FineTuneSettings = field(default_factory=lambda: FineTuneSettings(anchor=1.0))
    rate: float = 1e-5
    mining: Mining = field(default_factory=Mining)
    kinds: frozenset[str] = frozenset()
    rounds: int = 1
    refresh: bool = False
    pretraining: int = 0


KL = FineTuneSettings(loss="kl", anchor=1.0)
VARIANTS = {
    "infonce": Variant(),
    "infonce, nothing denoised": Variant(mining=Mining(denoise=False)),
    "infonce, no anchor": Variant(FineTuneSettings()),
    "infonce, titles, no anchor": Variant(FineTuneSettings(), kinds=frozenset({TITLE})),
    "infonce, titles, no anchor, rate x 10": Variant(FineTuneSettings(), 1e-4, kinds=frozenset({TITLE})),
    "kl": Variant(KL),
    "kl, titles and sentences, no anchor, no contrast": Variant(
        FineTuneSettings(loss="kl", contrast=0.0), 3e-5, kinds=frozenset({TITLE, SENTENCE})
    ),
    "kl, two rounds": Variant(KL, rounds=2),
    "kl, two rounds, refreshed": Variant(KL, rounds=2, refresh=True),
    "cocondenser, kl": Variant(KL, pretraining=60),
    "cocondenser, kl, two rounds, refreshed": Variant(KL, rounds=2, refresh=True, pretraining=60),
}


def trained(
    variant: Variant, backbone: Backbone, ground: Ground, searcher: Searcher, questions: Sequence[Question],
    frozen: Frozen, folder: Path, seed: int,
) -> int:  # fmt: skip
    """Train `backbone` in place; steps made."""
    steps, pieces = 0, ground.pieces
    if variant.pretraining:
        training = Settings(variant.pretraining, 2e-5, checkpoint_every=20, seed=seed)
        settings = PretrainSettings(documents=32, warmup_steps=100)
        steps += pretrain(backbone, spans.make(pieces), settings, training, folder / "pretraining").step
    search = searching(searcher)
    teacher = teacher_of(search, questions) if variant.settings.loss == "kl" else None
    count = -(-len(questions) // variant.settings.questions)
    training = Settings(count, variant.rate, checkpoint_every=20, seed=seed)

    def callbacks(task: FineTune, name: str) -> Sequence[Callback]:
        if not variant.refresh or name != SECOND:
            return ()
        often = AnceSettings(every=max(10, count // 2), look=max(5, count // 4))
        return (Ance(task, folder / SECOND, often, steps=count),)

    if variant.rounds == 2:
        done = two_stage(
            backbone, questions, pieces, search, folder, settings=variant.settings, training=training,
            mining=variant.mining, frozen=frozen, teacher=teacher, callbacks=callbacks,
        )  # fmt: skip
        return steps + done.first.step + done.second.step
    candidates = mine(questions, pieces, search, variant.mining)
    task = FineTune(backbone, questions, candidates, pieces, variant.settings, frozen=frozen, teacher=teacher)
    return steps + train(task, training, folder / "first", data_hash=task.data_hash()).step


def real(
    passages: np.ndarray, queries: np.ndarray, names: Sequence[str], qrels: Sequence[dict[str, int]]
) -> list[float]:
    found = []
    for query, judged in zip(queries, qrels, strict=True):
        best = np.argsort(-(passages @ query), kind="stable")[:10]
        found.append(metrics.ndcg([names[i] for i in best], judged))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", required=True)
    parser.add_argument("--library", type=Path, required=True, help="made of the set's corpus (bench_adapt --keep)")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--variants", default="")
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    there = {json.loads(line)["variant"] for line in options.out.open()} if options.out.is_file() else set()
    wanted = [name for name in options.variants.split(";") if name] or list(VARIANTS)
    data, present = load(options.folder / options.set), encoder_for(options.library)
    names, texts = [document.id for document in data.corpus], list(data.queries.values())
    inputs = [input_text((), document.text, document.title) for document in data.corpus]
    qrels = [data.qrels.get(id, {}) for id in data.queries]
    db, searcher = database.open_reader(options.library), Searcher(options.library, present)
    ground = settle(db, searcher, _folder(options.work), 4_000)
    judging = pool.make(ground.pieces, ground.split.final, most=1_500)
    bundle = find(present.id)
    first = Backbone.open(bundle)
    shown = {
        piece.id: row for piece, row in zip(ground.pieces, first.vectors([p.input for p in ground.pieces]), strict=True)
    }
    before = real(first.vectors(inputs), first.vectors(texts, "query"), names, qrels)
    held = dense_ndcg(judging, first.vectors)
    for name in wanted:
        if f"{name}, seed {options.seed}" in there:
            continue
        variant, began = VARIANTS[name], time.monotonic()
        asked = [q for q in ground.split.train if not variant.kinds or q.kind in variant.kinds]
        asked = [asked[place * len(asked) // options.questions] for place in range(min(len(asked), options.questions))]
        frozen = Frozen(
            first.vectors([q.text for q in asked], "query"), np.stack([shown[piece.id] for piece in ground.pieces])
        )
        backbone = Backbone.open(bundle)
        folder = _folder(options.work / f"{options.seed} {name.replace(',', '')}")
        steps = trained(variant, backbone, ground, searcher, asked, frozen, folder, options.seed)
        after = real(backbone.vectors(inputs), backbone.vectors(texts, "query"), names, qrels)
        change = dense_ndcg(judging, backbone.vectors) - held
        low, high = interval(change, [q.group for q in judging.questions])
        told = compare("after", "before", MEASURE, after, before)
        row = {
            "variant": f"{name}, seed {options.seed}", "set": options.set, "steps": steps, "questions": len(asked),
            "seconds": round(time.monotonic() - began), "before": round(float(np.mean(before)), 4),
            "after": round(float(np.mean(after)), 4), "delta": round(100 * told.delta, 2),
            "low": round(100 * told.low, 2), "high": round(100 * told.high, 2), "p": round(told.p, 4),
            "held out": [round(100 * float(x), 2) for x in (change.mean(), low, high)],
            "gate lets it in": bool(low > 0),
        }  # fmt: skip
        print(json.dumps(row), flush=True)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    searcher.close()
    db.conn.close()


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


if __name__ == "__main__":
    main()
