"""`evaluate`: search measured on judged queries, in throw-away libraries or in a given one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.table import Table

from core.base.errors import BadDataset, ModelMissing
from core.base.events import Control, Listener
from core.base.types import CONCEPT, RERANKED
from core.cli.expanding import written
from core.cli.output import out
from core.encode.encoder import Encoder
from core.encode.load import open_encoder, open_reranker
from core.evaluate import metrics, own, trec
from core.evaluate.closely import OnTheClock
from core.evaluate.datasets import Dataset
from core.evaluate.kept_vectors import KeptVectors, Remembering
from core.evaluate.report import System, systems
from core.evaluate.run import MEASURES, Evaluation, evaluate, evaluate_encoder
from core.evaluate.significance import compare
from core.evaluate.variants import strengthened
from core.ingest.indexing import Indexer
from core.models import adapted
from core.models.bundles import RERANKER, active
from core.search.fuse import Fusing, Method
from core.search.rerank import Reranker
from core.search.searcher import Searcher
from core.store.database import open_writer, require
from core.worker.finding import encoder_for
from core.worker.ingesting import fit_concepts


def measure(
    data: Dataset, *, channels: Sequence[str], measures: Sequence[str] = MEASURES, model: str | None = None,
    library: Path | None = None, fusion: str = "", rm3: bool = False, writing: float | None = None,
    reranker: str | None = None, control: Control, listener: Listener,
) -> Evaluation:  # fmt: skip
    """In a throw-away library with `rm3`, or questions written for so many minutes, the words' gain by them, too. With
    the channel "reranked" `reranker` is its id; by default the library's own, or the installed one in use.

    Raises:
        BadDataset, BadSetting, NotALibrary, ModelMissing, Cancelled
    """
    fusing = Fusing(Method(fusion)) if fusion else None
    reader = _Reader(reranker, library)
    if library is None:
        encoder = open_encoder(model)
        with KeptVectors() as kept:
            plain = evaluate_encoder(
                data, encoder, channels, measures=measures, control=control, listener=listener, fusing=fusing,
                kept=kept, reranker=reader() if RERANKED in channels else None,
                prepare=lambda made: _fit(made, encoder, control, listener) if CONCEPT in channels else None,
            )  # fmt: skip
            plain = reader.told(plain, fusing)
            if not rm3 and writing is None:
                return plain
            questions = None
            if writing is not None:
                questions = written(data, Remembering(encoder, kept), writing, control=control, listener=listener)
            return strengthened(
                plain, data, encoder, rm3=rm3, questions=questions, measures=measures, control=control,
                listener=listener, fusing=fusing, kept=kept,
            )  # fmt: skip
    require(library)
    encoder = open_encoder(model, also=adapted.folder(library)) if model else encoder_for(library)
    searcher = Searcher(library, encoder, fusing, reader)
    try:
        found = evaluate(data, searcher, channels, measures=measures, control=control, listener=listener)
        return reader.told(found, fusing)
    finally:
        searcher.close()


def measure_own(
    library: Path, *, channels: Sequence[str], measures: Sequence[str] = MEASURES, fusion: str = "",
    reranker: str | None = None, control: Control, listener: Listener,
) -> Evaluation:  # fmt: skip
    """On the questions of the library that were judged by hand.

    Raises:
        BadDataset, BadSetting, NotALibrary, ModelMissing, Cancelled
    """
    require(library)
    fusing = Fusing(Method(fusion)) if fusion else None
    reader = _Reader(reranker, library)
    searcher = Searcher(library, encoder_for(library), fusing, reader)
    try:
        snapshot = searcher.snapshot()
        names = {number: [str(number)] for number in snapshot.ids().tolist()}
        found = evaluate(
            own.load(library, snapshot.db), searcher, channels, measures=measures, control=control, listener=listener,
            names=names,
        )  # fmt: skip
        return reader.told(found, fusing)
    finally:
        searcher.close()


def _fit(library: Path, encoder: Encoder, control: Control, listener: Listener) -> None:
    """Find the concepts of a throw-away library, whose channel is to be measured."""
    db = open_writer(library)
    try:
        fit_concepts(library, db, Indexer(library, db, encoder, control, listener), control, listener, force=True)
    finally:
        db.conn.close()


class _Reader:
    """The reranker that is named (`id`), else the library's own, else the one in use; opened once, on the clock."""

    def __init__(self, id: str | None, library: Path | None = None) -> None:
        self._id, self._also = id, adapted.folder(library) if library else None
        self._opened: OnTheClock | None = None

    def __call__(self, name: str = "") -> Reranker:
        """Raises ModelMissing, ModelDamaged, KnownError."""
        if self._opened is None:
            self._opened = OnTheClock(open_reranker(self._id or name or _in_use(), also=self._also))
        return self._opened

    def told(self, found: Evaluation, fusing: Fusing | None) -> Evaluation:
        """With how much of the reading there is time for, where any was done."""
        return replace(found, closely=self._opened.told(fusing or Fusing())) if self._opened else found


def _in_use() -> str:
    used = active(RERANKER)
    if used is None:
        advice = "Add one and use it (whymatch models list), or name one with --reranker."
        raise ModelMissing("No reranker is in use.", advice)
    return used.id


def write_runs(path: Path, evaluations: Sequence[Evaluation]) -> None:
    """One file when there is one run; else the names of data set and channel come before the suffix."""
    runs = [(one, channel, run) for one in evaluations for channel, run in one.runs.items()]
    for one, channel, run in runs:
        name = path if len(runs) == 1 else path.with_name(f"{path.stem}.{one.dataset}.{channel}{path.suffix}")
        trec.write(name, run, channel)


def check_names(data: Dataset) -> None:
    """Raise BadDataset when the ids cannot stand in a run file: before anything is measured."""
    trec.check([*data.queries, *(document.id for document in data.corpus)])


def compared(evaluation: Evaluation, others: Sequence[System]) -> Evaluation:
    """With the last channel set against other systems, too, by the first measure."""
    main = systems(evaluation)[-1]
    measure = next(iter(main.values))
    more = [compare(main.name, one.name, measure, main.values[measure], one.values[measure]) for one in others]
    return replace(evaluation, comparisons=(*evaluation.comparisons, *more))


def show(evaluation: Evaluation) -> None:
    """A table: means with their intervals, and how far the last channel is from the others."""
    measures = list(next(iter(evaluation.values.values())))
    # without lines between the columns six measures fit into 80 characters
    table = Table(
        "Channel", measures[0], "95 %", *measures[1:], box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for channel, values in evaluation.intervals.items():
        first, *others = values.values()
        figures = (f"{v.mean:.4f}" for v in others)
        table.add_row(channel, f"{first.mean:.4f}", f"{first.low:.3f}–{first.high:.3f}", *figures)
    out.print(f"{evaluation.dataset}: {evaluation.queries} queries, {evaluation.encoder}", markup=False)
    out.print(table)
    for one in evaluation.comparisons:
        out.print(
            f"{one.first} against {one.second}: {one.measure} {one.delta:+.4f} ({one.low:+.4f} to {one.high:+.4f}), "
            f"p = {one.p:.4f}; {one.won} queries won, {one.lost} lost",
            markup=False,
        )
    spent = evaluation.milliseconds
    out.print(f"p50 {spent['p50']:.1f} ms, p95 {spent['p95']:.1f} ms a query")
    if evaluation.closely is not None:
        out.print(evaluation.closely.sentence(), markup=False)


def system(evaluation: Evaluation) -> System:
    """Another encoder or generation, by its last channel."""
    channel = list(evaluation.values)[-1]
    name = f"{channel}, {evaluation.encoder}, generation {evaluation.generation}"
    return System(name, evaluation.values[channel])


def read_system(path: Path, data: Dataset, measures: Sequence[str]) -> System:
    """What a run file found for the queries of `data`; those that it leaves out found nothing.

    Raises:
        BadDataset: no run file, or one of other queries.
    """
    run = trec.read(path)
    if not run.keys() & data.queries.keys():
        raise BadDataset(f"{path} holds none of the queries of {data.name}.", "Choose a run of the same data set.")
    ranked = {query: [document for document, _ in run.get(query, ())] for query in data.queries}
    by_name = {name: metrics.named(name) for name in measures}
    return System(path.name, {n: [m(ranked[q], data.qrels[q]) for q in data.queries] for n, m in by_name.items()})
