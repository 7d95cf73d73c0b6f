"""What can be done with several documents at once; stands where the details of a single one do."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.i18n import plural, tr
from app.widgets.buttons import Button, IconButton
from app.widgets.card import Card, row
from app.widgets.labels import ElidedLabel, Label


class SelectionDetails(Card):
    """`again`, `unlock`, `removed` ask for what their names say, with all that is chosen; `closed` gives it up."""

    again = Signal()
    unlock = Signal()
    removed = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, padding=16, spacing=10)
        self.setMinimumWidth(280)
        self.title = ElidedLabel("", "heading")
        head = row(self.title, IconButton("close", tr("Choose none"), self.closed.emit))
        head.setStretch(0, 1)
        self.again_button = Button(tr("Try again"), "secondary", "retry", self.again.emit)
        self.unlock_button = Button(tr("Unlock…"), "secondary", "unlock", self.unlock.emit)
        self.remove_button = Button(tr("Remove"), "danger", "trash", self.removed.emit)
        self.body.addLayout(head)
        self.body.addWidget(Label(tr("What you do here is done with all of them."), "muted", wrap=True))
        for button in (self.again_button, self.unlock_button, self.remove_button):
            self.body.addLayout(row(button, None))
        self.body.addStretch(1)

    def show_number(self, number: int, *, locked: bool) -> None:
        """`locked`: whether there are locked files at all."""
        self.title.set_whole(plural(number, "{n} document chosen", "{n} documents chosen"))
        self.unlock_button.setVisible(locked)
