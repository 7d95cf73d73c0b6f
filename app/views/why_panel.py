"""The side panel "Why this match?": the reason first, then the score taken apart, then the passage with its marks."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.views.why_details import WhyDetails
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import IconButton
from app.widgets.card import Card, row
from app.widgets.hit_model import name_of, pages_text
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page_latest import Latest
from app.widgets.why_reasons import asked_words, meant_words
from app.widgets.why_row import RowFigures
from app.widgets.why_text import MarkedText
from core.base.types import Explanation, Level, Query, Span
from core.worker.protocol import SEARCH


class WhyPanel(QFrame):
    """`ask(query, passage_id)` explains one passage.

    `closed` is sent when the person closes the panel. Where it steers, `other_asked` asks about a passage that was not
    found, and `concept_asked(Explanation, id, where)` for the menu of a concept.
    """

    closed = Signal()
    other_asked = Signal()
    concept_asked = Signal(object, int, QPoint)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setMinimumWidth(300)
        self.setAccessibleName(tr("Why this match?"))
        self._asked: tuple[Query, int] | None = None
        self._explanation: Explanation | None = None
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._show)
        self._latest.failed.connect(self._fail)
        self._build()

    def set_steers(self, on: bool) -> None:
        """Offer to steer the search by the concepts that are shown."""
        self._details.steers = on

    @property
    def explanation(self) -> Explanation | None:
        """What is shown now."""
        return self._explanation

    @property
    def details(self) -> WhyDetails:
        return self._details

    @property
    def passage_text(self) -> MarkedText:
        return self._text

    def ask(self, query: Query, passage_id: int) -> None:
        """Explain why the passage matched; a repeated question keeps what is shown."""
        if (query, passage_id) == self._asked and self._explanation is not None:
            return
        self._asked = (query, passage_id)
        self._banner.hide()
        self._busy.start(tr("Taking the match apart…"))
        if self._explanation is None:
            self._stack.setCurrentWidget(self._blank)
        self._latest.start(SEARCH, "explain", {"query": query, "passage_id": passage_id})

    def stop(self) -> None:
        self._latest.drop()
        self._busy.stop()

    def take_focus(self) -> None:
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    def _build(self) -> None:
        self._close = IconButton("close", tr("Close"), self.closed.emit)
        self._place = ElidedLabel("", "small")
        self._busy = Busy(delay_ms=200)
        self._banner = Banner()
        self._banner.acted.connect(self._again)
        self._reason = Label("", "strong", wrap=True)
        self._reason.setAccessibleName(tr("The reason"))
        self._details = WhyDetails()
        self._details.pointed.connect(self._mark)
        self._details.concept_asked.connect(lambda concept, at: self.concept_asked.emit(self._explanation, concept, at))
        self._details.other_asked.connect(self.other_asked)
        self._text = MarkedText(tr("The passage, with the marked words"))
        self._blank = QWidget()
        self._stack = QStackedWidget()
        self._stack.setStyleSheet("QStackedWidget { background: transparent; }")  # it lies on a card
        self._stack.addWidget(self._blank)
        self._stack.addWidget(self._make_split())
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 10, 14)
        column.setSpacing(6)
        column.addLayout(row(Label(tr("Why this match?"), "heading"), None, self._close))
        column.addWidget(self._place)
        column.addWidget(self._banner)
        column.addWidget(self._busy)
        column.addWidget(self._stack, 1)

    def _make_split(self) -> QSplitter:
        upper = QWidget()
        lines = QVBoxLayout(upper)
        lines.setContentsMargins(0, 4, 0, 6)
        lines.addWidget(self._reason)
        lines.addWidget(self._details, 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(1)
        split.addWidget(upper)
        split.addWidget(self._passage_box())
        split.setStretchFactor(0, 1)
        self._split = split
        return split

    def _passage_box(self) -> Card:
        """The passage on a ground of its own, apart from the figures."""
        box = Card(role="well", padding=8, spacing=2)
        box.body.addWidget(Label(tr("The passage"), "eyebrow"))
        box.body.addWidget(self._text)
        self._text.setStyleSheet("QPlainTextEdit { background: transparent; }")
        return box

    def _show(self, explanation: Explanation) -> None:
        self._busy.stop()
        self._explanation = explanation
        passage = explanation.passage
        page = passage.place or pages_text(passage.first_page, passage.last_page)
        self._place.set_whole(f"{name_of(passage)}  ·  {page}" if page else name_of(passage))
        self._reason.setText(explanation.sentence)
        self._reason.setVisible(bool(explanation.sentence))
        self._details.show_explanation(explanation, self._asked[0].level if self._asked else Level.PASSAGE)
        self._text.show_text(passage.text, self._matched(), meant_words(explanation))
        self._stack.setCurrentIndex(1)
        self._give_room()

    def _give_room(self) -> None:
        """The passage gets what it needs, at most a third of the panel; the figures get the rest."""
        whole = self._split.height()
        wanted = min(self._text.content_height() + 48, whole // 3)
        self._split.setSizes([whole - wanted, wanted])

    def _fail(self, error: object) -> None:
        self._busy.stop()
        self._explanation = None
        self._stack.setCurrentWidget(self._blank)
        self._banner.show_error(error, action=tr("Try again"))  # type: ignore[arg-type]

    def _again(self) -> None:
        if self._asked is not None:
            self._explanation = None
            self.ask(*self._asked)

    def _matched(self) -> tuple[Span, ...]:
        """All words of the question: what is marked while nothing is pointed at."""
        return asked_words(self._explanation) if self._explanation else ()

    def _mark(self, figures: RowFigures | None) -> None:
        if figures is not None:
            self._text.mark(figures.marks, figures.lines)
        elif self._explanation is not None:
            self._text.mark(self._matched(), meant_words(self._explanation))
