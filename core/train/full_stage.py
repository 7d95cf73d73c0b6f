"""The stages that adapt all weights: pre-training on the library, then fine-tuning.

Source: coCondenser (Gao & Callan 2022) for the order of stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.base.events import Control, Listener, Progress, ignore
from core.encode.encoder import QUERY, Encoder
from core.evaluate.datasets import Dataset
from core.search.searcher import Searcher
from core.train import spans
from core.train.backbone import Backbone
from core.train.blocks import FOLDER, Keep, encoded
from core.train.bundle import weights_hash
from core.train.finetune import Frozen
from core.train.finishing import Finishing, FullCandidate, by_four_stages, by_two_rounds
from core.train.ground import Ground, searching
from core.train.library_vectors import of_library
from core.train.loop import Settings, Watching
from core.train.objectives import pretrain_by
from core.train.outcome import StageReport
from core.train.plans import named
from core.train.pool import Pool
from core.train.pretrain import LEAST_DOCUMENTS, PRETRAINING, PretrainSettings
from core.train.recipes import FullStage
from core.train.record import Record
from core.train.spans import Spans
from core.train.split import spread
from core.train.types import Piece, Question


def train_all(
    backbone: Backbone, ground: Ground, searcher: Searcher, tune: Pool, general: Dataset, present: Encoder,
    stage: FullStage, folder: Path, *, minutes: float | None = None, control: Control | None = None,
    listener: Listener = ignore, watching: Watching = lambda name: (),
) -> FullCandidate:  # fmt: skip
    """Train `backbone` (the present encoder of passages) in place.

    Raises:
        ValueError: no question has negatives.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    start = backbone.weights()
    reports = []
    pieces, questions = ground.pieces, spread(ground.split.train, stage.questions)
    frozen = _frozen(backbone, questions, pieces, searcher, present, folder, control, listener)
    record = _pretrained(backbone, pieces, stage, folder, minutes, control, listener, watching)
    if record is not None:
        reports.append(StageReport(PRETRAINING, record.step, record.seconds, dict(record.curve[-1].losses)))
    job = Finishing(
        backbone, ground, questions, tune, general, start, stage, folder, searching(searcher, control), frozen, minutes,
        control, listener, watching,
    )  # fmt: skip
    done = by_two_rounds(job) if stage.reader is None else by_four_stages(job, stage.reader)
    return replace(done, reports=(*reports, *done.reports))


def _frozen(
    backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], searcher: Searcher, present: Encoder,
    folder: Path, control: Control | None, listener: Listener,
) -> Frozen:  # fmt: skip
    """Vectors by the weights that training begins with. Those of questions are the backbone's own: beside it the
    library may have an encoder of queries that has gone its own way."""
    keep = Keep(folder / FOLDER, weights_hash(backbone.weights()), PRETRAINING, listener)
    return Frozen(
        encoded([q.text for q in questions], lambda part: backbone.vectors(part, QUERY, control), keep),
        of_library(searcher.snapshot().db, pieces, present, PRETRAINING, control=control, listener=listener),
    )


def _pretrained(
    backbone: Backbone, pieces: Sequence[Piece], stage: FullStage, folder: Path, minutes: float | None,
    control: Control | None, listener: Listener, watching: Watching,
) -> Record | None:  # fmt: skip
    """None where the recipe has no pre-training, or the library too few documents for it."""
    if not stage.pretraining:
        return None
    contrasted = named(stage.objective).plan is None
    listener(Progress(PRETRAINING, 0, 0))  # the spans are cut before the first step
    made = spans.make(pieces, control=control) if contrasted else Spans((), (), {})
    if len(made.documents if contrasted else pieces) < LEAST_DOCUMENTS:
        return None
    training = Settings(stage.pretraining, stage.pretraining_rate, checkpoint_every=20, minutes=minutes)
    settings = PretrainSettings(documents=32, warmup_steps=stage.warmup)
    return pretrain_by(
        stage.objective, backbone, made, pieces, settings, training, folder / PRETRAINING, control=control,
        listener=listener, callbacks=watching(PRETRAINING),
    )  # fmt: skip
