"""Ingestion as one job: scan, read, store, encode, index. Killed anywhere, the next run goes on.

Each document is one transaction; a file counts as read only when all its documents are stored; passages
that are stored but not in the index are found again by comparing the two.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from core.base.events import Control, Listener, Progress, Throttle
from core.base.files import path_text
from core.base.types import DocumentState, FileFailure, Generation, IngestReport
from core.encode.encoder import Encoder
from core.ingest.indexing import Indexer
from core.ingest.limits import Limits
from core.ingest.reading import Ended, Item, Read, ReadingThread, Started
from core.ingest.scan import ScanResult, check_path, scan
from core.ingest.storing import store_document
from core.store import documents, passages
from core.store.database import transaction

_POLL_SECONDS = 0.2
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
    ) -> None:
        self._library = library
        self._db = db
        self._control = control
        self._listener = listener
        self._limits = limits or Limits()
        self._encoder = encoder
        self._indexer = Indexer(library, db, encoder, control, listener)
        self._throttle = Throttle()
        self._begun = time.monotonic()
        self._failed: list[FileFailure] = []
        self._removed = self._unchanged = 0
        self._files = self._files_done = 0
        self._encode_begun: float | None = None

    def run(self, paths: Sequence[Path] = (), *, retry: bool = False) -> IngestReport:
        """Add `paths` as roots, then bring the library up to date with all its roots.

        Raises:
            PathMissing, NoPermission: for one of `paths`, before anything is changed.
            Cancelled: what was stored until then stays, and is indexed by the next run.
            DiskFull, KnownError
        """
        for path in paths:
            check_path(path)
        with transaction(self._db):
            for path in paths:
                documents.add_path(self._db, path_text(path.resolve()), path.is_dir())
        self._report("scanning", 0, 0, force=True)
        known, excluded = documents.files(self._db), documents.excluded(self._db)
        found = scan(documents.roots(self._db), known, self._library, excluded, retry=retry)
        self._failed += found.failed
        self._remove(found)
        self._files = len(found.read)
        try:
            self._read(found)
            self._encode_rest()
        finally:
            # cancelled or failed: what is encoded already shall be found
            if self._indexer.has_ready:
                self._indexer.flush()
        self._report("indexing", self._indexer.indexed, self._indexer.indexed, force=True)
        generation = self._indexer.finish()
        return self._result(found, generation)

    @property
    def indexer(self) -> Indexer:
        return self._indexer

    def _remove(self, found: ScanResult) -> None:
        for row in found.gone:
            self._control.check()
            with transaction(self._db):
                gone, _ = documents.delete_file(self._db, row.id)
            self._removed += gone

    def _read(self, found: ScanResult) -> None:
        """Store what the reading thread hands on, and encode whenever it has nothing ready."""
        current: _File | None = None
        with ReadingThread(found.read, self._limits, self._control) as reading:
            while not reading.done:
                self._control.check()
                item = reading.poll(0 if self._indexer.waiting else _POLL_SECONDS)
                if item is not None:
                    current = self._take(item, current)
                elif not reading.done and self._indexer.waiting:
                    self._encode_step("reading")
                if self._indexer.overdue or self._indexer.waiting >= _BACKLOG:
                    self._encode_step("reading")

    def _take(self, item: Item, current: _File | None) -> _File | None:
        if isinstance(item, Started):
            return self._start(item)
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
            if item.unchanged and file.file_id is not None:
                documents.touch_file(self._db, file.file_id, file.size, file.mtime_ns)
                return _File(item, file.file_id)
            file_id = documents.put_file(self._db, file.root_id, file.text, file.size, file.mtime_ns, item.hash)
        return _File(item, file_id)

    def _store(self, item: Read, current: _File) -> None:
        stored = store_document(self._db, self._encoder, current.file_id, current.started.file, item.document)
        current.keep.add(stored.document_id)
        current.readable = current.readable or item.document.state.has_text
        if not current.readable or item.document.state is DocumentState.TRUNCATED:
            current.state, current.reason = item.document.state, item.document.reason
        if stored.fresh:
            self._indexer.add_document(stored.document_id, urgent=stored.replaced)

    def _end(self, item: Ended, current: _File) -> None:
        self._files_done += 1
        if current.started.unchanged:
            self._unchanged += 1
            return
        if not item.steady:
            return  # a collection that changed meanwhile stays incomplete and is read again by the next scan
        state = DocumentState.READ if current.readable and not current.state.has_text else current.state
        if not current.keep:
            state, current.reason = DocumentState.EMPTY, "The file holds no documents."
        with transaction(self._db):
            documents.delete_others(self._db, current.file_id, current.keep)
            documents.finish_file(self._db, current.file_id, state, current.reason, item.seconds)
        if not state.has_text:
            self._failed.append(FileFailure(current.started.file.text, state, current.reason))
        self._report("reading", self._files_done, self._files, detail=current.started.file.text)

    def _encode_rest(self) -> None:
        while self._indexer.waiting:
            self._encode_step("encoding")

    def _encode_step(self, stage: str) -> None:
        if self._encode_begun is None:
            self._encode_begun = time.monotonic()
        self._indexer.step()
        done = self._indexer.done
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
        self._listener(Progress(stage, done, total, detail, counts, self._seconds_left()))

    def _seconds_left(self) -> float | None:
        """From the pace so far; None while there is too little to tell, or files still unread."""
        done = self._indexer.done
        if self._encode_begun is None or done < 128 or self._files_done < self._files:
            return None
        return (time.monotonic() - self._encode_begun) / done * self._indexer.waiting

    def _result(self, found: ScanResult, generation: Generation) -> IngestReport:
        return IngestReport(
            documents=documents.count(self._db), passages=passages.count(self._db),
            skipped=found.unchanged + self._unchanged,
            removed=self._removed, failed=tuple(self._failed), seconds=time.monotonic() - self._begun,
            encoded=self._indexer.encoded, generation=generation.number,
        )  # fmt: skip
