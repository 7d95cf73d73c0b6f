"""A text to read with marked spans: the passage of an explanation. Plain text only, never markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.theme import colours
from app.widgets.page_offsets import Utf16, shown
from core.base.types import Span


class MarkedText(QPlainTextEdit):
    """Read-only text. `mark` shows spans in the theme's colour and scrolls to the first."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "reading")
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self._units = Utf16("")
        self._spans: tuple[Span, ...] = ()

    def show_text(self, text: str, spans: Sequence[Span] = ()) -> None:
        self._units = Utf16(text)
        self.setPlainText(shown(text))
        self.mark(spans)

    def content_height(self) -> int:
        """Pixels that the whole text takes at the present width."""
        lines = sum(self.blockBoundingRect(b).height() for b in self._text_blocks())
        return round(lines + 2 * self.document().documentMargin())

    def _text_blocks(self) -> Iterator[QTextBlock]:
        block = self.document().begin()
        while block.isValid():
            yield block
            block = block.next()

    @property
    def spans(self) -> tuple[Span, ...]:
        """What is marked now."""
        return self._spans

    def mark(self, spans: Sequence[Span], *, scroll: bool = True) -> None:
        self._spans = tuple(spans)
        look = QTextCharFormat()
        look.setBackground(colours().colour("mark"))
        look.setForeground(colours().colour("on_mark"))
        marks = []
        for span in self._spans:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = self._cursor(span)
            selection.format = look
            marks.append(selection)
        self.setExtraSelections(marks)
        if scroll and self._spans:
            self._scroll_to(min(self._spans, key=lambda s: s.start))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._spans:
            self.mark(self._spans, scroll=False)

    def _cursor(self, span: Span) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._units.units(span.start))
        cursor.setPosition(self._units.units(span.end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _scroll_to(self, span: Span) -> None:
        cursor = self._cursor(span)
        cursor.setPosition(cursor.selectionStart())
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
