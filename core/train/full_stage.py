"""The stages that adapt all weights: corpus-aware pre-training, then two rounds of fine-tuning, then how far to go.

Source: coCondenser (Gao & Callan 2022) for the order of stages; ANCE (Xiong et al. 2021) for the refresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from core.base.events import Control, Listener, ignore
from core.encode.encoder import Encoder
from core.encode.onnx import usable_cores
from core.search.searcher import Searcher
from core.train import spans
from core.train.ance import Ance, AnceSettings
from core.train.ance_beside import AnceBeside
from core.train.backbone import Backbone
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.ground import Ground, searching
from core.train.interpolate import between
from core.train.loop import Callback, Settings, Watching
from core.train.measure import dense_ndcg
from core.train.negatives import DEPTH, Mining, Search
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.pretrain import LEAST_DOCUMENTS, PRETRAINING, PretrainSettings, pretrain
from core.train.recipes import FullStage
from core.train.record import Record
from core.train.two_stage import SECOND, TwoStage, two_stage
from core.train.types import Question

SHARES = (0.25, 0.5, 1.0)
_LEAST_STEPS = 20  # between two renewals of the negatives
_CORES = 4  # from which on the miner has its own


@dataclass(frozen=True, slots=True)
class FullCandidate:
    """Weights of an encoder of all texts, what each stage did, and nDCG@10 on the questions that chose."""

    weights: dict[str, Tensor]
    reports: tuple[StageReport, ...]
    ndcg: float


def train_all(
    backbone: Backbone, ground: Ground, searcher: Searcher, tune: Pool, present: Encoder, stage: FullStage,
    folder: Path, *, minutes: float | None = None, control: Control | None = None, listener: Listener = ignore,
    watching: Watching = lambda name: (),
) -> FullCandidate:  # fmt: skip
    """Train `backbone` (the present encoder of passages) in place.

    Raises:
        ValueError: no question has negatives.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    start = backbone.weights()
    reports = []
    pieces, questions = ground.pieces, _spread(ground.split.train, stage.questions)
    frozen = Frozen(
        present.encode([q.text for q in questions], kind="query", control=control),
        present.encode([piece.input for piece in pieces], control=control),
    )
    made = spans.make(pieces)
    if stage.pretraining and len(made.documents) >= LEAST_DOCUMENTS:
        training = Settings(stage.pretraining, stage.pretraining_rate, checkpoint_every=20, minutes=minutes)
        record = pretrain(
            backbone, made, PretrainSettings(documents=32, warmup_steps=stage.warmup), training, folder / PRETRAINING,
            control=control, listener=listener, callbacks=watching(PRETRAINING),
        )  # fmt: skip
        reports.append(StageReport(PRETRAINING, record.step, record.seconds, dict(record.curve[-1].losses)))
    settings = FineTuneSettings(loss="kl", anchor=1.0)
    steps = stage.epochs * -(-len(questions) // settings.questions)
    search = searching(searcher, control)

    with ExitStack() as beside:

        def callbacks(task: FineTune, name: str) -> Sequence[Callback]:
            if not stage.refresh or name != SECOND:
                return watching(name)
            return (*watching(name), _refreshing(task, folder / SECOND, steps, control, beside))

        done = two_stage(
            backbone, questions, pieces, search, folder, settings=settings,
            training=Settings(steps, stage.rate, checkpoint_every=25, minutes=minutes), mining=Mining(), frozen=frozen,
            control=control, listener=listener, callbacks=callbacks, teacher=teacher_of(search, questions),
        )  # fmt: skip
    reports += _told(done)
    weights, ndcg, figures = _mixed(backbone, start, tune, control)
    last = reports.pop()
    reports.append(StageReport(last.name, last.steps, last.seconds, {**last.metrics, **figures}))
    return FullCandidate(weights, tuple(reports), ndcg)


def _refreshing(task: FineTune, folder: Path, steps: int, control: Control | None, beside: ExitStack) -> Callback:
    """Renews the negatives: in a process of its own where the machine has cores to spare, else between two steps."""
    often = AnceSettings(every=max(_LEAST_STEPS, steps // 2), look=max(_LEAST_STEPS // 2, steps // 4))
    if usable_cores() < _CORES:
        return Ance(task, folder, often, steps=steps, control=control)
    return beside.enter_context(AnceBeside(task, folder, often, steps=steps, control=control))


def teacher_of(search: Search, questions: Sequence[Question]) -> dict[int, dict[int, float]]:
    """The scores of the library's own search, which stands above each of its channels."""
    return {number: dict(ranked) for number, ranked in enumerate(search([q.text for q in questions], DEPTH)) if ranked}


def _spread(questions: Sequence[Question], most: int) -> Sequence[Question]:
    """At most so many, evenly over the list, in which kinds follow one another."""
    if len(questions) <= most:
        return questions
    return [questions[place * len(questions) // most] for place in range(most)]


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


def _mixed(
    backbone: Backbone, start: dict[str, Tensor], tune: Pool, control: Control | None
) -> tuple[dict[str, Tensor], float, dict[str, float]]:
    """The best of several shares of the way, and nDCG@10 at each."""
    trained = backbone.weights()
    figures, best, kept = {}, -1.0, start
    for share in SHARES:
        weights = between(start, trained, share)
        backbone.load_weights(weights)
        value = float(dense_ndcg(tune, lambda texts, kind: backbone.vectors(texts, kind, control)).mean())
        figures[f"ndcg at {share:g}"] = round(value, 4)
        if value > best:
            best, kept = value, weights
    return kept, best, figures
