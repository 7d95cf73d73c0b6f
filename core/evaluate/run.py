"""Measuring search on a test collection, on an open library or on a throw-away one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from core.base.errors import BadDataset
from core.base.events import Control, Listener, Progress, ignore
from core.base.types import BM25, CONCEPT, DENSE, FUSED, LEXICAL, MULTI, RERANKED, Query
from core.encode.encoder import Encoder
from core.evaluate import metrics
from core.evaluate.closely import Closely
from core.evaluate.datasets import Dataset
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.evaluate.significance import Comparison, Interval, compare, interval
from core.evaluate.throwaway import build, room
from core.search.fuse import Fusing
from core.search.rerank import Reranker
from core.search.searcher import Searcher

CHANNELS = (BM25, DENSE, FUSED)
KNOWN = (BM25, DENSE, LEXICAL, MULTI, CONCEPT, FUSED, RERANKED)
_TOGETHER = (FUSED, RERANKED)  # all channels, without and with the reranker
DEPTH = 100
_SHOWN = 10  # hits of the timed searches, as the window asks for
_TIMED = 200  # queries that are searched against the clock, spread over all

MEASURES = metrics.DEFAULTS

Ranked = list[tuple[str, float]]  # documents with their scores, best first


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`channels` maps a channel to its measures, averaged over the queries, `intervals` to their 95 % intervals;
    `comparisons` set the last channel against each other one. `milliseconds` (p50, p95) are those of whole searches
    with all channels, from the text to the hits.

    `queries` counts those that were judged; `values` (by channel and measure) and `runs` (by channel) hold what was
    found for each, in the order of `texts`. `closely` says for how many of the candidates that the channel "reranked"
    has read a search has the time.
    """

    dataset: str
    queries: int
    channels: dict[str, dict[str, float]]
    milliseconds: dict[str, float]
    intervals: dict[str, dict[str, Interval]] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
    encoder: str = ""
    generation: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    runs: dict[str, dict[str, Ranked]] = field(default_factory=dict)
    closely: Closely | None = None

    def summary(self) -> dict[str, object]:
        """All but what is known of single queries."""
        closely = {"closely": self.closely} if self.closely is not None else {}
        return {
            "dataset": self.dataset, "queries": self.queries, "channels": self.channels,
            "milliseconds": self.milliseconds, "intervals": self.intervals, "comparisons": self.comparisons,
            "encoder": self.encoder, "generation": self.generation,
            **closely,
        }  # fmt: skip


def evaluate(
    dataset: Dataset, searcher: Searcher, channels: Sequence[str] = CHANNELS, *, measures: Sequence[str] = MEASURES,
    control: Control | None = None, listener: Listener = ignore, timed: Searcher | None = None, clock: bool = True,
    names: Mapping[int, Sequence[str]] | None = None,
) -> Evaluation:  # fmt: skip
    """Run all queries of `dataset` through `searcher` and judge each channel's first 100 documents.

    A document ranks where its best passage does. It is known by its external id, else by its file's name with
    or without the suffix. `timed` is the searcher to be put to the clock, when the other one knows its queries already;
    without `clock` no time is taken. `names` calls passages (by id) by other names than those of their documents.

    Raises:
        BadDataset: none of the judged documents is in the library, or a channel is unknown or not in its index.
        BadSetting: a measure is unknown.
        Cancelled
    """
    _require_known(channels)
    _require_indexed(channels, searcher)
    control = control or Control()
    by_name = {name: metrics.named(name) for name in measures}
    names = names or passage_names(dataset, searcher)
    runs: dict[str, dict[str, Ranked]] = {channel: {} for channel in channels}
    for done, (query, text) in enumerate(dataset.queries.items()):
        control.check()
        listener(Progress("evaluating", done, len(dataset.queries)))
        for channel, run in runs.items():
            run[query] = _documents(searcher, text, channel, names)
    values = {
        channel: {name: [m([d for d, _ in run[q]], dataset.qrels[q]) for q in run] for name, m in by_name.items()}
        for channel, run in runs.items()
    }
    spent = _times(dataset, timed or searcher, control, rerank=RERANKED in channels) if clock else {}
    return _judged(dataset, searcher, values, runs, spent)


def _judged(
    dataset: Dataset, searcher: Searcher, values: dict[str, dict[str, list[float]]],
    runs: dict[str, dict[str, Ranked]], spent: dict[str, float],
) -> Evaluation:  # fmt: skip
    averages = {c: {m: round(metrics.mean(v), 4) for m, v in by_measure.items()} for c, by_measure in values.items()}
    intervals = {c: {m: interval(v) for m, v in by_measure.items()} for c, by_measure in values.items()}
    return Evaluation(
        dataset.name, len(dataset.queries), averages, spent, intervals, comparisons(values),
        searcher.encoder.id, searcher.snapshot().generation.number, dataset.queries, values, runs,
    )  # fmt: skip


def comparisons(values: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[Comparison, ...]:
    """The last of several systems against each other one, by the first measure; `values` by system and measure."""
    *others, last = values
    measure = next(iter(values[last]))
    return tuple(compare(last, other, measure, values[last][measure], values[other][measure]) for other in others)


def evaluate_encoder(
    dataset: Dataset, encoder: Encoder, channels: Sequence[str] = CHANNELS, *, measures: Sequence[str] = MEASURES,
    control: Control | None = None, listener: Listener = ignore, fusing: Fusing | None = None,
    kept: KeptVectors | None = None, clock: bool = True, expansion: Mapping[str, Sequence[str]] | None = None,
    reranker: Reranker | None = None, folder: Path | None = None,
    prepare: Callable[[Path], None] = lambda library: None,
) -> Evaluation:  # fmt: skip
    """Make a throw-away library of the corpus, each line one passage, and evaluate on it.

    Vectors in `kept` are not encoded again; the clock runs on searches that encode. `expansion` are texts by document
    id whose words find the document, too. `reranker` is that of the channel "reranked". The library is made in `folder`
    (see `core.evaluate.throwaway.room`); `prepare` is told of it when it is indexed, to give it what a channel needs.

    Raises:
        BadDataset, BadSetting, Cancelled, DiskFull
    """
    _require_known(channels)
    remembering = Remembering(encoder, kept) if kept is not None else encoder
    with room(folder) as library:
        heads = {DENSE} | ({LEXICAL} & encoder.heads) | ({MULTI} & set(channels))
        build(library, dataset, remembering, control or Control(), listener, heads, expansion)
        prepare(library)
        if kept is not None:  # all at once is quicker than one by one
            remembering.encode(list(dataset.queries.values()), kind="query", control=control)
        searcher, timed = (Searcher(library, one, fusing, lambda name: reranker) for one in (remembering, encoder))
        try:
            return evaluate(
                dataset, searcher, channels, measures=measures, control=control, listener=listener, timed=timed,
                clock=clock,
            )  # fmt: skip
        finally:
            searcher.close()
            timed.close()


def _require_known(channels: Sequence[str]) -> None:
    unknown = [channel for channel in channels if channel not in KNOWN]
    if unknown or not channels:
        raise BadDataset(f"Unknown channels: {', '.join(unknown) or 'none'}.", f"Choose among {', '.join(KNOWN)}.")


def _require_indexed(channels: Sequence[str], searcher: Searcher) -> None:
    """A channel that the library lacks would be answered by words in its place."""
    if RERANKED in channels and not searcher.reads_closely:
        raise BadDataset("There is no reranker to measure.", "Name one with --reranker: whymatch models list")
    own = (*_TOGETHER, *searcher.snapshot().channels)
    lacking = [channel for channel in channels if channel not in own]
    if lacking:
        advice = "Take an encoder with such a head, or make the library with: whymatch ingest --multi"
        if lacking == [CONCEPT]:
            advice = "Find its concepts with: whymatch concepts --fit"
        raise BadDataset(f"The index has no {', '.join(lacking)}.", advice)


def _times(dataset: Dataset, searcher: Searcher, control: Control, *, rerank: bool) -> dict[str, float]:
    """Milliseconds from the text to the hits with the library's own channels."""
    texts = [text for text in dataset.queries.values() if text.strip()]
    times = []
    for text in texts[:: max(1, len(texts) // _TIMED)]:
        control.check()
        started = time.perf_counter()
        searcher.search(Query(text, k=_SHOWN, literal=True, rerank=rerank))
        times.append(1000 * (time.perf_counter() - started))
    return {f"p{p}": round(metrics.percentile(times, p / 100), 2) for p in (50, 95)}


def _documents(searcher: Searcher, text: str, channel: str, names: Mapping[int, Sequence[str]]) -> Ranked:
    """Documents by their best passage, best first."""
    if not text.strip():
        return []
    channels = () if channel in _TOGETHER else (channel,)
    query = Query(text, channels=channels, literal=True, rerank=channel == RERANKED)
    ranking = searcher.ranking(query, DEPTH)
    found: dict[str, float] = {}
    for passage, score in zip(ranking.ids.tolist(), ranking.totals.tolist(), strict=True):
        for name in names.get(passage, ()):
            found.setdefault(name, score)
    return list(found.items())[:DEPTH]


def passage_names(dataset: Dataset, searcher: Searcher) -> dict[int, list[str]]:
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
