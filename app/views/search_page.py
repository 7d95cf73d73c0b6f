"""The Search page: one box, results as one types, filters, and the reason for every match."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from app.context import Context, Place
from app.i18n import tr
from app.views.ask_question import Question
from app.views.closer_search import CloserSearch
from app.views.hit_places import HitPlaces
from app.views.hit_said import HitSaid, asked
from app.views.search_results import SearchResults
from app.views.steer_search import Steer
from app.views.why_beside import WhyBeside
from app.views.why_expected import Expected
from app.views.why_missing import Missing
from app.widgets.hit_filters import FilterBar
from app.widgets.hit_flow import FlowLayout
from app.widgets.hit_levels import LevelSwitch
from app.widgets.hit_understood import UnderstoodBar
from app.widgets.page import Page
from app.widgets.page_latest import Latest
from app.widgets.search_box import SearchBox
from app.widgets.search_hint import syntax_hint
from app.widgets.steer_state import ByConcept, Steering
from core.base.types import Filters, Hit, Query, SearchResult, Span
from core.worker.protocol import SEARCH

FIRST = 20  # hits of a new search
MORE = 40  # further ones each time
LONGEST = 120_000  # characters that the box takes; the engine refuses what is too long, with its reason
NARROW = 760  # below this width the reason takes the place of the results


class SearchPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._query = Query("", k=FIRST)
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._show)
        self._latest.failed.connect(self._fail)
        self._closer = CloserSearch(context.engine, self)
        self._closer.found.connect(self._show_closer)
        self._offered: SearchResult | None = None  # read closely, and not shown yet
        self._listed: Query | None = None  # what the list shows the hits of
        self._build()
        self.setFocusProxy(self.box)
        context.engine.changed.connect(self._library_changed)
        self._state()

    # what the window asks of a page

    def show_target(self, target: Any) -> None:
        if isinstance(target, Expected):
            self.missing.choose(target)
            return
        if isinstance(target, ByConcept):
            self.box.setText(target.text)
            self.steer.choose(Steering().requiring(target.concept, target.label, on=True))
            self._search()  # where it is steered so already
        if isinstance(target, str) and target:
            self.box.setText(target)
            self._search(again=True)
        self.focus_search()

    def focus_search(self) -> None:
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    @property
    def has_open(self) -> bool:
        return self.why.is_open or self.steer.state.like is not None

    def escape(self) -> bool:
        if self.why.is_open:
            self.why.close()
            return True
        if self.steer.leave_like():
            return True
        if not self.box.hasFocus():
            self.focus_search()
            return True
        return False

    def close_page(self) -> None:
        self._latest.drop()
        self._closer.drop()
        self.steer.close()
        self.why.stop()

    # layout

    def _build(self) -> None:
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(14)
        self._split.setStyleSheet("QSplitter::handle { background: transparent; }")  # cards tell the areas apart
        self._left = QWidget(self._split)
        self._split.setStretchFactor(0, 1)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(24, 20, 24, 16)
        outer.addWidget(self._split)
        self._build_left()
        self.why = WhyBeside(self.context, self._split, steers=True)
        self.missing = Missing(self.context, self, self.why, self.steer)
        self.missing.wanted.connect(self._search_for)
        self.why.concept_asked.connect(self.steer.concept_menu)
        self.why.changed.connect(self._fit)
        self.why.closed.connect(lambda: self.results.list.setFocus(Qt.FocusReason.OtherFocusReason))
        QShortcut(Qt.Key.Key_I | Qt.KeyboardModifier.ControlModifier, self, self._why_current)
        QShortcut(QKeySequence.StandardKey.Undo, self, self.steer.undo)

    def _build_left(self) -> None:
        self.box = SearchBox(tr("Search your documents"), parent=self._left, kind="hero", rest_ms=150)
        self.box.setMaxLength(LONGEST)
        self.box.setToolTip(syntax_hint())
        self.box.settled.connect(lambda _: self._search())
        self.box.textChanged.connect(self._closer.postpone)
        self.box.returnPressed.connect(self._entered)
        self.box.installEventFilter(self)
        self.understood = UnderstoodBar(self._left)
        self.understood.cut.connect(self._cut)
        self.level = LevelSwitch(self.context.settings.get("search_level"), self._left)
        self.level.changed.connect(self._level_chosen)
        self._left.installEventFilter(self)
        self.filters = FilterBar(self.context.library.facets, self._left)
        self.filters.changed.connect(lambda: self._search(again=True))
        self.results = SearchResults(self.context, self._left)
        self.results.list.opened.connect(self._open)
        self.results.list.why.connect(self._asked_why)
        self.results.list.left.connect(self.focus_search)
        self.said = HitSaid(self.context, self)
        self.places = HitPlaces(self.context, self, self.said)
        self.places.opened.connect(self._open)
        self.places.why.connect(self._asked_why)
        self.results.list.menu_asked.connect(self.places.menu)
        self.places.why_not.connect(lambda hit: self.missing.ask(hit.passage.id))
        self.results.missing.connect(lambda: self.missing.choose())
        self.results.list.copies_asked.connect(self.places.copies)
        self.results.list.chosen.connect(self._follow)
        self.results.more.connect(self._more)
        self.results.closer.connect(self._take_closer)
        self.results.ask.connect(self._ask)
        self.results.clear_filters.connect(self._clear_all)
        self.results.retry.connect(lambda: self._search(again=True))
        self.steer = Steer(self.context, self)
        self.steer.changed.connect(lambda: self._search(again=True))
        self.box.textEdited.connect(lambda _: self.steer.typed())
        self.steer.bar.left.connect(self.focus_search)
        self.places.steer = self.steer
        choices = FlowLayout(spacing=6)
        choices.addWidget(self.level)
        choices.addWidget(self.filters)
        column = QVBoxLayout(self._left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.box)
        column.addWidget(self.understood)
        column.addLayout(choices)
        column.addWidget(self.steer.bar)
        column.addWidget(self.results, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """On a narrow page the reason takes the place of the results."""
        self._left.setVisible(not (self.why.is_open and self.width() < NARROW))

    # searching

    def _search(self, *, again: bool = False) -> None:
        text, filters = self.box.text().strip(), self.filters.filters()
        query = self.steer.state.on(Query(text, k=FIRST, filters=filters, level=self.level.level(), rerank=False))
        if not again and replace(query, k=self._query.k, rerank=self._query.rerank) == self._query and _asks(query):
            return
        self._query = query
        if not _asks(query):
            self._latest.drop()
            self._no_closer()
            self.steer.nothing_asked()
            self._state()
            return
        self._run()

    def _clear_all(self) -> None:
        """Search without filters, and without steering."""
        self.filters.set_filters(Filters())
        self.steer.choose(Steering())
        self._search()

    def _level_chosen(self) -> None:
        self.context.settings.remember("search_level", self.level.level().value)
        self._search(again=True)

    def _run(self) -> None:
        self._no_closer()
        self.steer.drop()
        self.results.show_busy()
        self._latest.start(SEARCH, "search", {"query": self._query})

    def _more(self) -> None:
        self._query = replace(self._query, k=self._query.k + MORE)
        self._run()

    def _search_for(self, text: str, filters: Filters) -> None:
        """As if the person had written `text` and chosen `filters`."""
        self.filters.set_filters(filters)
        self.box.setText(text)
        self._search(again=True)

    def _cut(self, text: str) -> None:
        """A piece of the query was taken out: search for what is left."""
        self.box.setText(text)
        self.box.setFocus(Qt.FocusReason.OtherFocusReason)
        self._search()

    def _show(self, result: SearchResult) -> None:
        same = self._listed is not None and _alike(result.query, self._listed)
        self._listed = self.places.query = result.query
        self.said.asked = asked(result.query.text, result.understood, result.understood_at)
        self.understood.tell(result.query.text, result.understood, result.understood_at)
        self.filters.show_removed(result.filtered_out)
        self.results.show_result(result, more=len(result.hits) >= self._query.k, same=same)
        if result.closer:
            self._closer.begin(result.query)
        self.steer.found(result)
        self.missing.found(result)
        if self.why.is_open and not self.why.is_not:
            self._refresh_why(same)

    def _show_closer(self, result: SearchResult) -> None:
        """The hits read closely; only offered where another order would move what the person is at."""
        self._offered = result
        if self.results.list.entered and not self.results.list.in_order_of(result.hits):
            self.results.offer_closer()
        else:
            self._take_closer()

    def _take_closer(self) -> None:
        result, self._offered = self._offered, None
        if result is not None:
            self._query = result.query
            self._show(result)

    def _no_closer(self) -> None:
        """Nothing is to be had any more of what was asked before."""
        self._closer.drop()
        self._offered = None
        self.results.offer_closer(False)

    def _fail(self, error: Any) -> None:
        if self._query.rerank and not self._closer.given_up:  # the hits may be had without
            self._closer.give_up()
            self._query = replace(self._query, rerank=False)
            self._run()
            return
        self.understood.clear()
        self.results.show_error(error)
        if self.why.is_open and not self.why.is_not and not self.results.list.hits:
            self.why.close()

    def _state(self) -> None:
        """What stands below the box while nothing is searched."""
        self.filters.show_removed(0)
        self.understood.clear()
        self.results.show_start(self.context.library.passage_count() > 0)

    def _library_changed(self, _changed: object) -> None:
        if not _asks(self._query):
            self._state()
        elif self.isVisible() and not self._latest.busy:
            self._no_closer()
            self._latest.start(SEARCH, "search", {"query": self._query})

    # from a hit onwards

    def _entered(self) -> None:
        """Return searches at once; a second one, with the results there, goes into them."""
        if not self._latest.busy and self.results.list.hits:
            self.results.list.enter()

    def _open(self, hit: Hit) -> None:
        passage = hit.passage
        spans = tuple(Span(passage.start + s.start, passage.start + s.end) for s in hit.spans)
        whole = (Span(passage.start, passage.end),)
        self.said.opened(passage.id)
        self.context.navigate("document", Place(passage.document_id, passage.first_page, spans or whole))

    def _ask(self) -> None:
        self.context.navigate("ask", Question(self._query.text, self._query.filters))

    def _why(self, hit: Hit) -> None:
        self.why.ask(self._query, hit.passage.id)

    def _asked_why(self, hit: Hit) -> None:
        self.results.list.entered = True
        self._why(hit)

    def _refresh_why(self, same: bool) -> None:
        """The reason that is open belongs to what is listed now: with the same question it stays with its hit."""
        hits = self.results.list.hits
        asked = next((hit for hit in hits if same and hit.passage.id == self.why.passage_id), None)
        hit = asked or self.results.list.current_hit() or next(iter(hits), None)
        if hit is not None:
            self._why(hit)
        else:
            self.why.close()

    def _why_current(self) -> None:
        hit = self.results.list.current_hit() or next(iter(self.results.list.hits), None)
        if hit is not None:
            self._asked_why(hit)

    def _follow(self, hit: Hit) -> None:
        """While the reason is open, it is that of the hit under the cursor."""
        if self.why.is_open and not self.why.is_not:
            self.why.ask(self._query, hit.passage.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down in the box goes into the list. How wide the left is, the splitter and the reason say too."""
        if watched is self._left and event.type() == QEvent.Type.Resize:
            self.level.fit(self._left.width())
        if watched is self.box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down and self.results.list.hits:
                self.results.list.enter()
                return True
            if event.key() == Qt.Key.Key_Escape and self.box.text():
                self.box.clear()
                return True
        return super().eventFilter(watched, event)


def _asks(query: Query) -> bool:
    """Whether there is something to search for."""
    return bool(query.text) or query.like is not None


def _alike(one: Query, other: Query) -> bool:
    """Whether they ask the same, be it for more hits or for hits that are read closely."""
    return replace(one, k=other.k, rerank=other.rerank) == other
