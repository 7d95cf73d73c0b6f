"""The table of documents: badges for states, names cut in the middle, a menu on each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.i18n import tr
from app.models.documents import (
    KIND,
    LANGUAGE,
    NAME,
    OCR,
    PAGES,
    PASSAGES,
    READER,
    REASON,
    SECONDS,
    STATE,
    TITLES,
    DocumentModel,
    ToneRole,
)
from app.theme import Theme, colours
from core.base.types import Document

_WIDTHS = {
    NAME: 300, STATE: 134, REASON: 210, KIND: 110, PAGES: 72, OCR: 100, PASSAGES: 92, LANGUAGE: 92, READER: 110,
    SECONDS: 84,
}  # fmt: skip
_LEAST_NAME = 220
# what is shown where there is room for it, the most wanted first; the details pane has everything
DEFAULT = (STATE, PASSAGES, REASON, PAGES, KIND)
CHOICES = tuple(column for column in range(len(TITLES)) if column not in (NAME, STATE))
_SOFT = {"neutral": ("neutral_soft", "text"), "accent": ("accent_soft", "accent_text")}


class BadgeDelegate(QStyledItemDelegate):
    """The state as words on a tinted ground."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Any) -> None:
        ground = QStyleOptionViewItem(option)
        self.initStyleOption(ground, index)
        ground.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, ground, painter, option.widget)
        words, tone = index.data(), index.data(ToneRole)
        if not words:
            return
        soft, ink = _SOFT.get(tone, (f"{tone}_soft", tone))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font("small", bold=True))
        metrics = painter.fontMetrics()
        width = min(metrics.horizontalAdvance(words) + 18, option.rect.width() - 8)
        height = metrics.height() + 4
        box = QRectF(option.rect.left() + 6, option.rect.center().y() - height / 2 + 1, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours().colour(soft))
        painter.drawRoundedRect(box, height / 2, height / 2)
        painter.setPen(colours().colour(ink))
        painter.drawText(
            box, Qt.AlignmentFlag.AlignCenter, metrics.elidedText(words, Qt.TextElideMode.ElideRight, int(width - 12))
        )
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Any) -> QSize:
        return QSize(120, 32)


class ReasonDelegate(QStyledItemDelegate):
    """Sentences are cut at their end, unlike names."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Any) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


class DocumentTable(QTableView):
    """`chosen(Document | None)` follows the selection, `opened(Document)` Return or a double click."""

    chosen = Signal(object)
    opened = Signal(object)
    remove_asked = Signal()
    menu_asked = Signal(object)
    columns_asked = Signal(object)

    def __init__(
        self, model: DocumentModel, theme: Theme, parent: QWidget | None = None, *, columns: Sequence[int] = ()
    ) -> None:
        """`columns` are those the person chose; the usual ones for none."""
        super().__init__(parent)
        self.setModel(model)
        self._documents = model
        self._wanted = _by_want(columns)
        self.setAccessibleName(tr("Documents"))
        self.setItemDelegateForColumn(STATE, BadgeDelegate(theme, self))
        self.setItemDelegateForColumn(REASON, ReasonDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda at: self.menu_asked.emit(self.viewport().mapToGlobal(at)))
        self.verticalHeader().hide()
        self._columns()
        self._fit()
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit(self.current()))
        self.doubleClicked.connect(self._open)

    def _columns(self) -> None:
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setMinimumSectionSize(56)
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, width)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(lambda at: self.columns_asked.emit(header.mapToGlobal(at)))
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(NAME, Qt.SortOrder.AscendingOrder)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(False)
        header.sortIndicatorChanged.connect(self._sort)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        if self._documents.sortable(column):
            self._documents.sort(column, order)

    def columns(self) -> list[int]:
        """The columns that are shown where there is room."""
        return sorted(self._wanted)

    def show_columns(self, columns: Sequence[int]) -> None:
        self._wanted = _by_want(columns)
        self._fit()

    def current(self) -> Document | None:
        """The chosen document, where it is a single one."""
        ranges = self._ranges()
        one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
        return self._documents.document(ranges[0][0]) if one else None

    def number_selected(self) -> int:
        return sum(last - first + 1 for first, last in self._ranges())

    def selected(self) -> list[Document]:
        """The chosen documents."""
        return [document for first, last in self._ranges() for document in self._documents.documents(first, last)]

    def _ranges(self) -> list[tuple[int, int]]:
        """The runs of chosen rows. One row may be in several ranges, by its columns."""
        found = sorted({(part.top(), part.bottom()) for part in self.selectionModel().selection()})
        runs: list[tuple[int, int]] = []
        for first, last in found:
            if runs and first <= runs[-1][1] + 1:
                runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
            else:
                runs.append((first, last))
        return runs

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()

    def _fit(self) -> None:
        """Rows and columns as large as the text size in force needs."""
        height = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(height + 19)
        scale = max(height / 19, 1)
        room = self.viewport().width() / scale - _LEAST_NAME
        for column in self._wanted:
            room -= _WIDTHS[column]
            self.setColumnHidden(column, room < 0)
        for column in range(1, len(TITLES)):
            if column not in self._wanted:
                self.setColumnHidden(column, True)
            else:
                self.setColumnWidth(column, round(_WIDTHS[column] * scale))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif event.key() == Qt.Key.Key_Delete:
            self.remove_asked.emit()
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        document = self._documents.document(index.row()) if index.isValid() else None
        if document is not None:
            self.opened.emit(document)


def _by_want(columns: Sequence[int]) -> tuple[int, ...]:
    """The columns as they get room: the state first, then what the person added to the usual ones, then those."""
    chosen = [column for column in columns if column in CHOICES] or list(DEFAULT)
    added = [column for column in chosen if column not in DEFAULT]
    return (STATE, *added, *(column for column in DEFAULT if column in chosen and column != STATE))
