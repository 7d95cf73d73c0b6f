"""What the window expects of a page."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.context import Context


class Page(QWidget):
    """A page of the navigation: built once, on first show. Subclasses override what they need."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def show_target(self, target: Any) -> None:
        """`Context.navigate` brought a target along (a query, a question)."""

    def focus_search(self) -> None:
        """Ctrl+F: put the cursor into the page's main field."""

    @property
    def has_open(self) -> bool:
        """Whether something in the page is open or at work, which Esc closes before a document beside it."""
        return False

    def escape(self) -> bool:
        """Esc: stop or close the innermost thing. True when there was one."""
        return False

    def close_page(self) -> None:
        """The window closes: stop timers, drop what is in flight."""
