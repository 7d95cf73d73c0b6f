"""The switch of what a hit is: a passage, a whole document, a section, or a sentence."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QWidget

from app.i18n import tr
from app.widgets.buttons import Chip
from core.base.types import Level

TITLES = {
    Level.PASSAGE: "Passages",
    Level.DOCUMENT: "Documents",
    Level.SECTION: "Sections",
    Level.SENTENCE: "Sentences",
}


class LevelSwitch(QWidget):
    """One of four is on; `changed` is sent when the person chooses another. Arrow keys go along."""

    changed = Signal()

    def __init__(self, level: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("What to find"))
        self._group = QButtonGroup(self)
        self._chips: dict[Level, Chip] = {}
        frame = QFrame(self)
        frame.setProperty("role", "segments")
        line = QHBoxLayout(frame)
        line.setContentsMargins(2, 2, 2, 2)
        line.setSpacing(2)
        for one, title in TITLES.items():
            chip = Chip(tr(title), parent=frame)
            chip.setProperty("kind", "segment")
            chip.setAccessibleName(tr("Find {what}", what=tr(title).lower()))
            self._group.addButton(chip)
            self._chips[one] = chip
            line.addWidget(chip)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 8, 0)  # a gap before what stands beside it
        whole.addWidget(frame)
        self._chips[Level(level)].setChecked(True)
        self._group.buttonClicked.connect(lambda _: self._clicked())
        self._last = self.level()

    def level(self) -> Level:
        return next(one for one, chip in self._chips.items() if chip.isChecked())

    def choose(self, level: Level) -> None:
        """As if the person had chosen `level`."""
        self._chips[level].click()

    def _clicked(self) -> None:
        if self.level() is not self._last:
            self._last = self.level()
            self.changed.emit()
