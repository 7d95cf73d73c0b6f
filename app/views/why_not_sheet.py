"""Choosing a passage that was expected: a document by its name, then a passage of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.i18n import tr
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.hit_model import name_of, pages_text
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from app.widgets.search_box import SearchBox
from core.base.types import Document, DocumentState, Passage
from core.library import Library

_DOCUMENTS = 100  # listed at once
_SHOWN = 150  # characters of a passage
ROLE = Qt.ItemDataRole.UserRole


class WhyNotSheet(Sheet):
    """`chosen(question, passage id)`. With a `document` its passages are listed at once; with an `offset` into its text
    the one there is chosen."""

    chosen = Signal(str, int)

    def __init__(
        self,
        library: Library,
        question: str,
        parent: QWidget,
        *,
        document: Document | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(tr("Why is it not found?"), parent, close=tr("Cancel"))
        self._library = library
        self.setMinimumWidth(560)
        self.question = QLineEdit(one_line(question))
        self.question.setPlaceholderText(tr("What you search for"))
        self.question.setAccessibleName(tr("What you search for"))
        self.box = SearchBox(tr("Find the document by its name"))
        self.documents = self._list(tr("Documents"))
        self.passages = self._list(tr("Passages of the document"))
        self.passages.setWordWrap(True)
        self._none = Label("", "small", wrap=True)
        self.ask_button = Button(tr("Say why"), "primary", "", self._done)
        self._lay_out()
        self.box.settled.connect(lambda _: self._list_documents())
        self.documents.currentItemChanged.connect(lambda *_: self._list_passages())
        self.documents.itemActivated.connect(lambda _: self.passages.setFocus())
        self.passages.itemActivated.connect(lambda _: self._done())
        self.passages.currentItemChanged.connect(lambda *_: self._ready())
        self.question.textChanged.connect(lambda _: self._ready())
        self._open_at(document, offset)

    def _lay_out(self) -> None:
        said = tr("Choose the passage that you expected. You see where it stands, and what would bring it up.")
        for part in (
            Label(said, "muted", wrap=True), Label(tr("Search"), "eyebrow"), self.question,
            Label(tr("Document"), "eyebrow"), self.box, self.documents, Label(tr("Passage"), "eyebrow"),
            self.passages, self._none,
        ):  # fmt: skip
            self.body.addWidget(part)
        self.documents.setFixedHeight(130)
        self.passages.setMinimumHeight(190)
        self.close_button.set_kind("secondary")
        self.close_button.setDefault(False)
        self.ask_button.setDefault(True)
        self.buttons.addWidget(self.ask_button)

    def _list(self, name: str) -> QListWidget:
        made = QListWidget(self)
        made.setAccessibleName(name)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setResizeMode(QListWidget.ResizeMode.Adjust)  # words wrap anew at another width
        return made

    def _open_at(self, document: Document | None, offset: int | None) -> None:
        if document is None:
            self._list_documents()
            self.box.setFocus()
            return
        self._add_document(document)
        self.box.setPlaceholderText(tr("Another document, by its name"))
        self.documents.setCurrentRow(0)
        passages = [self.passages.item(n).data(ROLE) for n in range(self.passages.count())]
        at = next((n for n, p in enumerate(passages) if offset is not None and p.start <= offset < p.end), 0)
        self.passages.setCurrentRow(at)
        self.passages.scrollToItem(self.passages.item(at))
        (self.passages if self.question.text() else self.question).setFocus()

    def _list_documents(self) -> None:
        """Those whose name holds what is typed; only documents with text have passages."""
        self.documents.clear()
        states = [state for state in DocumentState if state.has_text]
        for document in self._library.documents(states=states, text=self.box.text().strip(), limit=_DOCUMENTS):
            self._add_document(document)
        none = not self.documents.count()
        self._none.setText(tr("No document is called so.") if none else "")
        if self.documents.count() == 1:
            self.documents.setCurrentRow(0)
        self._list_passages()

    def _add_document(self, document: Document) -> None:
        item = QListWidgetItem(one_line(name_of(document)), self.documents)
        item.setData(ROLE, document)
        item.setToolTip(one_line(document.path))

    def _list_passages(self) -> None:
        self.passages.clear()
        item = self.documents.currentItem()
        if item is not None:
            found = self._library.document_passages(item.data(ROLE).id)
            for passage in found:
                self._add_passage(passage)
            self._none.setText(
                "" if found else tr("This document has no passages of its own: another one says the same.")
            )
        self._ready()

    def _add_passage(self, passage: Passage) -> None:
        text = one_line(passage.text)
        cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} …"
        place = one_line(_place(passage))
        item = QListWidgetItem(f"{place}\n{cut}" if place else cut, self.passages)
        item.setData(ROLE, passage)

    def _ready(self) -> None:
        self.ask_button.setEnabled(bool(self.question.text().strip()) and self.passages.currentItem() is not None)

    def _done(self) -> None:
        item = self.passages.currentItem()
        if item is not None and self.question.text().strip():
            self.chosen.emit(self.question.text().strip(), item.data(ROLE).id)
            self.accept()


def _place(passage: Passage) -> str:
    """Where in its document a passage stands."""
    page = passage.place or pages_text(passage.first_page, passage.last_page)
    return "  ·  ".join(part for part in (page, " › ".join(passage.heading_path)) if part)
