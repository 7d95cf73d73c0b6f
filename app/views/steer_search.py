"""Steering a search by concepts: what is steered by, how it was before, and what there is to steer by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.context import Context
from app.i18n import tr
from app.views.steer_lenses import Lenses
from app.widgets.hit_filters import shorten
from app.widgets.hit_model import name_of
from app.widgets.page_latest import Latest
from app.widgets.page_offsets import one_line
from app.widgets.steer_bar import SteerBar
from app.widgets.steer_menu import add_concept, menu_text
from app.widgets.steer_state import Steering
from core.base.types import Explanation, Passage, Query, SearchResult
from core.worker.protocol import SEARCH

REST_MS = 250  # after a search
BEFORE = 50  # steps that can be undone
_LISTED = 8  # concepts of a passage in a menu
_LINE = 56  # characters of a line in a menu


class Steer(QObject):
    """`changed`: the person steers otherwise, and the search is to be made again."""

    changed = Signal()

    def __init__(self, context: Context, page: QWidget) -> None:
        super().__init__(page)
        self._context = context
        self._page = page
        self.state = Steering()
        self._before: list[Callable[[], None]] = []  # what takes each change back, the last one at the end
        self._found = Query("")
        self._rest = QTimer(self)  # the concepts of the hits cost as much as the search: not between two letters
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(lambda: self._topics.start(SEARCH, "facets", {"query": self._found}))
        self._hear: Callable[[Mapping[int, str]], None] = _nobody  # waits for the concepts of a passage
        self._known: dict[int, Mapping[int, str]] = {}  # concepts of passages
        self._seen: tuple[str, int] = ("", -1)  # text and generation that the question's concepts are of
        self.bar = SteerBar(page)
        self.bar.chosen.connect(self.choose)
        self.bar.undo.connect(self.undo)
        self.lenses = Lenses(context, page)
        self.lenses.loaded.connect(self._show)
        self.lenses.renewed.connect(self._start_anew)
        self.bar.lenses.filling.connect(lambda menu: self.lenses.fill(menu, self.state, self.choose))
        self._asked = Latest(context.engine, self)
        self._asked.result.connect(self.bar.show_asked)
        self._asked.failed.connect(lambda _: self.bar.show_asked(()))  # the search itself says what is wrong
        self._topics = Latest(context.engine, self)
        self._topics.result.connect(self.bar.show_topics)
        self._topics.failed.connect(lambda _: self.bar.show_topics(()))
        self._passage = Latest(context.engine, self)
        self._passage.result.connect(self.knows)
        self._passage.failed.connect(lambda _: self._hear({}))

    @property
    def busy(self) -> bool:
        """Whether it is being looked for what there is to steer by."""
        return self._rest.isActive() or any(one.busy for one in (self._asked, self._topics, self.lenses))

    # what the person does

    def choose(self, steering: Steering) -> None:
        """Steer so from now on."""
        if steering == self.state:
            return
        self._keep_state()
        self._set(steering)

    def remember(self, back: Callable[[], None]) -> None:
        """The search is changed in another way, which `back` takes back."""
        self._before = [*self._before[1 - BEFORE :], back]
        self._show()

    def undo(self) -> bool:
        """Search as before the last change. False when there was none."""
        if not self._before:
            return False
        self._before.pop()()
        self._show()
        return True

    def leave_like(self) -> bool:
        """Search by the words again. False when that is done already."""
        if self.state.like is None:
            return False
        self.choose(self.state.freely())
        return True

    def typed(self) -> None:
        """The person asks for something else in words, which is searched for once typing rests."""
        if self.state.like is not None:
            self._keep_state()
            self.state = self.state.freely()
            self._show()

    def _keep_state(self) -> None:
        before = self.state
        self.remember(lambda: self._set(before))

    def _start_anew(self) -> None:
        """The concepts were found anew: numbers of old ones mean nothing any more."""
        self._before = []
        if self.state:
            self._context.notifications.tell(
                tr("The concepts were found anew. Search is no longer steered by old ones.")
            )
            self._set(Steering())

    def _set(self, steering: Steering) -> None:
        self.state = steering
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        lens = self.lenses.looking_through(self.state)
        self.bar.lenses.show_lens(lens.name if lens else "")
        self.bar.like.concepts = self._known.get(self.state.like or -1, {})
        self.bar.show_steering(self.state, undoable=bool(self._before))

    # what there is to steer by

    def found(self, result: SearchResult) -> None:
        """Hits are there: look for the concepts of the question, and for those of the hits."""
        seen = result.query.text, result.generation
        if seen != self._seen:
            if seen[1] != self._seen[1]:  # another generation may have other concepts
                self._known = {}
                self.lenses.load()
            self._seen = seen
            self._asked.start(
                SEARCH, "query_concepts", {"query": Query(result.query.text, literal=result.query.literal)}
            )
        self._found = result.query
        self._rest.start()

    def nothing_asked(self) -> None:
        """The box is empty."""
        self.drop()
        self._seen = ("", self._seen[1])
        self.bar.show_asked(())
        self.bar.show_topics(())

    def drop(self) -> None:
        """Something else is asked: hear nothing more of what was found."""
        if self._asked.busy:
            self._seen = ("", self._seen[1])
        self._rest.stop()
        self._asked.drop()
        self._topics.drop()

    def close(self) -> None:
        self.drop()
        self._passage.drop()
        self.lenses.drop()

    # menus

    def concept_menu(self, explanation: Explanation, concept: int, at: QPoint) -> None:
        """All that can be done with a concept of a passage."""
        self.knows(explanation)
        label = next((c.label for c in explanation.concepts if c.id == concept), "")
        menu = QMenu(self._page)
        menu.aboutToHide.connect(menu.deleteLater)
        add_concept(menu, self.state, concept, label, self.choose)
        menu.addSeparator()
        words = tr("More like this passage, because of it")
        menu.addAction(words, lambda: self._like(explanation.passage, {concept: label}))
        menu.addAction(tr("All about this concept"), lambda: self._context.navigate("concepts", concept))
        menu.popup(at)

    def add_like(self, menu: QMenu, query: Query, passage: Passage) -> None:
        """Lines of a hit's menu that find more like it, for all that it is about or for one of its concepts."""
        inner = menu.addMenu(tr("More like this"))
        inner.addAction(tr("For all that it is about"), lambda: self._like(passage, {}))
        waiting = inner.addAction(tr("Looking…"))
        waiting.setEnabled(False)

        def hear(concepts: Mapping[int, str]) -> None:
            inner.removeAction(waiting)
            for concept, label in concepts.items():
                said = tr("Because of «{concept}»", concept=shorten(one_line(label), _LINE))
                because = {concept: label}
                inner.addAction(menu_text(said), lambda because=because: self._like(passage, because))

        inner.aboutToShow.connect(lambda: self._look_into(query, passage.id, hear))
        menu.aboutToHide.connect(lambda: setattr(self, "_hear", _nobody))

    def _like(self, passage: Passage, because: dict[int, str]) -> None:
        self.choose(self.state.more_like(passage.id, name_of(passage), because))

    def _look_into(self, query: Query, passage: int, hear: Callable[[Mapping[int, str]], None]) -> None:
        if passage in self._known:
            hear(self._known[passage])
            return
        self._hear = hear
        self._passage.start(SEARCH, "explain", {"query": query, "passage_id": passage})

    def knows(self, explanation: Explanation) -> None:
        """The concepts of a passage are known: more like it can be found because of each."""
        concepts = concepts_of(explanation)
        self._known[explanation.passage.id] = concepts
        if explanation.passage.id == self.state.like:
            self.bar.like.concepts = concepts
        self._hear(concepts)
        self._hear = _nobody


def _nobody(_concepts: Mapping[int, str]) -> None:
    """Nobody waits for the concepts of a passage."""


def concepts_of(explanation: Explanation) -> dict[int, str]:
    """The named concepts of a passage, the strongest in it first."""
    active = sorted((c for c in explanation.concepts if c.passage_activation > 0), key=lambda c: -c.passage_activation)
    return {c.id: c.label for c in active[:_LISTED]}
