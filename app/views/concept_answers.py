"""A view that asks the `search` child for something about concepts and lists what comes, with its states."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.card import Card, Scroller
from app.widgets.empty_state import EmptyState
from app.widgets.page_latest import Latest
from core.worker.protocol import SEARCH

WIDEST = 860


class AnswerView(QWidget):
    """Subclasses fill `head` and override `show_answer`. `chosen(id)`: the person wants to see a concept."""

    chosen = Signal(int)

    def __init__(self, context: Context, icon: str, title: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self._asked: tuple[str, dict[str, Any]] | None = None
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._came)
        self._latest.failed.connect(self._fail)
        self.head = QVBoxLayout()
        self.head.setSpacing(8)
        self.banner = Banner()
        self.banner.acted.connect(self._again)
        self.busy = Busy(delay_ms=250)
        self.empty = EmptyState(icon, title, text)
        self._first = (title, text)
        self._scroller = Scroller(spacing=2)
        self._scroller.body.setContentsMargins(12, 12, 14, 16)
        self.list = self._scroller.body
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._scroller)
        card = Card(padding=4, spacing=0)
        card.body.addWidget(self.stack)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 22)
        column.setSpacing(12)
        column.addLayout(self.head)
        column.addWidget(self.banner)
        column.addWidget(self.busy)
        column.addWidget(card, 1)

    def ask(self, op: str, args: dict[str, Any], words: str) -> None:
        self._asked = (op, args)
        self.banner.hide()
        self.busy.start(words)
        self._latest.start(SEARCH, op, args)

    def renew(self) -> None:
        """What was asked may have another answer now: the library changed."""
        if self._asked is not None:
            self._latest.start(SEARCH, *self._asked)

    def forget(self) -> None:
        """Nothing is asked any more."""
        self._asked = None
        self.stop()
        self.say(*self._first)

    def stop(self) -> None:
        self._latest.drop()
        self.busy.stop()

    def show_answer(self, data: Any) -> None:
        raise NotImplementedError

    def say(self, title: str, text: str) -> None:
        """Words in place of a list."""
        self.empty.set_words(title, text)
        self.stack.setCurrentWidget(self.empty)

    def clear(self) -> None:
        while (item := self.list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def show_list(self) -> None:
        self.list.addStretch(1)
        self.stack.setCurrentWidget(self._scroller)

    def _came(self, data: Any) -> None:
        self.busy.stop()
        self.clear()
        self.show_answer(data)

    def _fail(self, error: Any) -> None:
        self.busy.stop()
        self.banner.show_error(error, action=tr("Try again"))

    def _again(self) -> None:
        self.banner.hide()
        self.renew()
