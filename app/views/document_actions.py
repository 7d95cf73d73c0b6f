"""What can be done with one or many documents, from the details, the menu of a row, or the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from app.context import Context, Place
from app.i18n import plural, tr
from app.models.states import RETRYABLE, opens_with_password
from app.views.dialogs import confirm
from app.views.unlock_sheet import UnlockSheet
from app.views.viewer_outside import open_outside, show_in_folder
from app.views.why_expected import Expected
from app.widgets.hit_filters import shorten
from core.base.files import path_shown, text_path
from core.base.types import Document

_LONGEST = 60  # characters of a name in a question


class DocumentActions(QObject):
    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._page = parent

    def view(self, document: Document) -> None:
        if document.state.has_text:
            self._context.navigate("document", Place(document.id))

    def _expect(self, document: Document) -> None:
        """Ask why a search does not find it."""
        self._context.navigate("search", Expected(document.id))

    def _profile(self, document: Document) -> None:
        """Show its concepts."""
        from app.views.concept_scope import of_document

        self._context.navigate("concepts", of_document(document))

    def open_outside(self, document: Document) -> None:
        if not open_outside(text_path(document.path)):
            name = PurePath(path_shown(document.path)).name
            self._context.notifications.tell(tr("No program of this system opens {name}.", name=name), tone="warning")

    def show_folder(self, document: Document) -> None:
        if not show_in_folder(text_path(document.path)):
            self._context.notifications.tell(tr("The folder could not be shown."), tone="warning")

    def again(self, documents: Sequence[Document]) -> None:
        self._context.jobs.again(_paths(documents))

    def unlock(self, documents: Sequence[Document]) -> None:
        locked = [d for d in documents if opens_with_password(d)]
        if locked:
            UnlockSheet(self._context, locked, self._page).open()

    def remove(self, documents: Sequence[Document]) -> None:
        """What lies in a folder of the library stays left out of it, until it is taken back."""
        paths = _paths(documents)
        if not paths:
            return
        jobs = self._context.jobs
        if not self._context.settings.get("confirm_remove"):
            jobs.remove(paths)
            return
        called = shorten(PurePath(path_shown(paths[0])).name, _LONGEST) if len(paths) == 1 else ""
        words = f"{called}\n\n" if called else ""
        words += tr("It can no longer be found or cited. The file on disk stays as it is.")
        if any(self.in_folder(path) for path in paths):
            words += " " + tr("It is left out from now on; “Folders” lists what is left out, and takes it back.")
        title = plural(len(paths), "Remove this file from the library?", "Remove {n} files from the library?")
        confirm(self._page, title, words, tr("Remove"), lambda: jobs.remove(paths))

    def leave_out_folder(self, document: Document) -> None:
        folder = str(PurePath(document.path).parent)
        confirm(
            self._page, tr("Leave this folder out?"),
            tr("Nothing in {folder} is found or cited any more, nor read. The files stay as they are. "
               "“Folders” lists what is left out, and takes it back.", folder=path_shown(folder)),
            tr("Leave out"), lambda: self._context.jobs.remove([folder]),
        )  # fmt: skip

    def in_folder(self, path: str) -> bool:
        """Whether the file is in the library because a folder is."""
        return any(
            root.is_folder and PurePath(root.path) in PurePath(path).parents for root in self._context.library.roots()
        )

    def _in_subfolder(self, path: str) -> bool:
        folder = PurePath(path).parent
        return any(root.is_folder and PurePath(root.path) in folder.parents for root in self._context.library.roots())

    def menu(self, documents: Sequence[Document]) -> QMenu:
        menu = QMenu(self._page)
        menu.aboutToHide.connect(menu.deleteLater)
        first, single = documents[0], len(documents) == 1
        if single:
            menu.addAction(tr("Read it here"), lambda: self.view(first)).setEnabled(first.state.has_text)
            expected = menu.addAction(tr("Why is it not found?…"), lambda: self._expect(first))
            expected.setEnabled(first.state.has_text)
            about = menu.addAction(tr("What is it about?"), lambda: self._profile(first))
            about.setEnabled(first.state.has_text)
            menu.addAction(tr("Open file"), lambda: self.open_outside(first))
            menu.addAction(tr("Show in folder"), lambda: self.show_folder(first))
            menu.addSeparator()
        if any(opens_with_password(d) for d in documents):
            menu.addAction(tr("Unlock…"), lambda: self.unlock(documents))
        again = [d for d in documents if d.state in RETRYABLE or not d.state.has_text]
        menu.addAction(tr("Try again"), lambda: self.again(again or documents))
        menu.addSeparator()
        menu.addAction(tr("Remove from library…"), lambda: self.remove(documents))
        if single and self._in_subfolder(first.path):
            menu.addAction(tr("Leave its folder out…"), lambda: self.leave_out_folder(first))
        return menu


def _paths(documents: Sequence[Document]) -> list[str]:
    return list(dict.fromkeys(document.path for document in documents))
