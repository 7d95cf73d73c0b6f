"""Text: labels on the type scale, labels that cut long text, badges."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtGui import Qt as Markup
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QWidget


class Label(QLabel):
    """Plain text in one role of the type scale: display, title, heading, strong, body, muted, small, eyebrow, mono."""

    def __init__(
        self, text: str = "", role: str = "body", parent: QWidget | None = None, *, wrap: bool = False
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)  # text of documents is never markup
        self.setProperty("role", role)
        self.setWordWrap(wrap)


class ElidedLabel(QLabel):
    """One line that is cut (in the middle by default) to the width there is; the whole text is the tooltip."""

    def __init__(
        self, text: str = "", role: str = "body", parent: QWidget | None = None, *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._mode = mode
        self._side = Qt.AlignmentFlag.AlignLeft
        self._whole = ""
        self.set_whole(text)

    def set_whole(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self.setText(text)
        self._tip()

    def whole(self) -> str:
        return self._whole

    def shown(self) -> str:
        return self.fontMetrics().elidedText(self._whole, self._mode, self.contentsRect().width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tip()

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        self.style().drawItemText(
            painter, self.contentsRect(), int(Qt.AlignmentFlag.AlignVCenter | self._side),
            self.palette(), self.isEnabled(), self.shown(), self.foregroundRole(),
        )  # fmt: skip

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def _tip(self) -> None:
        # a tooltip takes text that looks like markup for markup
        tip = escape(self._whole, quote=False) if Markup.mightBeRichText(self._whole) else self._whole
        self.setToolTip(tip if self.shown() != self._whole else "")


class Badge(QLabel):
    """A state in one or two words on a tinted ground. `tone`: neutral, accent, success, warning, danger."""

    def __init__(self, text: str = "", tone: str = "neutral", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "badge")
        self.setProperty("tone", tone)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_state(self, text: str, tone: str) -> None:
        self.setText(text)
        set_tone(self, tone)


class ElidedBadge(ElidedLabel):
    """A badge of several words that is cut at its end where the room is short."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "badge", parent, mode=Qt.TextElideMode.ElideRight)
        self.setProperty("tone", "neutral")
        self._side = Qt.AlignmentFlag.AlignHCenter
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_state(self, text: str, tone: str) -> None:
        self.set_whole(text)
        set_tone(self, tone)


def set_tone(widget: QWidget, tone: str) -> None:
    """Change the `tone` that the style sheet selects by."""
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
