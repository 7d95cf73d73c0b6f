"""The side panel "Why not this one?": what keeps a passage out or down, how it stands, what would bring it up."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.context import Context, Place
from app.i18n import grouped, tr
from app.views.why_details import clear
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, Scroller, row
from app.widgets.hit_model import name_of, pages_text
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.line_button import LineButton
from app.widgets.page_latest import Latest
from app.widgets.page_offsets import one_line
from app.widgets.why_lifts import excluded_text, lift_text
from app.widgets.why_standing import standing_rows
from app.widgets.why_text import MarkedText
from core.base.types import Query, Span, WhyNot
from core.worker.protocol import SEARCH

_LISTED = 6


class WhyNotPanel(QFrame):
    """`ask(query, passage_id)` looks into one passage. `lifted(WhyNot, Lift)`: the person wants this change."""

    closed = Signal()
    other_asked = Signal()
    lifted = Signal(object, object)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setMinimumWidth(300)
        self.setAccessibleName(tr("Why not this one?"))
        self._context = context
        self._asked: tuple[Query, int] | None = None
        self.shown: WhyNot | None = None
        self.lifts: list[LineButton] = []
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._show)
        self._latest.failed.connect(self._fail)
        self._build()

    @property
    def busy(self) -> bool:
        return self._latest.busy

    def ask(self, query: Query, passage_id: int) -> None:
        """Say why the passage is not among the hits of the query, or not higher."""
        if (query, passage_id) == self._asked and (self.shown is not None or self.busy):
            return
        other = self._asked is None or passage_id != self._asked[1]
        self._asked = (query, passage_id)
        self._banner.hide()
        self._busy.start(tr("Looking for it, and trying what would bring it up…"))
        if other:
            self._clear()
        self._latest.start(SEARCH, "why_not", {"query": query, "passage_id": passage_id})

    def again(self, query: Query) -> None:
        """The same passage for what is searched now."""
        if self._asked is not None:
            self.ask(query, self._asked[1])

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
        self._banner.acted.connect(self._retry)
        self._scroller = Scroller(spacing=4)
        self._scroller.body.setContentsMargins(0, 4, 10, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 10, 14)
        column.setSpacing(6)
        column.addLayout(row(Label(tr("Why not this one?"), "heading"), None, self._close))
        column.addWidget(self._place)
        column.addWidget(self._banner)
        column.addWidget(self._busy)
        column.addWidget(self._scroller, 1)

    def _clear(self) -> None:
        self.shown, self.lifts = None, []
        clear(self._scroller.body)

    def _show(self, why: WhyNot) -> None:
        self._busy.stop()
        self._clear()
        self.shown = why
        passage = why.passage
        page = passage.place or pages_text(passage.first_page, passage.last_page)
        self._place.set_whole(f"{name_of(passage)}  ·  {page}" if page else name_of(passage))
        body = self._scroller.body
        body.addLayout(row(Badge(*_state(why)), None))
        body.addWidget(Label(why.sentence, "strong", wrap=True))
        if why.instead:
            other = Button(tr("Read the one that is shown"), "link", "open", lambda: self._read(why.instead, None, ()))
            body.addWidget(other, 0, Qt.AlignmentFlag.AlignLeft)
        if why.excluded:
            self._title(tr("What keeps it out"))
            for piece in why.excluded:
                body.addWidget(Label(one_line(excluded_text(piece)), wrap=True))
        self._show_lifts(why)
        if why.standings:
            self._title(tr("How it stands"), tr("The mark in a bar is where the last hit shown stands."))
            for one in standing_rows(why.standings):
                body.addWidget(one)
        self._show_lacks(why)
        self._show_passage(why)
        other = Button(tr("Ask about another passage…"), "link", "why", self.other_asked.emit)
        body.addWidget(other, 0, Qt.AlignmentFlag.AlignLeft)
        body.addStretch(1)
        self._scroller.verticalScrollBar().setValue(0)

    def _title(self, text: str, note: str = "") -> None:
        heading = Label(text, "eyebrow")
        heading.setContentsMargins(0, 12, 0, 2)
        self._scroller.body.addWidget(heading)
        if note:
            self._scroller.body.addWidget(Label(note, "small", wrap=True))

    def _show_lifts(self, why: WhyNot) -> None:
        """What was tried and helps; a press does it."""
        helping = [lift for lift in why.lifts if lift.rank is not None][:_LISTED]
        if not helping:
            return
        self._title(tr("What would bring it up"), tr("Each was tried. Press one to search so; Ctrl+Z takes it back."))
        for lift in helping:
            words, place = one_line(lift_text(lift)), tr("place {rank}", rank=grouped(lift.rank or 0))
            button = LineButton(f"{words}: {place}", lambda lift=lift: self.lifted.emit(why, lift))
            said = Label(words, wrap=True)
            inside = row(said, Badge(place, "success"))
            inside.setStretch(0, 1)
            button.fill(inside)
            self._scroller.body.addWidget(button)
            self.lifts.append(button)

    def _show_lacks(self, why: WhyNot) -> None:
        concepts = ", ".join(f"«{one_line(c.label)}»" for c in why.missing_concepts[:_LISTED])
        words = ", ".join(one_line(word) for word in why.missing_words[:_LISTED])
        if not concepts and not words:
            return
        self._title(tr("What it lacks"))
        if words:
            self._scroller.body.addWidget(Label(tr("Words of the question: {words}", words=words), wrap=True))
        if concepts:
            said = tr("What the hits are about: {concepts}", concepts=concepts)
            self._scroller.body.addWidget(Label(said, wrap=True))

    def _show_passage(self, why: WhyNot) -> None:
        passage = why.passage
        box = Card(role="well", padding=8, spacing=2)
        read = Button(tr("Read it here"), "link", "open")
        read.clicked.connect(
            lambda: self._read(passage.document_id, passage.first_page, (Span(passage.start, passage.end),))
        )
        head = row(Label(tr("The passage"), "eyebrow"), None, read)
        text = MarkedText(tr("The passage that was not found"))
        text.setStyleSheet("QPlainTextEdit { background: transparent; }")
        text.show_text(passage.text)
        text.setMinimumHeight(min(220, 60 + len(passage.text) // 3))
        box.body.addLayout(head)
        box.body.addWidget(text)
        self._scroller.body.addSpacing(12)
        self._scroller.body.addWidget(box)

    def _read(self, document: int, page: int | None, spans: Sequence[Span]) -> None:
        self._context.navigate("document", Place(document, page, tuple(spans)))

    def _fail(self, error: object) -> None:
        self._busy.stop()
        self._clear()
        self._place.set_whole("")
        self._banner.show_error(error, action=tr("Try again"))  # type: ignore[arg-type]

    def _retry(self) -> None:
        if self._asked is not None:
            (query, passage), self._asked = self._asked, None
            self.ask(query, passage)


def _state(why: WhyNot) -> tuple[str, str]:
    """Words and tone of the badge."""
    if why.excluded:
        return tr("Kept out"), "warning"
    if why.rank is None:
        return tr("Not among the candidates"), "warning"
    return tr("Place {rank}", rank=grouped(why.rank)), "neutral"
