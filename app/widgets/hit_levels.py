"""The switch of what a hit is: a passage, a whole document, a section, or a sentence."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QMenu, QWidget

from app.i18n import tr
from app.widgets.buttons import Chip
from core.base.types import Level

TITLES = {
    Level.PASSAGE: "Passages",
    Level.DOCUMENT: "Documents",
    Level.SECTION: "Sections",
    Level.SENTENCE: "Sentences",
}
_GAP = 8  # pixels


class LevelSwitch(QWidget):
    """One of four is on; `changed` is sent when the person chooses another. Arrow keys go along.

    Where four do not fit beside each other (`fit`) one chip has them in its menu.
    """

    changed = Signal()

    def __init__(self, level: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("What to find"))
        self._group = QButtonGroup(self)
        self._chips: dict[Level, Chip] = {}
        frame = self._frame = QFrame(self)
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
        whole.setContentsMargins(0, 0, _GAP, 0)  # a gap before what stands beside it
        whole.addWidget(frame)
        whole.addWidget(self._one_chip())
        self._chips[Level(level)].setChecked(True)
        self._group.buttonClicked.connect(lambda _: self._clicked())
        self._last = self.level()
        self._name_one()

    def level(self) -> Level:
        return next(one for one, chip in self._chips.items() if chip.isChecked())

    def choose(self, level: Level) -> None:
        """As if the person had chosen `level`."""
        self._chips[level].click()

    def fit(self, room: int) -> None:
        """Be no wider than `room` (pixels)."""
        narrow = self._frame.sizeHint().width() + _GAP > room
        self._frame.setVisible(not narrow)
        self.one.setVisible(narrow)

    def _one_chip(self) -> Chip:
        self.one = Chip("", parent=self)
        self.one.setCheckable(False)
        menu = QMenu(self.one)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        self.one.setMenu(menu)
        self.one.hide()
        return self.one

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        for one, title in TITLES.items():
            action = menu.addAction(tr(title), lambda one=one: self.choose(one))
            action.setCheckable(True)
            action.setChecked(one is self.level())

    def _name_one(self) -> None:
        title = tr(TITLES[self.level()])
        self.one.setText(f"{title} ▾")
        self.one.setAccessibleName(tr("Find {what}", what=title.lower()))

    def _clicked(self) -> None:
        self._name_one()
        if self.level() is not self._last:
            self._last = self.level()
            self.changed.emit()
