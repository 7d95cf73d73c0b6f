"""A message that stays in its place until it is answered: what happened, what to do, details to copy."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.errors import Bug, Message, describe
from app.i18n import tr
from app.widgets.buttons import Button, IconButton
from app.widgets.empty_state import IconLabel
from app.widgets.labels import Label, set_tone
from core.base.errors import KnownError

_ICONS = {"info": "info", "success": "check", "warning": "warning", "danger": "error"}
_TINTS = {"info": "accent_text", "success": "success", "warning": "warning", "danger": "danger"}


class Banner(QFrame):
    """Hidden until `show_error` or `show_message`. `acted` comes when its action button is pressed."""

    acted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "banner")
        self._details = ""
        self._sign = IconLabel("info", "accent_text", 20)
        self._text = Label("", "strong", wrap=True)
        self._advice = Label("", "body", wrap=True)
        self._copy = Button(tr("Copy details"), "ghost", "copy", self._copy_details)
        self._action = Button("", "secondary", "", self.acted.emit)
        self._close = IconButton("close", tr("Dismiss"), self.hide)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._text)
        words.addWidget(self._advice)
        line = QHBoxLayout(self)
        line.setContentsMargins(14, 10, 8, 10)
        line.setSpacing(10)
        line.addWidget(self._sign)
        line.addLayout(words, 1)
        for button in (self._copy, self._action, self._close):
            line.addWidget(button)
        self.hide()

    def show_error(self, error: KnownError | Bug | BaseException, *, action: str = "") -> None:
        self.show_message(describe(error), action=action)

    def show_message(self, message: Message, *, action: str = "") -> None:
        self._details = message.details
        self._sign.set_look(_ICONS[message.tone], _TINTS[message.tone])
        self._text.setText(message.text)
        self._advice.setText(message.advice)
        self._advice.setVisible(bool(message.advice))
        self._copy.setVisible(bool(message.details))
        self._action.setText(action or message.action)
        self._action.setVisible(bool(action or message.action))
        self.setAccessibleName(f"{message.text} {message.advice}".strip())
        set_tone(self, message.tone)
        self.show()

    def text(self) -> str:
        return self._text.text()

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
