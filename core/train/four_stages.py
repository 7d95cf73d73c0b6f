"""SimLM's four stages as one job: two retrievers, a reranker, and a retriever distilled from it.

The first retriever learns against what words find, the second against what the first finds, the reranker against what
the better one of them finds, and the last retriever from the reranker's scores. Each retriever begins at the weights
that the first one began with. After each stage its encoder (or the reranker's order) is measured on the questions held
out for choosing, and what does not pay is not built upon: the second retriever is left out where the first finds no
more than the encoder did at the start, and nothing is distilled from a reranker that orders passages no better than
the best retriever. Source: Wang et al. 2023 (SimLM), section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from torch import Tensor

from core.base.events import Control, Listener, Progress, ignore
from core.base.files import read_json, write_json
from core.train import gate
from core.train.backbone import Backbone
from core.train.blocks import Keep
from core.train.bundle import weights_hash
from core.train.dense_search import DenseSearch
from core.train.finetune import FineTune, FineTuneSettings, Frozen
from core.train.interpolate import between
from core.train.kept import made_once
from core.train.loop import Callback, Settings, train
from core.train.measure import dense_ndcg
from core.train.negatives import Mining, Search, mine
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.record import Record
from core.train.reranked import RERANKER, Reranker, Training, Values, reranked_ndcg, taught
from core.train.types import Candidates, Piece, Question

RETRIEVER_1: Final = "retriever-1"
RETRIEVER_2: Final = "retriever-2"
DISTILLED: Final = "distilled"
STAGES: Final = (RETRIEVER_1, RETRIEVER_2, RERANKER, DISTILLED)
START: Final = "start"

Callbacks = Callable[[FineTune, str], Sequence[Callback]]


def _contrastive() -> FineTuneSettings:
    return FineTuneSettings(passage_terms=True)


def _distilling() -> FineTuneSettings:
    # a reranker trained by cross-entropy gives log-odds: they are taken as they are (SimLM, equation 6)
    return FineTuneSettings(
        loss="kl", contrast=0.2, scaled=False, teacher_temperature=1.0, passage_terms=True, negatives=8
    )


@dataclass(frozen=True, slots=True)
class FourSettings:
    """`training` runs each retriever, `distilling` the last one; `retriever` and `distilled` are what they minimise.

    As teacher the reranker scores `judged` passages of each question, to be measured it orders the best `reranked`. An
    encoder is taken at the best of `shares` of the way from the weights at the start.
    """

    training: Settings
    distilling: Settings
    retriever: FineTuneSettings = field(default_factory=_contrastive)
    distilled: FineTuneSettings = field(default_factory=_distilling)
    mining: Mining = field(default_factory=Mining)
    judged: int = 20
    reranked: int = 50
    shares: tuple[float, ...] = (0.5, 1.0)


@dataclass(frozen=True, slots=True)
class FourStages:
    """`weights` are those of the best encoder on the questions that choose, `chosen` the stage that they are of
    (`START`: none was better), `ndcg` its nDCG@10. `reports` are of the stages that were made, with "ndcg", and "gain"
    over the best before with its 95 % interval; `stopped` says why others were not. `reranker` is there if it paid."""

    weights: dict[str, Tensor]
    chosen: str
    ndcg: float
    reports: tuple[StageReport, ...]
    stopped: str
    reranker: Reranker | None


def four_stages(
    backbone: Backbone, questions: Sequence[Question], pieces: Sequence[Piece], words: Search, tune: Pool,
    rerankers: Training, folder: Path, settings: FourSettings, *, frozen: Frozen | None = None,
    origin: dict[str, Tensor] | None = None, refuse: Callable[[Reranker], str] = lambda reranker: "",
    control: Control | None = None,
    listener: Listener = ignore, callbacks: Callbacks = lambda task, stage: (),
) -> FourStages:  # fmt: skip
    """Train `backbone` in place through all stages that pay; it ends at `FourStages.weights`.

    The way of which a share is taken begins at `origin`, by default the weights that training begins with: what
    pre-training spoilt has a way back then. `words` finds the first negatives (BM25, or the fused search); `rerankers`
    trains a reranker on candidates; `refuse` may say why one that orders the tune questions well is no teacher all the
    same. What was trained, mined, scored and measured lies in `folder`: a job that was killed goes on.

    Raises:
        ValueError: no question has negatives, or there is no question to choose by.
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    if not tune.questions:
        raise ValueError("no question to choose by")
    job = _Job(backbone, questions, pieces, tune, folder, settings, frozen, control, listener, callbacks, origin)
    return job.run(words, rerankers, refuse)


@dataclass(frozen=True, slots=True)
class _Found:
    """An encoder, and nDCG@10 [Q] on the questions that choose."""

    name: str
    weights: dict[str, Tensor]
    values: Values

    @property
    def key(self) -> str:
        return weights_hash(self.weights)[:16]


@dataclass(slots=True)
class _Job:
    backbone: Backbone
    questions: Sequence[Question]
    pieces: Sequence[Piece]
    tune: Pool
    folder: Path
    settings: FourSettings
    frozen: Frozen | None
    control: Control | None
    listener: Listener
    callbacks: Callbacks
    origin: dict[str, Tensor] | None = None
    reports: list[StageReport] = field(default_factory=list)

    def run(self, words: Search, rerankers: Training, refuse: Callable[[Reranker], str]) -> FourStages:
        settings = self.settings
        start = self.backbone.weights()
        self.origin = self.origin or start
        best = _Found(START, self.origin, self._ndcg(self.origin))
        easy = self._mined(words, f"words-{best.key}", settings.mining)
        made = self._retriever(RETRIEVER_1, start, easy, settings.retriever, settings.training)
        best, paid = self._better(best, made)
        stopped = "" if paid else f"{RETRIEVER_1} found no more than the encoder did before: no {RETRIEVER_2}"
        if paid:
            hard = _with_rest(self._hard(best), easy)
            made = self._retriever(RETRIEVER_2, start, hard, settings.retriever, settings.training)
            best, _ = self._better(best, made)
        reranker = rerankers(_with_rest(self._hard(best), easy), self.folder / RERANKER)
        if not self._orders_better(best, reranker):
            refused = f"the {RERANKER} orders the passages no better than the encoder"
        else:
            refused = refuse(reranker)
        if refused:
            stopped = "; ".join(filter(None, (stopped, f"{refused}: nothing to learn from it")))
            return self._done(best, stopped, None)
        lessons = self._lessons(best, reranker)
        made = self._retriever(DISTILLED, start, lessons, settings.distilled, settings.distilling)
        best, _ = self._better(best, made)
        return self._done(best, stopped, reranker)

    def _done(self, best: _Found, stopped: str, reranker: Reranker | None) -> FourStages:
        self.backbone.load_weights(best.weights)
        ndcg = float(best.values.mean())
        return FourStages(best.weights, best.name, ndcg, tuple(self.reports), stopped, reranker)

    def _retriever(
        self, name: str, start: dict[str, Tensor], candidates: Sequence[Candidates], learning: FineTuneSettings,
        training: Settings,
    ) -> _Found:  # fmt: skip
        """Trained from the start, and taken at the best share of the way."""
        self.backbone.load_weights(start)
        task = FineTune(
            self.backbone, self.questions, candidates, self.pieces, learning, frozen=self.frozen,
            precision=training.precision,
        )  # fmt: skip
        record = train(
            task, training, self.folder / name, self.control, self.listener, self.callbacks(task, name),
            data_hash=task.data_hash(), stage=name,
        )  # fmt: skip
        self.listener(Progress(name, 0, 0))  # how far to go is tried
        trained = self.backbone.weights()
        mixed = {share: between(self.origin or start, trained, share) for share in self.settings.shares}
        values = {share: self._ndcg(weights) for share, weights in mixed.items()}
        share = max(values, key=lambda one: float(values[one].mean()))
        figures = {f"ndcg at {one:g}": round(float(own.mean()), 4) for one, own in values.items()}
        self.reports.append(StageReport(name, record.step, record.seconds, {**_losses(record), **figures}))
        return _Found(name, mixed[share], values[share])

    def _better(self, best: _Found, made: _Found) -> tuple[_Found, bool]:
        """Whichever finds more, and whether that is the new one, whose report is told of both."""
        paid = self._tell(best.values, made.values)
        return (made, True) if paid else (best, False)

    def _orders_better(self, best: _Found, reranker: Reranker) -> bool:
        """Whether the best retriever's passages in the reranker's order are better than in its own."""
        depth = self.settings.reranked

        def measure() -> Values:
            self.backbone.load_weights(best.weights)
            passages = self.backbone.vectors(self.tune.passages, control=self.control)
            queries = self.backbone.vectors([q.text for q in self.tune.questions], "query", self.control)
            return reranked_ndcg(self.tune, passages, queries, reranker.score, depth, self.control)

        values = self._measured(f"{reranker.key} {best.key} {depth}", measure)
        self.reports.append(reranker.report)
        return self._tell(best.values, values)

    def _tell(self, before: Values, after: Values) -> bool:
        """Write what a stage gained into its report; whether it did."""
        gain = after - before
        low, high = gate.interval(gain, [question.group for question in self.tune.questions])
        told = {"ndcg": float(after.mean()), "gain": float(gain.mean()), "low": low, "high": high}
        report = self.reports[-1]
        figures = {**report.metrics, **{name: round(value, 4) for name, value in told.items()}}
        self.reports[-1] = replace(report, metrics=figures)
        return told["gain"] > 0

    def _ndcg(self, weights: dict[str, Tensor]) -> Values:
        def measure() -> Values:
            self.backbone.load_weights(weights)
            return dense_ndcg(self.tune, lambda texts, kind: self.backbone.vectors(texts, kind, self.control))

        return self._measured(weights_hash(weights)[:16], measure)

    def _measured(self, key: str, measure: Callable[[], Values]) -> Values:
        """Of the questions that choose, kept: to measure costs minutes."""
        path = self.folder / "measured.json"
        try:
            known = dict(read_json(path))
        except (OSError, ValueError, TypeError):
            known = {}
        if len(known.get(key, ())) != len(self.tune.questions):
            known[key] = measure().tolist()
            write_json(path, known)
        return np.array(known[key], np.float64)

    def _hard(self, best: _Found, mining: Mining | None = None) -> tuple[Candidates, ...]:
        """What this encoder takes for answers."""

        def search(texts: Sequence[str], depth: int) -> list[list[tuple[int, float]]]:
            self.backbone.load_weights(best.weights)
            keep = Keep(self.folder / f"vectors-{best.key}", best.key, RETRIEVER_2, self.listener)
            return DenseSearch(self.backbone.vectors, self.pieces, self.control, keep)(texts, depth)

        return self._mined(search, best.key, mining or self.settings.mining)

    def _mined(self, search: Search, key: str, mining: Mining) -> tuple[Candidates, ...]:
        """Kept by what they were mined with: two stages may ask for the same."""
        path = self.folder / f"mined-{key}{'' if mining.denoise else '-all'}.json"
        return made_once(path, f"{key} {mining}", lambda: mine(self.questions, self.pieces, search, mining))

    def _lessons(self, best: _Found, reranker: Reranker) -> tuple[Candidates, ...]:
        """The best retriever's passages with the reranker's scores; answers among them are no mistake here."""
        mining = replace(self.settings.mining, denoise=False, count=self.settings.judged)
        return taught(
            self.questions, self._hard(best, mining), self.pieces, reranker, self.folder / "taught.json",
            key=f"{best.key} {mining}", control=self.control, listener=self.listener,
        )  # fmt: skip


def _with_rest(hard: Sequence[Candidates], easy: Sequence[Candidates]) -> tuple[Candidates, ...]:
    """Easy candidates for questions whose passage the encoder does not find: nobody knows its hard ones."""
    by_question = {one.question: one for one in (*easy, *hard)}
    return tuple(by_question[number] for number in sorted(by_question))


def _losses(record: Record) -> dict[str, float]:
    return dict(record.curve[-1].losses) if record.curve else {}
