"""The window: navigation, one page at a time, a document beside it, messages at its bottom."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QWidget

from app import actions
from app.context import Context
from app.engine.engine import Engine
from app.errors import Notifications
from app.i18n import grouped, tr
from app.settings import Settings
from app.tasks.jobs import Jobs
from app.tasks.model_work import ModelWork
from app.tasks.opening import Opening
from app.tasks.pick import dropped
from app.tasks.watching import FolderWatch
from app.theme import Theme
from app.views import dialogs
from app.views.beside import Beside
from app.views.job_messages import JobMessages
from app.views.job_panel import stage
from app.views.trouble import Trouble
from app.widgets.busy import Busy
from app.widgets.card import row
from app.widgets.drop_overlay import DropOverlay
from app.widgets.nav import Nav
from app.widgets.page import Page
from app.widgets.toast import Toasts
from core.base.events import Progress
from core.worker import protocol

PAGES = (
    ("library", tr("Library"), "library"), ("search", tr("Search"), "search"), ("ask", tr("Ask"), "ask"),
    ("concepts", tr("Concepts"), "concepts"), ("adapt", tr("Adapt"), "sparkle"),
)  # fmt: skip
FIRST_MS = 30  # from showing the window to opening the library
WARM_MS = 1500  # after the window is up


class MainWindow(QMainWindow):
    """`context` is None until the library is open; `opened` pages live in `pages`."""

    def __init__(
        self, folder: Path, settings: Settings, theme: Theme, notifications: Notifications,
        command: Callable[[str, str], Sequence[str]] = protocol.command,
    ) -> None:  # fmt: skip
        super().__init__()
        self.folder = folder
        self.context: Context | None = None
        self.pages: dict[str, Page] = {}
        self._settings, self._theme, self._notifications = settings, theme, notifications
        self._command = command
        self._opening: Opening | None = None
        self._build()
        notifications.shown.connect(self.toasts.add)
        settings.changed.connect(self._setting_changed)
        # the window is painted first, then the library is opened
        self._first = QTimer(self)
        self._first.setSingleShot(True)
        self._first.setInterval(FIRST_MS)
        self._first.timeout.connect(lambda: self.open_library(self.folder))

    # layout

    def _build(self) -> None:
        self.setWindowTitle(tr("Whymatch"))
        self.setAcceptDrops(True)
        self.resize(1240, 800)
        self.setMinimumSize(840, 560)
        self.restoreGeometry(QByteArray.fromBase64(self._settings.get("geometry").encode()))
        self.nav = Nav(PAGES, lambda key: self.navigate(key, None), self.show_settings)
        self.nav.set_enabled(False)
        self.beside = Beside()
        self.stack = self.beside.stack
        central = QWidget()
        line = QHBoxLayout(central)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(self.nav)
        line.addWidget(self.beside, 1)
        self.setCentralWidget(central)
        self.busy = Busy(tr("Opening the library"))
        waiting = QWidget()
        waiting.setLayout(row(None, self.busy, None))
        self.stack.addWidget(waiting)
        self.toasts = Toasts(central)
        self.overlay = DropOverlay(central)
        self.actions_by_id = actions.build(self, self._handlers())
        actions.enable_library(self.actions_by_id, False)

    def _handlers(self) -> dict[str, Callable[[], object]]:
        return {
            "add-folder": lambda: self._library_page().add_folder(),
            "add-files": lambda: self._library_page().add_files(),
            "rescan": lambda: self._library_page().rescan(),
            "retry": lambda: self._library_page().retry(),
            "folders": lambda: self._library_page().show_folders(),
            "unlock": lambda: self._library_page().unlock(),
            "export": lambda: self._library_page().export(),
            "purge": lambda: self._library_page().purge(),
            "pause": self._toggle_pause,
            "models": self.show_models,
            "settings": self.show_settings,
            "quit": self.close,
            "page-library": lambda: self.navigate("library", None),
            "page-search": lambda: self.navigate("search", None),
            "page-ask": lambda: self.navigate("ask", None),
            "page-concepts": lambda: self.navigate("concepts", None),
            "page-adapt": lambda: self.navigate("adapt", None),
            "find": self._find,
            "escape": self._escape,
            "close-document": self.beside.close_document,
            "theme-system": lambda: self._settings.set("theme", "system"),
            "theme-light": lambda: self._settings.set("theme", "light"),
            "theme-dark": lambda: self._settings.set("theme", "dark"),
            "shortcuts": lambda: dialogs.shortcut_sheet(self).open(),
            "about": lambda: dialogs.about_sheet(str(self.folder), self).open(),
        }

    # the library

    def open_library(self, folder: Path) -> None:
        """Open `folder` in the background; pages or a readable error follow."""
        self._leave_library()
        self.folder = folder
        self.busy.start()
        opening = Opening(folder, self)
        opening.ready.connect(self._ready)
        opening.failed.connect(self._trouble)
        opening.finished.connect(opening.deleteLater)
        self._opening = opening
        opening.start()

    def _ready(self) -> None:
        from core.library import Library

        self.busy.stop()
        self._opening = None
        try:
            library = Library.open(self.folder)
        except Exception as error:
            self._trouble(error)
            return
        engine = Engine(str(self.folder), self._command)
        engine.set_idle(protocol.ANSWER, self._idle_ms())
        jobs = Jobs(engine, engine, options=lambda: {key: self._settings.get(key) for key in ("ocr", "battery")})
        JobMessages(jobs, self._notifications, engine)
        self.context = Context(engine, library, self._settings, self._theme, self.navigate, self._notifications, jobs)
        engine.notice.connect(self._notifications.tell)
        jobs.changed.connect(self._show_job)
        jobs.progress.connect(self._show_job)
        self.models = ModelWork(engine, self._notifications, engine)
        self.watch = FolderWatch(engine, jobs, self._settings, engine)
        self.nav.set_enabled(True)
        actions.enable_library(self.actions_by_id, True)
        empty = library.count() == 0
        self.navigate("library" if empty else self._settings.get("last_page"), None)
        threading.Thread(target=_import_pages, name="pages", daemon=True).start()
        if not empty and self._settings.get("start_search_early"):
            QTimer.singleShot(WARM_MS, engine, lambda: engine.prepare(protocol.SEARCH))

    def _trouble(self, error: BaseException) -> None:
        self.busy.stop()
        self._opening = None
        trouble = Trouble(error, lambda: self.open_library(self.folder), self._choose_library)
        self.stack.addWidget(trouble)
        self.stack.setCurrentWidget(trouble)
        trouble.retry_button.setFocus()

    def _choose_library(self) -> None:
        dialog = QFileDialog(self, tr("Choose a library folder"), str(self.folder.parent))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.open_library(Path(path)))
        dialog.open()

    def _leave_library(self) -> None:
        """Give up what hangs on the library that was open."""
        self.beside.forget()
        self.nav.set_enabled(False)
        actions.enable_library(self.actions_by_id, False)
        while self.stack.count() > 1:
            page = self.stack.widget(1)
            if isinstance(page, Page):
                page.close_page()
            self.stack.removeWidget(page)
            page.deleteLater()
        self.pages = {}
        if self.context is not None:
            self.context.engine.close()
            self.context.library.close()
            self.context.engine.deleteLater()
            self.context = None

    # pages

    def navigate(self, key: str, target: Any = None) -> None:
        """See `Context.navigate`."""
        if self.context is None:
            return
        if key == "document":
            self.beside.open(self.context, target)
            return
        if self.beside.covers:
            self.beside.close_document()
        page = self.page(key)
        self.stack.setCurrentWidget(page)
        self.nav.show_page(key)
        self._settings.remember("last_page", key)
        page.setFocus()  # no ring yet; Tab goes on to its first control
        if target is not None:
            page.show_target(target)

    def page(self, key: str) -> Page:
        """The page, made on first use."""
        if key not in self.pages:
            assert self.context is not None
            self.pages[key] = _make_page(key, self.context)
            self.stack.addWidget(self.pages[key])
        return self.pages[key]

    def _library_page(self) -> Any:
        self.navigate("library", None)
        return self.pages["library"]

    # what the person does

    def show_settings(self) -> None:
        dialogs.settings_sheet(self._settings, self).open()

    def show_models(self) -> None:
        if self.context is not None:
            from app.views.models_sheet import ModelsSheet

            ModelsSheet(self.context, self.models, self).open()

    def _current(self) -> Page | None:
        page = self.stack.currentWidget()
        return page if isinstance(page, Page) else None

    def _find(self) -> None:
        page = self._current()
        if page is not None:
            page.focus_search()

    def _escape(self) -> None:
        page = self._current()
        inner = page is not None and page.has_open and not (self.beside.has_focus or self.beside.covers)
        if self.beside.is_open and not inner:
            self.beside.close_document()
        elif page is not None:
            page.escape()

    def _toggle_pause(self) -> None:
        if self.context is not None:
            jobs = self.context.jobs
            (jobs.resume if jobs.paused else jobs.pause)()

    def _setting_changed(self, key: str) -> None:
        if key == "theme":
            self._theme.set_mode(self._settings.get(key))
        elif key == "text_percent":
            self._theme.set_text_percent(self._settings.get(key))
        elif key == "answer_idle_minutes" and self.context is not None:
            self.context.engine.set_idle(protocol.ANSWER, self._idle_ms())

    def _idle_ms(self) -> int:
        return int(self._settings.get("answer_idle_minutes")) * 60_000

    def _show_job(self, progress: Progress | None = None) -> None:
        if self.context is None:
            return
        jobs = self.context.jobs
        progress = jobs.last_progress
        if jobs.running is None:
            self.nav.show_job("")
        elif progress is None or not progress.total:
            self.nav.show_job(tr("Paused") if jobs.paused else tr("Working"))
        else:
            words = tr("Paused") if jobs.paused else stage(progress, short=True)
            self.nav.show_job(
                f"{words} {grouped(progress.done)} / {grouped(progress.total)}", progress.done, progress.total
            )

    # drag and drop, closing

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.context is not None and dropped(event.mimeData()):
            event.acceptProposedAction()
            self.overlay.open()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self.overlay.hide()
        paths = dropped(event.mimeData())
        if self.context is not None and paths:
            event.acceptProposedAction()
            self.navigate("library", None)
            self.context.jobs.ingest(paths)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.context is None and self._opening is None and self.stack.count() == 1:
            self._first.start()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Work is cut off where it stands; nothing that is stored is lost, and the next start offers to go on."""
        self._settings.remember("geometry", bytes(self.saveGeometry().toBase64().data()).decode())
        self.hide()
        self._first.stop()
        if self._opening is not None:
            self._opening.wait()
        self._leave_library()
        super().closeEvent(event)


def _import_pages() -> None:
    """Ahead of their first use and beside the event loop, so that the first click does not wait for it."""
    for name in ("library_page", "search_page", "ask_page", "concept_page", "adapt_page", "viewer"):
        importlib.import_module(f"app.views.{name}")


def _make_page(key: str, context: Context) -> Page:
    """Pages are imported on first use, so that the window is up quickly."""
    if key == "search":
        from app.views.search_page import SearchPage

        return SearchPage(context)
    if key == "ask":
        from app.views.ask_page import AskPage

        return AskPage(context)
    if key == "concepts":
        from app.views.concept_page import ConceptPage

        return ConceptPage(context)
    if key == "adapt":
        from app.views.adapt_page import AdaptPage

        return AdaptPage(context)
    from app.views.library_page import LibraryPage

    return LibraryPage(context)
