"""One concept: what it is called, where it is strong, what it stands with, what is near to it, since when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLayout, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context, Place
from app.i18n import plural, tr
from app.models.concept_entries import TITLES, TONES, clearness
from app.views import concept_words as words
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button
from app.widgets.card import Card, Scroller, row
from app.widgets.concept_example import ExampleRow
from app.widgets.concept_growth import GrowthBars, filled
from app.widgets.concept_rows import Share, ShareRow
from app.widgets.empty_state import EmptyState
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Badge, Label
from app.widgets.page_latest import Latest
from app.widgets.steer_state import ByConcept
from core.base.types import Concept, ConceptDetail, ConceptExample, ConceptWeight, Span
from core.worker.protocol import SEARCH

EXAMPLES, OTHERS, WORDS = 8, 8, 12


class ConceptCard(Card):
    """`show_concept(concept)` asks for its details. `chosen(id)`: the person follows a link to another concept.

    `renamed`, `merged`, `hidden`, `split(id)`: the person wants that of the concept shown.
    """

    chosen = Signal(int)
    renamed = Signal()
    merged = Signal()
    hidden = Signal()
    split = Signal(int)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=0, spacing=0)
        self.setMinimumWidth(280)
        self.setAccessibleName(tr("The chosen concept"))
        self._context = context
        self.concept: Concept | None = None
        self.detail: ConceptDetail | None = None
        self.passages = 0  # of the whole library
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._show)
        self._latest.failed.connect(self._fail)
        self._build()

    # what to show

    def show_concept(self, concept: Concept | None, passages: int) -> None:
        """The same concept again is asked for again, and stays as it is until then."""
        same = concept is not None and self.concept is not None and concept.id == self.concept.id
        self.concept, self.passages = concept, passages
        self._banner.hide()
        if concept is None:
            self._latest.drop()
            self._busy.stop()
            self._stack.setCurrentWidget(self._nothing)
            return
        self._head(concept)
        self._stack.setCurrentWidget(self._scroller)
        if not same:
            self.detail = None
            self._empty()
            self._scroller.verticalScrollBar().setValue(0)
            self._busy.start(tr("Reading where it is found…"))
        self._latest.start(SEARCH, "concept", {"id": concept.id})

    def stop(self) -> None:
        self._latest.drop()
        self._busy.stop()

    # layout

    def _build(self) -> None:
        self._nothing = EmptyState("concepts", tr("Choose a concept"), tr(
            "Its strongest passages, and the concepts close to it, are shown here."))  # fmt: skip
        self._scroller = Scroller(spacing=8)
        self._scroller.body.setContentsMargins(18, 16, 18, 18)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self._scroller)
        self.body.addWidget(self._stack)
        self.title = Label("", "heading", wrap=True)
        self.where = Label("", "muted", wrap=True)
        self.badge = Badge()
        self.named = Label("", "small", wrap=True)
        self.clear = Label("", "small", wrap=True)
        self._banner = Banner()
        self._banner.acted.connect(lambda: self.show_concept(self.concept, self.passages))
        self._busy = Busy(delay_ms=250)
        line = row(self.badge, self.named)
        line.setStretch(1, 1)
        body = self._scroller.body
        for part in (self.title, self.where):
            body.addWidget(part)
        body.addLayout(line)
        for part in (self.clear, self._tools(), self._banner, self._busy):
            body.addWidget(part)
        self._rest = QWidget()
        self._parts = QVBoxLayout(self._rest)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(6)
        body.addWidget(self._rest)
        body.addStretch(1)

    def _tools(self) -> QWidget:
        holder = QWidget()
        flow = FlowLayout(holder)
        self.search_button = Button(tr("Search for it"), "primary", "search", self._search)
        self.rename_button = Button(tr("Rename"), "secondary", "", self.renamed.emit)
        self.merge_button = Button(tr("Same as another…"), "secondary", "", self.merged.emit)
        self.hide_button = Button(tr("Hide"), "secondary", "", self.hidden.emit)
        for button in (self.search_button, self.rename_button, self.merge_button, self.hide_button):
            flow.addWidget(button)
        return holder

    def _head(self, concept: Concept) -> None:
        kind = clearness(concept)
        self.title.setText(concept.label)
        self.where.setText(plural(concept.passages, "In {n} passage", "In {n} passages"))
        self.badge.set_state(tr(TITLES[kind]), TONES[kind])
        self.named.setText(words.named_words(concept))
        self.clear.setText(words.clear_words(concept))
        self.hide_button.setText(tr("Show again") if concept.hidden else tr("Hide"))
        self.hide_button.setToolTip("" if concept.hidden else tr("It is no longer given as a reason, nor on the map"))

    # what comes

    def _show(self, detail: Any) -> None:
        self._busy.stop()
        self.detail = detail
        self.where.setText(words.where_words(detail, self.passages))
        self._empty()
        self._words(detail.concept)
        self._section(tr("Where it is strongest"), [self._example(e) for e in detail.examples[:EXAMPLES]])
        self._section(tr("Also in its passages"), self._others(detail.together, passages=True))
        self._section(tr("Close in meaning"), self._others(detail.near, passages=False))
        self._growth(detail)
        self._merged(detail.concept)

    def _fail(self, error: Any) -> None:
        self._busy.stop()
        self._banner.show_error(error, action=tr("Try again"))

    def _empty(self) -> None:
        _clear(self._parts)

    def _section(self, title: str, parts: Sequence[QWidget]) -> None:
        if not parts:
            return
        self._parts.addSpacing(8)
        self._parts.addWidget(Label(title, "eyebrow"))
        for part in parts:
            self._parts.addWidget(part)

    def _words(self, concept: Concept) -> None:
        if not concept.terms:
            return
        holder = QWidget()
        flow = FlowLayout(holder)
        for term in concept.terms[:WORDS]:
            flow.addWidget(Badge(term))
        holder.setAccessibleName(", ".join(concept.terms[:WORDS]))
        self._section(tr("Words that set its passages apart"), [holder])

    def _example(self, example: ConceptExample) -> QWidget:
        return ExampleRow(example, lambda: self._open(example))

    def _others(self, others: Sequence[ConceptWeight], *, passages: bool) -> list[QWidget]:
        most = 1.0 if passages else max((one.weight for one in others), default=1.0) or 1.0
        made: list[QWidget] = []
        for one in others[:OTHERS]:
            figure = tr("{share} of them", share=words.percent(one.weight)) if passages else ""
            said = f"{one.label}, {figure}" if figure else one.label
            share = Share(max(0.0, one.weight) / most, figure, "series_2" if passages else "series_4")
            made.append(ShareRow(one.label, (share,), said, lambda number=one.id: self.chosen.emit(number)))
        return made

    def _growth(self, detail: ConceptDetail) -> None:
        if len(filled(detail.growth)) < 2:
            return
        bars = GrowthBars()
        bars.show_growth(detail.growth)
        self._section(tr("When its documents are from"), [bars])

    def _merged(self, concept: Concept) -> None:
        """The way back for what was put together with it."""
        links: list[QWidget] = []
        for at, number in enumerate(concept.merged, start=1):
            words_ = tr("Take the merged concept {n} out again", n=at) if len(concept.merged) > 1 else tr(
                "Take the merged concept out again")  # fmt: skip
            link = Button(words_, "link", "", lambda number=number: self.split.emit(number))
            links.append(link)
        self._section(tr("You put another concept together with it"), links)

    # what the person does

    def _open(self, example: ConceptExample) -> None:
        passage = example.passage
        spans = example.spans or (Span(0, len(passage.text)),)
        marks = tuple(Span(passage.start + s.start, passage.start + s.end) for s in spans)
        self._context.navigate("document", Place(passage.document_id, passage.first_page, marks))

    def _search(self) -> None:
        if self.concept is not None:
            concept = self.concept
            self._context.navigate("search", ByConcept(words.search_words(concept), concept.id, concept.label))

    def take_focus(self) -> None:
        self.search_button.setFocus(Qt.FocusReason.OtherFocusReason)


def _clear(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
