"""A button that holds a layout: a whole line of a list that can be chosen, as high as its words need."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QPushButton, QSizePolicy, QWidget


class LineButton(QPushButton):
    """Call `fill` with what stands in it; `name` is what a screen reader says. `kind` as in the style sheet."""

    def __init__(
        self, name: str, on_click: Callable[[], object] | None = None, parent: QWidget | None = None, *,
        kind: str = "line",
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setAccessibleName(name)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        if on_click is not None:
            self.clicked.connect(lambda: on_click())

    def fill(self, inner: QLayout, *, across: int = 8, down: int = 6) -> None:
        """Show `inner`, with room around it. What is in there hears no mouse: the button does."""
        inner.setContentsMargins(across, down, across, down)
        self.setLayout(inner)
        for part in self.findChildren(QWidget):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.fit()

    def fit(self) -> None:
        """As high as the wrapped words need: a button does not ask its layout."""
        layout = self.layout()
        if layout is not None:
            high = (
                layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else layout.sizeHint().height()
            )
            self.setMinimumHeight(high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
        layout = self.layout()
        if layout is not None:  # what it knows of its wrapped words is of another width
            layout.invalidate()
            layout.activate()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self.fit()
