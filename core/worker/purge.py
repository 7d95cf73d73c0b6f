"""Purging: after it no byte in the library's folder tells of what only deleted documents held.

Deleting takes documents out of every view at once, but leaves words in index segments, names of concepts, free pages of
the database. Each step here may be cut off: the next purge does what is left. Steps go from what is still referred to
to what is not, and the database file is written anew last.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import IndexDamaged, LibraryLocked, ModelDamaged, ModelMissing
from core.base.events import Control, Listener, Progress, ignore
from core.base.files import text_path
from core.concepts import fit as concepts_fit
from core.concepts.stale import LEAST_PASSAGES
from core.encode.encoder import Encoder
from core.index import generation
from core.index.snapshot import Snapshot
from core.index.writer import IndexWriter, rebuild
from core.ingest.strikes import FILE as MARKER
from core.ingest.strikes import Marker
from core.models.adapted import is_adapted
from core.store import database, documents, history, jobs, judgements, living, passages
from core.store.database import transaction
from core.worker import adapting
from core.worker.documents_check import drop_orphans
from core.worker.finding import encoder_for

SPOOL = "spool"
_STEPS = ("history", "index", "concepts", "cache", "database")


@dataclass(frozen=True, slots=True)
class Purged:
    """Size of the library's folder before and after, and what was done."""

    bytes_before: int
    bytes_after: int
    segments: int  # parts of the index written anew
    concepts: str  # kept, fitted or dropped
    conversations: int  # in which sentences were replaced
    adapted: str = ""  # an encoder in use that learned from the library as it was


def purge(library: Path, *, encoder: Encoder | None = None, control: Control | None = None,
          listener: Listener = ignore) -> Purged:  # fmt: skip
    """Purge the library. Needs room for a second copy of its database.

    Raises:
        NotALibrary
        LibraryLocked: a job is at work, or another process reads without end; purging again goes on.
        Cancelled: what was done stays. DiskFull, NoPermission
    """
    control = control or Control()
    database.require(library)
    before = _size(library)
    with database.lock(library, "purge"):
        db = database.open_writer(library)
        try:
            with database.known_errors(library):
                db.execute("PRAGMA secure_delete = ON")
                steps = _steps(control, listener)
                next(steps)
                conversations = _clean_rows(db)
                next(steps)
                segments = _clean_index(library, db, encoder, control)
                next(steps)
                fitted = _clean_concepts(library, db, encoder, control, listener)
                next(steps)
                _clean_files(library, db)
                adapting.forget(library)
                next(steps)
                _rewrite(library, db)
        finally:
            db.conn.close()
    return Purged(before, _size(library), segments, fitted, conversations, _learned(library))


def _learned(library: Path) -> str:
    current = generation.current(library)
    names = (current.queries, current.encoder, current.reranker) if current is not None else ()
    return next((name for name in names if is_adapted(name)), "")


def _steps(control: Control, listener: Listener) -> Iterator[None]:
    for done, _ in enumerate(_STEPS):
        control.check()
        listener(Progress("purging", done, len(_STEPS)))
        yield


def _size(library: Path) -> int:
    return sum(path.stat().st_size for path in library.rglob("*") if path.is_file())


def _clean_rows(db: Database) -> int:
    """Conversations, job records and exclusions. Returns how many conversations were changed."""
    with transaction(db):
        changed = history.purge(db)
        known = [row.path for row in documents.files(db)] + [root.path for root in documents.roots(db)]
        jobs.forget_paths(db, lambda path: any(documents.is_under(one, path) for one in known))
        for path in documents.excluded(db):
            if _is_gone(db, path):
                db.execute("DELETE FROM excluded WHERE path = ?", (path,))
        passages.drop_unused_vectors(db)
        judgements.drop_orphans(db)
    return changed


def _is_gone(db: Database, path: str) -> bool:
    """Whether nothing lies at `path` although the drive that it was on is there."""
    above = [
        p for p in (*(root.path for root in documents.roots(db)), *living.mounts(db)) if documents.is_under(path, p)
    ]
    return all(_holds_something(text_path(p)) for p in above) and not text_path(path).exists()


def _holds_something(folder: Path) -> bool:
    try:
        return any(True for _ in folder.iterdir())
    except OSError:
        return False


def _clean_index(library: Path, db: Database, encoder: Encoder | None, control: Control) -> int:
    """Write segments anew that list deleted passages, and let go of all older generations."""
    try:
        current = generation.current(library)
        if current is None:
            return 0
        writer = IndexWriter(library, db, current.encoder, current.dimension)
        count = writer.compact(control)
        writer.commit()
        writer.collect_garbage(keep=1)
    except IndexDamaged:
        made = rebuild(library, db, encoder or encoder_for(library), control=control)
        IndexWriter(library, db, made.encoder, made.dimension).collect_garbage(keep=1)
        count = len(made.segments)
    with transaction(db):
        passages.drop_vectors_of_others(db, {g.encoder for g in generation.history(library)})
    return count


def _clean_concepts(library: Path, db: Database, encoder: Encoder | None, control: Control, listener: Listener) -> str:
    """Fit the concepts anew when they were fitted on passages that are gone; without the encoder they are dropped."""
    current = generation.current(library)
    name = current.concepts if current is not None else ""
    fresh = _fitted(library, db, encoder, control, listener) if name else ""
    if current is not None and fresh != name:
        writer = IndexWriter(library, db, current.encoder, current.dimension)
        writer.commit(concepts=fresh)
        writer.collect_garbage(keep=1)
    concepts_fit.prune(library, {fresh} - {""}, db)
    return "kept" if fresh == name else "fitted" if fresh else "dropped"


def _fitted(library: Path, db: Database, encoder: Encoder | None, control: Control, listener: Listener) -> str:
    """The name of the concepts of what the library holds now; empty when there are too few passages."""
    if passages.count(db) < LEAST_PASSAGES:
        return ""
    with Snapshot.open(library) as snapshot, contextlib.suppress(ModelMissing, ModelDamaged):
        return concepts_fit.fit(library, db, snapshot, encoder or encoder_for(library), control, listener) or ""
    return ""


def _clean_files(library: Path, db: Database) -> None:
    """What lies in the folder of no file of the library: read from pictures, unpacked, or left behind by a crash."""
    drop_orphans(library, db)
    left = Marker(library).left().path
    if left and left not in {row.path for row in documents.files(db)}:
        (library / MARKER).unlink(missing_ok=True)
    shutil.rmtree(library / SPOOL, ignore_errors=True)


def _rewrite(library: Path, db: Database) -> None:
    """Write the database file anew, without free pages, and empty its log."""
    db.execute("PRAGMA temp_store = FILE")  # the copy may be larger than the memory
    db.execute("VACUUM")
    busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    log = library / f"{database.FILE}-wal"
    if busy or (log.is_file() and log.stat().st_size):
        raise LibraryLocked(
            "Another process is reading the library: old data may be left in its log.", "Purge again in a moment."
        )
