"""Bars that take a number apart: segments next to each other, the unexplained part hatched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import colours

SPOT = 9  # pixels of a spot of colour


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: what it is, how much, in which colour of the theme; `open_` parts are hatched."""

    label: str
    value: float
    tone: str
    open_: bool = False


def draw_bar(painter: QPainter, rect: QRectF, segments: Sequence[Segment], whole: float) -> None:
    """Draw the positive segments, scaled so that `whole` fills `rect`. Nothing is drawn for what pulls down."""
    track = colours().colour("neutral_soft")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    clip = QPainterPath()
    clip.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    painter.setClipPath(clip)
    painter.fillRect(rect, track)
    left = rect.left()
    for segment in segments:
        width = rect.width() * max(0.0, segment.value) / whole if whole > 0 else 0.0
        part = QRectF(left, rect.top(), width, rect.height())
        painter.fillRect(part, _brush(segment))
        left += width
        if width > 2:
            painter.fillRect(QRectF(left - 1, rect.top(), 1, rect.height()), track)
    painter.restore()


def _brush(segment: Segment) -> QBrush:
    return QBrush(
        colours().colour(segment.tone), Qt.BrushStyle.Dense4Pattern if segment.open_ else Qt.BrushStyle.SolidPattern
    )


class LegendItem(QWidget):
    """What a segment is: a spot in its colour and its label."""

    def __init__(self, segment: Segment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._segment = segment
        self.setProperty("role", "legend")
        self.setAccessibleName(segment.label)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        metrics = QFontMetricsF(self.font())
        return QSize(round(SPOT + 6 + metrics.horizontalAdvance(self._segment.label) + 8), round(metrics.lineSpacing()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        box = QRectF(self.rect())
        painter.fillRect(QRectF(0, box.center().y() - SPOT / 2, SPOT, SPOT), _brush(self._segment))
        painter.setPen(colours().colour("muted"))
        words = box.adjusted(SPOT + 6, 0, 0, 0)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self._segment.label)


class Bar(QWidget):
    """One bar as a widget."""

    def __init__(self, height: int = 10, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._height = height
        self._segments: tuple[Segment, ...] = ()
        self._whole = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self._segments

    def show_segments(self, segments: Sequence[Segment], whole: float | None = None) -> None:
        """Show `segments`; `whole` is what the full width stands for (their positive sum by default)."""
        self._segments = tuple(segments)
        self._whole = whole if whole is not None else sum(max(0.0, s.value) for s in segments)
        self.setAccessibleName(", ".join(s.label for s in segments))
        self.setToolTip("\n".join(s.label for s in segments))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self._height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_bar(painter, QRectF(self.rect()), self._segments, self._whole)
