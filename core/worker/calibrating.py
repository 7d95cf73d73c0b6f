"""Calibrating the fusion of a library: at the end of an ingest when it has outgrown the weights, or by a command."""

from __future__ import annotations

from pathlib import Path

from core.base.events import Control, Listener
from core.base.types import RERANK, Generation
from core.encode.encoder import Encoder
from core.index import generation
from core.ingest.indexing import Indexer
from core.search.calibrate import CALIBRATED, Calibration, calibrate, stale
from core.search.fuse import DEFAULT
from core.search.searcher import Searcher
from core.store import database, passages
from core.worker.finding import encoder_for


def calibrate_library(library: Path, control: Control, listener: Listener) -> Calibration:
    """Find the weights anew and commit them.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, Cancelled
    """
    database.require(library)
    with database.lock(library, "calibrate"):
        db = database.open_writer(library)
        try:
            indexer = Indexer(library, db, encoder_for(library), control, listener)
            found = _found(library, indexer.encoder, control, listener)
            _commit(library, indexer, found, passages.count(db))
            return found
        finally:
            db.conn.close()


def keep_calibrated(
    library: Path, passage_count: int, indexer: Indexer, control: Control, listener: Listener
) -> Generation:
    """Calibrate when the library has outgrown its weights; returns the generation in use. Raises Cancelled."""
    current = generation.current(library)
    assert current is not None
    if not stale(current, passage_count):
        return current
    found = _found(library, indexer.encoder, control, listener)
    return _commit(library, indexer, found, passage_count)


def _found(library: Path, encoder: Encoder, control: Control, listener: Listener) -> Calibration:
    searcher = Searcher(library, encoder, DEFAULT)
    try:
        return calibrate(searcher, control, listener)
    finally:
        searcher.close()


def _commit(library: Path, indexer: Indexer, found: Calibration, passage_count: int) -> Generation:
    """The reranker keeps its weight: it was found on other questions. So do all, where none better were found."""
    current = generation.current(library)
    present = dict(current.fusion) if current else {}
    kept = {RERANK: present[RERANK]} if RERANK in present else {}
    weights = {**kept, **found.weights} if found.accepted else present
    return indexer.commit(fusion=weights, metrics={CALIBRATED: float(passage_count)})
