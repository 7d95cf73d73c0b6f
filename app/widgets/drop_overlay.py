"""The sign over the whole window while something is dragged onto it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label


class DropOverlay(QFrame):
    """Covers `parent` while shown; never takes the pointer."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "drop")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(IconLabel("folder-add", "accent_text", 48), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(Label(tr("Drop to add to your library"), "title"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(Label(tr("Files stay where they are"), "muted"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        parent.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        self._fit()
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._fit()
        return False

    def _fit(self) -> None:
        self.setGeometry(self.parentWidget().rect().adjusted(12, 12, -12, -12))
