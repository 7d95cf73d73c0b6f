"""The table of documents: badges for states, names cut in the middle, a menu on each row."""

from __future__ import annotations

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
from app.models.documents import LANGUAGE, NAME, PAGES, PASSAGES, REASON, STATE, DocumentModel, ToneRole
from app.theme import Theme, colours
from core.base.types import Document

_WIDTHS = {NAME: 300, STATE: 128, PAGES: 72, PASSAGES: 92, LANGUAGE: 92}
# columns that are left out (the details pane has them) where the table is narrower than this
_SHOWN_FROM = {REASON: 620, PAGES: 760, LANGUAGE: 760, PASSAGES: 420}
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

    def __init__(self, model: DocumentModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._documents = model
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
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(REASON, QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(NAME, Qt.SortOrder.AscendingOrder)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(False)
        header.sortIndicatorChanged.connect(self._sort)

    def _sort(self, column: int, order: Qt.SortOrder) -> None:
        if self._documents.sortable(column):
            self._documents.sort(column, order)

    def current(self) -> Document | None:
        rows = self.selectionModel().selectedRows()
        return self._documents.document(rows[0].row()) if len(rows) == 1 else None

    def selected(self, limit: int = 500) -> list[Document]:
        """The chosen documents, at most `limit` of them."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())[:limit]
        found = (self._documents.document(row) for row in rows)
        return [document for document in found if document is not None]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()

    def _fit(self) -> None:
        """Rows and columns as large as the text size in force needs."""
        height = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(height + 19)
        for column in (STATE, PAGES, PASSAGES, LANGUAGE):
            self.setColumnWidth(column, round(_WIDTHS[column] * max(height / 19, 1)))
        for column, least in _SHOWN_FROM.items():
            self.setColumnHidden(column, self.viewport().width() < least * max(height / 19, 1))

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
