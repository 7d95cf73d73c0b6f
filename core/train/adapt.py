"""Adapting a library's encoder, from its documents to the verdict. Nothing that serves is changed here.

Each stage resumes by itself from what lies in the run's folder, so a run that was killed does nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.base.events import Control, Curve, Listener, Progress, ignore
from core.base.types import Generation
from core.encode.cached import CachedEncoder
from core.encode.encoder import QUERY, Encoder
from core.encode.load import open_encoder, serve
from core.encode.towers import TwoTowers, queries_of
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.models import adapted
from core.models.bundles import Bundle, find
from core.models.known import spoken
from core.search.fuse import Fusing
from core.search.searcher import Searcher
from core.store.representations import keeps_tokens
from core.train import gate, heading, pool, reading
from core.train.backbone import Backbone
from core.train.bundle import save
from core.train.examples import examples
from core.train.full_stage import FullCandidate, train_all
from core.train.ground import Ground, settle
from core.train.health import health
from core.train.loop import Callback
from core.train.m3_recipe import NAME as HEADS
from core.train.measure import served
from core.train.outcome import Outcome, StageReport
from core.train.pool import Pool
from core.train.probe import probe
from core.train.query_stage import QueryCandidate, train_queries
from core.train.questions import Writer
from core.train.recipes import Recipe

JUDGING = "judging"
_TUNE = 1_500  # passages in which the questions that choose are looked for
_VECTORS, _ROOM = "vectors.db", "measured"
_REMEMBERED = 30_000  # questions: each is searched to check it, and again to learn of it
_POINTS_EVERY = 0.25  # seconds between two points of a curve that are told


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its library, its folder, who hears of it. `minutes` bounds each stage of training."""

    library: Path
    folder: Path
    recipe: Recipe
    minutes: float | None = None
    control: Control | None = None
    listener: Listener = ignore

    def watching(self, stage: str) -> Sequence[Callback]:
        return (_Told(stage, self.listener),)


def adapt(run: Run, db: Database, present: Encoder, writer: Writer | None = None) -> Outcome:
    """Train by the recipe and judge; `present` is what serves the library now, opened as it serves.

    Raises:
        KnownError: the library is too small, or the disk is full.
        Cancelled: what was done is kept for the next time.
    """
    own = adapted.folder(run.library)
    searcher = Searcher(run.library, CachedEncoder(present, _REMEMBERED))
    try:
        ground = settle(
            db, searcher, run.folder, run.recipe.questions, writer=writer, control=run.control, listener=run.listener
        )
        tune = pool.make(ground.pieces, ground.split.tune, most=_TUNE)
        queries = _queries(run, ground, searcher, tune, present)
        full = _full(run, ground, searcher, tune, present)
        stages = (*queries.reports, *(full.reports if full else ()))
        bundle, candidate = _candidate(run, present, queries, full)
        outcome = _judged(run, ground, present, candidate, bundle, stages)
        serving = candidate if outcome.gate.accepted else present
        outcome = _headed(run, ground, searcher, serving, keeps_tokens(db) is not False, outcome)
        if outcome.headed is not None and outcome.headed.encoder:
            serving = heading.with_heads(serving, find(outcome.encoder, own), own)
        current = searcher.snapshot().generation
        return _read(run, ground, present.id, serving, tune, full, current, outcome)
    finally:
        searcher.close()


def _candidate(
    run: Run, present: Encoder, queries: QueryCandidate, full: FullCandidate | None
) -> tuple[Bundle, Encoder]:
    """Whatever found more on the questions that choose, as it would serve."""
    own = adapted.folder(run.library)
    told = {"recipe": run.recipe.name}
    if full is not None and full.ndcg > queries.ndcg:
        bundle = save(full.weights, find(present.id, own), own, told)
        return bundle, serve(bundle)
    bundle = save(queries.weights, find(queries_of(present) or present.id, own), own, {**told, "role": QUERY})
    return bundle, TwoTowers(_passages(present, own), serve(bundle))


def _headed(run: Run, ground: Ground, searcher: Searcher, serving: Encoder, tokens: bool, outcome: Outcome) -> Outcome:
    """With token heads on the encoder that serves, where the recipe has them and search finds more with them."""
    if run.recipe.heads is None:
        return outcome
    final = pool.make(ground.pieces, ground.split.final)
    found, report = heading.head(
        serving, ground, searcher, final, run.recipe.heads, run.folder / HEADS, adapted.folder(run.library),
        tokens=tokens, minutes=run.minutes, control=run.control, listener=run.listener, watching=run.watching,
    )  # fmt: skip
    outcome = replace(outcome, headed=found, stages=(*outcome.stages, report))
    return replace(outcome, encoder=found.encoder, queries=queries_of(serving)) if found.encoder else outcome


def _read(
    run: Run, ground: Ground, present: str, serving: Encoder, tune: Pool, full: FullCandidate | None,
    current: Generation, outcome: Outcome,
) -> Outcome:  # fmt: skip
    """With the verdict on a reranker: one that the run made, or an installed one, or the library's `current` one."""
    own = adapted.folder(run.library)
    bundle = reading.there(current.reranker, own)
    if full is not None and full.reranker is not None and run.recipe.full and run.recipe.full.reader:
        bundle = reading.kept(full.reranker, find(present, own), run.recipe.full.reader, own)
    if bundle is None:
        return outcome
    final = pool.make(ground.pieces, ground.split.final)
    learned = outcome.headed.weights if outcome.headed and outcome.headed.encoder else {}
    with KeptVectors(run.folder / _VECTORS) as kept:
        found, report = reading.read(
            bundle,
            own,
            tune,
            final,
            serving,
            kept,
            fusing=Fusing(weights={**current.fusion, **learned}),
            folder=run.folder / _ROOM,
            control=run.control,
            listener=run.listener,
        )
    return replace(outcome, read=found, stages=(*outcome.stages, report))


def _queries(run: Run, ground: Ground, searcher: Searcher, tune: Pool, present: Encoder) -> QueryCandidate:
    bundle = find(queries_of(present) or present.id, adapted.folder(run.library))
    general = probe(_asked_in(ground, bundle))
    with KeptVectors(run.folder / _VECTORS) as kept:  # judging encodes most of these passages, too
        return train_queries(
            Backbone.open(bundle), ground, searcher, tune, general, Remembering(present, kept), run.recipe.query,
            run.folder / "queries", minutes=run.minutes, control=run.control, listener=run.listener,
            watching=run.watching,
        )  # fmt: skip


def _full(run: Run, ground: Ground, searcher: Searcher, tune: Pool, present: Encoder) -> FullCandidate | None:
    if run.recipe.full is None:
        return None
    bundle = find(present.id, adapted.folder(run.library))
    general = probe(_asked_in(ground, bundle))
    with KeptVectors(run.folder / _VECTORS) as kept:
        return train_all(
            Backbone.open(bundle), ground, searcher, tune, general, Remembering(present, kept), run.recipe.full,
            run.folder / "full", minutes=run.minutes, control=run.control, listener=run.listener,
            watching=run.watching,
        )  # fmt: skip


def _passages(present: Encoder, own: Path) -> Encoder:
    return open_encoder(present.id, also=own)


def _judged(
    run: Run, ground: Ground, present: Encoder, candidate: Encoder, bundle: Bundle, stages: Sequence[StageReport]
) -> Outcome:
    """The verdict, on questions that neither trained nor chose."""
    begun = time.monotonic()
    final = pool.make(ground.pieces, ground.split.final)
    general = probe(_asked_in(ground, bundle))
    with KeptVectors(run.folder / _VECTORS) as kept:
        found = []
        for number, encoder in enumerate((present, candidate)):
            run.listener(Progress(JUDGING, number, 2))
            found.append(served(final, general, encoder, kept, run.control, folder=run.folder / _ROOM))
        healths = tuple(health(_vectors(encoder, final, kept, run.control)) for encoder in (present, candidate))
        moved = examples(final, ground.pieces, present, candidate, kept, run.control)
    questions = final.questions
    verdict = gate.judge(
        found[0], found[1], [q.kind for q in questions], [q.group for q in questions], (healths[0], healths[1])
    )
    figures = {"queries": float(verdict.queries), "delta": round(verdict.delta, 4)}
    stages = (*stages, StageReport(JUDGING, 0, round(time.monotonic() - begun, 2), figures))
    outcome = Outcome(run.recipe.name, tuple(stages), verdict, *moved)
    if not verdict.accepted:
        return outcome
    alone = isinstance(candidate, TwoTowers)
    return replace(outcome, queries=bundle.id if alone else "", encoder="" if alone else bundle.id)


def _asked_in(ground: Ground, bundle: Bundle) -> Collection[str]:
    """The documents' languages that the encoder was made for: nothing is forgotten of what was never known."""
    written, known = {piece.language for piece in ground.pieces}, spoken(bundle.config)
    return written & known or known if known else written


def _vectors(encoder: Encoder, final: Pool, kept: KeptVectors, control: Control | None) -> np.ndarray:
    """Of the held-out questions and as many passages: both sides may collapse."""
    remembering = Remembering(encoder, kept)
    queries = remembering.encode([question.text for question in final.questions], kind=QUERY, control=control)
    return np.concatenate([queries, remembering.encode(final.passages[: len(queries)], control=control)])


class _Told(Callback):
    """Tells the points of a stage's curve, not more often than anybody can see."""

    def __init__(self, stage: str, listener: Listener) -> None:
        self._stage, self._listener, self._next = stage, listener, 0.0

    def after_step(self, step: int, losses: Mapping[str, float]) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _POINTS_EVERY
            figures = {name: value for name, value in losses.items() if name != "loss"}
            self._listener(Curve(self._stage, step, losses["loss"], figures))
