"""What came of a run is taken over: a new generation, switched at once.

It is written down first, so that a run that was killed while the library changed over goes on there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import KnownError, LibraryLocked
from core.base.events import Control, Listener
from core.base.files import read_json, write_json
from core.base.types import RERANK
from core.base.wire import from_plain, to_plain
from core.encode.load import open_encoder
from core.index import generation
from core.ingest.indexing import Indexer
from core.models import adapted
from core.models.bundles import find
from core.store import database, passages
from core.train.outcome import Outcome
from core.worker.calibrating import CALIBRATED
from core.worker.finding import encoder_for
from core.worker.reencoding import reencode

_FILE = "outcome.json"
_TRIES, _WAIT_SECONDS = 600, 0.5  # for the library's lock, which a removal may hold


@dataclass(frozen=True, slots=True)
class Ending:
    """An outcome, and what served before it: the generation (0: none), `encoders` of passages and of queries, and the
    reranker with its weight."""

    outcome: Outcome
    before: int
    encoders: tuple[str, str] = ("", "")
    reranker: str = ""
    weight: float = 1.0


def begin(library: Path, folder: Path, outcome: Outcome) -> Ending:
    """Write down what is to be taken over, in the run's `folder`. Raises DiskFull."""
    current = generation.current(library)
    ending = Ending(outcome, 0)
    if current is not None:
        encoders, weight = (current.encoder, current.queries), current.fusion.get(RERANK, 1.0)
        ending = Ending(outcome, current.number, encoders, current.reranker, weight)
    write_json(folder / _FILE, to_plain(ending))
    return ending


def read(library: Path, folder: Path) -> Ending | None:
    """What was to be taken over when the run was stopped; None where nothing was yet, or a model of it is lost."""
    try:
        ending = from_plain(Ending, read_json(folder / _FILE))
        for name in filter(None, (ending.outcome.encoder, ending.outcome.queries)):
            find(name, adapted.folder(library))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, KnownError):
        return None
    return ending


def taken(ending: Ending) -> str:
    """The bundle that serves from now on because of this run; empty where nothing has changed."""
    outcome = ending.outcome
    return outcome.queries or outcome.encoder or (_reranker(ending) or "")


def reason(ending: Ending) -> str:
    """Of the encoder, and of what came of the run beside it."""
    outcome, beside = ending.outcome, []
    if outcome.headed is not None and outcome.headed.encoder:
        beside.append("It learned the weights of words, with which search finds more.")
    if outcome.read is not None and _reranker(ending):
        beside.append(f"A reranker reads the best hits. {outcome.read.gate.reason}")
    if ending.reranker and _reranker(ending) == "":
        beside.append("The reranker is not used any more: with it, search finds no more than without.")
    own = outcome.gate.reason if outcome.gate.accepted or not beside else "The vectors of the model stay as they were."
    return " ".join((own, *beside))


def take_over(library: Path, ending: Ending, control: Control, listener: Listener) -> int:
    """Let what was accepted serve; the number of the generation, 0 where nothing was. Can be done twice.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, DiskFull, Cancelled
    """
    outcome, number = ending.outcome, 0
    _compare(library, ending)
    weights = dict(outcome.headed.weights) if outcome.headed and outcome.headed.encoder else {}
    if outcome.encoder:
        encoder = open_encoder(outcome.encoder, also=adapted.folder(library))
        made = reencode(library, control=control, listener=listener, encoder=encoder, fusion=weights or None)
        number = made.generation
    reranker = _reranker(ending)
    if reranker and outcome.read is not None:
        weights[RERANK] = outcome.read.weight
    if outcome.queries or reranker is not None:
        number = _switch(library, outcome.queries or None, reranker, weights, control, listener)
    return number


def _compare(library: Path, ending: Ending) -> None:
    """Raises KnownError where the person has chosen another encoder meanwhile: what was learned does not fit it."""
    current = generation.current(library)
    if current is not None and current.encoder not in (ending.encoders[0], ending.outcome.encoder):
        raise KnownError(
            "The library was given another encoder meanwhile, and what was learned does not fit that one.",
            "Adapt the library again.",
        )


def _reranker(ending: Ending) -> str | None:
    """The one to use from now on: another one or weight than before; "" for none any more, None for no change."""
    read = ending.outcome.read
    if read is None:
        return None
    if read.reranker:
        same = (read.reranker, read.weight) == (ending.reranker, ending.weight)
        return None if same and not ending.outcome.encoder else read.reranker
    return "" if ending.reranker == read.tried and read.gate.decided else None


def _switch(
    library: Path, queries: str | None, reranker: str | None, weights: Mapping[str, float], control: Control,
    listener: Listener,
) -> int:  # fmt: skip
    """Let queries go through another encoder, channels weigh otherwise, or a reranker read the best hits: a new
    generation of the same segments."""
    with _writing(library, control) as db:
        indexer = Indexer(library, db, encoder_for(library), control, listener)
        current = generation.current(library)
        assert current is not None
        metrics = {**current.metrics, CALIBRATED: float(passages.count(db))} if weights else None
        fusion = {**current.fusion, **weights} if weights else None
        return indexer.commit(queries=queries, reranker=reranker, fusion=fusion, metrics=metrics).number


@contextmanager
def _writing(library: Path, control: Control) -> Iterator[Database]:
    lock = database.lock(library, "adapt")
    for attempt in range(_TRIES):
        try:
            lock.acquire()
            break
        except LibraryLocked:
            if attempt == _TRIES - 1:
                raise
            control.check()
            time.sleep(_WAIT_SECONDS)
    try:
        db = database.open_writer(library)
        try:
            yield db
        finally:
            db.conn.close()
    finally:
        lock.release()
