"""The stage that adapts the query side: lessons of the library's own search, training, and how far to go.

How far on the way from the present weights to the trained ones is chosen on the questions held out for choosing; those
that judge are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import Tensor

from core.base.events import Control, Listener, Progress, ignore
from core.base.files import read_json, write_json
from core.base.wire import from_plain, to_plain
from core.encode.encoder import Encoder
from core.search.searcher import Searcher
from core.train.backbone import Backbone
from core.train.ground import Ground
from core.train.interpolate import between
from core.train.loop import Callback, Settings, train
from core.train.measure import Vectors, dense_ndcg
from core.train.outcome import StageReport
from core.train.pool import Pool
from core.train.query_side import QuerySettings, QuerySide, rarities
from core.train.recipes import QueryStage
from core.train.teacher import Lesson, teach

NAME = "queries"
NOWHERE = "ndcg at 0"  # before anything was trained
SHARES = (0.33, 0.66, 1.0)
_LESSONS = "lessons.json"


@dataclass(frozen=True, slots=True)
class QueryCandidate:
    """Weights of an encoder of queries, and what choosing them measured."""

    weights: dict[str, Tensor]
    report: StageReport


def train_queries(
    backbone: Backbone, ground: Ground, searcher: Searcher, tune: Pool, present: Encoder, stage: QueryStage,
    folder: Path, *, minutes: float | None = None, control: Control | None = None, listener: Listener = ignore,
    callbacks: Sequence[Callback] = (),
) -> QueryCandidate:  # fmt: skip
    """Train `backbone` (the present encoder of queries) in place and mix it with what it was.

    Raises:
        Cancelled, DiskFull, KnownError: see `core.train.loop.train`.
    """
    questions = ground.split.train
    lessons = _lessons(ground, searcher, folder / _LESSONS, control, listener)
    listener(Progress(NAME, 0, 0))  # the words of all passages are counted before the first step
    settings = QuerySettings(layers=stage.layers)
    if backbone.pooling == "mean" and backbone.token_weights is None:
        backbone.weigh_tokens(rarities(backbone, ground.pieces, settings.rarity))
    start = backbone.weights()
    snapshot = searcher.snapshot()
    living = set(snapshot.ids().tolist())  # some may have been removed while the lessons were made
    lessons = tuple(one for one in lessons if living.issuperset(one.passages))
    ids = [piece.id for piece in ground.pieces if piece.id in living]
    neutral = None if snapshot.means is None else snapshot.means.query_map()
    task = QuerySide(backbone, questions, lessons, ids, snapshot.vectors(np.array(ids)), settings, neutral=neutral)
    steps = stage.epochs * -(-len(lessons) // settings.questions)
    training = Settings(steps, stage.rate, weight_decay=0.0, checkpoint_every=50, minutes=minutes)
    record = train(task, training, folder, control, listener, callbacks, data_hash=task.data_hash(), stage=NAME)
    listener(Progress(NAME, 0, 0))  # how far to go is tried
    weights, figures = _mixed(backbone, start, tune, present, control)
    figures["loss"] = record.curve[-1].losses["loss"] if record.curve else 0.0
    return QueryCandidate(weights, StageReport(NAME, record.step, record.seconds, figures))


def _lessons(
    ground: Ground, searcher: Searcher, path: Path, control: Control | None, listener: Listener
) -> tuple[Lesson, ...]:
    try:
        kept = tuple(from_plain(Lesson, one) for one in read_json(path))
    except (OSError, ValueError, TypeError, KeyError):
        kept = teach(ground.split.train, searcher, control=control, listener=listener)
        write_json(path, to_plain(kept))
    there = {piece.id for piece in ground.pieces}
    return tuple(one for one in kept if there.issuperset(one.passages) and one.question < len(ground.split.train))


def _mixed(
    backbone: Backbone, start: dict[str, Tensor], tune: Pool, present: Encoder, control: Control | None
) -> tuple[dict[str, Tensor], dict[str, float]]:
    """The best of several shares of the way, and nDCG@10 at each."""
    trained = backbone.weights()
    passages = present.encode(tune.passages, control=control)
    figures, best, kept = {}, -1.0, start
    for share in (0.0, *SHARES):
        weights = between(start, trained, share)
        backbone.load_weights(weights)
        value = float(dense_ndcg(tune, _encoding(backbone, passages, control)).mean())
        figures[f"ndcg at {share:g}"] = round(value, 4)
        if share and value > best:
            best, kept = value, weights
    return kept, figures


def _encoding(
    backbone: Backbone, passages: Vectors, control: Control | None
) -> Callable[[Sequence[str], str], Vectors]:
    def encode(texts: Sequence[str], kind: str) -> Vectors:
        return passages if kind == "passage" else backbone.vectors(texts, kind, control)

    return encode
