"""The stage that adapts the query side: lessons of the library's own search, training, and how far to go.

How far on the way from the present weights to the trained ones is chosen on the questions held out for choosing; those
that judge are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from core.base.events import Control, Listener, Progress, ignore
from core.base.files import read_json, write_json
from core.base.wire import from_plain, to_plain
from core.encode.encoder import PASSAGE, Encoder
from core.evaluate.datasets import Dataset
from core.search.searcher import Searcher
from core.train.adore import Adore, AdoreSettings
from core.train.backbone import Backbone
from core.train.finetune import Frozen
from core.train.ground import Ground
from core.train.how_far import Tried, best
from core.train.interpolate import between
from core.train.loop import Settings, Watching, train
from core.train.measure import Vectors, ndcg_of
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.query_side import QuerySettings, QuerySide, rarities
from core.train.recipes import QueryStage
from core.train.record import Record
from core.train.teacher import Lesson, among, teach

NAME = "queries"
MOMENT = "moment"
SHARES = (0.33, 0.66, 1.0)
_LESSONS = "lessons.json"
_GENTLER = 0.1  # the rate against what is found at the moment: each step has other negatives
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class QueryCandidate:
    """Weights of an encoder of queries, what each stage did, and nDCG@10 on the questions that chose."""

    weights: dict[str, Tensor]
    reports: tuple[StageReport, ...]
    ndcg: float


def train_queries(
    backbone: Backbone, ground: Ground, searcher: Searcher, tune: Pool, general: Dataset, present: Encoder,
    stage: QueryStage, folder: Path, *, minutes: float | None = None, control: Control | None = None,
    listener: Listener = ignore, watching: Watching = lambda name: (),
) -> QueryCandidate:  # fmt: skip
    """Train `backbone` (the present encoder of queries) in place and mix it with what it was, as far as `general`
    questions are answered as before.

    Raises:
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    lessons = _lessons(ground, searcher, folder / _LESSONS, control, listener)
    listener(Progress(NAME, 0, 0))  # the words of all passages are counted before the first step
    settings = QuerySettings(layers=stage.layers)
    if backbone.pooling == "mean" and backbone.token_weights is None:
        backbone.weigh_tokens(rarities(backbone, ground.pieces, settings.rarity))
    task = _task(backbone, ground, searcher, lessons, settings)
    chooser = _chooser(backbone, tune, general, present, control)
    steps = stage.epochs * -(-len(task.lessons) // settings.questions)
    training = Settings(steps, stage.rate, weight_decay=0.0, checkpoint_every=50, minutes=minutes)
    start = backbone.weights()
    record = train(task, training, folder, control, listener, watching(NAME), data_hash=task.data_hash(), stage=NAME)
    listener(Progress(NAME, 0, 0))  # how far to go is tried
    chosen = chooser.choose(start, settled=False)
    reports = [_told(NAME, record, chosen)]
    if stage.moments:
        backbone.load_weights(chosen.weights)
        moment = _of_the_moment(backbone, ground, task)
        steps = stage.moments * -(-len(moment.asked) // moment.settings.questions)
        training = replace(training, steps=steps, learning_rate=stage.rate * _GENTLER)
        record = train(
            moment, training, folder.parent / MOMENT, control, listener, watching(MOMENT), data_hash=moment.data_hash(),
            stage=MOMENT,
        )  # fmt: skip
        chosen = chooser.choose(chosen.weights, settled=True)
        reports.append(_told(MOMENT, record, chosen))
    return QueryCandidate(chosen.weights, tuple(reports), chosen.ndcg)


def _task(
    backbone: Backbone, ground: Ground, searcher: Searcher, lessons: Sequence[Lesson], settings: QuerySettings
) -> QuerySide:
    snapshot = searcher.snapshot()
    living = set(snapshot.ids().tolist())  # some may have been removed while the lessons were made
    ids = [piece.id for piece in ground.pieces if piece.id in living]
    there = among(lessons, frozenset(ids))
    neutral = None if snapshot.means is None else snapshot.means.query_map()
    vectors = snapshot.vectors(np.array(ids))
    return QuerySide(backbone, ground.split.train, there, ids, vectors, settings, neutral=neutral)


def _of_the_moment(backbone: Backbone, ground: Ground, task: QuerySide) -> Adore:
    """The same questions and passages, each question against what it is mistaken for just now."""
    there = set(task.ids)
    pieces = [piece for piece in ground.pieces if piece.id in there]
    questions, settings = ground.split.train, AdoreSettings(anchor=1.0)
    ids = backbone.ids([one.text for one in questions], "query", settings.query_tokens)
    with torch.no_grad():
        first = [task.compared(ids[at : at + _AT_ONCE]) for at in range(0, len(ids), _AT_ONCE)]
    frozen = Frozen(torch.cat(first).cpu().numpy(), task.vectors)
    return Adore(backbone, questions, pieces, settings, frozen, embed=task.compared)


def _told(name: str, record: Record, chosen: _Chosen) -> StageReport:
    figures = {**chosen.figures, "loss": record.curve[-1].losses["loss"] if record.curve else 0.0}
    return StageReport(name, record.step, record.seconds, figures)


def _lessons(
    ground: Ground, searcher: Searcher, path: Path, control: Control | None, listener: Listener
) -> tuple[Lesson, ...]:
    try:
        kept = tuple(from_plain(Lesson, one) for one in read_json(path))
    except (OSError, ValueError, TypeError, KeyError):
        kept = teach(ground.split.train, searcher, control=control, listener=listener)
        write_json(path, to_plain(kept))
    asked = [one for one in kept if one.question < len(ground.split.train)]
    return among(asked, frozenset(piece.id for piece in ground.pieces))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The weights that were taken, nDCG@10 with them, and at each share of the way."""

    weights: dict[str, Tensor]
    ndcg: float
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Tries shares of the way on the questions that choose; `passages` are their passages' vectors, `known` those of
    the general questions, which found `before` (nDCG@10)."""

    backbone: Backbone
    tune: Pool
    passages: Vectors
    general: Dataset
    known: Vectors
    before: float
    control: Control | None

    def choose(self, start: dict[str, Tensor], *, settled: bool) -> _Chosen:
        """The best share of the way from `start` to the backbone's weights; none of it only where `settled`."""
        trained, tried = self.backbone.weights(), []
        for share in (0.0, *SHARES):
            self.backbone.load_weights(between(start, trained, share))
            found = (ndcg_of(self.tune.dataset, self._by(self.passages)), ndcg_of(self.general, self._by(self.known)))
            tried.append(Tried(share, *(float(values.mean()) for values in found)))
        chosen = best([one for one in tried if one.share or settled], self.before)
        figures = {name: value for one in tried for name, value in one.figures.items()}
        return _Chosen(between(start, trained, chosen.share), chosen.ndcg, figures)

    def _by(self, passages: Vectors) -> Callable[[Sequence[str], str], Vectors]:
        """The backbone's questions beside passages that stay as they are."""
        return lambda texts, kind: passages if kind == PASSAGE else self.backbone.vectors(texts, kind, self.control)


def _chooser(backbone: Backbone, tune: Pool, general: Dataset, present: Encoder, control: Control | None) -> _Chooser:
    def encode(texts: Sequence[str], kind: str) -> Vectors:
        return present.encode(texts, kind=kind, control=control)

    known = encode([document.text for document in general.corpus], PASSAGE)
    before = ndcg_of(general, lambda texts, kind: known if kind == PASSAGE else encode(texts, kind))
    return _Chooser(backbone, tune, encode(tune.passages, PASSAGE), general, known, float(before.mean()), control)
