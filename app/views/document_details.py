"""All that is known of one document: its state with the full reason, warnings, facts, and what can be done with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QWidget

from app.i18n import plural, tr
from app.models.documents import kind, name
from app.models.states import WORDS, advice, opens_with_password
from app.tasks.remaining import duration, size_text
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, Rule, Scroller, row
from app.widgets.labels import Badge, ElidedLabel, Label
from app.widgets.relatives import RelativesList
from core.base.types import Document
from core.library import Relatives

_LISTED = 20  # warnings shown one by one
_LONG_WORD = 24  # characters without a blank that a line may have to be broken in


class DocumentDetails(Card):
    """`view(Document)` opens a document in the app: this one, a copy or a version. `closed` closes the pane.

    `again`, `unlock`, `opened`, `shown`, `removed` ask for what their names say, with this document.

    `tagged(document, tags)` is sent when the person has changed the tags.
    """

    view = Signal(object)
    again = Signal(object)
    unlock = Signal(object)
    opened = Signal(object)
    shown = Signal(object)
    removed = Signal(object)
    tagged = Signal(object, object)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=16, spacing=10)
        self.document: Document | None = None
        self.setMinimumWidth(280)
        self._title = ElidedLabel("", "heading")
        head = row(self._title, IconButton("close", tr("Close details"), self.closed.emit))
        head.setStretch(0, 1)
        self.body.addLayout(head)
        self._badge = Badge()
        self.body.addLayout(row(self._badge, None))
        self._build_buttons()
        self._scroll = Scroller(spacing=8)
        # where the room is short it is the scrolled part that gives way, not the buttons above it
        self._scroll.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.body.addWidget(self._scroll, 1)
        self._reason = Label("", "body", wrap=True)
        self._advice = Label("", "muted", wrap=True)
        self._warnings = Label("", "body", wrap=True)
        self._facts = Label("", "muted", wrap=True)
        self._path = Label("", "small", wrap=True)
        self._path.setMinimumWidth(1)
        self.tags = QLineEdit()
        self.tags.setPlaceholderText(tr("Tags, separated by commas"))
        self.tags.setAccessibleName(tr("Tags, separated by commas"))
        self.tags.editingFinished.connect(self._tag)
        name_of_tags = Label(tr("Tags"), "small")
        self.relatives = RelativesList()
        self.relatives.chosen.connect(self.view)
        parts = (
            self._reason, self._advice, self._warnings, self.relatives, name_of_tags, self.tags, Rule(), self._facts,
            self._path,
        )  # fmt: skip
        for part in parts:
            self._scroll.body.addWidget(part)
        self._scroll.body.addStretch(1)
        for label in (self._reason, self._warnings, self._path):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def _build_buttons(self) -> None:
        self.view_button = Button(tr("Read it here"), "primary", "file", self._view)
        self.unlock_button = Button(tr("Unlock…"), "primary", "unlock", lambda: self.unlock.emit(self.document))
        self.retry_button = Button(tr("Try again"), "secondary", "retry", lambda: self.again.emit(self.document))
        self.open_button = IconButton("open", tr("Open file"), lambda: self.opened.emit(self.document))
        self.folder_button = IconButton("folder", tr("Show in folder"), lambda: self.shown.emit(self.document))
        self.remove_button = IconButton("trash", tr("Remove"), lambda: self.removed.emit(self.document))
        first = (self.view_button, self.unlock_button, self.retry_button)
        self.body.addLayout(row(*first, None, self.open_button, self.folder_button, self.remove_button, spacing=2))

    def show_document(self, document: Document, relatives: Relatives) -> None:
        self.document = document
        self.relatives.show_relatives(document, relatives)
        words = WORDS[document.state]
        self._title.set_whole(document.title or name(document))
        self._badge.set_state(tr(words.title), words.tone)
        _say(self._reason, document.reason)
        to_do = advice(document)
        _say(self._advice, tr(to_do) if to_do else "")
        _say(self._warnings, _warnings(document))
        self._facts.setText(_facts(document))
        self.tags.setText(", ".join(document.tags))
        self._path.setText(_breakable(document.path))
        self._path.setToolTip(document.path)
        locked = opens_with_password(document)
        self.view_button.setVisible(document.state.has_text)
        self.unlock_button.setVisible(locked)
        self.retry_button.setVisible(not document.state.has_text and not locked)

    def _tag(self) -> None:
        tags = tuple(sorted({tag.strip() for tag in self.tags.text().split(",")} - {""}))
        if self.document is not None and tags != self.document.tags:
            self.document = replace(self.document, tags=tags)
            self.tagged.emit(self.document, tags)

    def _view(self) -> None:
        self.view.emit(self.document)


def _say(label: Label, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))


def _warnings(document: Document) -> str:
    lines = [f"• {warning}" for warning in document.warnings[:_LISTED]]
    more = len(document.warnings) - _LISTED
    if more > 0:
        lines.append(plural(more, "and {n} more", "and {n} more"))
    return "\n".join(lines)


def _facts(document: Document) -> str:
    parts = [
        tr("Name: {name}", name=_breakable(name(document))),
        tr("Kind: {kind}", kind=kind(document)) if document.media_type else "",
        tr("Language: {language}", language=document.language) if document.language else "",
        _pages(document),
        plural(document.characters, "{n} character", "{n} characters") if document.characters else "",
        plural(document.passages, "{n} passage", "{n} passages") if document.passages else "",
        tr("Size: {size}", size=size_text(document.size)) if document.size else "",
        tr("Author: {author}", author=document.author) if document.author else "",
        tr("Changed: {date}", date=document.modified[:10]) if document.modified else "",
        tr("Reader: {reader}, {time}", reader=document.reader, time=duration(document.seconds))
        if document.reader
        else "",
    ]
    return "\n".join(part for part in parts if part)


def _pages(document: Document) -> str:
    """How many pages there are, and which of them were read from their picture."""
    if not document.pages:
        return ""
    words = plural(document.pages, "{n} page", "{n} pages")
    if not document.ocr_pages:
        return words
    if len(document.ocr_pages) >= document.pages:
        return plural(document.pages, "{n} page, read from its picture", "{n} pages, all read from their pictures")
    which = plural(len(document.ocr_pages), "page {pages} from its picture", "pages {pages} from their pictures",
                   pages=ranges(document.ocr_pages))  # fmt: skip
    return f"{words}, {which}"


def ranges(numbers: Sequence[int]) -> str:
    """1, 2, 3, 7 -> "1–3, 7"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def _breakable(path: str) -> str:
    """Lets a long path break at its separators, and long words anywhere (zero-width spaces)."""
    parted = path.replace("/", "/\u200b").replace("\\", "\\\u200b")
    return re.sub(rf"[^\s\u200b]{{{_LONG_WORD}}}", lambda run: "\u200b" + "\u200b".join(run.group()), parted)
