"""Which of several exchanges in one place is shown: a question that was edited or asked again has more than one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.widgets.buttons import IconButton
from app.widgets.card import row
from app.widgets.labels import Label


class Branches(QWidget):
    """`chosen(id)` when another one is to be shown. Hidden while there is only one."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids: tuple[int, ...] = ()
        self._at = 0
        self.earlier = IconButton("chevron-left", tr("The version before"), lambda: self._go(-1))
        self.later = IconButton("chevron-right", tr("The version after"), lambda: self._go(1))
        self.told = Label("", "small")
        self.setLayout(row(self.earlier, self.told, self.later, spacing=2))

    def show_branches(self, ids: Sequence[int], current: int) -> None:
        self._ids, self._at = tuple(ids), ids.index(current) if current in ids else 0
        self.told.setText(tr("{n} of {all}", n=self._at + 1, all=len(ids)))
        self.told.setAccessibleName(tr("Version {n} of {all} of this question", n=self._at + 1, all=len(ids)))
        self.earlier.setEnabled(self._at > 0)
        self.later.setEnabled(self._at < len(ids) - 1)
        self.setVisible(len(ids) > 1)

    def take_focus(self) -> None:
        """Go on with the keyboard where the person was."""
        (self.later if self.later.isEnabled() else self.earlier).setFocus()

    def _go(self, step: int) -> None:
        self.chosen.emit(self._ids[self._at + step])
