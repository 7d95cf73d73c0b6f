"""What the window shows in place of its pages when the library cannot be opened: why, and the ways out."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.errors import describe
from app.i18n import tr
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label


class Trouble(QWidget):
    """One error, readable, with "Try again" and "Choose another library"."""

    def __init__(self, error: BaseException, retry: Callable[[], object], choose: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("role", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        message = describe(error)
        self.card = Card(padding=28, spacing=10)
        self.card.setMaximumWidth(580)
        self.card.body.addWidget(IconLabel("warning", "warning", 36))
        self.card.body.addWidget(Label(tr("This library cannot be opened"), "title", wrap=True))
        self.text = Label(message.text, "body", wrap=True)
        self.advice = Label(message.advice, "muted", wrap=True)
        self.card.body.addWidget(self.text)
        self.card.body.addWidget(self.advice)
        self.card.body.addSpacing(8)
        self.retry_button = Button(tr("Try again"), "primary", "retry", retry)
        self.choose_button = Button(tr("Choose another library"), "secondary", "folder", choose)
        parts: list[QWidget | None] = [self.retry_button, self.choose_button]
        if message.details:
            details = message.details
            parts.append(
                Button(tr("Copy details"), "ghost", "copy", lambda: QGuiApplication.clipboard().setText(details))
            )
        self.card.body.addLayout(row(*parts, None))
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addLayout(row(None, self.card, None))
        column.addStretch(3)
        self.card.setMinimumWidth(480)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
