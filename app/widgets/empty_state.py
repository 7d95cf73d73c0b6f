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

    def __init__(self, icon_name: str, title: str, text: str = "", actions: tuple[QWidget, ...] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = Label(title, "heading")
        self.text = Label(text, "muted", wrap=True)
        self.text.setMaximumWidth(440)
        self.text.setMinimumWidth(260)
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(IconLabel(icon_name, "muted", 40), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(4)
        column.addWidget(self.title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.text, 0, Qt.AlignmentFlag.AlignHCenter)
        if actions:
            line = QHBoxLayout()
            line.addStretch(1)
            for action in actions:
                line.addWidget(action)
            line.addStretch(1)
            column.addSpacing(8)
            column.addLayout(line)
        column.addStretch(3)

    def set_words(self, title: str, text: str = "") -> None:
        self.title.setText(title)
        self.text.setText(text)
