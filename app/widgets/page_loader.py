"""Reads a stored document off the window's thread: its text, and whether its file is still the one that was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, Signal

from core.base.files import text_path
from core.base.types import Block, Document, Page
from core.library import Library

_STEP = 1 << 20


class FileState(StrEnum):
    """What became of the file since it was read."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    document: Document
    text: str
    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]

    def page_of(self, offset: int) -> int | None:
        """Number of the page that holds `offset`; the last one that starts before it."""
        found = None
        for page in self.pages:
            if page.start > offset:
                break
            found = page.number
        return found


class DocumentLoader(QObject):
    """One document at a time; a newer `load` makes what comes of the older unheard."""

    loaded = Signal(object)  # StoredDocument
    checked = Signal(object)  # FileState
    failed = Signal(object)
    _arrived = Signal(int, str, object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._ticket = 0
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._pool.setExpiryTimeout(1000)
        self._arrived.connect(self._hear)

    def load(self, document_id: int) -> None:
        self._ticket += 1
        ticket = self._ticket
        self._pool.start(lambda: self._work(ticket, document_id))

    def stop(self) -> None:
        """Hear nothing more, and wait for the thread to end."""
        self._ticket += 1
        self._pool.waitForDone(2000)

    def _hear(self, ticket: int, what: str, value: object) -> None:
        if ticket == self._ticket:
            {"loaded": self.loaded, "checked": self.checked, "failed": self.failed}[what].emit(value)

    # on the other thread

    def _work(self, ticket: int, document_id: int) -> None:
        try:
            library = Library.open(self._folder)
            try:
                document = library.document(document_id)
                stored = StoredDocument(document, *library.document_text(document_id))
                content_hash = library.content_hash(document_id)
            finally:
                library.close()
            self._arrived.emit(ticket, "loaded", stored)
            self._arrived.emit(ticket, "checked", self._check(ticket, text_path(document.path), content_hash))
        except Exception as error:
            self._arrived.emit(ticket, "failed", error)

    def _check(self, ticket: int, path: Path, content_hash: str) -> FileState:
        digest = hashlib.sha256()
        try:
            with path.open("rb") as file:
                while chunk := file.read(_STEP):
                    if ticket != self._ticket:
                        return FileState.SAME  # nobody listens any more
                    digest.update(chunk)
        except FileNotFoundError:
            return FileState.GONE
        except (OSError, ValueError):
            return FileState.UNREADABLE
        return FileState.SAME if digest.hexdigest() == content_hash else FileState.CHANGED
