"""The Library page: what was added, how reading each file ended, and the work that goes on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.context import Context, Place
from app.errors import Message
from app.i18n import grouped, plural, tr
from app.models.documents import DocumentModel
from app.models.states import PROBLEMS, READABLE, RETRYABLE, SKIPPED
from app.tasks.pick import pick_files, pick_folder
from app.views.dialogs import confirm
from app.views.document_details import DocumentDetails
from app.views.document_table import DocumentTable
from app.views.job_panel import JobPanel
from app.views.welcome import Welcome
from app.widgets.banner import Banner
from app.widgets.buttons import Button, Chip, IconButton
from app.widgets.card import Card, row
from app.widgets.empty_state import EmptyState
from app.widgets.labels import ElidedLabel, Label
from app.widgets.page import Page
from app.widgets.page_background import Background
from app.widgets.search_box import SearchBox
from core.base.errors import KnownError
from core.base.types import Document, DocumentState

NARROW = 720  # below this width the details stand below the table
REFRESH_MS = 800  # while work goes on
_GROUPS: tuple[tuple[str, str, frozenset[DocumentState]], ...] = (
    ("all", "All", frozenset()),
    ("read", "Read", READABLE),
    ("problems", "With problems", PROBLEMS),
    ("skipped", "Not read", SKIPPED),
)


class LibraryPage(Page):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._background = Background(self)
        self.model = DocumentModel(context.library, self)
        self._states: frozenset[DocumentState] = frozenset()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REFRESH_MS)
        self._rest.timeout.connect(self.refresh)
        self._build()
        context.engine.changed.connect(lambda _: self._stale())
        context.jobs.progress.connect(lambda _: self._stale())
        context.jobs.changed.connect(self._jobs_changed)
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
        self.subtitle = Label("", "muted")
        self.folders = ElidedLabel("", "small")
        self.add_button = Button(tr("Add a folder"), "primary", "folder-add", self.add_folder)
        self.files_button = Button(tr("Add files"), "secondary", "file-add", self.add_files)
        self.rescan_button = IconButton("retry", tr("Look for changes in all folders"), self.rescan, kind="secondary")
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(tr("Library"), "title"))
        words.addWidget(self.subtitle)
        line = row(None, self.rescan_button, self.files_button, self.add_button)
        line.insertLayout(0, words)
        head = QVBoxLayout()
        head.setSpacing(4)
        head.addLayout(line)
        head.addWidget(self.folders)
        return head

    def _report(self) -> QWidget:
        self.search = SearchBox(tr("Filter by name"), tr("Filter documents by name"))
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(260)
        self.search.settled.connect(lambda _: self._filter())
        self.chips = {key: Chip(tr(title)) for key, title, _ in _GROUPS}
        for key, _, states in _GROUPS:
            chip = self.chips[key]
            chip.setAutoExclusive(True)
            chip.clicked.connect(lambda _=False, states=states: self._choose(states))
        self.chips["all"].setChecked(True)
        self.retry_button = Button(tr("Try these again"), "ghost", "retry", self.retry)
        self.table = DocumentTable(self.model, self.context.theme)
        self.table.chosen.connect(self._chosen)
        self.table.opened.connect(self._open)
        self.table.remove_asked.connect(lambda: self.remove(self.table.selected()))
        self.table.menu_asked.connect(self._menu)
        self.nothing = EmptyState("filter", tr("No document matches"), tr("Change the filter to see the others."))
        self.rows = QStackedWidget()
        self.rows.addWidget(self.table)
        self.rows.addWidget(self.nothing)
        card = Card(padding=6, spacing=0)
        card.body.addWidget(self.rows)
        self.details = self._details()
        self.split = QSplitter()
        self.split.setProperty("kind", "gap")
        self.split.setHandleWidth(12)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(card)
        self.split.addWidget(self.details)
        self.split.setSizes([640, 330])
        self.split.setStretchFactor(0, 1)
        self.model.counted.connect(lambda n: self.rows.setCurrentIndex(0 if n else 1))
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(row(*self.chips.values(), self.retry_button, 8, None, self.search))
        column.addWidget(self.split, 1)
        return holder

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a narrow page the details stand below the table, so that both can be read."""
        super().resizeEvent(event)
        narrow = NARROW * max(1.0, self.fontMetrics().height() / 19)
        across = Qt.Orientation.Vertical if self.width() < narrow else Qt.Orientation.Horizontal
        if self.split.orientation() != across:
            self.split.setOrientation(across)
            self.split.setSizes([3, 2] if across is Qt.Orientation.Vertical else [640, 330])

    def _details(self) -> DocumentDetails:
        details = DocumentDetails()
        details.view.connect(self._open)
        details.remove.connect(lambda document: self.remove([document]))
        details.retry.connect(self.retry)
        details.tagged.connect(self._tag)
        details.closed.connect(self.table.clearSelection)
        details.hide()
        return details

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
        self.context.jobs.ingest([], retry=True)

    def remove(self, documents: list[Document]) -> None:
        paths = list(dict.fromkeys(document.path for document in documents))
        if not paths:
            return
        if not self.context.settings.get("confirm_remove"):
            self.context.jobs.remove(paths)
            return
        confirm(
            self, plural(len(paths), "Remove this file from the library?", "Remove {n} files from the library?"),
            tr("It can no longer be found or cited. The file on disk stays as it is; adding it again brings it back."),
            tr("Remove"), lambda: self.context.jobs.remove(paths),
        )  # fmt: skip

    def focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    @property
    def has_open(self) -> bool:
        return self.details.isVisible()

    def escape(self) -> bool:
        if self.details.isVisible():
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

    def _stale(self) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _jobs_changed(self) -> None:
        if self.context.jobs.running is not None:
            self.banner.hide()
        self._stale()
        self._show_stack()

    def refresh(self) -> None:
        """Read the numbers and the visible rows again."""
        counts = self.context.library.counts()
        for key, title, states in _GROUPS:
            number = sum(n for state, n in counts.items() if not states or state in states)
            self.chips[key].setText(f"{tr(title)}  {grouped(number)}")
            self.chips[key].setVisible(key == "all" or number > 0)
        retryable = sum(n for state, n in counts.items() if state in RETRYABLE)
        self.retry_button.setVisible(retryable > 0 and self._states == PROBLEMS)
        total = sum(counts.values())
        self.subtitle.setText(self._summary(total) if total else tr("Nothing in it yet"))
        roots = _outermost([root.path for root in self.context.library.roots()])
        self.folders.set_whole(tr("From: {folders}", folders=", ".join(roots)) if roots else "")
        self.folders.setVisible(bool(roots))
        self.model.refresh()
        self._show_stack(total)
        self._chosen(self.table.current())

    def _summary(self, total: int) -> str:
        passages = self.context.library.passage_count()
        return " · ".join(
            (plural(total, "{n} document", "{n} documents"), plural(passages, "{n} passage", "{n} passages"))
        )

    def _show_stack(self, total: int | None = None) -> None:
        count = self.context.library.count() if total is None else total
        empty = count == 0 and self.context.jobs.running is None
        self.stack.setCurrentIndex(0 if empty else 1)
        for button in (self.add_button, self.files_button, self.rescan_button):
            button.setVisible(not empty)
        waiting = count == 0 and not empty
        if waiting:
            self.nothing.set_words(
                tr("Documents appear here as they are read"),
                tr("You can search the first ones before the last is done."),
            )
        else:
            self.nothing.set_words(tr("No document matches"), tr("Change the filter to see the others."))

    def _choose(self, states: frozenset[DocumentState]) -> None:
        self._states = states
        self._filter()
        self.refresh()

    def _filter(self) -> None:
        self.model.filter(self._states, self.search.text())
        self._chosen(self.table.current())

    def _chosen(self, document: Document | None) -> None:
        if document is not None:
            self.details.show_document(document)
        self.details.setVisible(document is not None)

    def _open(self, document: Document) -> None:
        if document.state.has_text:
            self.context.navigate("document", Place(document.id))

    def _menu(self, at: QPoint) -> None:
        documents = self.table.selected()
        if not documents:
            return
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if len(documents) == 1:
            menu.addAction(tr("Read it here"), lambda: self._open(documents[0])).setEnabled(documents[0].state.has_text)
            menu.addAction(tr("Open file"), self.details.open_button.click)
            menu.addAction(tr("Show in folder"), self.details.folder_button.click)
            menu.addSeparator()
        menu.addAction(tr("Remove from library…"), lambda: self.remove(documents))
        menu.popup(at)

    def _offer_to_go_on(self) -> None:
        job = self.context.library.interrupted_job()
        if job is not None and job.kind == "ingest":
            self.banner.show_message(
                Message(tr("Reading was cut off last time."), tr("What was read is kept. Go on where it stopped?")),
                action=tr("Go on"),
            )

    def _go_on(self) -> None:
        self.banner.hide()
        self.rescan()


def _outermost(paths: list[str]) -> list[str]:
    """The paths that lie in none of the others."""
    return [p for p in paths if not any(Path(other) in Path(p).parents for other in paths)]
