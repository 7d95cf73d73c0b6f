"""Reads a stored document off the window's thread: its text, and whether its file is still the one that was read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.widgets.page_background import Background
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
    content_hash: str

    def page_of(self, offset: int) -> int | None:
        """Number of the page that holds `offset`; the last one that starts before it."""
        found = None
        for page in self.pages:
            if page.start > offset:
                break
            found = page.number
        return found

    def named_place(self, offset: int) -> str:
        """The sheet with its cells, the slide, or the line that holds `offset`; empty where places have no names."""
        label = next((p.label for p in reversed(self.pages) if p.start <= offset), "")
        block = next((b for b in reversed(self.blocks) if b.start <= offset), None)
        return " · ".join(part for part in (label, block.place if block else "") if part)


class DocumentLoader(QObject):
    """One document at a time; a newer `load` makes what comes of the older unheard."""

    loaded = Signal(object)  # StoredDocument
    checked = Signal(object)  # FileState
    failed = Signal(object)

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._turn = 0
        self._background = Background(self)

    def load(self, document_id: int) -> None:
        """`loaded` comes first, `checked` when the file has been compared with what was read; or `failed`."""
        self._turn += 1
        turn = self._turn
        self._background.run(lambda: _read(self._folder, document_id), lambda value: self._read(turn, value))

    def stop(self) -> None:
        """Hear nothing more of what was asked."""
        self._turn += 1

    def _read(self, turn: int, value: object) -> None:
        if turn != self._turn:
            return
        if not isinstance(value, StoredDocument):
            self.failed.emit(value)
            return
        self.loaded.emit(value)
        self._background.run(
            lambda: _check(text_path(value.document.path), value.content_hash, lambda: turn != self._turn),
            lambda state: self.checked.emit(state) if turn == self._turn else None,
        )


def _read(folder: Path, document_id: int) -> StoredDocument:
    """Raises NotFound, LibraryDamaged."""
    library = Library.open(folder)
    try:
        document = library.document(document_id)
        return StoredDocument(document, *library.document_text(document_id), library.content_hash(document_id))
    finally:
        library.close()


def _check(path: Path, content_hash: str, over: Callable[[], bool]) -> FileState:
    """Compare a file with the hash it had; given up as SAME when `over` says that nobody waits."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while not over() and (chunk := file.read(_STEP)):
                digest.update(chunk)
    except FileNotFoundError:
        return FileState.GONE
    except (OSError, ValueError):
        return FileState.UNREADABLE
    return FileState.SAME if over() or digest.hexdigest() == content_hash else FileState.CHANGED
