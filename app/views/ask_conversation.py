"""The exchanges of one conversation below each other, and the scrolling that follows them as they grow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.widgets.answer_turn import TurnView
from app.widgets.card import Scroller
from core.base.types import Turn
from core.store.history import StoredTurn


class ConversationView(Scroller):
    """`opened(TurnView, Citation)`, `why(TurnView, Citation)`, `retry(TurnView)`, `edit(TurnView)`; `branch(id)` when
    another exchange is to be shown in the place of one; `more(TurnView, point)` when its menu is wanted."""

    opened = Signal(object, object)
    why = Signal(object, object)
    retry = Signal(object)
    wider = Signal(object)  # TurnView, to be asked again without its filters
    edit = Signal(object)
    branch = Signal(object)
    more = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, spacing=6)
        self.body.setContentsMargins(0, 0, 10, 0)
        self.body.addStretch(1)
        self.setAccessibleName(tr("Conversation"))
        self.turns: list[TurnView] = []
        self._following = True
        self._held: tuple[TurnView, int] | None = None  # an exchange, and how far below the top it stays
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._grown)
        bar.actionTriggered.connect(lambda _: QTimer.singleShot(0, self, self._scrolled))

    def add(self, question: str, search_text: str = "") -> TurnView:
        """Start an exchange at the end and follow it."""
        turn = TurnView(question, search_text)
        turn.after = self.last_stored()
        turn.opened.connect(lambda citation: self.opened.emit(turn, citation))
        turn.why.connect(lambda citation: self.why.emit(turn, citation))
        turn.retry.connect(lambda: self.retry.emit(turn))
        turn.wider.connect(lambda: self.wider.emit(turn))
        turn.edit.connect(lambda: self.edit.emit(turn))
        turn.branch.connect(self.branch)
        turn.more.connect(lambda at: self.more.emit(turn, at))
        self.turns.append(turn)
        self.body.insertWidget(self.body.count() - 1, turn)
        self._following, self._held = True, None
        return turn

    def show_stored(self, stored: Sequence[StoredTurn]) -> None:
        self.clear()
        for kept in stored:
            turn = self.add(kept.question, kept.search_text)
            turn.show_answer(kept.answer)
            turn.show_stored(kept)

    def last_stored(self) -> int | None:
        """The id of the last exchange that the library keeps."""
        return next((turn.stored.id for turn in reversed(self.turns) if turn.stored is not None), None)

    def find(self, turn_id: int) -> TurnView | None:
        return next((t for t in self.turns if t.stored is not None and t.stored.id == turn_id), None)

    def cut(self, turn: TurnView) -> None:
        """Take an exchange and all after it out of sight."""
        for one in self.turns[self.turns.index(turn) :]:
            self.drop(one)

    def reveal(self, turn: TurnView) -> None:
        """Show an exchange from its start."""
        self._following = False
        self._held = (turn, 0)
        QTimer.singleShot(0, self, lambda: self._grown(0, self.verticalScrollBar().maximum()))

    def clear(self) -> None:
        for turn in self.turns:
            self.remove_widget(turn)
        self.turns, self._held = [], None

    def drop(self, turn: TurnView) -> None:
        self.turns.remove(turn)
        self.remove_widget(turn)
        self._held = None

    def hold(self, turn: TurnView) -> None:
        """Keep an exchange where it is while the view gets another width: someone is at it."""
        self._following = False
        self._held = (turn, turn.y() - self.verticalScrollBar().value())

    def remove_widget(self, turn: QWidget) -> None:
        self.body.removeWidget(turn)
        turn.hide()
        turn.deleteLater()

    def history(self) -> list[Turn]:
        """What was asked and answered so far, as a follow-up question needs it."""
        return [Turn(t.question, t.answer.text, t.search_text) for t in self.turns if t.answer is not None]

    def settle(self) -> None:
        """The answer is there: show it from its start when it is taller than the view."""
        if self.turns and self._following and self.turns[-1].height() > self.viewport().height():
            self._following = False
            self.verticalScrollBar().setValue(self.turns[-1].y())

    def wheelEvent(self, event: object) -> None:
        super().wheelEvent(event)  # type: ignore[arg-type]
        self._scrolled()

    def _scrolled(self) -> None:
        """Someone who scrolled up reads: what grows below does not pull them away."""
        bar = self.verticalScrollBar()
        self._following = bar.value() >= bar.maximum() - 4
        self._held = None

    def _grown(self, _minimum: int, maximum: int) -> None:
        if self._held is not None:
            turn, below = self._held  # below the top of the view
            self.verticalScrollBar().setValue(turn.y() - below)
        elif self._following:
            self.verticalScrollBar().setValue(maximum)
