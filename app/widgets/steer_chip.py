"""A chip for a concept: what it is, how it counts; its menu changes that, and so do + and -."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n import tr
from app.widgets.buttons import Chip
from app.widgets.hit_filters import shorten
from app.widgets.page_offsets import one_line
from app.widgets.steer_menu import add_concept, menu_text
from app.widgets.steer_state import OFF, Steering

LONGEST = 30  # characters of a name
KEYS = {"+": 1, "-": -1, "\N{MINUS SIGN}": -1}


class MenuChip(Chip):
    """A chip whose menu is filled when it opens; `checked` says that it is in force, a click changes nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent=parent)
        self._in_force = False
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(lambda: (menu.clear(), self.fill(menu)))
        self.setMenu(menu)
        self.toggled.connect(lambda _: self.setChecked(self._in_force))

    def set_in_force(self, on: bool) -> None:
        self._in_force = on
        self.setChecked(on)

    def fill(self, menu: QMenu) -> None:
        """Put lines into the empty menu."""
        raise NotImplementedError


class ConceptChip(MenuChip):
    """`chosen(Steering)`: what the person wants. `asked` says that the concept is one of the question."""

    chosen = Signal(object)

    def __init__(
        self, concept: int, label: str, steering: Steering, asked: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.concept, self.label = concept, one_line(label) or tr("Concept {n}", n=concept)
        self._asked = asked
        self.show_steering(steering)

    def show_steering(self, steering: Steering) -> None:
        """Show how the concept is steered by."""
        self._steering = steering
        sign, said = steering.sign(self.concept), steering.said(self.concept)
        self.setText(menu_text(" ".join(part for part in (sign, shorten(self.label, LONGEST), "▾") if part)))
        self.set_in_force(bool(said))
        font = self.font()
        font.setStrikeOut(steering.factor(self.concept) == OFF)
        self.setFont(font)
        where = tr("The question is about this.") if self._asked else tr("You steer by this.")
        keys = tr("Click for choices; + and − count it more or less.")
        self.setToolTip("\n".join(part for part in (self.label, said or where, keys) if part))
        self.setAccessibleName(f"{tr('Concept')}: {self.label}" + (f", {said}" if said else ""))

    def fill(self, menu: QMenu) -> None:
        add_concept(menu, self._steering, self.concept, self.label, self.chosen.emit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.text() in KEYS:
            self.chosen.emit(self._steering.stepped(self.concept, self.label, KEYS[event.text()]))
            return
        super().keyPressEvent(event)
