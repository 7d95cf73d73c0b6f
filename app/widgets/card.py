"""Areas: cards on the window, wells inside cards, thin rules."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget


class Card(QFrame):
    """A rounded area with room inside; add to `body` (a vertical layout). `role`: card or well."""

    def __init__(
        self, parent: QWidget | None = None, *, role: str = "card", padding: int = 16, spacing: int = 10
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(padding, padding, padding, padding)
        self.body.setSpacing(spacing)

    def show_focus(self, on: bool) -> None:
        """Show that what is inside has the focus, or no longer."""
        self.setProperty("focused", on)
        self.style().unpolish(self)
        self.style().polish(self)


class Rule(QFrame):
    """A thin horizontal line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "rule")
        self.setFixedHeight(1)


class Scroller(QScrollArea):
    """A vertical scroll area whose content is as wide as itself; add to `body`."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 10) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(spacing)
        self.setWidget(inner)


def row(*parts: QWidget | int | None, spacing: int = 8) -> QHBoxLayout:
    """Widgets side by side; an int is a fixed gap, None takes the room that is left."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing)
    for part in parts:
        if part is None:
            made.addStretch(1)
        elif isinstance(part, int):
            made.addSpacing(part)
        else:
            made.addWidget(part)
    return made
