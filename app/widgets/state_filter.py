"""Which documents are listed: chips for the groups of states, and a menu with every state that occurs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n import grouped, tr
from app.models.states import PROBLEMS, READABLE, SKIPPED, WORDS
from app.widgets.buttons import Chip
from app.widgets.hit_flow import FlowLayout
from core.base.types import DocumentState

GROUPS: tuple[tuple[str, str, frozenset[DocumentState]], ...] = (
    ("all", "All", frozenset()),
    ("read", "Read", READABLE),
    ("problems", "With problems", PROBLEMS),
    ("skipped", "Not read", SKIPPED),
)
_ORDER = list(DocumentState)


class StateFilter(QWidget):
    """`changed()` when the person chooses; `states` is empty for all. Further widgets may follow with `add`."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.states: frozenset[DocumentState] = frozenset()
        self._counts: dict[DocumentState, int] = {}
        self._flow = FlowLayout(self)
        self.chips: dict[str, Chip] = {}
        for key, title, states in GROUPS:
            chip = self.chips[key] = Chip(tr(title), parent=self)
            chip.clicked.connect(lambda _=False, states=states: self.choose(states))
            self._flow.addWidget(chip)
        self.one = Chip("", parent=self)
        menu = QMenu(self.one)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        menu.aboutToHide.connect(self._show)  # left without a choice it must not leave the chip checked
        self.one.setMenu(menu)
        self._flow.addWidget(self.one)
        self._show()

    def add(self, widget: QWidget) -> None:
        self._flow.addWidget(widget)

    def choose(self, states: frozenset[DocumentState]) -> None:
        before, self.states = self.states, states
        self._show()
        if states != before:
            self.changed.emit()

    def show_counts(self, counts: Mapping[DocumentState, int]) -> None:
        self._counts = {state: number for state, number in counts.items() if number}
        self._show()

    def number(self, states: frozenset[DocumentState]) -> int:
        """How many documents are in these states; in any for none."""
        return sum(n for state, n in self._counts.items() if not states or state in states)

    def _show(self) -> None:
        groups = {states for _, _, states in GROUPS}
        for key, title, states in GROUPS:
            chip, number = self.chips[key], self.number(states)
            chip.setText(f"{tr(title)}  {grouped(number)}")
            chip.setVisible(key == "all" or number > 0 or self.states == states)
            chip.setChecked(self.states == states)
        alone = self.states not in groups
        words = ", ".join(tr(WORDS[state].title) for state in sorted(self.states, key=_ORDER.index))
        label = f"{words}  {grouped(self.number(self.states))}" if alone else tr("State")
        self.one.setText(label.replace("&", "&&") + " ▾")
        self.one.setAccessibleName(f"{tr('Filter by state')}: {words}" if alone else tr("Filter by state"))
        self.one.setChecked(alone)

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        shown = set(self._counts) | self.states
        for state in sorted(shown, key=lambda s: (-self._counts.get(s, 0), _ORDER.index(s))):
            action = menu.addAction(f"{tr(WORDS[state].title)}\t{grouped(self._counts.get(state, 0))}")
            action.setCheckable(True)
            action.setChecked(state in self.states)
            action.triggered.connect(lambda on, state=state: self._toggle(state, on))

    def _toggle(self, state: DocumentState, on: bool) -> None:
        groups = {states for _, _, states in GROUPS}
        kept = frozenset() if self.states in groups and len(self.states) != 1 else self.states
        self.choose(kept | {state} if on else self.states - {state})
