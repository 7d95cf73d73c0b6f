"""A passage in which a concept is strong: its document, its place, and the text with the strongest part marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)  # fmt: skip
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.i18n import tr
from app.theme import colours
from app.widgets.hit_model import name_of, place_of
from app.widgets.page_offsets import Utf16, one_line
from app.widgets.text_marks import marked
from core.base.types import ConceptExample, Span

ACROSS, DOWN = 10, 8
LINES = 4
SHOWN = 420  # characters that are laid out
BEFORE = 70  # characters before the mark


def window(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """The part of a text around its first mark, as one line, and the marks in it."""
    first = min((span.start for span in spans), default=0)
    start = 0 if first <= BEFORE else text.find(" ", first - BEFORE, first) + 1 or first
    end = min(len(text), start + SHOWN)
    lead, tail = "… " if start else "", " …" if end < len(text) else ""
    moved = [
        Span(s.start - start + len(lead), min(s.end, end) - start + len(lead)) for s in spans if start <= s.start < end
    ]
    return lead + one_line(text[start:end]) + tail, moved


class ExampleRow(QAbstractButton):
    """As high as its text needs, at most `LINES` lines of it; a click opens the document there."""

    def __init__(self, example: ConceptExample, on_click: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example = example
        self._text, self._marks = window(example.passage.text, example.spans)
        self._place = place_of(example.passage)
        self.setText(one_line(name_of(example.passage)))
        self.setAccessibleName(tr("Open {name}: {words}", name=self.text(), words=self._text))
        self.setToolTip(tr("Open it in the document"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.clicked.connect(lambda: on_click())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._height(width)

    def sizeHint(self) -> QSize:
        return QSize(220, self._height(max(220, self.width())))

    def minimumSizeHint(self) -> QSize:
        return QSize(140, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        title, small = self._fonts()
        room = QRectF(ACROSS, DOWN, self.width() - 2 * ACROSS, self.height() - 2 * DOWN)
        top = room.top()
        for font, tone, words in ((title, "text", self.text()), (small, "muted", self._place)):
            if not words:
                continue
            metrics = QFontMetricsF(font)
            painter.setFont(font)
            painter.setPen(colours().colour(tone))
            line = QRectF(room.left(), top, room.width(), metrics.lineSpacing())
            painter.drawText(line, 0, metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, line.width()))
            top += metrics.lineSpacing()
        painter.setPen(colours().colour("text"))
        self._layout(room.width()).draw(painter, QPointF(room.left(), top + 3))

    def _paint_ground(self, painter: QPainter) -> None:
        c = colours()
        painter.setPen(QPen(c.colour("accent"), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(c.colour("hover" if self.underMouse() else "sunken"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)

    def _fonts(self) -> tuple[QFont, QFont]:
        title, small = QFont(self.font()), QFont(self.font())
        title.setWeight(QFont.Weight.DemiBold)
        small.setPointSizeF(self.font().pointSizeF() * 0.9)
        return title, small

    def _height(self, width: int) -> int:
        title, small = self._fonts()
        heads = QFontMetricsF(title).lineSpacing() + (QFontMetricsF(small).lineSpacing() if self._place else 0)
        layout = self._layout(max(60, width - 2 * ACROSS))
        last = layout.lineAt(layout.lineCount() - 1)
        return round(2 * DOWN + heads + 3 + (last.y() + last.height() if last.isValid() else 0))

    def _layout(self, width: float) -> QTextLayout:
        """At most `LINES` lines; the last one ends with an ellipsis where text is left."""
        layout = self._laid(self._text, self._marks, width)
        last = layout.lineAt(layout.lineCount() - 1)
        end = Utf16(self._text).offset(last.textStart() + last.textLength()) if last.isValid() else 0
        if end >= len(self._text):
            return layout
        kept = self._text[: max(0, end - 2)].rstrip()
        kept = kept[: max(kept.rfind(" "), len(kept) - 12)]
        return self._laid(f"{kept} …", [Span(s.start, min(s.end, len(kept))) for s in self._marks], width)

    def _laid(self, text: str, marks: Sequence[Span], width: float) -> QTextLayout:
        layout = QTextLayout(text, self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(marked(text, [span for span in marks if span.start < span.end]))
        layout.beginLayout()
        y = 0.0
        for _ in range(LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout
