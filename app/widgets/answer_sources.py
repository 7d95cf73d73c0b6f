"""The places an answer rests on, each a row: its number, where it is, what it says, and why it matched."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.i18n import tr
from app.widgets.answer_parts import place
from app.widgets.buttons import Button
from app.widgets.card import row
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.page_offsets import one_line
from core.base.types import Citation

QUOTE = 260  # characters of a quote that are shown


class SourceRow(QWidget):
    opened = Signal(object)  # Citation
    why = Signal(object)  # Citation

    def __init__(self, citation: Citation, parent: QWidget | None = None, *, numbered: bool = True) -> None:
        super().__init__(parent)
        self.citation = citation
        where = place(citation)
        badge = Badge(str(citation.marker), "accent")
        badge.setVisible(numbered)
        self._open = Button(tr("Open"), "link", "", lambda: self.opened.emit(citation))
        self._open.setAccessibleName(tr("Open {place}", place=where))
        self._why = Button(tr("Why?"), "link", "", lambda: self.why.emit(citation))
        self._why.setAccessibleName(tr("Why did {place} match?", place=where))
        quote = Label(f"“{_short(one_line(citation.quote).strip())}”", "small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 4)
        column.setSpacing(2)
        line = row(badge, ElidedLabel(where, "strong"), self._open, self._why)
        line.setStretch(1, 1)
        column.addLayout(line)
        column.addWidget(quote)

    def open(self) -> None:
        self._open.click()

    def ask_why(self) -> None:
        self._why.click()


class SourceList(QWidget):
    """`opened(Citation)`, `why(Citation)` of any of its rows."""

    opened = Signal(object)
    why = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.rows: list[SourceRow] = []

    def show_sources(self, title: str, citations: Sequence[Citation], *, numbered: bool = True) -> None:
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.rows = [SourceRow(citation, numbered=numbered) for citation in citations]
        if self.rows:
            self._column.addWidget(Label(title, "eyebrow"))
        for made in self.rows:
            made.opened.connect(self.opened)
            made.why.connect(self.why)
            self._column.addWidget(made)
        self.setVisible(bool(self.rows))


def _short(text: str) -> str:
    return text if len(text) <= QUOTE else text[: QUOTE - 1].rstrip() + "…"
