"""The Concepts page: what the documents are about, as a list, as a map, for a folder, in comparison, in figures."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import plural, tr
from app.models.concept_entries import Listing
from app.tasks.concept_work import ConceptWork
from app.views import concept_words as words
from app.views.concept_compare import CompareView
from app.views.concept_detail import ConceptCard
from app.views.concept_edit import MergeSheet, RenameSheet
from app.views.concept_fidelity import FidelityView
from app.views.concept_list import ConceptList
from app.views.concept_map_view import MapView
from app.views.concept_profile import ProfileView
from app.views.concept_scope import Scope
from app.views.job_panel import JobPanel
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import Button
from app.widgets.card import row
from app.widgets.concept_chips import OneOf
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page import Page
from core.base.types import Concept

LIST, MAP, PROFILE, COMPARE, FIDELITY = "list", "map", "profile", "compare", "fidelity"
VIEWS = {
    LIST: "List", MAP: "Map", PROFILE: "Folder or file", COMPARE: "Compare",
    FIDELITY: "What they explain",
}  # fmt: skip
NARROW = 700  # below this width the concept stands below the list


class ConceptPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.work = ConceptWork(context, self)
        self._wanted: int | None = None  # a concept to be shown once the list is there
        self._stale = True
        self._build()
        self.work.changed.connect(self._listed)
        self.work.failed.connect(self._failed)
        context.engine.changed.connect(lambda _: self._library_changed())
        context.jobs.changed.connect(self._jobs_changed)
        self._show_stack()

    # layout

    def _build(self) -> None:
        self.title = Label(tr("Concepts"), "title")
        self.subtitle = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideRight)
        self.views = OneOf(VIEWS, tr("How to look at the concepts"))
        self.views.changed.connect(self._view_changed)
        self.banner = Banner()
        self.banner.acted.connect(self._again)
        self.busy = Busy(tr("Reading the concepts"), delay_ms=300)
        self.job = QWidget()
        column = QVBoxLayout(self.job)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(JobPanel(self.context.jobs))
        self.job.hide()
        self.stack = QStackedWidget()
        for part in (self._empty_view(), self._filled_view()):
            self.stack.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 22, 28, 0)
        column.setSpacing(12)
        head = QVBoxLayout()
        head.setSpacing(4)
        head.addLayout(row(self.title, None, self.busy))
        head.addWidget(self.subtitle)
        column.addLayout(head)
        for part in (self.views, self.banner, self.job):
            column.addWidget(part)
        column.addWidget(self.stack, 1)

    def _empty_view(self) -> QWidget:
        self.add_button = Button(tr("Add documents"), "primary", "folder-add",
                                 lambda: self.context.navigate("library", None))  # fmt: skip
        self.find_button = Button(tr("Find the concepts"), "primary", "concepts", self.work.fit)
        self.empty = EmptyState("concepts", "", "", (self.add_button, self.find_button))
        return self.empty

    def _filled_view(self) -> QWidget:
        self.list = ConceptList(self.context.theme)
        self.list.chosen.connect(self._chosen)
        self.list.looked.connect(lambda: self.card.take_focus())
        self.map = MapView(self.context)
        self.map.chosen.connect(self.show_concept)
        self.card = ConceptCard(self.context)
        self.card.chosen.connect(self.show_concept)
        self.card.renamed.connect(self._rename)
        self.card.merged.connect(self._merge)
        self.card.hidden.connect(self._hide)
        self.card.split.connect(self._split_up)
        self.left = QStackedWidget()
        self.left.addWidget(self.list)
        self.left.addWidget(self.map)
        self.split = QSplitter()
        self.split.setProperty("kind", "gap")
        self.split.setHandleWidth(12)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.left)
        self.split.addWidget(self.card)
        self.split.setSizes([560, 420])
        self.split.setStretchFactor(0, 1)
        browser = QWidget()
        column = QVBoxLayout(browser)
        column.setContentsMargins(0, 0, 0, 22)
        column.addWidget(self.split)
        self.profile = ProfileView(self.context)
        self.compare = CompareView(self.context)
        self.fidelity = FidelityView(self.work.fit, self.work.name_all)
        self.filled = QStackedWidget()
        self._parts = {LIST: browser, MAP: browser, PROFILE: self.profile, COMPARE: self.compare,
                       FIDELITY: self.fidelity}  # fmt: skip
        for part in (browser, self.profile, self.compare, self.fidelity):
            self.filled.addWidget(part)
        for view in (self.profile, self.compare):
            view.chosen.connect(lambda number: self.show_concept(number, leave=True))
        return self.filled

    # what the window asks of a page

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a narrow page the concept stands below the list, so that both can be read."""
        super().resizeEvent(event)
        narrow = NARROW * max(1.0, self.fontMetrics().height() / 19)
        across = Qt.Orientation.Vertical if self.width() < narrow else Qt.Orientation.Horizontal
        if self.split.orientation() != across:
            self.split.setOrientation(across)
            self.map.set_compact(across is Qt.Orientation.Vertical)
            self.split.setSizes([900, 1100] if across is Qt.Orientation.Vertical else [560, 420])

    def show_target(self, target: Any) -> None:
        """A concept's id, or a `Scope` of documents whose profile is wanted."""
        if isinstance(target, Scope):
            self.views.choose(PROFILE)
            self.profile.show_scope(target)
        elif isinstance(target, int):
            self.show_concept(target, leave=True)

    def focus_search(self) -> None:
        self.views.choose(LIST)
        self.list.search.setFocus()
        self.list.search.selectAll()

    def escape(self) -> bool:
        if self.list.search.text() and self.views.key == LIST:
            self.list.search.clear()
            return True
        if self.views.key != LIST and self.work.listing and self.work.listing.model:
            self.views.choose(LIST)
            return True
        return False

    def close_page(self) -> None:
        for part in (self.work, self.card, self.map, self.profile, self.compare):
            part.stop()

    # what is shown

    def _look(self) -> None:
        if self._stale and self.isVisible() and self.context.library.passage_count():
            self._stale = False
            self.busy.start()
            self.work.refresh()
        self._show_stack()

    def _library_changed(self) -> None:
        self._stale = True
        self._look()

    def _jobs_changed(self) -> None:
        self.job.setVisible(self.work.working)
        for button in (self.find_button, self.fidelity.again_button, self.fidelity.name_button):
            button.setEnabled(not self.work.working)
        self._show_stack()

    def _again(self) -> None:
        self.banner.hide()
        self._stale = True
        self._look()

    def _failed(self, error: Any) -> None:
        self.busy.stop()
        self.banner.show_error(error, action=tr("Try again"))
        self._show_stack()

    def _listed(self) -> None:
        self.busy.stop()
        self.banner.hide()
        listing = self.work.listing
        assert listing is not None
        shown = self.card.concept
        self.list.show_concepts(listing.concepts, shown.id if shown else None)
        self.fidelity.show_listing(listing)
        self.map.renew()
        for view in (self.profile, self.compare):
            view.renew()
        self._show_stack()
        self._show_again(listing)

    def _show_again(self, listing: Listing) -> None:
        """The concept that was shown, or that was asked for before the list was there; else the first."""
        shown = self.card.concept
        wanted, self._wanted = self._wanted, None
        number = wanted if wanted is not None else shown.id if shown else None
        concept = self.work.concept(number) if number is not None else None
        if concept is None and listing.concepts:
            concept = self.list.model.concept(0)
        if concept is None:
            self.card.show_concept(None, 0)
        else:
            self.show_concept(concept.id)

    def _show_stack(self) -> None:
        listing = self.work.listing
        filled = listing is not None and bool(listing.concepts)
        self.stack.setCurrentIndex(1 if filled else 0)
        self.views.setVisible(filled)
        self.subtitle.setVisible(filled)
        if filled and listing is not None:
            told = (words.found_words(listing), words.grown_words(listing))
            self.subtitle.set_whole("  ·  ".join(part for part in told if part))
        else:
            self._show_empty(listing)

    def _show_empty(self, listing: Listing | None) -> None:
        passages = self.context.library.passage_count()
        unknown = listing is None or listing.passages != passages
        least = listing.least if listing else 0
        few = not unknown and passages < least
        self.add_button.setVisible(passages == 0 or few)
        self.find_button.setVisible(passages > 0 and not unknown and not few and not self.work.fitting)
        if passages == 0:
            self.empty.set_words(tr("No concepts yet"), tr(
                "Add a folder first. Then you see here what your documents are about, and which of them are about the "
                "same."))  # fmt: skip
        elif self.work.fitting:
            self.empty.set_words(tr("The concepts are being found"), tr(words.WHAT))
        elif unknown:
            self.empty.set_words(tr("Concepts"), tr(words.WHAT))
        elif few:
            self.empty.set_words(tr("Too little text for concepts"), plural(
                passages, "There is {n} passage; {least} are needed before anything repeats. Add more documents.",
                "There are {n} passages; {least} are needed before anything repeats. Add more documents.", least=least,
            ))  # fmt: skip
        else:
            self.empty.set_words(tr("The concepts were not found yet"), tr(
                "{what} Finding them takes seconds to minutes.", what=tr(words.WHAT)))  # fmt: skip

    def _view_changed(self, key: str) -> None:
        self.filled.setCurrentWidget(self._parts[key])
        if key in (LIST, MAP):
            self.left.setCurrentWidget(self.list if key == LIST else self.map)
        if key == MAP:
            self.map.look(self.card.concept.id if self.card.concept else None)

    # one concept

    def _chosen(self, concept: Concept) -> None:
        self.card.show_concept(concept, self._passages())
        self.map.choose(concept.id)

    def show_concept(self, number: int, *, leave: bool = False) -> None:
        """Show a concept beside the list or the map; `leave` another view for that."""
        if self.work.listing is None:
            self._wanted = number
            return
        concept = self.work.concept(number)
        if concept is None:
            return
        if leave and self.views.key not in (LIST, MAP):
            self.views.choose(LIST)
        self.list.select(concept.id)
        self._chosen(concept)

    def _passages(self) -> int:
        return self.work.listing.passages if self.work.listing else 0

    def _rename(self) -> None:
        concept = self.card.concept
        if concept is not None:
            RenameSheet(concept, lambda name: self.work.rename(concept, name), self).open()

    def _merge(self) -> None:
        concept, listing = self.card.concept, self.work.listing
        if concept is not None and listing is not None:
            MergeSheet(concept, listing.concepts, lambda other: self._merged(concept, other), self).open()

    def _merged(self, concept: Concept, other: Concept) -> None:
        self._wanted = other.id
        self.work.merge(concept, other)

    def _hide(self) -> None:
        concept = self.card.concept
        if concept is not None:
            self.work.hide(concept, not concept.hidden)

    def _split_up(self, number: int) -> None:
        if self.card.concept is not None:
            self.work.split(number, self.card.concept.label)
