"""What an empty area says: a sign, what this is, what to do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.widgets.icons import pixmap
from app.widgets.labels import Label


class IconLabel(QLabel):
    """An icon as a picture that follows the theme."""

    def __init__(self, icon_name: str, tone: str = "muted", size: int = 20, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = (icon_name, tone, size)
        self.setFixedSize(size, size)
        self._tint()

    def set_look(self, icon_name: str, tone: str) -> None:
        self._look = (icon_name, tone, self._look[2])
        self._tint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._tint()

    def _tint(self) -> None:
        name, tone, size = self._look
        self.setPixmap(pixmap(name, tone, size=size, ratio=self.devicePixelRatioF()))


class EmptyState(QWidget):
    """Centred icon, title, text, and buttons below (`actions`)."""

    def __init__(
        self,
        icon_name: str,
        title: str,
        text: str = "",
        actions: tuple[QWidget, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.title = Label(title, "heading", wrap=True)
        self.text = Label(text, "muted", wrap=True)
        inner = QWidget()
        inner.setMaximumWidth(460)
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(inner)
        column.setSpacing(8)
        column.addWidget(IconLabel(icon_name, "muted", 40), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(4)
        column.addWidget(self.title)
        column.addWidget(self.text)
        if actions:
            column.addSpacing(8)
            column.addLayout(_line(*actions))
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addLayout(_line(inner, stretch=20))
        outer.addStretch(3)

    def set_words(self, title: str, text: str = "") -> None:
        self.title.setText(title)
        self.text.setText(text)


def _line(*parts: QWidget, stretch: int = 0) -> QHBoxLayout:
    made = QHBoxLayout()
    made.addStretch(1)
    for part in parts:
        made.addWidget(part, stretch)
    made.addStretch(1)
    return made
