"""The tools above a document: pages, zoom, find, and the way out to other programs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QIntValidator, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.i18n import grouped, tr
from app.widgets.buttons import Chip, IconButton
from app.widgets.card import row
from app.widgets.labels import Label


class PageTools(QWidget):
    """Previous, page number, next; smaller, larger, width; pages or text."""

    page_wanted = Signal(int)
    zoom = Signal(int)
    fit_width = Signal()
    text_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page, self._pages = 1, 1
        self._previous = IconButton("chevron-left", tr("Previous page"), lambda: self.page_wanted.emit(self._page - 1))
        self._next = IconButton("chevron-right", tr("Next page"), lambda: self.page_wanted.emit(self._page + 1))
        self._number = QLineEdit()
        self._number.setAccessibleName(tr("Page"))
        self._number.setFixedWidth(56)
        self._number.setValidator(QIntValidator(1, 999_999, self))
        self._number.returnPressed.connect(lambda: self.page_wanted.emit(int(self._number.text())))
        self._of = Label("", "small")
        smaller = IconButton("zoom-out", tr("Smaller"), lambda: self.zoom.emit(-1))
        larger = IconButton("zoom-in", tr("Larger"), lambda: self.zoom.emit(1))
        fit = Chip(tr("Width"))
        fit.setCheckable(False)
        fit.setToolTip(tr("As wide as there is room"))
        fit.setAccessibleName(tr("Fit to width"))
        fit.clicked.connect(lambda: self.fit_width.emit())
        self._as_text = Chip(tr("Text"), self.text_wanted.emit)
        self._as_text.setToolTip(tr("Show the text that was read instead of the pages"))
        line = row(
            self._previous, self._number, self._of, self._next, 6, smaller, larger, fit, self._as_text, None, spacing=4
        )
        line.setContentsMargins(0, 0, 0, 0)
        self.setLayout(line)

    def show_pages(self, pages: int) -> None:
        self._pages = pages
        self._of.setText(tr("of {n}", n=grouped(pages)))

    def show_page(self, page: int) -> None:
        self._page = page
        if not self._number.hasFocus() or self._number.text() != str(page):
            self._number.setText(str(page))
        self._previous.setEnabled(page > 1)
        self._next.setEnabled(page < self._pages)

    def show_as_text(self, on: bool) -> None:
        with QSignalBlocker(self._as_text):
            self._as_text.setChecked(on)


class FindBar(QWidget):
    """`wanted(words, backwards)`; Esc closes it."""

    wanted = Signal(str, bool)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Find in this document"))
        self.field.setAccessibleName(tr("Find in this document"))
        self.field.setClearButtonEnabled(True)
        self.field.installEventFilter(self)
        self.note = Label("", "small")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.field, 1)
        line.addWidget(self.note)
        line.addWidget(IconButton("chevron-up", tr("Find the one before"), lambda: self._want(True)))
        line.addWidget(IconButton("chevron-down", tr("Find the next one"), lambda: self._want(False)))
        line.addWidget(IconButton("close", tr("Close find"), self.closed.emit))

    def open(self) -> None:
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def say(self, text: str) -> None:
        self.note.setText(text)

    def _want(self, backwards: bool) -> None:
        if self.field.text():
            self.wanted.emit(self.field.text(), backwards)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._want(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.closed.emit()
                return True
        return super().eventFilter(watched, event)
