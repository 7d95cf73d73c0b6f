"""What stands below the search box: the hits, or why there are none; and what can be done with them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.errors import Bug, Message
from app.i18n import plural, tr
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button
from app.widgets.card import Card, row
from app.widgets.empty_state import EmptyState
from app.widgets.hit_list import HitList
from app.widgets.labels import ElidedLabel
from app.widgets.page_offsets import one_line
from core.base.errors import BadQuery, KnownError
from core.base.types import BM25, Level, SearchResult

ROUND = 6  # pixels that rows keep from the upper and lower edge of their card
_LEAST = 140  # pixels
_ROOMY = 60  # characters in a line
EXACTLY = 0.5  # milliseconds below which a time says nothing


# what is found, one of it and several
_COUNTED = {
    Level.SENTENCE: ("{n} sentence", "{n} sentences"),
    Level.PASSAGE: ("{n} passage", "{n} passages"),
    Level.SECTION: ("{n} section", "{n} sections"),
    Level.DOCUMENT: ("{n} document", "{n} documents"),
}
_NONE = {
    Level.SENTENCE: "No sentence matches",
    Level.PASSAGE: "No passage matches",
    Level.SECTION: "No section matches",
    Level.DOCUMENT: "No document matches",
}


class SearchResults(QWidget):
    more = Signal()
    closer = Signal()  # show the hits that were read closely
    ask = Signal()
    missing = Signal()  # why something that was expected is not among the hits
    clear_filters = Signal()
    retry = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.banner = Banner(self)
        self.banner.acted.connect(self.retry)
        self._stack = QStackedWidget(self)
        self._stack.setMinimumHeight(_LEAST)  # whatever the states that are not shown would need
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(self.banner)
        column.addWidget(self._stack, 1)
        self._build_waiting()
        self._build_hits()
        self._build_states(context)
        for page in (self.blank, self._page, self.nothing_yet, self.start, self.no_hits):
            self._stack.addWidget(page)

    @property
    def shown(self) -> QWidget | None:
        """The state that is shown: `blank`, `results`, `nothing_yet`, `start` or `no_hits`."""
        return self._stack.currentWidget()

    def _build_waiting(self) -> None:
        """Nothing was found before, and the answer is not here yet."""
        self.blank = QWidget(self._stack)
        self.first_busy = Busy(tr("Searching…"), self.blank, delay_ms=300)
        column = QVBoxLayout(self.blank)
        column.addLayout(row(None, self.first_busy, None))
        column.addStretch(1)

    def _build_hits(self) -> None:
        self._page = QWidget(self._stack)
        self.results = Card(self._page, padding=1, spacing=0)
        self.list = HitList(self.results)
        self.results.body.setContentsMargins(1, ROUND, 1, ROUND)  # rows are square, the card's corners are not
        self.results.body.addWidget(self.list, 1)
        self.count = ElidedLabel("", "small", self._page, mode=Qt.TextElideMode.ElideRight)
        self.busy = Busy(tr("Searching…"), self._page, delay_ms=300)
        self._more = Button(tr("Show more"), "link", "", self.more.emit, self._page)
        self._closer = Button(tr("Closer results are there"), "link", "", self.closer.emit, self._page)
        self._closer.setToolTip(tr("The best hits were read together with the question. Show them in their new order."))
        self._closer.hide()
        self._missing = Button(tr("Missing one?"), "link", "", self.missing.emit, self._page)
        self._missing.setToolTip(tr("Ask why a passage that you expected is not among the hits"))
        self._why = Button(tr("Why?"), "ghost", "why", self._ask_why, self._page)
        self._ask = Button(tr("Ask about these"), "secondary", "ask", self.ask.emit, self._page)
        column = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.results, 1)
        line = row(self.count, self.busy, self._closer, self._more, self._missing, self._why, self._ask)
        line.setStretch(0, 1)
        column.addLayout(line)

    def _build_states(self, context: Context) -> None:
        to_library = Button(tr("Add documents"), "primary", "folder-add", lambda: context.navigate("library", None))
        stays = tr("Add a folder first. It is read on this computer and stays on it.")
        self.nothing_yet = EmptyState("library", tr("Nothing to search yet"), stays, (to_library,), self._stack)
        keys = tr(
            'A few words or a whole question. Words in "quotes" must stand side by side, -word leaves out, type:pdf or '
            "in:folder narrows. Arrow keys move, Enter opens a document, Ctrl+I says why it matched."
        )
        self.start = EmptyState("search", tr("Search by words or by meaning"), keys, parent=self._stack)
        self._clear = Button(tr("Clear filters"), "secondary", "", self.clear_filters.emit)
        self._ask_anyway = Button(tr("Ask it as a question"), "secondary", "ask", self.ask.emit)
        self._expected = Button(tr("I expected a certain one"), "secondary", "why", self.missing.emit)
        actions = (self._clear, self._ask_anyway, self._expected)
        self.no_hits = EmptyState("search", tr("No passage matches"), "", actions, self._stack)
        for state in (self.nothing_yet, self.start, self.no_hits):
            state.text.setMinimumWidth(400)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What is said elsewhere too gives way on a narrow page."""
        super().resizeEvent(event)
        roomy = self.width() > _ROOMY * self.fontMetrics().averageCharWidth()
        self._missing.setVisible(roomy)
        self._ask.setText(tr("Ask about these") if roomy else tr("Ask"))

    def _rest(self) -> None:
        self.busy.stop()
        self.first_busy.stop()

    def show_busy(self) -> None:
        """A new search runs: what was found before stays until the answer is here."""
        self.banner.hide()
        self.busy.start()
        self.first_busy.start()
        if self.shown is not self._page:
            self._stack.setCurrentWidget(self.blank)

    def offer_closer(self, there: bool = True) -> None:
        """The hits were read closely, and are shown in their new order when the person wants it."""
        self._closer.setVisible(there)

    def show_result(self, result: SearchResult, *, more: bool, same: bool = False) -> None:
        """`same`: the question is that of the hits shown, whose row and place on the screen stay then."""
        self._rest()
        self.offer_closer(False)
        self.list.show_hits(result.hits, same=same)
        self._more.setVisible(more)
        if result.notice:
            self.banner.show_message(Message(result.notice))
        if not result.hits:
            self._show_no_hits(result)
            return
        time = sum(ms for stage, ms in result.milliseconds.items() if stage != "total")
        time = result.milliseconds.get("total", time)
        found = plural(len(result.hits), *_COUNTED[result.query.level])
        if result.query.like is not None:
            found = tr("{passages} like it", passages=found)
        elif not _has_words(result):
            found = tr("{passages} near in meaning, none with these words", passages=found)
        self.count.set_whole(f"{found}  ·  {time:.0f} ms" if time > EXACTLY else found)
        self._stack.setCurrentWidget(self._page)

    def _show_no_hits(self, result: SearchResult) -> None:
        text = tr("Other words may help: the meaning counts, not only the wording.")
        if result.understood:
            text = plural(
                len(result.understood),
                "Nothing fits {asked}. Take it out, above, to find more.",
                "Nothing fits all of {asked}. Take one of them out, above, to find more.",
                asked=one_line(", ".join(result.understood)),
            )
        elif result.query.required:
            text = tr("No hit has all the concepts that must be there. Count them as usual, above, to find more.")
        elif result.filtered_out:
            text = plural(
                result.filtered_out,
                "The filters hide {n} passage that matches.",
                "The filters hide {n} passages that match.",
            )
        self.no_hits.set_words(tr(_NONE[result.query.level]), text)
        narrowed, steered = bool(result.query.filters), bool(result.query.required or result.query.boosts)
        self._clear.setVisible(narrowed or steered)
        self._clear.setText(tr("Clear filters") if not steered else tr("Search by the words alone"))
        self._ask_anyway.show()
        self._expected.show()
        self._stack.setCurrentWidget(self.no_hits)

    def show_error(self, error: KnownError | Bug) -> None:
        self._rest()
        if isinstance(error, BadQuery):
            self._show_unfinished(error)
            return
        self.banner.show_error(error, action=tr("Try again"))
        if not self.list.hits:
            self._stack.setCurrentWidget(self.blank)

    def _show_unfinished(self, error: BadQuery) -> None:
        """What is typed cannot be searched for yet: nothing went wrong, and trying again would not help."""
        self.list.show_hits(())
        self.no_hits.set_words(error.message, error.advice)
        self._clear.hide()
        self._ask_anyway.hide()
        self._expected.hide()
        self._stack.setCurrentWidget(self.no_hits)

    def show_start(self, searchable: bool) -> None:
        """Nothing is searched: what this page is for."""
        self._rest()
        self.banner.hide()
        self.list.show_hits(())
        self._stack.setCurrentWidget(self.start if searchable else self.nothing_yet)

    def _ask_why(self) -> None:
        hit = self.list.current_hit() or next(iter(self.list.hits), None)
        if hit is not None:
            self.list.why.emit(hit)


def _has_words(result: SearchResult) -> bool:
    """Whether any word of the query stands in any hit, as far as words were looked for."""
    words = [p.contribution for hit in result.hits for p in hit.parts if p.channel == BM25]
    return not words or any(words)
