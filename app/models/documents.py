"""The documents of the library as a table: paged out of SQLite, whatever their number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.i18n import grouped, tr
from app.models.states import KINDS, WORDS
from app.tasks.remaining import duration
from core.base.files import path_shown
from core.base.types import Document, DocumentState
from core.library import Library

NAME, STATE, REASON, KIND, PAGES, OCR, PASSAGES, LANGUAGE, READER, SECONDS = range(10)
TITLES = (
    "Name", "State", "What happened", "Kind", "Pages", "By picture", "Passages", "Language", "Reader", "Time",
)  # fmt: skip
_SORTS = {
    NAME: "name", STATE: "state", KIND: "type", PAGES: "pages", PASSAGES: "passages", READER: "reader",
    SECONDS: "seconds",
}  # fmt: skip
_NUMBERS = frozenset({PAGES, OCR, PASSAGES, SECONDS})
PAGE = 100  # rows read at once: a millisecond or two
_KEPT = 20  # pages kept in memory
DocumentRole = Qt.ItemDataRole.UserRole
ToneRole = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex


class DocumentModel(QAbstractTableModel):
    """Rows are counted, not held: a page of them is read when it is looked at.

    `refresh` reads again what is shown and keeps the scroll position; `filter` and `sort` begin anew.
    `counted(int)`: how many rows there are now.
    """

    counted = Signal(int)

    def __init__(self, library: Library, parent: Any = None) -> None:
        super().__init__(parent)
        self._library = library
        self._states: tuple[DocumentState, ...] = ()
        self._text = ""
        self._sort, self._descending = "name", False
        self._rows = 0
        self._pages: OrderedDict[int, list[Document]] = OrderedDict()

    # what to show

    def filter(self, states: Iterable[DocumentState], text: str) -> None:
        wanted = (tuple(sorted(states)), text.strip())
        if wanted != (self._states, self._text):
            self._states, self._text = wanted
            self.reload()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        wanted = (_SORTS.get(column, "name"), order == Qt.SortOrder.DescendingOrder)
        if wanted != (self._sort, self._descending):
            self._sort, self._descending = wanted
            self.reload()

    def sortable(self, column: int) -> bool:
        return column in _SORTS

    def reload(self) -> None:
        self.beginResetModel()
        self._pages.clear()
        self._rows = self._count()
        self.endResetModel()
        self.counted.emit(self._rows)

    def refresh(self) -> None:
        """The library changed: forget the pages, fit the number of rows."""
        rows = self._count()
        self._pages.clear()
        if rows > self._rows:
            self.beginInsertRows(QModelIndex(), self._rows, rows - 1)
            self._rows = rows
            self.endInsertRows()
        elif rows < self._rows:
            self.beginRemoveRows(QModelIndex(), rows, self._rows - 1)
            self._rows = rows
            self.endRemoveRows()
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(TITLES) - 1))
        self.counted.emit(rows)

    def _count(self) -> int:
        return self._library.count(states=self._states, text=self._text)

    # what Qt asks

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(TITLES[section])
        if role == Qt.ItemDataRole.ToolTipRole and section == OCR:
            return tr("Pages whose text was read from their picture")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        document = self.document(index.row()) if index.isValid() else None
        if document is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _words(document, column)
        if role == DocumentRole:
            return document
        if role == ToneRole:
            return WORDS[document.state].tone
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(document, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{tr(TITLES[column])}: {_words(document, column) or tr('none')}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def document(self, row: int) -> Document | None:
        """The document of a row; None when the library shrank in the meantime."""
        number, place = divmod(row, PAGE)
        page = self._page(number)
        return page[place] if place < len(page) else None

    def documents(self, first: int, last: int) -> list[Document]:
        """Those of a range of rows, both ends included, read in one go."""
        return self._library.documents(
            states=self._states, text=self._text, sort=self._sort, descending=self._descending,
            offset=first, limit=last - first + 1,
        )  # fmt: skip

    def _page(self, number: int) -> list[Document]:
        page = self._pages.get(number)
        if page is None:
            page = self._library.documents(
                states=self._states, text=self._text, sort=self._sort, descending=self._descending,
                offset=number * PAGE, limit=PAGE,
            )  # fmt: skip
            self._pages[number] = page
            if len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page


def name(document: Document) -> str:
    """What a document is called in a list: its file's name, and its own id within a collection."""
    base = PurePath(path_shown(document.path)).name
    return f"{base} › {document.external_id}" if document.external_id else base


def kind(document: Document) -> str:
    """The kind of a document in a word or two."""
    return tr(KINDS.get(document.media_type, "Other")) if document.media_type else ""


def _words(document: Document, column: int) -> str:
    if column == NAME:
        return name(document)
    if column == STATE:
        return tr(WORDS[document.state].title)
    if column == REASON:
        return document.reason or (document.warnings[0] if document.warnings else "")
    if column == KIND:
        return kind(document)
    if column == LANGUAGE:
        return document.language
    if column == READER:
        return document.reader
    if column == SECONDS:
        return duration(document.seconds) if document.seconds else "–"
    value = {PAGES: document.pages, OCR: len(document.ocr_pages), PASSAGES: document.passages}[column]
    return grouped(value) if value else "–"


def _tip(document: Document, column: int) -> str:
    if column == NAME:
        return str(Path(document.path))
    if column == KIND:
        return document.media_type
    if column == REASON:
        return "\n".join(part for part in (document.reason, *document.warnings) if part)
    return ""


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
