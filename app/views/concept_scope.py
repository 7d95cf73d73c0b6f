"""A button that says which documents are meant: a folder, a document, a language, a kind; its menu has them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QListView, QMenu, QWidget

from app.context import Context
from app.i18n import grouped, tr
from app.models.documents import DocumentModel, name
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.card import Card
from app.widgets.hit_filters import FIELDS, shorten, value_name
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from app.widgets.search_box import SearchBox
from core.base.types import Document, Filters

_LONGEST = 32


@dataclass(frozen=True, slots=True)
class Scope:
    """Some documents, and what they are called."""

    filters: Filters
    name: str


def of_document(document: Document) -> Scope:
    return Scope(Filters(documents=(document.id,)), one_line(name(document)))


def of_value(field: str, value: str) -> Scope:
    """The documents with a value of a field of `Filters`: in a folder, of a language."""
    return Scope(Filters(**{field: (value,)}), value_name(field, value))


class ScopeButton(Button):
    """`changed()` when the person chooses; `scope` is None until then. `others`: what the choice beside it is called
    when all other documents may be meant."""

    changed = Signal()

    def __init__(self, context: Context, purpose: str, parent: QWidget | None = None, *, others: bool = False) -> None:
        super().__init__("", "secondary", "folder", None, parent)
        self._context, self._purpose, self._others = context, purpose, others
        self.scope: Scope | None = None
        menu = QMenu(self)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        self.setMenu(menu)
        self._show()

    def choose(self, scope: Scope | None) -> None:
        """As if the person had chosen it."""
        self.scope = scope
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        words = self.scope.name if self.scope else tr("All other documents") if self._others else tr("Choose…")
        self.setText(f"{shorten(words, _LONGEST)} ▾".replace("&", "&&"))
        self.setToolTip(words)
        self.setAccessibleName(f"{self._purpose}: {words}")

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        facets = self._context.library.facets()
        if self._others:
            menu.addAction(tr("All other documents"), lambda: self.choose(None))
            menu.addSeparator()
        for folder, number in facets.get("folders", ()):
            self._entry(menu, of_value("folders", folder), number)
        menu.addAction(tr("Another folder…"), self._ask_folder)
        menu.addAction(tr("A document…"), self._ask_document)
        menu.addSeparator()
        for field in ("types", "languages", "tags"):
            values = facets.get(field, ())
            if len(values) > 1 or (field == "tags" and values):
                inner = menu.addMenu(tr(FIELDS[field]))
                for value, number in values:
                    self._entry(inner, of_value(field, value), number)

    def _entry(self, menu: QMenu, scope: Scope, number: int) -> None:
        label = shorten(scope.name).replace("&", "&&")
        menu.addAction(f"{label}\t{grouped(number)}", partial(self.choose, scope))

    def _ask_folder(self) -> None:
        roots = self._context.library.roots()
        dialog = QFileDialog(self, tr("Which folder?"), roots[0].path if roots else "")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.choose(of_value("folders", path)))
        dialog.open()

    def _ask_document(self) -> None:
        DocumentSheet(self._context, lambda document: self.choose(of_document(document)), self).open()


class DocumentSheet(Sheet):
    """The documents of the library to choose one of; `then(Document)`."""

    def __init__(self, context: Context, then: Callable[[Document], object], parent: QWidget) -> None:
        super().__init__(tr("Which document?"), parent, close=tr("Cancel"))
        self.model = DocumentModel(context.library, self)
        self.model.reload()
        self.search = SearchBox(tr("Filter by name"), tr("Filter documents by name"))
        self.search.settled.connect(lambda text: self.model.filter((), text))
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setAccessibleName(tr("Documents"))
        self.list.setMinimumHeight(280)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.activated.connect(self._take)
        self.list.clicked.connect(self._take)
        self.body.addWidget(Label(tr("Choose one of them."), "muted"))
        framed = Card(padding=4)
        framed.body.addWidget(self.list)
        self.body.addWidget(self.search)
        self.body.addWidget(framed)
        self._column.setStretchFactor(self.body, 100)
        self._then = then
        self.close_button.set_kind("secondary")
        self.search.setFocus()

    def _take(self, index: QModelIndex) -> None:
        document = self.model.document(index.row()) if index.isValid() else None
        if document is not None:
            self.accept()
            self._then(document)
