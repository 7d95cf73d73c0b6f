"""The stages that adapt all weights: pre-training on the library, then fine-tuning.

Source: coCondenser (Gao & Callan 2022) for the order of stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.base.events import Control, Listener, ignore
from core.encode.encoder import Encoder
from core.search.searcher import Searcher
from core.train import spans
from core.train.backbone import Backbone
from core.train.finetune import Frozen
from core.train.finishing import Finishing, FullCandidate, by_four_stages, by_two_rounds
from core.train.ground import Ground, searching
from core.train.loop import Settings, Watching
from core.train.objectives import pretrain_by
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.pretrain import LEAST_DOCUMENTS, PRETRAINING, PretrainSettings
from core.train.recipes import FullStage
from core.train.types import Question


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
        settings = PretrainSettings(documents=32, warmup_steps=stage.warmup)
        record = pretrain_by(
            stage.objective, backbone, made, pieces, settings, training, folder / PRETRAINING, control=control,
            listener=listener, callbacks=watching(PRETRAINING),
        )  # fmt: skip
        reports.append(StageReport(PRETRAINING, record.step, record.seconds, dict(record.curve[-1].losses)))
    job = Finishing(
        backbone, ground, questions, tune, start, stage, folder, searching(searcher, control), frozen, minutes, control,
        listener, watching,
    )  # fmt: skip
    done = by_two_rounds(job) if stage.reader is None else by_four_stages(job, stage.reader)
    return replace(done, reports=(*reports, *done.reports))


def _spread(questions: Sequence[Question], most: int) -> Sequence[Question]:
    """At most so many, evenly over the list, in which kinds follow one another."""
    if len(questions) <= most:
        return questions
    return [questions[place * len(questions) // most] for place in range(most)]
