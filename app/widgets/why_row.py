"""A row that explains a part of a score: its name, its bar, its number; hovering or choosing it marks its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import colours
from app.widgets.page_offsets import one_line
from app.widgets.why_bar import Segment, draw_bar
from core.base.types import Span

PAD = 6
BAR = 5
SWATCH = 9
INSET = 14


@dataclass(frozen=True, slots=True)
class RowFigures:
    """What a row shows. `share` is the filled part of its bar in [0, 1]; None draws no bar."""

    label: str
    value: str
    share: float | None = None
    tone: str = "muted"  # colour of the bar
    open_: bool = False  # hatched: not explained
    spans: tuple[Span, ...] = ()
    tip: str = ""
    strong: bool = False  # a sum
    swatch: bool = False  # a spot in the colour, where the bar stands elsewhere
    concept: int = -1  # the concept that it is about
    words: tuple[Span, ...] = ()  # of `spans`, the words that tell
    inset: bool = False  # a part of the row above

    @property
    def marks(self) -> tuple[Span, ...]:
        """What is marked in the passage."""
        return self.words or self.spans

    @property
    def lines(self) -> tuple[Span, ...]:
        """What is underlined around the marks."""
        return self.spans if self.words else ()


class WhyRow(QAbstractButton):
    """`pointed(RowFigures)` follows mouse and focus, None when left; choosing the row keeps its spans marked."""

    pointed = Signal(object)

    def __init__(self, figures: RowFigures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figures = figures
        self.setCheckable(bool(figures.spans))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if figures.spans else Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setText(one_line(figures.label))
        self.setAccessibleName(f"{one_line(figures.label)}, {figures.value}")
        self.setToolTip(figures.tip or one_line(figures.label))
        if figures.spans:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
            self.setAccessibleDescription("Marks its words in the passage")

    def sizeHint(self) -> QSize:
        bar = BAR + 4 if self.figures.share is not None else 0
        return QSize(200, round(QFontMetricsF(self.font()).lineSpacing()) + bar + PAD)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._point(True)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._point(self.hasFocus())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._point(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._point(self.underMouse())

    def _point(self, on: bool) -> None:
        if self.figures.spans:
            self.pointed.emit(self.figures if on else None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        metrics = QFontMetricsF(self.font())
        value_width = metrics.horizontalAdvance(self.figures.value) + 8
        line = QRectF(PAD, PAD / 2, self.width() - 2 * PAD, metrics.lineSpacing())
        font = self.font()
        font.setBold(self.figures.strong)
        painter.setFont(font)
        painter.setPen(colours().colour("muted" if self.figures.inset else "text"))
        if self.figures.inset:
            line.setLeft(line.left() + INSET)
        if self.figures.swatch:
            spot = QRectF(line.left(), line.center().y() - SWATCH / 2, SWATCH, SWATCH)
            painter.fillRect(spot, colours().colour(self.figures.tone))
        name = line.adjusted(SWATCH + 7 if self.figures.swatch else 0, 0, -value_width, 0)
        label = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), label)
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self.figures.value)
        if self.figures.share is not None:
            bar = QRectF(PAD, line.bottom() + 1, line.width(), BAR)
            draw_bar(painter, bar, self._segments(), 1.0)

    def _paint_ground(self, painter: QPainter) -> None:
        if not self.figures.spans:
            return
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        c = colours()
        painter.setPen(QPen(c.colour("accent"), 1.5) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.isChecked() or self.underMouse():
            painter.setBrush(c.colour("accent_soft" if self.isChecked() else "hover"))
        painter.drawRoundedRect(box, 4, 4)

    def _segments(self) -> Sequence[Segment]:
        return [Segment(self.figures.label, self.figures.share or 0.0, self.figures.tone, self.figures.open_)]
