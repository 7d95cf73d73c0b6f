"""What adding a model takes, asked for consent before anything is fetched."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.i18n import tr
from app.models.model_entries import Needs, language_words
from app.tasks.remaining import size_text
from app.views.dialogs import Sheet
from app.widgets.buttons import Button
from app.widgets.labels import Label

_COPIED = "It is copied from this computer. A language model is tried first, in a process of its own."


def ask(parent: QWidget, needs: Needs, then: Callable[[], object]) -> Sheet:
    """`then` runs when the person agrees; there is nothing to agree to where the disk is too small."""
    sheet = Sheet(tr("Add {name}?", name=needs.id), parent, close=tr("Cancel"))
    if needs.about:
        sheet.body.addWidget(Label(needs.about, wrap=True))
    grid = QGridLayout()
    grid.setHorizontalSpacing(20)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(1, 1)
    for at, (name, value) in enumerate(_lines(needs)):
        grid.addWidget(Label(name, "muted"), at, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(value, wrap=True), at, 1)
    sheet.body.addLayout(grid)
    if not needs.licence:
        words = tr("Its licence is not told. Look at its page before you use it.")
        sheet.body.addWidget(Label(words, "error", wrap=True))
    if needs.fits:
        private = tr("Only the files of the model are asked for. Nothing of yours is sent.")
        sheet.body.addWidget(Label(private if needs.download else tr(_COPIED), "small",
                                   wrap=True))  # fmt: skip
        yes = Button(tr("Add"), "primary", "plus", sheet.accept)
        yes.clicked.connect(lambda: then())
        sheet.close_button.set_kind("secondary")
        sheet.buttons.addWidget(yes)
    else:
        words = tr("There is not enough room on the disk. Free some space first.")
        sheet.body.addWidget(Label(words, "error", wrap=True))
    sheet.open()
    return sheet


def _lines(needs: Needs) -> list[tuple[str, str]]:
    lines = [(tr("Comes from"), needs.source)]
    lines += [(tr("Licence"), needs.licence)] if needs.licence else []
    lines += [(tr("Languages"), language_words(needs.languages))] if needs.languages else []
    lines += [(tr("Weights"), needs.quantisation)] if needs.quantisation else []
    lines += [(tr("Context"), tr("{n} tokens", n=f"{needs.context:,}"))] if needs.context else []
    lines += [(tr("To fetch"), size_text(needs.download))] if needs.download else []
    room = tr("about {size}; {free} are free", size=size_text(needs.disk), free=size_text(needs.free))
    return [*lines, (tr("On the disk"), room), (tr("Memory"), tr("about {size} at work", size=size_text(needs.memory)))]
