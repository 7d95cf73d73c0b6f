"""Lines of concepts: a name with a bar and a figure, and a name with two shares under each other. A click chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.theme import colours
from app.widgets.page_offsets import one_line
from app.widgets.why_bar import Segment, draw_bar

ACROSS, DOWN = 8, 5
THICK = 6
WIDEST = "100 %"  # so that the bars of all lines are of one scale


@dataclass(frozen=True, slots=True)
class Share:
    """A bar from 0 to 1 in a colour of the theme, and the figure that stands at its end."""

    value: float
    words: str
    tone: str = "accent"


class ShareRow(QAbstractButton):
    """The name over its bars, each with its figure at the right. `said` is what a screen reader says."""

    def __init__(
        self, name: str, shares: tuple[Share, ...], said: str, on_click: Callable[[], object] | None = None,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.shares = shares
        self.setText(one_line(name))
        self.setAccessibleName(said)
        self.setToolTip(said)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if on_click is not None:
            self.clicked.connect(lambda: on_click())

    @property
    def _alone(self) -> bool:
        """Whether the figure stands beside the name, for there is one only."""
        return len(self.shares) == 1

    def _line(self) -> float:
        return QFontMetricsF(self.font()).lineSpacing()

    def sizeHint(self) -> QSize:
        below = THICK + 3 if self._alone else len(self.shares) * self._line() * 0.95
        return QSize(220, round(2 * DOWN + self._line() + below))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        metrics = QFontMetricsF(self.font())
        top = QRectF(ACROSS, DOWN, self.width() - 2 * ACROSS, self._line())
        beside = metrics.horizontalAdvance(self.shares[0].words) + 12 if self._alone else 0.0
        name = top.adjusted(0, 0, -beside, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(colours().colour("text"))
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, int(Qt.AlignmentFlag.AlignLeft | middle), shown)
        painter.setPen(colours().colour("muted"))
        if self._alone:
            painter.drawText(top, int(Qt.AlignmentFlag.AlignRight | middle), self.shares[0].words)
            bar = QRectF(ACROSS, top.bottom() + 2, top.width(), THICK)
            self._paint_bar(painter, bar, self.shares[0])
        else:
            self._paint_bars(painter, top, metrics)

    def _paint_bars(self, painter: QPainter, top: QRectF, metrics: QFontMetricsF) -> None:
        side = max(metrics.horizontalAdvance(words) for words in (*(s.words for s in self.shares), WIDEST)) + 10
        step = self._line() * 0.95
        for at, share in enumerate(self.shares):
            line = QRectF(top.left(), top.bottom() + at * step, top.width(), step)
            bar = QRectF(line.left(), line.center().y() - THICK / 2, line.width() - side, THICK)
            self._paint_bar(painter, bar, share)
            painter.setPen(colours().colour("muted"))
            painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), share.words)

    def _paint_bar(self, painter: QPainter, bar: QRectF, share: Share) -> None:
        draw_bar(painter, bar, [Segment(share.words, min(1.0, share.value), share.tone)], 1.0)

    def _paint_ground(self, painter: QPainter) -> None:
        c = colours()
        painter.setPen(QPen(c.colour("accent"), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(c.colour("hover") if self.underMouse() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
