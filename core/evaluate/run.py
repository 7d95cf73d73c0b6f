"""Measuring search on a test collection, on an open library or on a throw-away one."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from core.base.errors import BadDataset
from core.base.events import Control, Listener, Progress, ignore
from core.base.types import BM25, DENSE, FUSED, Query
from core.encode.encoder import Encoder
from core.evaluate import metrics
from core.evaluate.datasets import Dataset
from core.evaluate.throwaway import build
from core.search.searcher import Searcher

CHANNELS = (BM25, DENSE, FUSED)
DEPTH = 100
_SHOWN = 10  # hits of the timed searches, as the window asks for

Measure = Callable[[Sequence[str], Mapping[str, int]], float]
MEASURES: dict[str, Measure] = {"ndcg@10": metrics.ndcg, "mrr@10": metrics.mrr, "recall@100": metrics.recall}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`channels` maps a channel to its measures, averaged over the queries; `milliseconds` (p50, p95) are those
    of whole searches with all channels, from the text to the hits."""

    dataset: str
    queries: int
    channels: dict[str, dict[str, float]]
    milliseconds: dict[str, float]


def evaluate(
    dataset: Dataset, searcher: Searcher, channels: Sequence[str] = CHANNELS, *,
    control: Control | None = None, listener: Listener = ignore,
) -> Evaluation:  # fmt: skip
    """Run all queries of `dataset` through `searcher` and judge each channel's first 100 documents.

    A document ranks where its best passage does. It is known by its external id, else by its file's name with
    or without the suffix.

    Raises:
        BadDataset: none of the judged documents is in the library, or a channel is unknown.
        Cancelled
    """
    _require_known(channels)
    control = control or Control()
    names = _names(dataset, searcher)
    measured: dict[str, dict[str, list[float]]] = {c: {m: [] for m in MEASURES} for c in channels}
    times = []
    for done, (query, text) in enumerate(dataset.queries.items()):
        control.check()
        listener(Progress("evaluating", done, len(dataset.queries)))
        for channel, values in measured.items():
            ranking = _documents(searcher, text, _members(channel), names)
            for name, measure in MEASURES.items():
                values[name].append(measure(ranking, dataset.qrels[query]))
        times.append(_timed(searcher, text))
    averages = {c: {m: round(metrics.mean(v), 4) for m, v in values.items()} for c, values in measured.items()}
    spent = {f"p{p}": round(metrics.percentile(times, p / 100), 2) for p in (50, 95)}
    return Evaluation(dataset.name, len(dataset.queries), averages, spent)


def evaluate_encoder(
    dataset: Dataset, encoder: Encoder, channels: Sequence[str] = CHANNELS, *,
    control: Control | None = None, listener: Listener = ignore,
) -> Evaluation:  # fmt: skip
    """Make a throw-away library of the corpus, each line one passage, and evaluate on it.

    Raises:
        BadDataset, Cancelled, DiskFull
    """
    _require_known(channels)
    with tempfile.TemporaryDirectory(prefix="whymatch-evaluate-") as folder:
        build(Path(folder), dataset, encoder, control or Control(), listener)
        searcher = Searcher(Path(folder), encoder)
        try:
            return evaluate(dataset, searcher, channels, control=control, listener=listener)
        finally:
            searcher.close()


def _require_known(channels: Sequence[str]) -> None:
    unknown = [channel for channel in channels if channel not in CHANNELS]
    if unknown or not channels:
        raise BadDataset(f"Unknown channels: {', '.join(unknown) or 'none'}.", f"Choose among {', '.join(CHANNELS)}.")


def _members(channel: str) -> tuple[str, ...]:
    return (BM25, DENSE) if channel == FUSED else (channel,)


def _timed(searcher: Searcher, text: str) -> float:
    started = time.perf_counter()
    searcher.search(Query(text, k=_SHOWN, literal=True))
    return 1000 * (time.perf_counter() - started)


def _documents(
    searcher: Searcher, text: str, channels: tuple[str, ...], names: Mapping[int, Sequence[str]]
) -> list[str]:
    """Documents by their best passage, best first."""
    if not text.strip():
        return []
    ranking = searcher.ranking(Query(text, channels=channels, literal=True), DEPTH)
    return list(dict.fromkeys(name for p in ranking.ids.tolist() for name in names.get(p, ())))[:DEPTH]


def _names(dataset: Dataset, searcher: Searcher) -> dict[int, list[str]]:
    """The data set's ids of every passage's document and its copies, by passage id."""
    wanted = {document for judged in dataset.qrels.values() for document in judged}
    rows = searcher.snapshot().db.execute(
        "SELECT p.id, d.path, d.external_id FROM document d "
        "JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) ORDER BY p.id, d.id"
    )
    found: dict[int, list[str]] = {}
    for passage, path, external_id in rows:
        options = (external_id, PurePath(path).name, PurePath(path).stem)
        found.setdefault(passage, []).append(next((o for o in options if o in wanted), external_id or path))
    if not wanted.intersection(name for names in found.values() for name in names):
        raise BadDataset(
            "None of the judged documents is in the library.",
            f"Ingest {dataset.folder / 'corpus.jsonl'} first, or evaluate without a library.",
        )
    return found
