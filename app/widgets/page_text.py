"""A stored text of any length to read: headings set apart, spans marked, loaded in pieces as it is scrolled."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.theme import colours
from app.widgets.page_look import piece_look
from app.widgets.page_offsets import Utf16, shown
from app.widgets.page_window import MOST, Piece, Window, after, around, before, cut
from core.base.types import Block, Span

NEAR = 30  # lines from an edge at which more is loaded


class TextView(QPlainTextEdit):
    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "reading")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(18)
        self._text = ""
        self._blocks: tuple[Block, ...] = ()
        self._starts: list[int] = []
        self._spans: tuple[Span, ...] = ()
        self._window = Window(0, 0)
        self._pieces: list[Piece] = []  # one a block of the document
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(0)
        self._rest.timeout.connect(self._grow)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._rest.start())

    @property
    def window_shown(self) -> Window:
        """The part of the text that is loaded now."""
        return self._window

    def show_text(self, text: str, blocks: Sequence[Block], spans: Sequence[Span]) -> None:
        """Show `text` at the first of `spans`, or at its start."""
        self._text, self._blocks = text, tuple(blocks)
        self._starts = [b.start for b in self._blocks]
        self._spans = tuple(spans)
        self._load(around(text, min((s.start for s in spans), default=0)))
        self._show_first()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark other spans and go to the first of them."""
        self._spans = tuple(spans)
        first = min((s.start for s in spans), default=None)
        if first is not None and not self._window.holds(first):
            self._load(around(self._text, first))
        self._mark()
        self._show_first()

    def find_next(self, words: str, *, backwards: bool = False, start: int | None = None) -> Span | None:
        """The next place of `words` (any case) after `start`, round the end; it is selected and shown."""
        found = find(self._text, words, self.cursor_offset() if start is None else start, backwards=backwards)
        if found is not None:
            if not self._window.holds(found.start):
                self._load(around(self._text, found.start))
            self.setTextCursor(self._cursor(found))
            self.centerCursor()
        return found

    def cursor_offset(self) -> int:
        """Where the cursor stands in the text (the end of a selection)."""
        cursor = self.textCursor()
        number = min(cursor.blockNumber(), len(self._pieces) - 1)
        if number < 0:
            return 0
        piece = self._pieces[number]
        return piece.start + Utf16(self._text[piece.start : piece.end]).offset(cursor.positionInBlock())

    def marked_rects(self) -> list[QRectF]:
        """Rectangles of the marked spans that are loaded, one a line, in pixels of the viewport."""
        return [rect for s in self._spans for rect in self._rects(s)]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._text:
            bar = self.verticalScrollBar().value()
            self._load(self._window)
            self.verticalScrollBar().setValue(bar)

    # loading

    def _load(self, window: Window) -> None:
        self._window = window
        self._pieces = list(cut(self._text, window)) or [Piece(window.start, window.start)]
        self.clear()
        self._insert(QTextCursor(self.document()), self._pieces)
        self._mark()

    def _insert(self, cursor: QTextCursor, pieces: Sequence[Piece]) -> None:
        cursor.beginEditBlock()
        for number, piece in enumerate(pieces):
            if number:
                cursor.insertBlock()
            cursor.insertText(shown(self._text[piece.start : piece.end]), piece_look(self._block_at(piece.start)))
        cursor.endEditBlock()

    def _block_at(self, offset: int) -> Block | None:
        number = bisect_right(self._starts, offset) - 1
        if number >= 0 and offset < self._blocks[number].end:
            return self._blocks[number]
        return None

    def _grow(self) -> None:
        """Near an edge: load what comes next, and let go of what is far away."""
        bar = self.verticalScrollBar()
        if bar.maximum() - bar.value() < NEAR and self._window.end < len(self._text):
            self._append(after(self._text, self._window))
        elif bar.value() < NEAR and self._window.start > 0:
            self._prepend(before(self._text, self._window))

    def _append(self, more: Window) -> None:
        pieces = list(cut(self._text, more))
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertBlock()
        self._insert(cursor, pieces)
        self._pieces += pieces
        self._window = Window(self._window.start, more.end)
        if self._window.end - self._window.start > MOST:
            self._cut_top()
        self._mark()

    def _prepend(self, more: Window) -> None:
        pieces = list(cut(self._text, more))
        self._keep_place(lambda: self._insert_top(pieces), len(pieces))
        self._pieces = pieces + self._pieces
        self._window = Window(more.start, self._window.end)
        if self._window.end - self._window.start > MOST:
            self._cut_bottom()
        self._mark()

    def _insert_top(self, pieces: Sequence[Piece]) -> None:
        cursor = QTextCursor(self.document())
        cursor.insertBlock()
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        self._insert(cursor, pieces)

    def _cut_top(self) -> None:
        gone = next(n for n, p in enumerate(self._pieces) if p.start >= self._window.end - MOST)
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._block(gone).position(), QTextCursor.MoveMode.KeepAnchor)
        self._keep_place(cursor.removeSelectedText, -gone)
        self._pieces = self._pieces[gone:]
        self._window = Window(self._pieces[0].start, self._window.end)

    def _cut_bottom(self) -> None:
        kept = next(n for n, p in enumerate(self._pieces) if p.start >= self._window.start + MOST)
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._block(kept).position() - 1)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._window = Window(self._window.start, self._pieces[kept].start)
        self._pieces = self._pieces[:kept]

    def _keep_place(self, change: Callable[[], None], added: int) -> None:
        """Do `change`, which adds `added` blocks above the view, without moving what is seen."""
        top, bar = self.firstVisibleBlock(), self.verticalScrollBar()
        number, into = top.blockNumber() + added, bar.value() - top.firstLineNumber()
        change()
        bar.setValue(max(0, self._block(number).firstLineNumber() + into))

    # marks

    def _mark(self) -> None:
        look = QTextCharFormat()
        look.setBackground(colours().colour("mark"))
        look.setForeground(colours().colour("on_mark"))
        marks = []
        for span in self._spans:
            if span.end > self._window.start and span.start < self._window.end:
                selection = QTextEdit.ExtraSelection()
                selection.cursor = self._cursor(span)
                selection.format = look
                marks.append(selection)
        self.setExtraSelections(marks)

    def _show_first(self) -> None:
        if self._spans:
            cursor = self._cursor(min(self._spans, key=lambda s: s.start))
            cursor.setPosition(cursor.selectionStart())
            self.setTextCursor(cursor)
            self.centerCursor()
        else:
            self.moveCursor(QTextCursor.MoveOperation.Start)

    def _cursor(self, span: Span) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._position(span.start))
        cursor.setPosition(self._position(span.end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _position(self, offset: int) -> int:
        """Position in the document of a character of the text; clipped to what is loaded."""
        number = max(0, bisect_right(self._pieces, offset, key=lambda p: p.start) - 1)
        piece = self._pieces[number]
        inside = min(max(offset, piece.start), piece.end) - piece.start
        return self._block(number).position() + Utf16(self._text[piece.start : piece.end]).units(inside)

    def _block(self, number: int) -> QTextBlock:
        return self.document().findBlockByNumber(number)

    def _rects(self, span: Span) -> list[QRectF]:
        if span.end <= self._window.start or span.start >= self._window.end:
            return []
        cursor, rects = self._cursor(span), []
        end = cursor.selectionEnd()
        cursor.setPosition(cursor.selectionStart())
        while cursor.position() < end:
            left = QRectF(self.cursorRect(cursor))
            cursor.movePosition(QTextCursor.MoveOperation.EndOfLine)
            if cursor.position() > end:
                cursor.setPosition(end)
            right = QRectF(self.cursorRect(cursor))
            rects.append(left.united(right))
            if not cursor.movePosition(QTextCursor.MoveOperation.NextCharacter):
                break
        return rects


def find(text: str, words: str, start: int, *, backwards: bool = False) -> Span | None:
    """The place of `words` nearest after (before) `start`, in any case, going round at the end."""
    if not words:
        return None
    pattern = re.compile(re.escape(words), re.IGNORECASE)
    if not backwards:
        found = pattern.search(text, start) or pattern.search(text)
        return Span(*found.span()) if found else None
    places = [Span(*m.span()) for m in pattern.finditer(text)]
    earlier = [s for s in places if s.end < start]
    return next(reversed(earlier or places), None)
