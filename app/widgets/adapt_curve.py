"""A curve of training as a small picture: the loss of each step, smoothed, with its axes. Drawn by hand, since a plot
library would bring numpy into the window."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.i18n import grouped, plural, tr
from app.theme import colours
from core.base.events import Curve

_TICKS = 3


def smoothed(values: Sequence[float]) -> list[float]:
    """Exponential running mean over about a twentieth of `values`, corrected for its start (as Adam's moments are)."""
    keep = min(0.95, max(0.3, 1 - 20 / max(1, len(values))))
    made, mean, weight = [], 0.0, 0.0
    for value in values:
        mean = keep * mean + (1 - keep) * value
        weight = keep * weight + (1 - keep)
        made.append(mean / weight)
    return made


def ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """At most about `most` round values between `low` and `high` (1, 2, 5 times a power of ten apart)."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]


class CurvePlot(QWidget):
    """`show_points` gives the points of one stage; `title` names it for a screen reader. Colours follow the theme."""

    def __init__(self, title: str, tone: str = "series_1", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._tone = title, tone
        self._points: list[Curve] = []
        self._mean: list[float] = []
        self._at: float | None = None  # where the pointer is, in pixels
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)

    def show_points(self, points: Sequence[Curve]) -> None:
        self._points = [point for point in points if math.isfinite(point.loss)]
        self._mean = smoothed([point.loss for point in self._points])
        self.setAccessibleName(self.words())
        self.update()

    def words(self) -> str:
        """The curve in one sentence."""
        if not self._points:
            return f"{self._title}: {tr('nothing measured yet')}"
        steps = plural(self._points[-1].step, "{n} step", "{n} steps")
        return tr("{title}: loss from {first} to {last} in {steps}", title=self._title,
                  first=_figure(self._mean[0]), last=_figure(self._mean[-1]), steps=steps)  # fmt: skip

    def last(self) -> str:
        """The newest smoothed loss; empty before the first."""
        return _figure(self._mean[-1]) if self._mean else ""

    def sizeHint(self) -> QSize:
        return QSize(260, round(self.fontMetrics().height() * 7.5))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, round(self.fontMetrics().height() * 7.5))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = event.position().x()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self.update()

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = painter.font()
        font.setPointSizeF(font.pointSizeF() * 0.88)
        painter.setFont(font)
        area = self._area(painter)
        low, high = self._range()
        self._draw_grid(painter, area, low, high)
        if len(self._points) > 1:
            self._draw_line(painter, area, low, high)
            self._draw_pointer(painter, area, low, high)
        elif not self._points:
            painter.setPen(colours().colour("muted"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("The first points come soon"))

    def _area(self, painter: QPainter) -> QRectF:
        line = painter.fontMetrics().height()
        left = painter.fontMetrics().horizontalAdvance("00.00") + 10
        return QRectF(self.rect()).adjusted(left, line * 0.6, -8, -line * 1.5)

    def _range(self) -> tuple[float, float]:
        """Of the losses, with the rarest jumps cut off so that they do not flatten the rest."""
        if not self._points:
            return 0.0, 1.0
        ordered = sorted(point.loss for point in self._points)
        low, high = ordered[0], max(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], max(self._mean))
        room = 0.08 * (high - low) or max(0.05 * abs(high), 0.01)
        return max(0.0, low - room) if low >= 0 else low - room, high + room

    def _place(self, area: QRectF, step: float, loss: float, low: float, high: float) -> QPointF:
        first, last = self._points[0].step, self._points[-1].step
        across = (step - first) / max(1, last - first)
        up = min(1.0, max(0.0, (loss - low) / (high - low)))
        return QPointF(area.left() + across * area.width(), area.bottom() - up * area.height())

    def _draw_grid(self, painter: QPainter, area: QRectF, low: float, high: float) -> None:
        line = painter.fontMetrics().height()
        for value in ticks(low, high):
            at = area.bottom() - (value - low) / (high - low) * area.height()
            painter.setPen(QPen(colours().colour("border"), 1))
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
            painter.setPen(colours().colour("muted"))
            box = QRectF(0, at - line / 2, area.left() - 7, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{value:.4g}")
        painter.setPen(colours().colour("muted"))
        below = QRectF(area.left(), area.bottom() + line * 0.3, area.width(), line)
        if len(self._points) > 1:
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, grouped(self._points[0].step))
            last = tr("step {n}", n=grouped(self._points[-1].step))
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, last)

    def _draw_line(self, painter: QPainter, area: QRectF, low: float, high: float) -> None:
        every = max(1, len(self._points) // max(1, int(area.width())))  # more points than pixels say no more
        chosen = sorted({*range(0, len(self._points), every), len(self._points) - 1})
        raw = QPolygonF([self._place(area, self._points[i].step, self._points[i].loss, low, high) for i in chosen])
        mean = QPolygonF([self._place(area, self._points[i].step, self._mean[i], low, high) for i in chosen])
        faint = colours().colour(self._tone)
        faint.setAlphaF(0.28)
        painter.setPen(QPen(faint, 1))
        painter.drawPolyline(raw)
        pen = QPen(colours().colour(self._tone), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline(mean)
        painter.setBrush(colours().colour(self._tone))
        painter.drawEllipse(mean.last(), 2.5, 2.5)

    def _draw_pointer(self, painter: QPainter, area: QRectF, low: float, high: float) -> None:
        """The value where the pointer is."""
        if self._at is None or not area.left() <= self._at <= area.right():
            return
        first, last = self._points[0].step, self._points[-1].step
        step = first + (self._at - area.left()) / max(1.0, area.width()) * (last - first)
        near = min(range(len(self._points)), key=lambda i: abs(self._points[i].step - step))
        place = self._place(area, self._points[near].step, self._mean[near], low, high)
        painter.setPen(QPen(colours().colour("outline"), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(place.x(), area.top()), QPointF(place.x(), area.bottom()))
        words = f"{_figure(self._mean[near])} · {grouped(self._points[near].step)}"
        wide = painter.fontMetrics().horizontalAdvance(words) + 12
        left = min(max(area.left(), place.x() + 6), area.right() - wide)
        box = QRectF(left, area.top(), wide, painter.fontMetrics().height() + 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours().colour("toast"))
        painter.drawRoundedRect(box, 5, 5)
        painter.setPen(colours().colour("on_toast"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _figure(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
