"""The stage that trains a library's own reranker: on what its search takes for the answer, chosen and ready to judge.

Source: SimLM section 3.2 (Wang et al. 2023) for loss and order; the candidates are those of the search that it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.base.events import Control, Listener, ignore
from core.encode.encoder import Encoder
from core.evaluate.kept_vectors import KeptVectors
from core.models.bundles import Bundle
from core.search.fuse import Fusing
from core.search.rerank import Reranker
from core.search.searcher import Searcher
from core.train.bundle import weights_hash
from core.train.cross import Cross, CrossSettings
from core.train.cross_bundle import save_reranker
from core.train.cross_model import PAIR_TOKENS, QUESTION_TOKENS, CrossModel
from core.train.gate import Verdict
from core.train.ground import Ground, searching
from core.train.kept import made_once
from core.train.loop import Callback, Settings, train
from core.train.negatives import DEPTH, Mining, mine
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.rerank_gate import RerankMeasured, judge_reranker, measured
from core.train.split import spread

NAME = "reranker"
_MINED = "mined.json"


@dataclass(frozen=True, slots=True)
class RerankStage:
    """What a recipe says of the reranker. `layers` of the encoder are taken (0: all), `questions` are trained on at
    most, each against `mined` negatives, the first `skip` of them left out."""

    layers: int = 3
    questions: int = 4_000
    mined: int = 24
    skip: int = 0
    epochs: int = 2
    rate: float = 1e-4
    pair_tokens: int = PAIR_TOKENS
    question_tokens: int = QUESTION_TOKENS
    cross: CrossSettings = field(default_factory=CrossSettings)

    def training(self, questions: int, minutes: float | None = None) -> Settings:
        steps = max(1, self.epochs * -(-questions // self.cross.questions))
        return Settings(steps, self.rate, minutes=minutes)


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """A reranker that awaits its verdict; `weight` was chosen on the tune questions, of which `report` has the
    figures."""

    bundle: Bundle
    weight: float
    report: StageReport


def train_reranker(
    begin: Callable[[], CrossModel], ground: Ground, searcher: Searcher, stage: RerankStage, folder: Path, own: Path, *,
    minutes: float | None = None, control: Control | None = None, listener: Listener = ignore,
    callbacks: Sequence[Callback] = (),
) -> tuple[Bundle, StageReport]:  # fmt: skip
    """Train the model that `begin` gives and keep it in `own` (the library's `models/`). Resumes by itself from what
    lies in `folder`; `searcher` is that of the library as it serves, without a reranker.

    Raises:
        ValueError: no question has negatives.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    questions = spread(ground.split.train, stage.questions)
    model = begin()
    mining = Mining(count=stage.mined, depth=DEPTH, skip=stage.skip)
    key = f"{weights_hash(model.weights())[:16]} {mining!r} {len(questions)}"
    candidates = made_once(
        folder / _MINED, key, lambda: mine(questions, ground.pieces, searching(searcher, control), mining)
    )
    task = Cross(model, questions, candidates, ground.pieces, stage.cross)
    record = train(
        task, stage.training(len(candidates), minutes), folder, control, listener, callbacks,
        data_hash=task.data_hash(), stage=NAME,
    )  # fmt: skip
    losses = dict(record.curve[-1].losses) if record.curve else {}
    return save_reranker(model, own, {"recipe": NAME}), StageReport(NAME, record.step, record.seconds, losses)


def chosen(
    bundle: Bundle, report: StageReport, reranker: Reranker, tune: Pool, present: Encoder, kept: KeptVectors, *,
    fusing: Fusing | None = None, control: Control | None = None, listener: Listener = ignore,
    folder: Path | None = None,
) -> RerankCandidate:  # fmt: skip
    """With the weight that finds most of the tune questions' passages.

    Raises:
        Cancelled, DiskFull
    """
    found = measured(tune, present, reranker, kept, fusing=fusing, control=control, listener=listener, folder=folder)
    return RerankCandidate(bundle, found.best, _with(report, found))


def judged(
    candidate: RerankCandidate, reranker: Reranker, final: Pool, present: Encoder, kept: KeptVectors, *,
    fusing: Fusing | None = None, control: Control | None = None, listener: Listener = ignore,
    folder: Path | None = None,
) -> Verdict:  # fmt: skip
    """The verdict on questions that neither trained nor chose: accepted, the generation may name the bundle as its
    `reranker` and its weight as `fusion["rerank"]`.

    Raises:
        Cancelled, DiskFull
    """
    found = measured(
        final, present, reranker, kept, fusing=fusing, weights=(candidate.weight,), control=control, listener=listener,
        folder=folder,
    )  # fmt: skip
    questions = final.questions
    return judge_reranker(found, candidate.weight, [q.kind for q in questions], [q.group for q in questions])


def _with(report: StageReport, found: RerankMeasured) -> StageReport:
    figures = {f"ndcg reranked {weight:g}": round(float(values.mean()), 4) for weight, values in found.reranked.items()}
    fused = {"ndcg fused": round(float(found.fused.mean()), 4)}
    speed = {"read": float(found.read), "milliseconds": found.milliseconds}
    return StageReport(report.name, report.steps, report.seconds, {**report.metrics, **fused, **figures, **speed})
