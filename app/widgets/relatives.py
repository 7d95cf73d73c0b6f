"""Where else a document stands: equal copies, and other versions of it, each a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.i18n import tr
from app.models.documents import name
from app.widgets.buttons import Button
from app.widgets.hit_filters import shorten
from app.widgets.labels import Label
from core.base.files import path_shown
from core.base.types import Document
from core.library import Relatives

_LISTED = 6
_LONGEST = 34  # characters of a name


class RelativesList(QWidget):
    """`chosen(Document)` when the person follows a link. Hidden when there is nothing to tell."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._shown: tuple[int, Relatives] | None = None
        self._twice: set[str] = set()  # names that need their folder to be told apart
        self.links: list[Button] = []

    def show_relatives(self, document: Document, relatives: Relatives) -> None:
        if self._shown == (document.id, relatives):
            return
        self._shown = (document.id, relatives)
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.links = []
        names = Counter(name(one) for one in (document, *relatives.copies, *relatives.versions))
        self._twice = {called for called, number in names.items() if number > 1}
        self._section(tr("Says the same as"), relatives.copies)
        self._section(tr("Other versions, the newest first"), relatives.versions)
        self.setVisible(bool(self.links))

    def _section(self, title: str, documents: Sequence[Document]) -> None:
        if not documents:
            return
        self._column.addWidget(Label(title, "small"))
        for document in documents[:_LISTED]:
            link = Button(self._words(document).replace("&", "&&"), "link", "")
            link.setAccessibleName(tr("Read {name}", name=self._words(document)))
            link.setToolTip(document.path)
            link.clicked.connect(lambda _=False, one=document: self.chosen.emit(one))
            self._column.addWidget(link)
            self.links.append(link)
        more = len(documents) - _LISTED
        if more > 0:
            self._column.addWidget(Label(tr("and {n} more", n=more), "small"))

    def _words(self, document: Document) -> str:
        called = name(document)
        if called not in self._twice:
            return shorten(called, _LONGEST)
        folder = PurePath(path_shown(document.path)).parent.name
        return f"{shorten(called, _LONGEST // 2)} · {shorten(folder, _LONGEST // 2)}"
