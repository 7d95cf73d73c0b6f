"""A text to read with marked spans: the passage of an explanation. Plain text only, never markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.theme import colours
from app.widgets.hit_channels import channel_tone
from app.widgets.page_offsets import Utf16, shown
from core.base.types import DENSE, Span


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
        self._lines: tuple[Span, ...] = ()

    def show_text(self, text: str, spans: Sequence[Span] = (), lines: Sequence[Span] = ()) -> None:
        self._units = Utf16(text)
        self.setPlainText(shown(text))
        self.mark(spans, lines)

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

    @property
    def lines(self) -> tuple[Span, ...]:
        """What is underlined now."""
        return self._lines

    def mark(self, spans: Sequence[Span], lines: Sequence[Span] = (), *, scroll: bool = True) -> None:
        """Mark `spans` like a pen does, and underline `lines` in the colour of meaning."""
        self._spans, self._lines = tuple(spans), tuple(lines)
        under, look = QTextCharFormat(), QTextCharFormat()
        under.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        under.setUnderlineColor(colours().colour(channel_tone(DENSE)))
        look.setBackground(colours().colour("mark"))
        look.setForeground(colours().colour("on_mark"))
        marked = [self._selection(span, under) for span in self._lines]
        self.setExtraSelections(marked + [self._selection(span, look) for span in self._spans])
        first = self._spans or self._lines
        if scroll and first:
            self._scroll_to(min(first, key=lambda s: s.start))

    def _selection(self, span: Span, look: QTextCharFormat) -> QTextEdit.ExtraSelection:
        made = QTextEdit.ExtraSelection()
        made.cursor = self._cursor(span)
        made.format = look
        return made

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and (self._spans or self._lines):
            self.mark(self._spans, self._lines, scroll=False)

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
