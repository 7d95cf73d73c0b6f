"""Judging by hand: a question, one passage after the other, and whether it answers; with a key for each word."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QProgressBar, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import grouped, tr
from app.tasks.judging import ANSWERS, NOT, PARTLY, Item, Judging
from app.widgets.answer_announce import announce
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button
from app.widgets.card import Card, Scroller, row
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page_background import Background
from app.widgets.why_text import MarkedText
from core.base.errors import KnownError

_WHY = (
    "What you say here is the surest thing to learn from, and makes a test set of this library. It stays on this "
    "computer."
)
_THANKS = "There are no further questions just now. What you said counts from the next run on."
_NONE = "Questions are made from your documents, and from what you search and ask. There are too few as yet."
_KEYS = {
    Qt.Key.Key_Y: ANSWERS, Qt.Key.Key_1: ANSWERS,
    Qt.Key.Key_P: PARTLY, Qt.Key.Key_2: PARTLY,
    Qt.Key.Key_N: NOT, Qt.Key.Key_3: NOT,
}  # fmt: skip
_WIDEST = 860
_NARROW = 640  # below this width the buttons stand in two lines


class JudgeView(QWidget):
    """`left()` when the person goes back to the page, `kept()` when what was said of a question is stored."""

    left = Signal()
    kept = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._background = Background(self)
        self.judging = Judging(context.engine, self._keep, self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Judging questions"))
        self._build()
        self.judging.changed.connect(self.refresh)
        self.judging.failed.connect(self.banner.show_error)

    def begin(self) -> None:
        self.banner.hide()
        self.judging.begin()
        self.refresh()
        self.setFocus()

    def leave(self) -> None:
        self.judging.stop()
        self.left.emit()

    # layout

    def _build(self) -> None:
        inner = QWidget()
        inner.setMaximumWidth(_WIDEST)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        back = Button(tr("Back"), "secondary", "chevron-left", self.leave)
        head = row(back, 4, Label(tr("Judge questions"), "title"), None)
        column.addLayout(head)
        column.addWidget(Label(tr(_WHY), "muted", wrap=True))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Questions judged"))
        self.amount = Label("", "small")
        line = row(self.bar, self.amount, spacing=12)
        line.setStretch(0, 1)
        column.addLayout(line)
        self.banner = Banner()
        column.addWidget(self.banner)
        self.stack = QStackedWidget()
        self.stack.addWidget(self._question_card())
        self.stack.addWidget(self._waiting())
        self.nothing = EmptyState("check", "", "", (Button(tr("Back to Adapt"), "secondary", "", self.leave),))
        self.stack.addWidget(self.nothing)
        column.addWidget(self.stack, 1)
        line = row(None, inner, None)
        line.setStretch(1, 20)
        line.setContentsMargins(0, 0, 12, 20)
        scroller = Scroller()
        scroller.body.addLayout(line)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroller)

    def _waiting(self) -> QWidget:
        self.busy = Busy(tr("Looking for a question"))
        made = QWidget()
        made.setLayout(row(None, self.busy, None))
        return made

    def _question_card(self) -> QWidget:
        card = Card(padding=18, spacing=10)
        self.question = Label("", "heading", wrap=True)
        self.where = Label("", "small")
        self.document = ElidedLabel("", "strong")
        self.text = MarkedText(tr("The passage"))
        self.text.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys are this view's
        head = row(self.document, self.where, spacing=12)
        head.setStretch(0, 1)
        well = Card(role="card", padding=14, spacing=6)
        well.body.addLayout(head)
        well.body.addWidget(self.text, 1)
        card.body.addWidget(self.question)
        card.body.addWidget(Label(tr("Does this passage answer it?"), "muted"))
        card.body.addWidget(well, 100)
        card.body.addStretch(1)
        self._well = well
        self.yes = Button(tr("Yes (Y)"), "primary", "check", lambda: self._say(ANSWERS))
        self.partly = Button(tr("In part (P)"), "secondary", "", lambda: self._say(PARTLY))
        self.no = Button(tr("No (N)"), "secondary", "close", lambda: self._say(NOT))
        self.skip = Button(tr("Next question (S)"), "ghost", "chevron-right", self._skip)
        self.undo = Button(tr("Undo (U)"), "ghost", "history", self._undo)
        self._buttons = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._buttons.setSpacing(8)
        self._buttons.addLayout(row(self.yes, self.partly, self.no, None), 1)
        self._buttons.addLayout(row(self.undo, self.skip, None))
        card.body.addLayout(self._buttons)
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across = self.width() >= _NARROW * max(1.0, self.fontMetrics().height() / 19)
        self._buttons.setDirection(QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.TopToBottom)
        self.text.setMinimumHeight(self.fontMetrics().height() * 4)
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        """The well is as high as its passage, where there is room; what is below keeps its place."""
        high = max(self.text.content_height() + 4, self.text.minimumHeight())
        self._well.setMaximumHeight(high + self._well.sizeHint().height() - self.text.sizeHint().height())

    # what is shown

    def refresh(self) -> None:
        judging, item = self.judging, self.judging.item
        self.bar.setRange(0, max(1, judging.wanted))
        self.bar.setValue(min(judging.done, judging.wanted))
        amount = tr("{n} of {m} questions", n=grouped(judging.done), m=grouped(judging.wanted))
        self.amount.setText(amount if judging.wanted else "")
        self.undo.setEnabled(judging.can_undo)
        if item is not None:
            self.stack.setCurrentIndex(0)
            self._show_item(item)
        elif judging.busy:
            self.stack.setCurrentIndex(1)
        else:
            done = bool(judging.done)
            self.nothing.set_words(tr("Thank you") if done else tr("No questions yet"), tr(_THANKS if done else _NONE))
            self.stack.setCurrentIndex(2)
        self.busy.start(tr("Looking for a question")) if item is None and judging.busy else self.busy.stop()

    def _show_item(self, item: Item) -> None:
        passage = item.passage
        self.question.setText(item.question)
        self.where.setText(tr("passage {n} of {m}", n=len(item.gains) + 1, m=len(item.passages)))
        self.document.set_whole(passage.document)
        self.text.show_text(passage.text)
        QTimer.singleShot(0, self, self._fit)

    # what is said

    def _say(self, gain: int) -> None:
        self.judging.say(gain)
        self._tell()

    def _skip(self) -> None:
        self.judging.go_on()
        self._tell()

    def _undo(self) -> None:
        self.judging.undo()
        self._tell()

    def _tell(self) -> None:
        """For a screen reader: what is to be judged now."""
        item = self.judging.item
        if item is not None:
            announce(self, f"{item.question} {item.passage.text}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        undo = key == Qt.Key.Key_Z and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if undo or (plain and key in (Qt.Key.Key_U, Qt.Key.Key_Backspace)):
            self._undo()
        elif plain and key in _KEYS and self.judging.item is not None:
            self._say(_KEYS[key])
        elif plain and key == Qt.Key.Key_S and self.judging.item is not None:
            self._skip()
        else:
            super().keyPressEvent(event)

    def _keep(self, question: str, gains: dict[int, int]) -> None:
        """Beside the event loop: a job may hold the database for a moment."""
        library = self._context.library
        self._background.run(lambda: library.judge(question, gains), self._kept)

    def _kept(self, outcome: object) -> None:
        if isinstance(outcome, KnownError):
            self.banner.show_error(outcome)
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            self.kept.emit()
