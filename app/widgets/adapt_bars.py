"""Before and after as two bars under one scale, and the gain with its interval on a line around zero."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.i18n import tr
from app.theme import colours


@dataclass(frozen=True, slots=True)
class Pair:
    """A measure from 0 to 1 before and after; `low` and `high` bound what is after, None where that is not known."""

    label: str
    before: float
    after: float
    low: float | None = None
    high: float | None = None


def points(value: float) -> str:
    """A measure from 0 to 1 in points of 100, to one decimal."""
    return f"{100 * value:.1f}"


def gain(value: float) -> str:
    """A difference in points with its sign; never a signed zero."""
    text = f"{abs(100 * value):.1f}"
    sign = "" if float(text) == 0 else "+" if value > 0 else "\N{MINUS SIGN}"
    return sign + text


class PairBars(QWidget):
    """Two bars for one `Pair`."""

    def __init__(self, pair: Pair, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pair = pair
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        words = tr("{what}: {before} before, {after} after", what=pair.label, before=points(pair.before),
                   after=points(pair.after))  # fmt: skip
        if pair.low is not None and pair.high is not None:
            words += " " + tr("(surely between {low} and {high})", low=points(pair.low), high=points(pair.high))
        self.setAccessibleName(words)
        self.setToolTip(words)

    def sizeHint(self) -> QSize:
        return QSize(320, round(self._line() * 2.5))

    def minimumSizeHint(self) -> QSize:
        return QSize(220, round(self._line() * 2.5))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def _line(self) -> int:
        return self.fontMetrics().height()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pair, metrics = self._pair, painter.fontMetrics()
        words = (tr("before"), tr("after"))
        left = max(metrics.horizontalAdvance(word) for word in words) + 12
        right = metrics.horizontalAdvance("100.0") + 10
        half = self.height() / 2
        thick = min(half - 4, self._line() * 0.75)
        tone = "accent" if pair.after >= pair.before else "warning"
        for at, (word, value, name) in enumerate(zip(words, (pair.before, pair.after), ("outline", tone), strict=True)):
            row = QRectF(0, at * half, self.width(), half)
            painter.setPen(colours().colour("muted"))
            painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, word)
            track = QRectF(left, row.center().y() - thick / 2, max(10.0, self.width() - left - right), thick)
            self._bar(painter, track, value, name)
            if at == 1:
                self._whisker(painter, track)
            painter.setPen(colours().colour("text"))
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, points(value))

    def _bar(self, painter: QPainter, track: QRectF, value: float, name: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours().colour("neutral_soft"))
        painter.drawRoundedRect(track, 4, 4)
        painter.setBrush(colours().colour(name))
        width = track.width() * min(1.0, max(0.0, value))
        painter.drawRoundedRect(QRectF(track.left(), track.top(), max(width, 2.0), track.height()), 4, 4)

    def _whisker(self, painter: QPainter, track: QRectF) -> None:
        if self._pair.low is None or self._pair.high is None:
            return
        ends = [track.left() + track.width() * min(1.0, max(0.0, v)) for v in (self._pair.low, self._pair.high)]
        middle, reach = track.center().y(), track.height() * 0.5 + 1
        for tone, width in (("surface", 4.0), ("text", 1.6)):  # a light edge, so that it is seen on the bar too
            painter.setPen(QPen(colours().colour(tone), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawLine(QPointF(ends[0], middle), QPointF(ends[1], middle))
            for end in ends:
                painter.drawLine(QPointF(end, middle - reach), QPointF(end, middle + reach))


class GainLine(QWidget):
    """A difference and its interval on a line with zero in it: is the interval to one side, the change is sure."""

    def __init__(self, delta: float, low: float, high: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delta, self._low, self._high = delta, low, high
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        words = tr("Difference {delta} points, surely between {low} and {high}", delta=gain(delta), low=gain(low),
                   high=gain(high))  # fmt: skip
        self.setAccessibleName(words)
        self.setToolTip(words)

    def sizeHint(self) -> QSize:
        return QSize(320, round(self.fontMetrics().height() * 2.4))

    def minimumSizeHint(self) -> QSize:
        return QSize(220, round(self.fontMetrics().height() * 2.4))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics, line = painter.fontMetrics(), painter.fontMetrics().height()
        reach = 1.25 * max(abs(self._low), abs(self._high), abs(self._delta), 0.005)
        sides = (tr("worse"), tr("better"))
        room = max(metrics.horizontalAdvance(side) for side in sides) + 10
        left, right, middle = float(room), float(self.width() - room), line * 0.75

        def at(value: float) -> float:
            return left + (value + reach) / (2 * reach) * (right - left)

        painter.setPen(colours().colour("muted"))
        upright = Qt.AlignmentFlag.AlignVCenter
        ends = QRectF(0, middle - line / 2, self.width(), line)
        painter.drawText(ends, Qt.AlignmentFlag.AlignLeft | upright, sides[0])
        painter.drawText(ends, Qt.AlignmentFlag.AlignRight | upright, sides[1])
        painter.setPen(QPen(colours().colour("border"), 2))
        painter.drawLine(QPointF(left, middle), QPointF(right, middle))
        painter.setPen(QPen(colours().colour("outline"), 1.4))
        painter.drawLine(QPointF(at(0), middle - line * 0.55), QPointF(at(0), middle + line * 0.55))
        self._draw_interval(painter, QPointF(at(self._low), middle), QPointF(at(self._high), middle), line)
        painter.drawEllipse(QPointF(at(self._delta), middle), line * 0.3, line * 0.3)
        painter.setPen(colours().colour("muted"))
        for value in (self._low, 0.0, self._high):
            if value == 0.0 or abs(at(value) - at(0)) > metrics.horizontalAdvance("+00.0"):
                words = "0" if value == 0.0 else gain(value)
                box = QRectF(at(value) - 60, middle + line * 0.55, 120, line)
                painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, words)

    def _draw_interval(self, painter: QPainter, low: QPointF, high: QPointF, line: int) -> None:
        tone = "success" if self._low > 0 else "danger" if self._high < 0 else "warning"
        band = colours().colour(tone)
        band.setAlphaF(0.35)
        painter.setPen(QPen(band, line * 0.45, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(low, high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours().colour(tone))
