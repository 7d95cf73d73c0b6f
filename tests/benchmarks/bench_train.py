"""Training: throughput of a contrastive step beside sentence-transformers' trainer, memory of large span batches, and
an epoch of the query side. On demand:

    PYTHONPATH=. python tests/benchmarks/bench_train.py DATASET_FOLDER [--parts speed,memory,queries] [--rounds 5]

speed: batches of a title (or first words) and its passage, cut at 128 tokens, and further passages as negatives;
forward, backward and optimiser step. The peer has its cached loss, and the same weights, texts, batches, mini-batches
and learning rate; its trainer runs all the time and ours takes a step after each of its own. First the loss and all
gradients of one batch are compared with dropout off. Medians of wall and processor seconds without the first step,
whose passages a second and ratio to the peer are printed.
memory: a coCondenser step over so many spans in a child process each, its peak of resident memory with GradCache, and
with the whole batch at once where `--whole` allows so many.
queries: an epoch of the query side over 2,000 questions in a child process. Its lessons are drawn; that takes as long.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor

from core.encode.encoder import input_text
from core.evaluate.datasets import load
from core.models.bundles import STARTERS, find
from core.train.backbone import Backbone
from core.train.condenser import Condenser
from core.train.finetune import FineTune, FineTuneSettings
from core.train.loop import Settings, train
from core.train.precision import Precision
from core.train.pretrain import CoCondenser, PretrainSettings
from core.train.query_side import QuerySettings, QuerySide, rarities
from core.train.spans import Spans
from core.train.teacher import FAR, NEAR, Lesson
from core.train.types import TITLE, Candidates, Piece, Question

PEER = "sentence-transformers"
RATE, TOKENS, TEMPERATURE, SPANS = 1e-5, 128, 0.05, (256, 1024, 4096)
ASKED, PASSAGES = 2_000, 5_000  # of the query side
_AGREED = 1e-4


@dataclass
class Clocked:
    """Wall and processor seconds of each step, and its loss."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    begun: tuple[float, float] = (0.0, 0.0)

    def start(self) -> None:
        self.begun = time.perf_counter(), time.process_time()

    def stop(self, loss: float) -> None:
        self.wall.append(time.perf_counter() - self.begun[0])
        self.processor.append(time.process_time() - self.begun[1])
        self.losses.append(loss)

    @property
    def medians(self) -> tuple[float, float]:
        return statistics.median(self.wall[1:]), statistics.median(self.processor[1:])


def material(folder: Path, count: int) -> tuple[list[Question], list[Piece]]:
    """A question (title or first words) of each of the first passages; the passage is what follows."""
    questions, pieces = [], []
    for number, one in enumerate(load(folder).corpus[:count]):
        words = (one.title or one.text).split()[:12]
        text = one.text or one.title
        pieces.append(Piece(number, number, number, text, input_text((), text, ""), one.title, (), ""))
        questions.append(Question(" ".join(words), number, TITLE, number))
    return questions, pieces


class Ours:
    """Steps of `FineTune` over given batches: row r of a batch is question r, its passage and its negatives."""

    def __init__(
        self, options: argparse.Namespace, texts: Texts, precision: Precision = "fp32", attention: float | None = None
    ) -> None:
        """`attention` is a dropout of attention weights other than what an encoder in training has."""
        torch.manual_seed(0)
        self.backbone = Backbone.open(find(options.model), "cpu")
        for name, part in self.backbone.named_modules():
            if attention is not None and name.endswith("attention.self.dropout"):
                part.p = attention
        settings = FineTuneSettings(
            options.batch, options.negatives, options.chunk, passage_tokens=TOKENS, temperature=TEMPERATURE,
            keep_words=1.0,
        )  # fmt: skip
        candidates = [Candidates(row, row, own) for row, own in enumerate(texts.negatives)]
        self.task = FineTune(self.backbone, texts.questions, candidates, texts.pieces, settings, precision=precision)
        self.optimiser = torch.optim.AdamW(self.backbone.parameters(), lr=RATE, weight_decay=0.01, fused=True)
        self.clocked, self.size = Clocked(), options.batch

    def rows(self, step: int) -> range:
        return range(step * self.size, (step + 1) * self.size)

    def step(self, step: int) -> None:
        self.backbone.train()
        self.clocked.start()
        loss = self.task.step(self.rows(step))["loss"]
        torch.nn.utils.clip_grad_norm_(self.backbone.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.clocked.stop(loss)

    def gradients(self) -> tuple[float, dict[str, Tensor]]:
        """Loss and gradients of the first batch without dropout."""
        self.backbone.eval()
        loss = self.task.step(self.rows(0))["loss"]
        found = {name: weight.grad.clone() for name, weight in self.backbone.model.named_parameters()}
        self.optimiser.zero_grad(set_to_none=True)
        return loss, found


@dataclass(frozen=True)
class Texts:
    questions: list[Question]
    pieces: list[Piece]
    negatives: list[tuple[int, ...]]  # of each question, none of them a passage of a question in use

    @classmethod
    def of(cls, options: argparse.Namespace, steps: int) -> Texts:
        rows, many = steps * options.batch, options.negatives
        questions, pieces = material(options.folder, rows * (1 + many))
        if len(pieces) < rows * (1 + many):
            raise SystemExit("the corpus is too small for so many steps")
        spare = [tuple(range(rows + many * row, rows + many * (row + 1))) for row in range(rows)]
        return cls(questions[:rows], pieces, spare)


def against_peer(options: argparse.Namespace, texts: Texts, ours: dict[str, Ours], steps: int) -> Clocked:
    """Its trainer's steps; after each of them each of ours takes one."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from datasets import Dataset as Rows
    from datasets.table import InMemoryTable
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
        losses,
        models,
    )
    from torch.utils.data import BatchSampler, SequentialSampler
    from transformers import TrainerCallback

    clocked, bundle = Clocked(), find(options.model)
    words = models.Transformer(str(bundle.folder))
    words.max_seq_length = TOKENS
    parts = [words, models.Pooling(int(bundle.config["dimension"]), str(bundle.config["pooling"])), models.Normalize()]
    model = SentenceTransformer(modules=parts, device="cpu")
    rows = {"anchor": [q.text for q in texts.questions]}
    rows["positive"] = [texts.pieces[row].input for row in range(len(texts.questions))]
    for place in range(options.negatives):
        rows[f"negative_{place}"] = [texts.pieces[own[place]].input for own in texts.negatives]

    class Trainer(SentenceTransformerTrainer):
        compared = False

        def get_batch_sampler(self, dataset: Any, batch_size: int, drop_last: bool, **_: Any) -> BatchSampler:
            return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)

        def training_step(self, model: Any, inputs: Any, *rest: Any) -> Tensor:
            if not self.compared:  # in the first step, which no median counts
                self.compared = True
                compare(model, self.compute_loss(model.eval(), dict(inputs)), ours["ours"])
            loss: Tensor = super().training_step(model, inputs, *rest)
            self.told = float(loss)
            return loss

    class Turns(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            clocked.start()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            clocked.stop(trainer.told)
            for one in ours.values():
                one.step(len(clocked.wall) - 1)

    with tempfile.TemporaryDirectory() as thrown:
        trainer = Trainer(
            model=model, train_dataset=Rows(InMemoryTable.from_pydict(rows), fingerprint="rows"), callbacks=[Turns()],
            loss=losses.CachedMultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE, mini_batch_size=options.chunk),
            args=SentenceTransformerTrainingArguments(
                output_dir=thrown, max_steps=steps, per_device_train_batch_size=options.batch, learning_rate=RATE,
                weight_decay=0.01, lr_scheduler_type="constant", save_strategy="no", logging_strategy="no",
                report_to="none", disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False,
            ),
        )  # fmt: skip
        trainer.train()
    return clocked


def compare(model: Any, loss: Tensor, ours: Ours) -> None:
    """That the same thing is done: loss and gradients of one batch without dropout.

    Raises:
        SystemExit: they differ.
    """
    loss.backward()
    theirs = {name.split("model.", 1)[-1]: weight.grad for name, weight in model.named_parameters()}
    told, own = ours.gradients()
    apart = sum(float((grad - theirs[name]).square().sum()) for name, grad in own.items())
    apart = (apart / sum(float(grad.square().sum()) for grad in own.values())) ** 0.5
    model.zero_grad(set_to_none=True)
    print(f"without dropout: loss {told:.6f}, {PEER} {float(loss):.6f}; gradients apart by {apart:.1e} of their length")
    if abs(told - float(loss)) > _AGREED * abs(told) or apart > 100 * _AGREED:
        raise SystemExit("not the same step")


def speed(options: argparse.Namespace) -> None:
    steps = 1 + options.rounds
    texts = Texts.of(options, steps)
    kinds: dict[str, Precision] = {"ours": "fp32"} | ({"ours, bf16": "bf16"} if options.bf16 else {})
    ours = {name: Ours(options, texts, precision) for name, precision in kinds.items()}
    for share in options.attention:
        ours[f"ours, attention {share:g}"] = Ours(options, texts, attention=share)
    passages = options.batch * (1 + options.negatives)
    lengths = [len(ids) for ids in next(iter(ours.values())).task.piece_ids]
    print(f"{options.batch} questions and {passages} passages of {statistics.mean(lengths):.0f} tokens a step, "
          f"chunks of {options.chunk}, {options.threads} threads, medians of {options.rounds}")  # fmt: skip
    try:
        clocked = {PEER: against_peer(options, texts, ours, steps)}
    except ImportError as error:
        print(f"without {PEER}: {error}")
        clocked = {}
        for step in range(steps):
            for one in ours.values():
                one.step(step)
    clocked |= {name: one.clocked for name, one in ours.items()}
    base = next(iter(clocked.values())).medians
    print(
        f"{'':22} {'first loss':>10} {'wall':>8} {'processor':>10} {'passages/s':>11} {'ratio wall':>11} "
        f"{'ratio cpu':>10}"
    )
    for name, one in clocked.items():
        wall, cpu = one.medians
        print(f"{name:22} {one.losses[0]:10.4f} {wall:7.2f}s {cpu:9.2f}s {passages / wall:11.1f} "
              f"{base[0] / wall:11.2f} {base[1] / cpu:10.2f}")  # fmt: skip


def span_step(options: argparse.Namespace) -> dict[str, float]:
    """A step over `options.spans` spans, in a process of its own."""
    _, pieces = material(options.folder, options.spans // 2)
    halves = [half for piece in pieces for half in _halves(piece.text)]
    texts = [halves[place % len(halves)] for place in range(options.spans)]  # a small corpus comes round again
    documents = tuple((place, place + 1) for place in range(0, options.spans, 2))
    backbone = Backbone.open(find(options.model), "cpu")
    settings = replace(PretrainSettings(), documents=len(documents), chunk=options.chunk, span_tokens=options.tokens)
    task = CoCondenser(Condenser(backbone), Spans(tuple(texts), documents, {}), settings)
    task.condenser.train()
    (batch,) = task.batches(0, np.random.default_rng(0))
    return _spent(lambda: task.step(batch))


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def query_epoch(options: argparse.Namespace) -> dict[str, float]:
    """An epoch of the query side, as the quick recipe has it, in a process of its own."""
    questions, pieces = material(options.folder, PASSAGES)
    luck = np.random.default_rng(0)
    asked = [questions[place] for place in luck.choice(len(questions), min(ASKED, len(questions)), replace=False)]
    vectors = luck.normal(size=(len(pieces), 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lessons = [_drawn(number, len(pieces), luck) for number in range(len(asked))]

    def epoch() -> None:
        backbone = Backbone.open(find(options.model), "cpu")
        settings = QuerySettings()
        backbone.weigh_tokens(rarities(backbone, pieces, settings.rarity))
        task = QuerySide(backbone, asked, lessons, [piece.id for piece in pieces], vectors, settings)
        steps = -(-len(lessons) // settings.questions)
        with tempfile.TemporaryDirectory() as folder:
            train(task, Settings(steps, 5e-4, weight_decay=0.0), Path(folder))

    return {"questions": len(asked), **_spent(epoch)}


def _drawn(number: int, passages: int, luck: np.random.Generator) -> Lesson:
    chosen = luck.choice(passages, NEAR + FAR, replace=False)
    return Lesson(number, tuple(chosen.tolist()), tuple(np.sort(luck.random(len(chosen)))[::-1].tolist()))


def _spent(work: Callable[[], object]) -> dict[str, float]:
    before, wall, cpu = psutil.Process().memory_info().rss, time.perf_counter(), time.process_time()
    work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "wall": time.perf_counter() - wall, "processor": time.process_time() - cpu, "before": before / 2**20,
        "peak": peak / 2**20,
    }  # fmt: skip


CHILDREN = {"spans": span_step, "queries": query_epoch}


def child(options: argparse.Namespace, name: str, **given: int) -> dict[str, float]:
    command = [sys.executable, __file__, str(options.folder), "--child", name, "--model", options.model]
    for key, value in {"threads": options.threads, **given}.items():
        command += [f"--{key}", str(value)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def memory(options: argparse.Namespace) -> None:
    print(f"coCondenser step, spans of at most {options.tokens} tokens")
    print(f"{'spans':>6} {'chunk':>6} {'before MB':>10} {'peak MB':>9} {'ratio':>6} {'wall':>8} {'processor':>10}")
    base = 0.0
    plans = [(count, options.chunk) for count in options.spans_of] + [
        (n, n) for n in options.spans_of if n <= options.whole
    ]
    for count, chunk in plans:
        told = child(options, "spans", spans=count, chunk=chunk, tokens=options.tokens)
        base = base or told["peak"]
        print(f"{count:6} {chunk:6} {told['before']:10.0f} {told['peak']:9.0f} {told['peak'] / base:6.2f} "
              f"{told['wall']:7.1f}s {told['processor']:9.1f}s", flush=True)  # fmt: skip


def queries(options: argparse.Namespace) -> None:
    told = child(options, "queries")
    print(f"query side, an epoch over {told['questions']:.0f} questions: wall {told['wall']:.1f} s, processor "
          f"{told['processor']:.1f} s, memory before {told['before']:.0f} MB, peak {told['peak']:.0f} MB")  # fmt: skip


PARTS = {"speed": speed, "memory": memory, "queries": queries}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--model", default=STARTERS["encoder"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32, help="questions of a contrastive step")
    parser.add_argument("--negatives", type=int, default=1, help="further passages of each")
    parser.add_argument("--chunk", type=int, default=32)
    parser.add_argument("--bf16", action="store_true", help="also in bfloat16")
    parser.add_argument("--attention", type=float, nargs="*", default=[], help="also with this dropout of attention")
    parser.add_argument("--tokens", type=int, default=96, help="of a span")
    parser.add_argument("--spans-of", type=lambda text: [int(n) for n in text.split(",")], default=list(SPANS))
    parser.add_argument("--whole", type=int, default=SPANS[0], help="spans that fit into memory all at once")
    parser.add_argument("--child", choices=CHILDREN, help=argparse.SUPPRESS)
    parser.add_argument("--spans", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    if options.child:
        print(json.dumps(CHILDREN[options.child](options)))
        return
    for part in options.parts.split(","):
        PARTS[part](options)


if __name__ == "__main__":
    main(sys.argv[1:])
