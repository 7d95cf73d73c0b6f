"""Ingestion as one job: scan, read, store, encode, index. Killed anywhere, the next run goes on.

Each document is one transaction; a file counts as read only when all its documents are stored; passages
that are stored but not in the index are found again by comparing the two. Documents may be removed beside a run:
what it is about to store is looked for first, and its lists follow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlite_utils import Database

from core.base.errors import Cancelled
from core.base.events import Control, Listener, Progress, Throttle
from core.base.files import path_text, text_path
from core.base.types import DocumentState, FileFailure, Generation, IngestReport, ReadDocument
from core.encode.encoder import Encoder
from core.ingest import families, order, reading, removal
from core.ingest.catching_up import CACHE, SPOOL, CaughtUp, catch_up, is_struck
from core.ingest.guards import BatteryGuard, DiskGuard
from core.ingest.indexing import Indexer
from core.ingest.limits import Limits
from core.ingest.pace import Pace, cost_of
from core.ingest.passwords import Passwords
from core.ingest.reading import Ended, Item, Read, ReadingThread, Started, Step, Surroundings
from core.ingest.removed import Removed
from core.ingest.scan import FoundFile, check_path
from core.ingest.storing import store_document
from core.ingest.strikes import Marker
from core.store import copies, documents, living, passages
from core.store.database import transaction

_POLL_SECONDS = 0.2
_PATIENT_SECONDS = 300.0  # spent on the pictures of one file before what was read of them is stored
_UNSETTLED = frozenset({DocumentState.MISSING, DocumentState.CHANGING})
_BACKLOG = 512  # stored passages that may wait for the encoder while reading goes on


@dataclass(slots=True)
class _File:
    """The file at work: what was stored of it so far."""

    started: Started
    file_id: int
    keep: set[int] = field(default_factory=set)
    state: DocumentState = DocumentState.READ
    reason: str = ""
    readable: bool = False
    dropped: bool = False  # removed from the library meanwhile: nothing more of it is stored


class Ingest:
    """One run over a library that this process holds the lock of."""

    def __init__(
        self,
        library: Path,
        db: Database,
        encoder: Encoder,
        control: Control,
        listener: Listener,
        limits: Limits | None = None,
        battery: bool = False,
        passwords: Passwords | None = None,
    ) -> None:
        """With `battery` the work waits while the machine runs on its battery."""
        self._passwords = passwords or Passwords()
        self._library = library
        self._db = db
        self._control = control
        self._listener = listener
        limits = limits or Limits()
        self._limits = replace(
            limits, spool=limits.spool or str(library / SPOOL), cache=limits.cache or str(library / CACHE)
        )
        self._encoder = encoder
        self._indexer = Indexer(library, db, encoder, control, listener)
        self._throttle = Throttle()
        self._begun = time.monotonic()
        self._failed: list[FileFailure] = []
        self._unchanged = self._files_read = 0
        self._files = self._files_done = 0
        self._detail = ""  # of the file at work: how far it is
        self._pace = Pace(0)
        self._added: list[str] = []
        self._removed = Removed(db)
        self._disk = DiskGuard(library)
        self._battery = BatteryGuard(control, self._on_battery) if battery else None

    def run(self, paths: Sequence[Path] = (), *, retry: bool = False, first: Sequence[str] = ()) -> IngestReport:
        """Add `paths` as roots, then bring the library up to date with all its roots; they and `first` go first.

        Raises:
            PathMissing, NoPermission: for one of `paths`, before anything is changed.
            Cancelled: what was stored until then stays, and is indexed by the next run.
            DiskFull, KnownError
        """
        for path in paths:
            check_path(path)
        self._disk.need(0)
        added = [path_text(path.resolve()) for path in paths]
        self._added = [*added, *first]
        with transaction(self._db):
            for text, path in zip(added, paths, strict=True):
                documents.add_path(self._db, text, path.is_dir())
        self._report("scanning", 0, 0, force=True)
        marker = Marker(self._library)
        left = marker.left()
        try:
            caught = catch_up(self._db, self._library, self._control, left, retry=retry, looked=self._looked)
            for document_id in caught.reposted:
                self._indexer.add_document(document_id, urgent=True)
            self._failed += caught.found.failed
            files = order.in_order(
                caught.found.read, self._added, caught.found.sizes, settle=reading.SETTLE_SECONDS, suspect=left.path
            )
            self._read(files, marker, self._limits)
            self._encode_rest()
            self._read_on(marker)
            families.update(self._db, self._control, self._compared)
        finally:
            marker.close()
            # cancelled or failed: what is encoded already shall be found
            if self._indexer.has_ready:
                self._indexer.flush()
        return self._result(caught, self._finish())

    def _finish(self) -> Generation:
        """Merging may be broken off when other work is to go first: the next run does it."""
        if self._control.giving_way:
            return self._indexer.flush()
        self._report("indexing", self._indexer.indexed, self._indexer.indexed, force=True)
        self._disk.need(self._indexer.merge_bytes())
        self._control.interruptible = True
        try:
            return self._indexer.finish(settled=not any(f.state in _UNSETTLED for f in self._failed))
        except Cancelled:
            if not self._control.giving_way or self._control.cancelled:
                raise
            return self._indexer.commit()
        finally:
            self._control.interruptible = False

    @property
    def indexer(self) -> Indexer:
        return self._indexer

    def _read_on(self, marker: Marker) -> None:
        """Pages that were left for later are read from their pictures, now that all the rest can be searched."""
        told: dict[int, str] = {}
        stuck: set[int] = set()
        while not self._control.giving_way and (left := living.unfinished(self._db, stuck)) is not None:
            file, reason = left
            if told.get(file.id) == reason:  # the last reading brought it no further
                stuck.add(file.id)
                continue
            told[file.id] = reason
            path = text_path(file.path)
            found = FoundFile(path, file.path, file.root_id, file.size, file.mtime_ns, file_id=file.id, stored=True)
            self._read([found], marker, replace(self._limits, ocr_seconds=_PATIENT_SECONDS))
            self._encode_rest()

    def _read(self, files: Sequence[FoundFile], marker: Marker, limits: Limits) -> None:
        """Store what the reading thread hands on, and encode whenever it has nothing ready."""
        self._files, self._files_done = len(files), 0
        self._pace = Pace(sum(cost_of(file.size) for file in files))
        current: _File | None = None
        again = {file.file_id for file in files if file.file_id is not None}  # may be something else by then
        twins = copies.twins(self._db, again)
        around = Surroundings(limits, marker, self._removed.wanted, twins, self._passwords)
        with ReadingThread(files, around, self._control) as thread:
            while not thread.done:
                self._guard()
                item = thread.poll(0 if self._indexer.waiting else _POLL_SECONDS)
                if item is not None:
                    current = self._take(item, current)
                elif not thread.done and self._indexer.waiting:
                    self._encode_step("reading")
                elif not thread.done:  # one file takes long
                    self._report("reading", self._files_done, self._files, detail=self._detail or marker.at)
                if self._indexer.overdue or self._indexer.waiting >= _BACKLOG:
                    self._encode_step("reading")

    def _guard(self) -> None:
        """Between two units of work: whether it may go on."""
        self._control.check()
        self._removed.look()
        self._disk.look()
        if self._battery is not None:
            self._battery.wait()

    def _on_battery(self) -> None:
        self._report("battery", self._files_done, self._files)

    def _compared(self, count: int, total: int) -> None:
        self._report("indexing", count, total)

    def _looked(self, count: int) -> None:
        self._report("scanning", count, 0)

    def _take(self, item: Item, current: _File | None) -> _File | None:
        if isinstance(item, Step):
            self._detail = f"{item.file.text}: {item.detail}"
            self._report("reading", self._files_done, self._files, detail=self._detail)
            return current
        if isinstance(item, Started):
            return self._start(item)
        if isinstance(item, Ended) and item.dropped:
            self._files_done += 1
            return None
        assert current is not None
        if isinstance(item, Read):
            self._store(item, current)
            return current
        self._end(item, current)
        return None

    def _start(self, item: Started) -> _File:
        file = item.file
        self._report("reading", self._files_done, self._files, detail=file.text)
        with transaction(self._db):
            if not living.may_store(self._db, file.root_id, file.text):
                return _File(item, 0, dropped=True)
            if item.unchanged and file.file_id is not None:
                documents.touch_file(self._db, file.file_id, file.size, file.mtime_ns)
                return _File(item, file.file_id)
            if item.keeps and file.file_id is not None:
                return _File(item, file.file_id)
            file_id = documents.put_file(self._db, file.root_id, file.text, file.size, file.mtime_ns, item.hash)
            cloned = set(copies.clone_file(self._db, file_id, file.text, item.hash)) if item.twin else set()
        return _File(item, file_id, cloned, readable=bool(cloned))

    def _store(self, item: Read, current: _File) -> None:
        if current.dropped:
            return
        document = self._judged(item.document, current)
        stored = store_document(self._db, self._encoder, current.file_id, current.started.file, document)
        if stored is None:
            current.dropped = True
            return
        current.keep.add(stored.document_id)
        current.readable = current.readable or document.state.has_text
        if not current.readable or document.state in (DocumentState.TRUNCATED, DocumentState.UNFINISHED):
            current.state, current.reason = document.state, document.reason
        if stored.fresh:
            ahead = order.is_first(current.started.file, self._added)
            self._indexer.add_document(stored.document_id, urgent=stored.replaced, ahead=ahead)

    def _judged(self, document: ReadDocument, current: _File) -> ReadDocument:
        """A reading that took the child down is a strike; after three the file is left alone."""
        if not is_struck(document.state):
            return document
        with transaction(self._db):
            strikes = living.strike(self._db, current.file_id)
        if strikes < living.QUARANTINE_STRIKES:
            return document
        reason = f"{document.reason} {reading.QUARANTINE_REASON}"
        return replace(document, state=DocumentState.QUARANTINED, reason=reason)

    def _end(self, item: Ended, current: _File) -> None:
        self._detail = ""
        self._files_done += 1
        self._pace.read(current.started.file.size)
        if current.dropped:
            return
        if current.started.unchanged:
            self._unchanged += 1
            return
        path = current.started.file.text
        if not item.steady:  # it stays incomplete, or as it was, and is read again by the next scan
            if item.reason:
                self._failed.append(FileFailure(path, DocumentState.CHANGING, item.reason))
            return
        if current.started.twin and not current.keep:
            return  # its twin went meanwhile: it stays incomplete, and is read by the next scan
        state = DocumentState.READ if current.readable and not current.state.has_text else current.state
        if not current.keep:
            state, current.reason = DocumentState.EMPTY, "The file holds no documents."
        with transaction(self._db):
            if not living.has_file(self._db, current.file_id, path):
                return
            others = documents.others_of(self._db, current.file_id, current.keep)
            removal.delete_documents(self._db, others)
            documents.finish_file(self._db, current.file_id, state, current.reason, item.seconds)
            if state.has_text:
                living.clear_strikes(self._db, current.file_id)
        self._files_read += state.has_text
        if not state.has_text:
            self._failed.append(FileFailure(path, state, current.reason))
        self._report("reading", self._files_done, self._files, detail=path)

    def _encode_rest(self) -> None:
        with transaction(self._db):
            copies.settle(self._db)
        self._indexer.catch_up()
        while self._indexer.waiting and not self._control.giving_way:
            self._guard()
            self._encode_step("encoding")

    def _encode_step(self, stage: str) -> None:
        begun, before = time.monotonic(), self._indexer.done
        self._indexer.step()
        done = self._indexer.done
        self._pace.encoded(done - before, time.monotonic() - begun)
        self._report(
            stage, *((done, done + self._indexer.waiting) if stage == "encoding" else (self._files_done, self._files))
        )

    def _report(self, stage: str, done: int, total: int, *, detail: str = "", force: bool = False) -> None:
        if not force and not self._throttle.ready():
            return
        counts = {
            "files": self._files_done, "files_total": self._files, "encoded": self._indexer.done,
            "waiting": self._indexer.waiting, "failed": len(self._failed),
        }  # fmt: skip
        left = self._pace.seconds_left(self._indexer.waiting) if stage in ("reading", "encoding") else None
        self._listener(Progress(stage, done, total, detail, counts, left))

    def _result(self, caught: CaughtUp, generation: Generation) -> IngestReport:
        return IngestReport(
            documents=documents.count(self._db), passages=passages.count(self._db),
            skipped=caught.found.unchanged + self._unchanged,
            removed=caught.removed, failed=tuple(self._failed), seconds=time.monotonic() - self._begun,
            encoded=self._indexer.encoded, generation=generation.number, moved=caught.moved,
            away=tuple(caught.found.away), gave_way=self._control.giving_way,
            read=self._files_read,
        )  # fmt: skip
