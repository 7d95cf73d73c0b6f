"""A sign that work is going on, shown only when it lasts (600 ms), so that quick work does not flicker."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.theme import colours
from app.widgets.labels import Label


class Spinner(QWidget):
    """An arc that turns while it is visible; costs nothing while hidden."""

    def __init__(self, size: int = 18, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedSize(QSize(size, size))
        self._angle = 0
        self._timer = QTimer(self)
        self._timer.setInterval(60)
        self._timer.timeout.connect(self._turn)

    def showEvent(self, event: QShowEvent) -> None:
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(colours().colour("border"), 2.5))
        painter.drawEllipse(box)
        painter.setPen(QPen(colours().colour("accent"), 2.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(box, -self._angle * 16, 100 * 16)
        painter.end()

    def _turn(self) -> None:
        self._angle = (self._angle + 20) % 360
        self.update()


class Busy(QWidget):
    """Spinner and words. `start(text)` shows it after `delay_ms`, `stop()` hides it."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, delay_ms: int = 600) -> None:
        super().__init__(parent)
        self.label = Label(text, "muted")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addWidget(Spinner())
        line.addWidget(self.label)
        line.addStretch(1)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(delay_ms)
        self._delay.timeout.connect(self.show)
        self.hide()

    def start(self, text: str = "") -> None:
        if text:
            self.label.setText(text)
            self.setAccessibleName(text)
        if not self.isVisible():
            self._delay.start()

    def stop(self) -> None:
        self._delay.stop()
        self.hide()
