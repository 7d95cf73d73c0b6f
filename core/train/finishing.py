"""How an encoder is fine-tuned by a recipe: two rounds (coCondenser, ANCE), or four stages with a reranker (SimLM).

Sources: Gao & Callan 2022, section 4; Xiong et al. 2021 for the renewal of negatives; Wang et al. 2023, section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from core.base.events import Control, Listener
from core.base.files import read_json, write_json
from core.encode.onnx import usable_cores
from core.evaluate.datasets import Dataset
from core.train.ance import Ance, AnceSettings
from core.train.ance_beside import AnceBeside
from core.train.backbone import Backbone
from core.train.cross import CrossSettings
from core.train.cross_model import CrossModel
from core.train.cross_teacher import CrossTraining
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.four_stages import FourSettings, four_stages
from core.train.ground import Ground
from core.train.how_far import Tried, best
from core.train.interpolate import between
from core.train.loop import Callback, Settings, Watching
from core.train.measure import ndcg_of
from core.train.negatives import DEPTH, Mining, Search
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.recipes import FullStage, ReaderStage
from core.train.record import Record
from core.train.reranked import RERANKER, Reranker
from core.train.two_stage import SECOND, TwoStage, two_stage
from core.train.types import Question

SHARES = (0.25, 0.5, 1.0)
_LEAST_STEPS = 20  # between two renewals of the negatives
_CORES = 4  # from which on the miner has its own
_CHECKPOINT = 25  # steps


@dataclass(frozen=True, slots=True)
class FullCandidate:
    """Weights of an encoder of all texts, what each stage did, and nDCG@10 on the questions that chose; `reranker` is
    what the four stages trained beside it, where it paid."""

    weights: dict[str, Tensor]
    reports: tuple[StageReport, ...]
    ndcg: float
    reranker: Reranker | None = None


@dataclass(frozen=True, slots=True)
class Finishing:
    """What fine-tuning needs: the backbone as it is now, the weights `start` that the library has, what to learn from.
    `search` is the library's own."""

    backbone: Backbone
    ground: Ground
    questions: Sequence[Question]
    tune: Pool
    general: Dataset
    start: dict[str, Tensor]
    stage: FullStage
    folder: Path
    search: Search
    frozen: Frozen
    minutes: float | None
    control: Control | None
    listener: Listener
    watching: Watching

    @property
    def chunk(self) -> int:
        """Passages encoded at a time. On a processor eight are as quick as thirty-two, in half the memory."""
        return 8 if self.backbone.device.type == "cpu" else 64

    def training(self, epochs: int, batch: int, rate: float) -> Settings:
        steps = epochs * -(-len(self.questions) // batch)
        return Settings(steps, rate, checkpoint_every=_CHECKPOINT, minutes=self.minutes)


def by_two_rounds(job: Finishing) -> FullCandidate:
    """Against what the search finds, then against what the encoder finds; then part of the way.

    Raises:
        ValueError: no question has negatives.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    settings = FineTuneSettings(loss="kl", anchor=1.0, chunk=job.chunk)
    training = job.training(job.stage.epochs, settings.questions, job.stage.rate)
    with ExitStack() as beside:

        def callbacks(task: FineTune, name: str) -> Sequence[Callback]:
            if not job.stage.refresh or name != SECOND:
                return job.watching(name)
            return (*job.watching(name), _refreshing(task, job, training.steps, beside))

        done = two_stage(
            job.backbone, job.questions, job.ground.pieces, job.search, job.folder, settings=settings,
            training=training, mining=Mining(), frozen=job.frozen, control=job.control, listener=job.listener,
            callbacks=callbacks, teacher=_teacher(job),
        )  # fmt: skip
    reports = _told(done)
    weights, ndcg, figures = _mixed(job)
    last = reports.pop()
    reports.append(StageReport(last.name, last.steps, last.seconds, {**last.metrics, **figures}))
    return FullCandidate(weights, tuple(reports), ndcg)


def by_four_stages(job: Finishing, reader: ReaderStage) -> FullCandidate:
    """Two retrievers, a reranker, and a retriever that follows it, as far as each pays.

    Raises: as `by_two_rounds`.
    """
    retriever = FineTuneSettings(passage_terms=True, anchor=1.0, chunk=job.chunk)
    distilled = FineTuneSettings(
        loss="kl",
        contrast=0.2,
        scaled=False,
        teacher_temperature=1.0,
        passage_terms=True,
        negatives=8,
        anchor=1.0,
        chunk=job.chunk,
    )
    cross = CrossSettings()
    settings = FourSettings(
        job.training(job.stage.epochs, retriever.questions, job.stage.rate),
        job.training(reader.distilling, distilled.questions, job.stage.rate), retriever, distilled,
        Mining(count=reader.mined), shares=SHARES,
    )  # fmt: skip
    begin = job.backbone.weights()
    rerankers = CrossTraining(
        lambda: CrossModel.from_encoder(job.backbone.bundle, weights=begin, layers=reader.layers), job.questions,
        job.ground.pieces, cross, job.training(reader.epochs, cross.questions, reader.rate), job.control, job.listener,
        job.watching(RERANKER),
    )  # fmt: skip
    done = four_stages(
        job.backbone, job.questions, job.ground.pieces, job.search, job.tune, rerankers, job.folder, settings,
        frozen=job.frozen, origin=job.start, control=job.control, listener=job.listener,
        callbacks=lambda task, name: job.watching(name),
    )  # fmt: skip
    return FullCandidate(done.weights, done.reports, done.ndcg, done.reranker)


def _refreshing(task: FineTune, job: Finishing, steps: int, beside: ExitStack) -> Callback:
    """Renews the negatives: in a process of its own where the machine has cores to spare, else between two steps."""
    folder = job.folder / SECOND
    often = AnceSettings(every=max(_LEAST_STEPS, steps // 2), look=max(_LEAST_STEPS // 2, steps // 4))
    if usable_cores() < _CORES:
        return Ance(task, folder, often, steps=steps, control=job.control)
    return beside.enter_context(AnceBeside(task, folder, often, steps=steps, control=job.control))


def _teacher(job: Finishing) -> dict[int, dict[int, float]]:
    """Asked once: a search answers otherwise when the library has grown, and a run that goes on needs the same."""
    path = job.folder / "teacher.json"
    try:
        kept = [(int(number), ids, scores) for number, ids, scores in read_json(path)]
        return {number: dict(zip(ids, scores, strict=True)) for number, ids, scores in kept}
    except (OSError, ValueError, TypeError):
        made = teacher_of(job.search, job.questions)
        write_json(path, [[number, list(own), list(own.values())] for number, own in made.items()])
        return made


def teacher_of(search: Search, questions: Sequence[Question]) -> dict[int, dict[int, float]]:
    """The scores of the library's own search, which stands above each of its channels."""
    return {number: dict(ranked) for number, ranked in enumerate(search([q.text for q in questions], DEPTH)) if ranked}


def _told(done: TwoStage) -> list[StageReport]:
    rounds: tuple[tuple[str, Record, dict[str, float]], ...] = (
        ("fine-tuning", done.first, {}), (SECOND, done.second, done.nb),
    )  # fmt: skip
    return [
        StageReport(
            name, record.step, record.seconds, {**(dict(record.curve[-1].losses) if record.curve else {}), **nb}
        )
        for name, record, nb in rounds
    ]


def _mixed(job: Finishing) -> tuple[dict[str, Tensor], float, dict[str, float]]:
    """The best of several shares of the way that forget nothing, and nDCG@10 at each."""
    backbone, trained = job.backbone, job.backbone.weights()

    def at(share: float) -> Tried:
        backbone.load_weights(between(job.start, trained, share))
        found = (ndcg_of(data, lambda texts, kind: backbone.vectors(texts, kind, job.control))
                 for data in (job.tune.dataset, job.general))  # fmt: skip
        return Tried(share, *(float(values.mean()) for values in found))

    before, *tried = (at(share) for share in (0.0, *SHARES))
    chosen = best(tried, before.general)
    figures = {name: value for one in (before, *tried) for name, value in one.figures.items()}
    return between(job.start, trained, chosen.share), chosen.ndcg, figures
