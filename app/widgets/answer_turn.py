"""One exchange on the Ask page: the question, how far its answer is, the answer, and what it rests on."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.errors import Bug
from app.i18n import plural, tr
from app.widgets.answer_branches import Branches
from app.widgets.answer_compare import ComparisonView
from app.widgets.answer_parts import (
    copy_text,
    left_out,
    left_out_lines,
    left_out_text,
    mode_text,
    pieces,
    read_text,
    sent_text,
    sources,
    writing_text,
)
from app.widgets.answer_sources import SourceList
from app.widgets.answer_text import AnswerText
from app.widgets.answer_wider import WiderOffer, within
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.labels import ElidedBadge, Label
from app.widgets.page_offsets import one_line, shown
from core.base.errors import KnownError
from core.base.types import Answer, AnswerMode, Citation, Filters, SearchResult
from core.library import Comparison, StoredTurn, rich_text

MOST_SOURCES = 12  # listed below an answer about the whole library
_TONES = {AnswerMode.GENERATED: "accent", AnswerMode.EXTRACTIVE: "success", AnswerMode.ABSTAINED: "warning"}


class TurnView(QWidget):
    """Shows what it is told, in the order of `AskFlow`'s signals. `search_text` is what was searched for it.

    `stored` is the exchange as the library keeps it, once it does; `after` the id of the one that it follows.
    """

    opened = Signal(object)  # Citation
    why = Signal(object)  # Citation
    retry = Signal()
    wider = Signal()  # ask again without the filters
    edit = Signal()  # the question is to be asked in other words
    branch = Signal(object)  # id of the exchange that is to be shown in this place
    more = Signal(object)  # the menu is wanted at this point of the screen

    def __init__(self, question: str, search_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = question
        self.search_text = search_text or question
        self.answer: Answer | None = None
        self.stored: StoredTurn | None = None
        self.after: int | None = None
        self._build()
        self._busy.start(tr("Searching your documents…"))

    def _build(self) -> None:
        self._question = Label(shown(self.question), "strong", wrap=True)
        self._searched = Label("", "small", wrap=True)
        self._within = Label("", "small", wrap=True)
        self._busy = Busy(delay_ms=0)
        self._mode = ElidedBadge()
        self._sent = Label("", "error", wrap=True)
        self._reason = Label("", "muted", wrap=True)
        self.text = AnswerText(tr("Answer"))
        self._draft_note = Label(
            tr("The model is writing. Not checked against your documents yet:"), "small", wrap=True
        )
        self.draft = AnswerText(tr("Draft of the answer"))
        self._left_out = Button("", "link", "chevron-right", None)
        self._left_out.setCheckable(True)
        self._unsupported = Label("", "muted", wrap=True)
        self._left_out.toggled.connect(self._unsupported.setVisible)
        self._left_out.toggled.connect(lambda on: self._left_out.set_icon("chevron-down" if on else "chevron-right"))
        self.sources = SourceList()
        self.wider_offer = WiderOffer()
        self.wider_offer.asked.connect(self.wider)
        self._copy = Button(tr("Copy answer"), "ghost", "copy", self.copy)
        self._copy.setToolTip(tr("With its sources"))
        self._more = IconButton("more", tr("More to do with this answer"), self._ask_more)
        self._edit = IconButton("edit", tr("Edit the question and ask again"), self.edit.emit)
        self.branches = Branches()
        self.branches.chosen.connect(self.branch)
        self.comparison = ComparisonView()
        self.banner = Banner()
        self.banner.acted.connect(self.retry)
        for source in (self.sources,):
            source.opened.connect(self.opened)
            source.why.connect(self.why)
        self.text.cited.connect(self.opened)
        asked = Card(role="well", padding=12, spacing=4)
        line = row(self._question, self.branches, self._edit)
        line.setStretch(0, 1)
        asked.body.addLayout(line)
        asked.body.addWidget(self._searched)
        asked.body.addWidget(self._within)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 18)
        column.setSpacing(8)
        column.addWidget(asked)
        column.addWidget(self.banner)
        self._card = Card(padding=14, spacing=8)
        column.addWidget(self._card)
        column = self._card.body
        column.addLayout(row(self._mode, self._busy, None))
        parts = (self._sent, self._reason, self.text, self._draft_note, self.draft, self.wider_offer, self.sources)
        for part in (*parts, self._unsupported):
            column.addWidget(part)
        column.insertLayout(column.indexOf(self._unsupported), row(self._left_out, None))
        column.addWidget(self.comparison)
        column.addLayout(row(None, self._copy, self._more))
        hidden: tuple[QWidget, ...] = (
            self._sent, self._mode, self._searched, self._within, self._reason, self.text, self._draft_note, self.draft,
            self._left_out, self._unsupported, self.sources, self._copy, self._more, self._edit, self.branches,
            self.comparison,
        )  # fmt: skip
        for each in hidden:
            each.hide()

    @property
    def status(self) -> str:
        """What is said of the way of the answer: the running step, else how it was made."""
        return self._busy.label.text() if self._busy.isVisibleTo(self) else self._mode.text()

    # steps of the flow

    def show_found(self, result: SearchResult) -> None:
        self.search_text = result.query.text or self.question
        if self.search_text.strip() != self.question.strip():
            self._searched.setText(tr("Searched for: {words}", words=one_line(self.search_text)))
            self._searched.show()
        self._show_within(result.query.filters)
        found = plural(len(result.hits), "Reading {n} passage…", "Reading {n} passages…")
        self._busy.start(found)

    def show_draft(self, answer: Answer) -> None:
        """A first answer, quoted, that stands until the model is done."""
        self._show_answer(answer)
        self._reason.hide()
        self._copy.hide()
        self._more.hide()
        reading = answer.read < answer.matching
        self._busy.start(f"{read_text(answer)}…" if reading else writing_text(answer))

    def add_token(self, token: str) -> None:
        if not self.draft.isVisibleTo(self):
            self._busy.start(writing_text(self.answer))
            self._draft_note.show()
            self.draft.show()
        self.draft.append_plain(token)

    def show_answer(self, answer: Answer) -> None:
        self._end_work()
        self._show_answer(answer)

    def show_error(self, error: KnownError | Bug) -> None:
        self._end_work()
        self._card.setVisible(self.answer is not None)
        self.banner.show_error(error, action=tr("Try again"))

    def show_stopped(self) -> None:
        """Stopped by the person: a first answer stays, a draft that was not checked goes."""
        self._end_work()
        if self.answer is None:
            self._mode.set_state(tr("Stopped"), "neutral")
            self._mode.show()
        elif self.answer.matching:  # it says how far it reaches
            self._reason.show()
            self._copy.show()

    def show_stored(self, stored: StoredTurn) -> None:
        """The library keeps it: it can be edited, asked again, and stands among its branches."""
        self.stored = stored
        self.branches.show_branches(stored.branches, stored.id)
        self._edit.show()

    def show_comparison(self, comparison: Comparison) -> None:
        """What is different from an earlier answer."""
        self.comparison.show_comparison(comparison)

    def copy(self) -> None:
        """The answer with its sources: as plain text, and as rich text for programs that take it."""
        if self.answer is not None:
            copied = QMimeData()
            copied.setText(copy_text(self.answer))
            copied.setHtml(rich_text("", [StoredTurn(0, self.question, "", self.answer, "")]))
            QGuiApplication.clipboard().setMimeData(copied)

    def _ask_more(self) -> None:
        self.more.emit(self._more.mapToGlobal(QPoint(0, self._more.height() + 4)))

    def _end_work(self) -> None:
        self._busy.stop()
        self.draft.hide()
        self._draft_note.hide()
        self.banner.hide()

    def _show_answer(self, answer: Answer) -> None:
        self.answer = answer
        self.wider_offer.show_answer(answer)
        if answer.record is not None:
            self._show_within(answer.record.filters)
        abstained = answer.mode is AnswerMode.ABSTAINED
        self._mode.set_state(mode_text(answer), _TONES[answer.mode])
        self._mode.show()
        self._sent.setText(sent_text(answer))
        self._sent.setVisible(bool(sent_text(answer)))
        self._reason.setText(shown(answer.reason))
        self._reason.setVisible(bool(answer.reason))
        self.text.show_pieces(pieces(answer), quoted=answer.mode is AnswerMode.EXTRACTIVE)
        self.text.setVisible(not abstained)
        self._show_places(answer)
        self._left_out.setText(left_out_text(answer))
        self._left_out.setVisible(bool(left_out(answer)))
        self._left_out.setChecked(False)
        self._unsupported.setText(left_out_lines(answer))
        self._copy.show()
        self._more.show()

    def _show_within(self, filters: Filters) -> None:
        self._within.setText(within(filters))
        self._within.setVisible(bool(filters))

    def _show_places(self, answer: Answer) -> None:
        if answer.mode is AnswerMode.ABSTAINED:
            self.sources.show_sources(tr("The nearest passages"), answer.near_misses, numbered=False)
            return
        cited: list[Citation] = [c for places in sources(answer).values() for c in places]
        if answer.groups and len(cited) > MOST_SOURCES:  # each stands in the answer as a chip beside its words
            title = tr("The first {n} of {total} sources", n=MOST_SOURCES, total=len(cited))
            self.sources.show_sources(title, cited[:MOST_SOURCES])
            return
        self.sources.show_sources(tr("Sources"), cited)
