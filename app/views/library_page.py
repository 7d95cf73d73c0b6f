"""The Library page: what was added, how reading each file ended, and the work that goes on."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.models.documents import TITLES, DocumentModel
from app.models.states import PROBLEMS, RETRYABLE, opens_with_password
from app.tasks.pick import pick_files, pick_folder
from app.views import going_on
from app.views.dialogs import confirm
from app.views.document_actions import DocumentActions
from app.views.document_details import DocumentDetails
from app.views.document_table import CHOICES, DocumentTable
from app.views.folders_sheet import FoldersSheet
from app.views.job_panel import JobPanel
from app.views.library_words import WIPING, outermost, summary
from app.views.picture_offer import PictureOffer
from app.views.report_export import export_report
from app.views.selection_details import SelectionDetails
from app.views.welcome import Welcome
from app.widgets.banner import Banner
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page import Page
from app.widgets.page_background import Background
from app.widgets.search_box import SearchBox
from app.widgets.state_filter import StateFilter
from core.base.errors import KnownError
from core.base.types import Document, DocumentState

NARROW = 720  # below this width the details stand below the table
REFRESH_MS = 800  # while work goes on


class LibraryPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._background = Background(self)
        self.model = DocumentModel(context.library, self)
        self.do = DocumentActions(context, self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self.refresh)
        self._build()
        context.engine.changed.connect(lambda _: self._stale())
        context.jobs.progress.connect(lambda _: self._stale())
        context.jobs.changed.connect(self._jobs_changed)
        context.jobs.done.connect(lambda *_: self._stale(0))
        PictureOffer(context, self)
        self.model.reload()
        self.refresh()
        self._offer_to_go_on()

    # layout

    def _build(self) -> None:
        self.banner = Banner()
        self.banner.acted.connect(self._go_on)
        self.jobs_panel = JobPanel(self.context.jobs)
        self.welcome = Welcome(self.add_folder, self.context.jobs.demo)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self._report())
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 22, 28, 22)
        column.setSpacing(14)
        column.addLayout(self._header())
        column.addWidget(self.banner)
        column.addWidget(self.jobs_panel)
        column.addWidget(self.stack, 1)

    def _header(self) -> QVBoxLayout:
        self.subtitle = ElidedLabel("", "muted", mode=Qt.TextElideMode.ElideRight)
        self.folders = ElidedLabel("", "small")
        self.add_button = Button(tr("Add a folder"), "primary", "folder-add", self.add_folder)
        self.files_button = Button(tr("Add files"), "secondary", "file-add", self.add_files)
        self.rescan_button = IconButton("retry", tr("Look for changes in all folders"), self.rescan, kind="secondary")
        self.folders_button = Button(tr("Folders"), "secondary", "folder", self.show_folders)
        self.more_button = IconButton("more", tr("More for this library"), self._more, kind="secondary")
        line = row(self.more_button, self.rescan_button, self.folders_button, self.files_button, self.add_button)
        line.insertWidget(0, Label(tr("Library"), "title"), 1)
        head = QVBoxLayout()
        head.setSpacing(4)
        head.addLayout(line)
        head.addWidget(self.subtitle)
        head.addWidget(self.folders)
        return head

    def _report(self) -> QWidget:
        self.search = SearchBox(tr("Filter by name"), tr("Filter documents by name"))
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(260)
        self.search.settled.connect(lambda _: self._filter())
        self.states = StateFilter()
        self.states.changed.connect(self._choose)
        self.chips = self.states.chips
        self.retry_button = Button(tr("Try these again"), "chip", "retry", self.retry)
        self.states.add(self.retry_button)
        self.table = DocumentTable(self.model, self.context.theme, columns=self.context.settings.get("columns"))
        self.table.chosen.connect(self._chosen)
        self.table.opened.connect(self.do.view)
        self.table.remove_asked.connect(lambda: self.do.remove(self.table.selected()))
        self.table.menu_asked.connect(self._menu)
        self.table.columns_asked.connect(lambda at: self._columns_menu(QMenu(self)).popup(at))
        self.nothing = EmptyState("filter", tr("No document matches"), tr("Change the filter to see the others."))
        self.rows = QStackedWidget()
        self.rows.addWidget(self.table)
        self.rows.addWidget(self.nothing)
        card = Card(padding=6, spacing=0)
        card.body.addWidget(self.rows)
        self.details = self._details()
        self.many = self._many()
        self.split = QSplitter()
        self.split.setProperty("kind", "gap")
        self.split.setHandleWidth(12)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(card)
        beside = QWidget()
        column = QVBoxLayout(beside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.details)
        column.addWidget(self.many)
        self.beside = beside
        beside.hide()
        self.split.addWidget(beside)
        self.split.setSizes([640, 330])
        self.split.setStretchFactor(0, 1)
        self.model.counted.connect(lambda n: self.rows.setCurrentIndex(0 if n else 1))
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        line = row(self.states, self.search)
        line.setStretch(0, 3)
        line.setStretch(1, 1)
        line.setAlignment(self.states, Qt.AlignmentFlag.AlignVCenter)
        line.setAlignment(self.search, Qt.AlignmentFlag.AlignTop)
        column.addLayout(line)
        column.addWidget(self.split, 1)
        return holder

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a narrow page the details stand below the table, so that both can be read."""
        super().resizeEvent(event)
        narrow = NARROW * max(1.0, self.fontMetrics().height() / 19)
        across = Qt.Orientation.Vertical if self.width() < narrow else Qt.Orientation.Horizontal
        if self.split.orientation() != across:
            below = across is Qt.Orientation.Vertical
            self.beside.setMinimumHeight(self.fontMetrics().height() * 9 if below else 0)
            self.split.setOrientation(across)
            self.split.setSizes([1, 1] if below else [640, 330])

    def _details(self) -> DocumentDetails:
        details = DocumentDetails()
        details.view.connect(self.do.view)
        details.opened.connect(self.do.open_outside)
        details.shown.connect(self.do.show_folder)
        details.unlock.connect(lambda document: self.do.unlock([document]))
        details.again.connect(lambda document: self.do.again([document]))
        details.removed.connect(lambda document: self.do.remove([document]))
        details.tagged.connect(self._tag)
        details.closed.connect(self.table.clearSelection)
        details.hide()
        return details

    def _many(self) -> SelectionDetails:
        many = SelectionDetails()
        many.again.connect(lambda: self.do.again(self.table.selected()))
        many.unlock.connect(self.unlock)
        many.removed.connect(lambda: self.do.remove(self.table.selected()))
        many.closed.connect(self.table.clearSelection)
        many.hide()
        return many

    def _tag(self, document: Document, tags: tuple[str, ...]) -> None:
        """Beside the event loop: a job may hold the database for a moment."""
        library = self.context.library
        self._background.run(lambda: library.set_tags(document.id, tags), self._tag_saved)

    def _tag_saved(self, outcome: object) -> None:
        if isinstance(outcome, KnownError):
            self.context.notifications.error(outcome)
        self.refresh()

    # what the person asks

    def add_folder(self) -> None:
        pick_folder(self, self.context.settings, lambda path: self.context.jobs.ingest([path]))

    def add_files(self) -> None:
        pick_files(self, self.context.settings, self.context.jobs.ingest)

    def rescan(self) -> None:
        self.context.jobs.ingest([])

    def retry(self) -> None:
        """Read files with problems again: all of them, or those in the states that are listed."""
        shown = self.states.states
        if shown in (frozenset(), PROBLEMS):
            self.context.jobs.ingest([], retry=True)
        else:
            self.context.jobs.again(self.context.library.paths(shown))

    def show_folders(self) -> None:
        FoldersSheet(self.context, self).open()

    def export(self) -> None:
        export_report(self.context, self._background, self)

    def purge(self) -> None:
        jobs = self.context.jobs
        confirm(self, tr("Wipe what was deleted?"), tr(WIPING), tr("Wipe"), jobs.purge, keep=tr("Cancel"))

    def unlock(self) -> None:
        """Ask for the password of the locked files that are chosen, or of all that are locked."""
        locked = [d for d in self.table.selected() if opens_with_password(d)]
        self.do.unlock(locked or self.context.library.documents(states=[DocumentState.LOCKED]))

    def focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    @property
    def has_open(self) -> bool:
        return self.beside.isVisible()

    def escape(self) -> bool:
        if self.beside.isVisible():
            self.table.clearSelection()
            self.table.setFocus()
            return True
        if self.search.text():
            self.search.clear()
            return True
        return False

    def close_page(self) -> None:
        self._rest.stop()

    # what happens

    def _stale(self, milliseconds: int = REFRESH_MS) -> None:
        if not self._rest.isActive() or self._rest.remainingTime() > milliseconds:
            self._rest.start(milliseconds)

    def _jobs_changed(self) -> None:
        if self.context.jobs.running is not None:
            self.banner.hide()
        self._stale()
        self._show_stack()

    def refresh(self) -> None:
        """Read the numbers and the visible rows again."""
        coverage = self.context.library.coverage()
        self.states.show_counts({DocumentState(state): number for state, number in coverage.states.items()})
        again = self.states.states & RETRYABLE
        self.retry_button.setVisible(bool(again) and self.states.number(again) > 0)
        total = coverage.documents
        self.subtitle.set_whole(summary(coverage) if total else tr("Nothing in it yet"))
        roots = outermost([root.path for root in self.context.library.roots()])
        self.folders.set_whole(tr("From: {folders}", folders=", ".join(roots)) if roots else "")
        self.folders.setVisible(bool(roots))
        self.model.refresh()
        self._show_stack(total)
        self._chosen(self.table.current())

    def _show_stack(self, total: int | None = None) -> None:
        count = self.context.library.count() if total is None else total
        empty = count == 0 and self.context.jobs.running is None
        self.stack.setCurrentIndex(0 if empty else 1)
        for button in (
            self.add_button, self.files_button, self.folders_button, self.rescan_button, self.more_button,
        ):  # fmt: skip
            button.setVisible(not empty)
        waiting = count == 0 and not empty
        if waiting:
            self.nothing.set_words(
                tr("Documents appear here as they are read"),
                tr("You can search the first ones before the last is done."),
            )
        else:
            self.nothing.set_words(tr("No document matches"), tr("Change the filter to see the others."))

    def _choose(self) -> None:
        self._filter()
        self.refresh()

    def _filter(self) -> None:
        self.model.filter(self.states.states, self.search.text())
        self._chosen(self.table.current())

    def _chosen(self, document: Document | None) -> None:
        if document is not None:
            self.details.show_document(document, self.context.library.relatives(document.id))
        number = self.table.number_selected()
        if number > 1:
            self.many.show_number(number, locked=self.states.number(frozenset({DocumentState.LOCKED})) > 0)
        self.details.setVisible(document is not None)
        self.many.setVisible(number > 1)
        self.beside.setVisible(document is not None or number > 1)

    def _menu(self, at: QPoint) -> None:
        documents = self.table.selected()
        if documents:
            self.do.menu(documents).popup(at)

    def _more(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        self._columns_menu(menu.addMenu(tr("Columns")))
        menu.addAction(tr("Export as CSV…"), self.export)
        menu.addSeparator()
        menu.addAction(tr("Wipe what was deleted…"), self.purge)
        menu.popup(self.more_button.mapToGlobal(QPoint(0, self.more_button.height() + 4)))

    def _columns_menu(self, menu: QMenu) -> QMenu:
        shown = self.table.columns()
        for column in CHOICES:
            action = menu.addAction(tr(TITLES[column]))
            action.setCheckable(True)
            action.setChecked(column in shown)
            action.triggered.connect(lambda on, column=column: self._column(column, on))
        return menu

    def _column(self, column: int, on: bool) -> None:
        kept = [c for c in self.table.columns() if c != column]
        self.table.show_columns([*kept, column] if on else kept)
        self.context.settings.remember("columns", self.table.columns())

    def _offer_to_go_on(self) -> None:
        self._cut_off = self.context.library.interrupted_job()
        message = going_on.offer(self._cut_off)
        if message is not None:
            self.banner.show_message(message, action=tr("Go on"))

    def _go_on(self) -> None:
        self.banner.hide()
        going_on.go_on(self.context.jobs, self._cut_off)
