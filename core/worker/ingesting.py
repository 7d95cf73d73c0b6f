"""The ingest job, whole: lock, read, index, then concepts; recorded in the library."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from core.base.errors import Cancelled, IndexDamaged, KnownError, LibraryLocked, NotFound
from core.base.events import Control, Listener, Notice
from core.base.files import path_text, text_path
from core.base.types import DocumentState, Generation, IngestReport
from core.base.wire import to_plain
from core.concepts import fit as concepts_fit
from core.concepts import stale
from core.encode.encoder import Encoder, input_text
from core.index import generation
from core.index.snapshot import Snapshot
from core.index.writer import rebuild
from core.ingest.indexing import Indexer, index_stored
from core.ingest.limits import Limits
from core.ingest.passwords import Passwords
from core.ingest.pipeline import Ingest
from core.ingest.removal import Receipt, remove
from core.ingest.scan import check_path
from core.library import Library
from core.store import database, documents, jobs, living, passages, representations
from core.worker.calibrating import keep_calibrated
from core.worker.finding import REBUILT, encoder_for

NOT_REMEMBERED = "The password could not be remembered: this system has no keyring that keeps it."
_LOCK_SECONDS = 1.0


def ingest(
    library: Path, paths: Sequence[Path], *, retry: bool = False, control: Control, listener: Listener,
    encoder: Encoder | None = None, limits: Limits | None = None, battery: bool = False,
    passwords: Mapping[str, str] | None = None, remember: bool = False, again: Sequence[Path] = (),
    multi: bool | None = None,
) -> IngestReport:  # fmt: skip
    """Add `paths` to the library (made if there is none), read what is new, index it, fit its concepts.

    With `battery` it waits while the machine runs on its battery. `passwords` are by path; files they are given for
    are read again. Those that open a file are kept in the system's keyring when `remember` is set. Files in `again`
    are read once more, whatever is known of them, before the others; for a folder, what changed in it comes first.
    `multi` tells whether the library keeps token vectors from now on (None: as before).

    Raises:
        PathMissing, NoPermission, LibraryLocked, LibraryTooNew, DiskFull, ModelMissing, Cancelled
    """
    for path in paths:
        check_path(path)  # before a library is made for nothing
    Library.create(library).close()
    with _held(library):
        db = database.open_writer(library)
        try:
            with database.known_errors(library):
                if multi is not None:
                    with database.transaction(db):
                        representations.set_keeps_tokens(db, multi)
                job = jobs.start(db, "ingest", {"paths": [path_text(p) for p in paths], "retry": retry})
                with recorded(db, job) as outcome:
                    given = _passwords(db, passwords or {}, remember)
                    first = _read_again(db, again)
                    run = _open(library, db, encoder or encoder_for(library), control, listener, limits, battery, given)
                    report = run.run(paths, retry=retry, first=first)
                    if given.lost:
                        listener(Notice(NOT_REMEMBERED))
                    report = replace(report, generation=_concepts(library, db, run.indexer, control, listener))
                    outcome.update(to_plain(report))
                return report
        finally:
            db.conn.close()


@contextlib.contextmanager
def _held(library: Path) -> Iterator[None]:
    """Hold the library's lock. A removal may have it for a moment: that is waited for."""
    lock = database.lock(library, "ingest")
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            lock.acquire()
            break
        except LibraryLocked:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()


def _read_again(db: Database, paths: Sequence[Path]) -> list[str]:
    """Mark the files among these to be read again. Returns the paths as they are stored."""
    texts = [path_text(path) for path in paths]
    with database.transaction(db):
        for text in texts:
            documents.read_again(db, text)
    return texts


def _passwords(db: Database, given: Mapping[str, str], remember: bool) -> Passwords:
    """By the paths as they are stored; what they may open is marked to be read again."""
    by_path = {living.spelled(db, text_path(path)): password for path, password in given.items()}
    with database.transaction(db):
        for path in by_path:
            documents.read_again(db, path)
    return Passwords(by_path, keep=remember)


def unlock(
    library: Path, path: Path, password: str, *, remember: bool = False, control: Control, listener: Listener,
    encoder: Encoder | None = None,
) -> IngestReport:  # fmt: skip
    """Read a locked file of the library again, with its password.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, Cancelled
        NotFound: the library does not have the file.
        KnownError: the password does not open it.
    """
    database.require(library)
    db = database.open_reader(library)
    try:
        text = living.spelled(db, path)
        if not documents.has_path(db, text):
            raise NotFound(f"{text} is not in this library.", "Add it first.")
    finally:
        db.conn.close()
    report = ingest(
        library, [], control=control, listener=listener, encoder=encoder, passwords={text: password}, remember=remember
    )
    for failure in report.failed:
        if failure.path == text:
            locked = failure.state is DocumentState.LOCKED
            advice = "Check the password." if locked else "The password is not the cause."
            raise KnownError(f"{text} could not be read. {failure.reason}", advice)
    return report


@contextlib.contextmanager
def recorded(db: Database, job: int) -> Iterator[dict[str, Any]]:
    """Record how the block ends; its outcome is what it puts into the dict."""
    outcome: dict[str, Any] = {}
    state = jobs.INTERRUPTED
    try:
        yield outcome
        state = jobs.DONE
    except Cancelled:
        state = jobs.CANCELLED
        raise
    except KnownError as error:
        state, outcome = jobs.FAILED, {"code": error.code, "message": error.message}
        raise
    finally:
        jobs.end(db, job, state, outcome)


def _open(
    library: Path, db: Database, encoder: Encoder, control: Control, listener: Listener, limits: Limits | None,
    battery: bool, passwords: Passwords,
) -> Ingest:  # fmt: skip
    """Ready to run; an index that cannot be read, or whose words are those of an older version, is made again first.

    Both come from the stored texts and vectors.
    """
    try:
        current = generation.current(library)
        if current is not None and current.encoder == encoder.id and generation.outdated_words(current):
            rebuild(library, db, encoder, control=control, listener=listener)
        return Ingest(library, db, encoder, control, listener, limits, battery, passwords)
    except IndexDamaged:
        listener(Notice(REBUILT))
        rebuild(library, db, encoder, input_text, control=control, listener=listener)
        return Ingest(library, db, encoder, control, listener, limits, battery, passwords)


def _concepts(library: Path, db: Database, indexer: Indexer, control: Control, listener: Listener) -> int:
    """Fit concepts and fusion if need be, and return the generation in use; other work that waits goes first."""
    control.interruptible = True
    try:
        control.check()
        fit_concepts(library, db, indexer, control, listener)
        return keep_calibrated(library, passages.count(db), indexer, control, listener).number
    except Cancelled:
        if control.cancelled:
            raise
        return indexer.commit().number
    finally:
        control.interruptible = False


def fit_concepts(
    library: Path, db: Database, indexer: Indexer, control: Control, listener: Listener, *, force: bool = False
) -> Generation:
    """Fit the concepts anew when the library has outgrown them, and commit them."""
    current = generation.current(library)
    assert current is not None
    if not force and not stale.needs_fit(current, passages.count(db), library):
        return current
    snapshot = Snapshot.open(library)
    try:
        name = concepts_fit.fit(library, db, snapshot, indexer.encoder, control, listener)
    finally:
        snapshot.close()
    committed = indexer.commit(concepts=name or "")
    kept = {g.concepts for g in generation.history(library) if g.concepts}
    concepts_fit.prune(library, kept)
    return committed


def refit(library: Path, control: Control, listener: Listener) -> Generation:
    """Fit the concepts of the whole library again.

    Raises:
        NotALibrary, LibraryLocked, ModelMissing, Cancelled
    """
    database.require(library)
    with database.lock(library, "concepts"):
        db = database.open_writer(library)
        try:
            indexer = Indexer(library, db, encoder_for(library), control, listener)
            return fit_concepts(library, db, indexer, control, listener, force=True)
        finally:
            db.conn.close()


def delete(library: Path, *paths: Path) -> Receipt:
    """Remove files or folders from the library, also while a job is at work on it: that follows.

    Raises:
        NotALibrary, LibraryLocked, NotFound
    """
    database.require(library)
    db = database.open_writer(library)
    try:
        with database.known_errors(library):
            before = passages.last_id(db)
            receipt = remove(db, *(text_path(living.spelled(db, path)) for path in paths))
            if passages.last_id(db) != before:
                _index_inherited(library, db)
            return receipt
    finally:
        db.conn.close()


def _index_inherited(library: Path, db: Database) -> None:
    """Copies of other names took over what was deleted: their passages are new to the index, their vectors are stored.

    A job at work brings them in itself.
    """
    with contextlib.suppress(LibraryLocked, IndexDamaged), database.lock(library, "delete"):
        index_stored(library, db)
