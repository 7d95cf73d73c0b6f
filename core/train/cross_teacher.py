"""A cross-encoder as the reranker of the four stages: trained on the candidates that they hand over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.base.events import Control, Listener, ignore
from core.train.bundle import weights_hash
from core.train.cross import Cross, CrossSettings, score
from core.train.cross_model import CrossModel
from core.train.loop import Callback, Settings, train
from core.train.outcome import StageReport
from core.train.reranked import RERANKER, Reranker
from core.train.types import Candidates, Piece, Question


@dataclass(frozen=True, slots=True)
class CrossTraining:
    """A `core.train.reranked.Training`. `begin` gives the model that it starts from (`CrossModel.from_encoder`, or one
    that was downloaded); the same at each call."""

    begin: Callable[[], CrossModel]
    questions: Sequence[Question]
    pieces: Sequence[Piece]
    settings: CrossSettings
    training: Settings
    control: Control | None = None
    listener: Listener = ignore
    callbacks: Sequence[Callback] = ()

    def __call__(self, candidates: Sequence[Candidates], folder: Path) -> Reranker:
        """
        Raises:
            ValueError: no question has candidates.
            Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
        """
        model = self.begin()
        task = Cross(model, self.questions, candidates, self.pieces, self.settings)
        record = train(
            task, self.training, folder, self.control, self.listener, self.callbacks, data_hash=task.data_hash(),
            stage=RERANKER,
        )  # fmt: skip
        losses = dict(record.curve[-1].losses) if record.curve else {}
        report = StageReport(RERANKER, record.step, record.seconds, losses)
        weights = model.weights()
        return Reranker(partial(score, model), weights_hash(weights)[:16], report, weights)
