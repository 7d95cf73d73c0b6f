"""One of several, as chips that wrap where the room is short."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from app.i18n import tr
from app.widgets.buttons import Chip
from app.widgets.hit_flow import FlowLayout


class OneOf(QWidget):
    """`changed(key)` when the person chooses another; `titles` are keys with their words."""

    changed = Signal(str)

    def __init__(self, titles: Mapping[str, str], name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self._titles = dict(titles)
        self._group = QButtonGroup(self)
        self.chips: dict[str, Chip] = {}
        flow = FlowLayout(self)
        for key, title in titles.items():
            chip = self.chips[key] = Chip(tr(title), parent=self)
            self._group.addButton(chip)
            chip.clicked.connect(lambda _=False, key=key: self._clicked(key))
            flow.addWidget(chip)
        self._key = next(iter(titles))
        self.chips[self._key].setChecked(True)

    @property
    def key(self) -> str:
        return self._key

    def choose(self, key: str) -> None:
        """As if the person had chosen it."""
        self.chips[key].click()

    def set_words(self, key: str, words: str) -> None:
        """What stands on a chip besides its title (a number); it is hidden while that is empty and it is not on."""
        self.chips[key].setText(f"{tr(self._titles[key])}  {words}".strip())
        self.chips[key].setVisible(bool(words) or key == self._key)

    def _clicked(self, key: str) -> None:
        if key != self._key:
            self._key = key
            self.changed.emit(key)
