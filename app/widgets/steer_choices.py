"""The chips of the steering line that offer choices: what the hits are about, what more is to be found of, lenses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n import grouped, tr
from app.widgets.hit_filters import shorten
from app.widgets.page_offsets import one_line
from app.widgets.steer_chip import MenuChip
from app.widgets.steer_menu import add_because, menu_text
from app.widgets.steer_state import Steering
from core.base.types import ConceptWeight

_NAME = 26  # characters of what more is to be found of
_LINE = 60  # characters of a line in a menu


class TopicChip(MenuChip):
    """What the best hits are about: a choice keeps only hits that are about it. `topics` is None while looked for."""

    chosen = Signal(object)  # Steering

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steering = Steering()
        self.topics: tuple[ConceptWeight, ...] | None = ()
        self.setText(tr("In the results") + " ▾")
        self.setAccessibleName(tr("Keep only hits that are about…"))
        self.setToolTip(tr("What the best hits are about, more than the rest of the library"))

    def show_topics(self, steering: Steering, topics: Sequence[ConceptWeight] | None) -> None:
        self._steering = steering
        self.topics = None if topics is None else tuple(topics)
        self.setVisible(topics is None or bool(topics))
        if self.menu().isVisible():
            self.menu().clear()
            self.fill(self.menu())

    def fill(self, menu: QMenu) -> None:
        menu.addAction(tr("Keep only hits that are about…")).setEnabled(False)
        if self.topics is None:
            menu.addAction(tr("Looking…")).setEnabled(False)
            return
        for topic in self.topics:
            hits = f"\t{grouped(topic.passages)}" if topic.passages else ""
            action = menu.addAction(menu_text(shorten(one_line(topic.label), _LINE)) + hits)
            action.setToolTip(one_line(topic.label))
            action.setCheckable(True)
            action.setChecked(topic.id in self._steering.required)
            action.triggered.connect(
                lambda on=False, t=topic: self.chosen.emit(self._steering.requiring(t.id, t.label, on))
            )


class LikeChip(MenuChip):
    """Says of what more is to be found, and because of which of its concepts; hidden while of nothing."""

    chosen = Signal(object)  # Steering

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steering = Steering()
        self.concepts: Mapping[int, str] = {}  # those of the passage
        self.hide()

    def show_steering(self, steering: Steering) -> None:
        self._steering = steering
        self.setVisible(steering.like is not None)
        if steering.like is None:
            return
        because = ", ".join(f"«{one_line(steering.labels.get(i, str(i)))}»" for i in steering.because)
        said = tr("More like {name}", name=shorten(one_line(steering.like_name), _NAME))
        reason = tr("because of {concepts}", concepts=because) if because else ""
        self.setText(menu_text(", ".join(part for part in (said, shorten(reason, 2 * _NAME)) if part)) + " ▾")
        whole = tr("More like {name}", name=one_line(steering.like_name))
        self.setAccessibleName(", ".join(part for part in (whole, reason) if part))
        self.setToolTip("\n".join(part for part in (whole, reason) if part))
        self.set_in_force(True)

    def fill(self, menu: QMenu) -> None:
        add_because(menu, self._steering, self._steering.like_name, dict(self.concepts), self.chosen.emit)


class LensChip(MenuChip):
    """`filling(QMenu)` asks for the lines of its menu."""

    filling = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.show_lens("")
        self.setToolTip(tr("Ways of looking that you saved: what counts more, less, or must be there"))

    def show_lens(self, name: str) -> None:
        """The lens that is looked through; empty for none."""
        said = f"{tr('Lens')}: {shorten(one_line(name), _NAME)}" if name else tr("Lens")
        self.setText(menu_text(said) + " ▾")
        self.setAccessibleName(f"{tr('Lens')}: {one_line(name)}" if name else tr("Lenses"))
        self.set_in_force(bool(name))

    def fill(self, menu: QMenu) -> None:
        self.filling.emit(menu)
