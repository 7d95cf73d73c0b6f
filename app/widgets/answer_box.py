"""Where a question is written: Enter asks, Shift+Enter breaks the line; while an answer runs, the button stops it."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.buttons import Button, Chip
from app.widgets.card import row
from app.widgets.labels import ElidedLabel, Label

MOST_LINES = 6


class QuestionBox(QWidget):
    """`recalled` when the last question is wanted again: Up in an empty box. While a question is edited, what is asked
    stands in its place, as a version of its own."""

    asked = Signal(str)
    stopped = Signal()
    recalled = Signal()
    edit_ended = Signal()  # the person does not want to edit after all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QPlainTextEdit()
        self.field.setPlaceholderText(tr("Ask a question about your documents"))
        self.field.setAccessibleName(tr("Question"))
        self.field.setTabChangesFocus(True)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._changed)
        self.quotes_only = Chip(tr("Quotes only"))
        self.quotes_only.setToolTip(tr("Answer with sentences of your documents, without the local model"))
        self.read_all = Chip(tr("Read everything"))
        self.read_all.setToolTip(
            tr("Answer from all passages that match, not from the best ones; “how many” and the like always do so")
        )
        self._ask = Button(tr("Ask"), "primary", "send", self.ask)
        self._stop = Button(tr("Stop"), "secondary", "stop", self.stopped.emit)
        self._stop.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._edit_line())
        column.addWidget(self.field)
        hint = ElidedLabel(tr("Enter asks, Shift+Enter starts a new line"), "small", mode=Qt.TextElideMode.ElideRight)
        line = row(self.quotes_only, self.read_all, hint, self._stop, self._ask)
        line.setStretch(2, 1)
        column.addLayout(line)
        self._changed()

    @property
    def mode(self) -> str:
        """What the answer child is asked for."""
        return "extractive" if self.quotes_only.isChecked() else "auto"

    @property
    def everything(self) -> bool:
        """Is all that matches to be read for the answer?"""
        return self.read_all.isChecked()

    def take_focus(self) -> None:
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def ask(self) -> None:
        text = self.field.toPlainText().strip()
        if text and self._ask.isVisibleTo(self):
            self.field.clear()
            self.asked.emit(text)

    def _edit_line(self) -> QHBoxLayout:
        note = tr("You are editing a question. The old one stays, as a version of its own.")
        self.editing_note = Label(note, "small", wrap=True)
        self._keep = Button(tr("Leave it as it was"), "link", "", self.edit_ended.emit)
        self.editing_note.hide()
        self._keep.hide()
        line = row(self.editing_note, self._keep)
        line.setStretch(0, 1)
        return line

    def show_editing(self, text: str | None) -> None:
        """Edit this question; None: no longer."""
        self.editing_note.setVisible(text is not None)
        self._keep.setVisible(text is not None)
        self.field.setPlainText(text or "")
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        self.take_focus()

    def show_running(self, running: bool) -> None:
        """While an answer runs, the next question can be written but not sent."""
        had_focus = self._ask.hasFocus() or self._stop.hasFocus()
        self._stop.setVisible(running)
        self._ask.setVisible(not running)
        if had_focus:
            self.take_focus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self.field:
            plain = not event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain:
                self.ask()
                return True
            if event.key() == Qt.Key.Key_Up and not self.field.toPlainText():
                self.recalled.emit()
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._changed()

    def _changed(self) -> None:
        """As tall as the question, up to a few lines; the button follows whether there is one."""
        lines = min(MOST_LINES, max(1, ceil(self.field.document().size().height())))
        frame = 2 * ceil(self.field.document().documentMargin()) + 16
        self.field.setFixedHeight(lines * self.field.fontMetrics().lineSpacing() + frame)
        self._ask.setEnabled(bool(self.field.toPlainText().strip()))
