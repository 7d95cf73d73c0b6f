"""The hits of a search as a list model: what a row shows, and what a screen reader says of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.i18n import plural, tr
from app.widgets.page_offsets import one_line, shown
from core.base.files import path_shown
from core.base.types import Citation, Document, Hit, Passage, Span

HIT = Qt.ItemDataRole.UserRole


def name_of(document: Passage | Document) -> str:
    """What a document is called: its title, else its file name."""
    return shown(document.title.strip() or PurePath(path_shown(document.path)).name or document.path)


def name_of_citation(citation: Citation) -> str:
    return shown(citation.title.strip() or PurePath(path_shown(citation.document)).name or citation.document)


def location(path: str, external_id: str) -> str:
    """A document's file, and where in that file it is: "outer.zip › inner.pdf"."""
    base = PurePath(path_shown(path)).name
    return f"{base} › {external_id}" if external_id else base


def pages_text(first: int | None, last: int | None) -> str:
    """ "page 3", "pages 3–4", or nothing for formats without pages."""
    if first is None:
        return ""
    if last in (None, first):
        return tr("page {n}", n=first)
    return tr("pages {first}–{last}", first=first, last=last)


def place_of(passage: Passage) -> str:
    """File, page and headings of a passage in one line."""
    known = not passage.title.strip() and not passage.external_id  # the file's name is the title already
    file_name = "" if known else location(passage.path, passage.external_id)
    page = passage.place or pages_text(passage.first_page, passage.last_page)
    said = (passage.title, *passage.place.split(" · "))  # a sheet or a single chapter is its own heading
    headings = " › ".join(heading for heading in passage.heading_path if heading not in said)
    parts = [file_name, page, headings]
    return one_line("  ·  ".join(part for part in parts if part))


def copies_text(hit: Hit) -> str:
    """Where else a hit stands: "newest of 3 versions, +2 copies"; empty for one that stands alone."""
    versions = {copy.document_id for copy in hit.copies if not copy.exact}
    exact = len(hit.copies) - len(versions)
    parts = [tr("newest of {n} versions", n=len(versions) + 1)] if versions else []
    if exact:
        parts.append(plural(exact, "+{n} copy", "+{n} copies"))
    return ", ".join(parts)


def snippet_of(hit: Hit, length: int = 300) -> tuple[str, list[Span]]:
    """The part of the passage worth showing, in one line, and the matched words in it."""
    text = hit.passage.text
    start, end = hit.snippet.start, hit.snippet.end
    if not 0 <= start < end <= len(text):
        start, end = 0, min(len(text), length)
    before, after = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(before) - start
    inside = [
        Span(max(s.start, start) + shift, min(s.end, end) + shift) for s in hit.spans if s.start < end and s.end > start
    ]
    return before + one_line(text[start:end]) + after, inside


class HitModel(QAbstractListModel):
    """Rows are `Hit`s. Growing a list keeps its rows, so that selection and scroll position stay."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: tuple[Hit, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self._hits

    def show_hits(self, hits: Sequence[Hit]) -> None:
        new, old = tuple(hits), self._hits
        if old and len(new) > len(old) and new[: len(old)] == old:
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self._hits = new
            self.endInsertRows()
            return
        self.beginResetModel()
        self._hits = new
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._hits)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._hits):
            return None
        hit = self._hits[index.row()]
        if role == HIT:
            return hit
        if role == Qt.ItemDataRole.DisplayRole:
            return name_of(hit.passage)
        if role == Qt.ItemDataRole.ToolTipRole:
            return shown(hit.passage.path)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = (f"{hit.rank}", name_of(hit.passage), place_of(hit.passage), copies_text(hit), snippet_of(hit)[0])
            return ". ".join(part for part in parts if part)
        return None
