"""A field to search in, with its sign, a clear button and a short rest before it speaks."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QWidget

from app.widgets.icons import icon


class SearchBox(QLineEdit):
    """`settled(text)` comes when typing rests for `rest_ms`, and at once on Return. `kind`: search, or hero (large)."""

    settled = Signal(str)

    def __init__(
        self,
        placeholder: str,
        name: str = "",
        parent: QWidget | None = None,
        *,
        kind: str = "search",
        rest_ms: int = 180,
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(name or placeholder)
        self.setClearButtonEnabled(True)
        self._sign = QAction(self)
        self.addAction(self._sign, QLineEdit.ActionPosition.LeadingPosition)
        self._tint()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(rest_ms)
        self._rest.timeout.connect(lambda: self.settled.emit(self.text()))
        self.textChanged.connect(lambda _: self._rest.start())
        self.returnPressed.connect(self._now)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._tint()

    def hush(self) -> None:
        """Say nothing of what was typed last: nobody wants to hear it any more."""
        self._rest.stop()

    def _now(self) -> None:
        self._rest.stop()
        self.settled.emit(self.text())

    def _tint(self) -> None:
        if hasattr(self, "_sign"):
            self._sign.setIcon(icon("search", "muted"))
