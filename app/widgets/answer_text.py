"""An answer as flowing text with citation chips in it. Built from plain pieces: nothing is ever read as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QGuiApplication,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.i18n import tr
from app.theme import colours
from app.widgets.answer_parts import Piece
from app.widgets.card import Card
from app.widgets.page_offsets import shown
from core.base.types import Citation

_SCHEME = "cite:"
LARGER = 1.08  # than the text around it: this is what the person came for


class AnswerText(QTextBrowser):
    """As tall as its text. `cited(Citation)` when a chip is followed, by mouse or keyboard."""

    cited = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("kind", "answer")
        self.setAccessibleName(name)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().setUndoRedoEnabled(False)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self.anchorClicked.connect(self._follow)
        # all of it is in sight, so it has nowhere to scroll to, not even while it is being made narrower
        self.verticalScrollBar().valueChanged.connect(lambda _: self.verticalScrollBar().setValue(0))
        self._pieces: tuple[Piece, ...] = ()
        self._quoted = False
        self._chips: list[Citation] = []

    @property
    def chips(self) -> list[Citation]:
        """The citations of the chips, in reading order."""
        return self._chips

    def show_pieces(self, pieces: Sequence[Piece], *, quoted: bool) -> None:
        """Show sentences with their chips; `quoted` ones stand each on a line, in quotation marks. Those of a group
        stand under its heading."""
        self._pieces, self._quoted = tuple(pieces), quoted
        self._chips = []
        self.clear()
        cursor = QTextCursor(self.document())
        cursor.setBlockFormat(_paragraph())
        grouped = any(piece.heading for piece in self._pieces)
        for number, piece in enumerate(self._pieces):
            if piece.heading:
                self._insert_heading(cursor, piece.heading, first=not number)
            elif number:
                apart = quoted or grouped
                cursor.insertBlock(_paragraph()) if apart else cursor.insertText(" ", QTextCharFormat())
            said = f"“{piece.text}”" if quoted and not piece.own else piece.text
            cursor.insertText(shown(said), _plain())
            for citation in piece.citations:
                self._insert_chip(cursor, citation)
        self._fit()

    def append_plain(self, text: str) -> None:
        """Add streamed text at the end."""
        self._pieces = ()
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        look = QTextCharFormat()
        look.setForeground(colours().colour("muted"))
        cursor.insertText(shown(text), look)

    def follow(self, number: int) -> None:
        """Follow the chip at `number` in reading order, from 0."""
        self.cited.emit(self._chips[number])

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing is ever loaded."""
        return None

    def sizeHint(self) -> QSize:
        return QSize(300, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._ring(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._ring(False)

    def _ring(self, on: bool) -> None:
        """The card around shows the focus: a ring so close to the words would cut into them."""
        card = self.parentWidget()
        if isinstance(card, Card):
            card.show_focus(on)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the page scrolls, not one answer of it

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self._pieces:
            self.show_pieces(self._pieces, quoted=self._quoted)

    @staticmethod
    def _insert_heading(cursor: QTextCursor, text: str, *, first: bool) -> None:
        """A line of its own that readers of the screen hear as a heading."""
        look = _paragraph()
        look.setHeadingLevel(3)
        look.setTopMargin(0.0 if first else 8.0)
        cursor.setBlockFormat(look) if first else cursor.insertBlock(look)
        bold = _plain()
        bold.setFontWeight(QFont.Weight.DemiBold)
        cursor.insertText(shown(text), bold)
        cursor.insertBlock(_paragraph())

    def _insert_chip(self, cursor: QTextCursor, citation: Citation) -> None:
        cursor.insertText("\N{NO-BREAK SPACE}", QTextCharFormat())
        look = QTextCharFormat()
        look.setAnchor(True)
        look.setAnchorHref(f"{_SCHEME}{len(self._chips)}")
        look.setForeground(colours().colour("accent_text"))
        look.setBackground(colours().colour("accent_soft"))
        look.setFontWeight(QFont.Weight.DemiBold)
        look.setFontUnderline(False)
        look.setToolTip(tr("Open this place in the document"))
        cursor.insertText(f"[{citation.marker}]", look)
        self._chips.append(citation)

    def _follow(self, url: QUrl) -> None:
        text = url.toString()
        if text.startswith(_SCHEME) and text[len(_SCHEME) :].isdigit():
            self.follow(int(text[len(_SCHEME) :]))

    def _fit(self) -> None:
        height = ceil(self.document().size().height()) + 2
        if height != self.height():
            self.setFixedHeight(height)


def _paragraph() -> QTextBlockFormat:
    look = QTextBlockFormat()
    look.setLineHeight(128.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    look.setBottomMargin(6.0)
    return look


def _plain() -> QTextCharFormat:
    look = QTextCharFormat()
    look.setForeground(colours().colour("text"))
    look.setFontPointSize(QGuiApplication.font().pointSizeF() * LARGER)
    return look
