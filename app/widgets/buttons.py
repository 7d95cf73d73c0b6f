"""Buttons of one family: with words, with an icon only, chips that filter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.widgets.icons import icon

_TONES = {"primary": "on_accent", "danger": "danger", "link": "accent_text", "nav": "muted"}


class Button(QPushButton):
    """A button with words. `kind`: secondary, primary, ghost, danger, link, nav; `icon_name` of resources/icons."""

    def __init__(
        self, text: str, kind: str = "secondary", icon_name: str = "", on_click: Callable[[], object] | None = None,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(text, parent)
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(18, 18))
        self.setAutoDefault(False)
        self._kind = kind
        self._icon_name = icon_name
        self._tint()
        if on_click is not None:
            self.clicked.connect(lambda: on_click())

    def set_icon(self, icon_name: str) -> None:
        self._icon_name = icon_name
        self._tint()

    def set_kind(self, kind: str) -> None:
        self._kind = kind
        self.setProperty("kind", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        self._tint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._tint()

    def _tint(self) -> None:
        if self._icon_name:
            tone = "accent_text" if self._kind == "nav" and self.isChecked() else _TONES.get(self._kind, "text")
            self.setIcon(icon(self._icon_name, tone, size=18))


class NavButton(Button):
    """An entry of the navigation: checked while its page is shown."""

    def __init__(
        self, text: str, icon_name: str, on_click: Callable[[], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(f"\u2002{text}", "nav", icon_name, on_click, parent)  # a gap that style sheets cannot give
        self.setAccessibleName(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.toggled.connect(lambda _: self._tint())


class IconButton(QToolButton):
    """A button with an icon only; `name` is its tooltip and what a screen reader says."""

    def __init__(
        self, icon_name: str, name: str, on_click: Callable[[], object] | None = None, parent: QWidget | None = None, *,
        kind: str = "ghost", checkable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setProperty("kind", kind)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(18, 18))
        self.setCheckable(checkable)
        self._icon_name = icon_name
        self.set_look(icon_name, name)
        if on_click is not None:
            self.clicked.connect(lambda: on_click())

    def set_look(self, icon_name: str, name: str) -> None:
        self._icon_name = icon_name
        self.setToolTip(name)
        self.setAccessibleName(name)
        self._tint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._tint()

    def _tint(self) -> None:
        self.setIcon(icon(self._icon_name, "text", size=18))


class Chip(QPushButton):
    """A small button that switches a filter; checked while the filter is in force."""

    def __init__(
        self, text: str, on_toggle: Callable[[bool], object] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setProperty("kind", "chip")
        self.setCheckable(True)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        if on_toggle is not None:
            self.toggled.connect(lambda on: on_toggle(on))
