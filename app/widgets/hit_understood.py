"""What of the search box was taken as syntax: a chip for each phrase, exclusion and field, which takes it out again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.i18n import tr
from app.widgets.hit_filters import shorten
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Label
from app.widgets.page_offsets import one_line
from core.base.types import Span

_ISOLATE, _POP = "\u2068", "\u2069"  # a phrase that runs from right to left keeps its quotes and sign in place

_PHRASE = ("With these words side by side: {value}", "Without these words side by side: {value}")
_WORD = "Without this word: {value}"
_FIELDS = {
    "type": ("Files of this kind: {value}", "No files of this kind: {value}"),
    "in": ("In this folder: {value}", "Not in this folder: {value}"),
    "lang": ("In this language: {value}", "Not in this language: {value}"),
    "tag": ("With this tag: {value}", "Without this tag: {value}"),
    "title": ("Title with: {value}", "Title without: {value}"),
    "author": ("Author with: {value}", "Author without: {value}"),
    "name": ("File name like: {value}", "File name unlike: {value}"),
    "after": ("Of this date or later: {value}", "Not of this date or later: {value}"),
    "before": ("Of this date or earlier: {value}", "Not of this date or earlier: {value}"),
}
_SAME = {"folder": "in", "language": "lang", "file": "name"}  # fields with two names


def meaning(piece: str) -> str:
    """A piece of syntax, as the engine writes it, in plain words."""
    barred, rest = piece.startswith("-"), piece.removeprefix("-")
    if rest.startswith('"'):
        return tr(_PHRASE[barred], value=_bare(rest))
    typed, colon, value = rest.partition(":")
    words = _FIELDS.get(_SAME.get(typed, typed))
    if not colon or words is None:
        return tr(_WORD, value=rest)
    return tr(words[barred], value=_bare(value))


def _bare(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value


def without(text: str, span: Span) -> str:
    """`text` without the piece at `span`; no blanks are left where it stood."""
    return " ".join(part for part in (text[: span.start].rstrip(), text[span.end :].lstrip()) if part)


class UnderstoodBar(QWidget):
    """Seen only while there is something to tell. `cut(text)` is sent with the query's text without one piece."""

    cut = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("What narrows the search"))
        self._chips: list[QPushButton] = []
        self._told: tuple[str, tuple[str, ...]] = ("", ())
        self._label = Label(tr("Narrowed by"), "small", self)
        self._label.setContentsMargins(2, 0, 4, 0)
        self._flow = FlowLayout(self)
        self._flow.addWidget(self._label)
        self.hide()

    @property
    def chips(self) -> Sequence[QPushButton]:
        return self._chips

    def tell(self, text: str, pieces: Sequence[str], spans: Sequence[Span]) -> None:
        """Show what of `text` was understood: `pieces`, and where each stands."""
        told = (text, tuple(pieces))
        if told == self._told:
            return
        self._told = told
        for chip in self._chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(piece, without(text, span)) for piece, span in zip(pieces, spans, strict=True)]
        for chip in self._chips:
            self._flow.addWidget(chip)
        self.setVisible(bool(self._chips))

    def clear(self) -> None:
        self.tell("", (), ())

    def _chip(self, piece: str, rest: str) -> QPushButton:
        words = one_line(piece)
        said = one_line(meaning(piece))
        chip = QPushButton(f"{_ISOLATE}{shorten(words)}{_POP}\u2002×".replace("&", "&&"), self)
        chip.setProperty("kind", "understood")
        chip.setAutoDefault(False)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.setToolTip(tr("{meaning}\nClick to take it out.", meaning=said))
        chip.setAccessibleName(tr("Take out: {meaning}", meaning=said))
        chip.clicked.connect(lambda: self.cut.emit(rest))
        return chip
