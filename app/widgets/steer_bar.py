"""The line that steers a search by meaning: the question's concepts, those of the hits, lenses, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.i18n import tr
from app.widgets.buttons import Button
from app.widgets.hit_channels import channel_name
from app.widgets.hit_flow import FlowLayout
from app.widgets.labels import Label
from app.widgets.steer_chip import ConceptChip
from app.widgets.steer_choices import LensChip, LikeChip, TopicChip
from app.widgets.steer_state import Steering
from core.base.types import ConceptWeight

MOST = 4  # concepts of the question that are shown
FEW = 2  # of them on a tight line
_TOPICS = 10
SHORT, TIGHT = 84, 48  # characters in a line


class SteerBar(QWidget):
    """`chosen(Steering)` is what the person wants; `show_*` say what there is. Esc in it sends `left`."""

    chosen = Signal(object)
    undo = Signal()
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Steer by concepts"))
        self._steering = Steering()
        self._asked: tuple[ConceptWeight, ...] = ()
        self.chips: list[ConceptChip] = []
        self._label = Label("", "small", self)
        self._label.setContentsMargins(2, 0, 2, 0)
        self.like = LikeChip(self)
        self.only = Button("", "link", "", lambda: self.chosen.emit(self._steering.by_all_ways()), self)
        self.topics = TopicChip(self)
        self.lenses = LensChip(self)
        self.undo_button = Button(tr("Undo"), "link", "", self.undo.emit, self)
        self.undo_button.setToolTip(tr("Take the last change back (Ctrl+Z)"))
        self.clear_button = Button(tr("Clear"), "link", "", lambda: self.chosen.emit(Steering()), self)
        self.clear_button.setToolTip(tr("Steer by nothing any more"))
        for part in (self.like, self.topics):
            part.chosen.connect(self.chosen)
        self._flow = FlowLayout(self)
        self.undo_button.hide()
        self._refresh()

    # what is shown

    def show_steering(self, steering: Steering, *, undoable: bool) -> None:
        self._steering = steering
        self.undo_button.setVisible(undoable)
        self._refresh()

    def show_asked(self, concepts: Sequence[ConceptWeight]) -> None:
        """The concepts of the question, strongest first."""
        self._asked = tuple(concepts[:MOST])
        self._refresh()

    def show_topics(self, concepts: Sequence[ConceptWeight] | None) -> None:
        """What the best hits are about; None while that is looked for."""
        self.topics.show_topics(self._steering, None if concepts is None else concepts[:_TOPICS])
        self._show_parts()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """On a narrow line the label says less, and fewer of the question's concepts are shown."""
        room = self.width() / max(1, self.fontMetrics().averageCharWidth())
        asked = bool(self._asked) and self._steering.like is None
        said = (tr("Your question is about") if room > SHORT else tr("About")) if asked else tr("Steered by")
        self._label.setText(said)
        self._label.setVisible(bool(self.chips) and room > TIGHT)
        steered = self._steering.concepts
        plain = [chip for chip in self.chips if chip.concept not in steered]
        for chip in self.chips:
            chip.setVisible(chip.concept in steered or room > TIGHT or chip in plain[:FEW])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)

    def _refresh(self) -> None:
        """Show all parts anew; the chip with the focus keeps it."""
        focused = next((chip.concept for chip in self.chips if chip.hasFocus()), None)
        self.topics.show_topics(self._steering, self.topics.topics)
        self.like.show_steering(self._steering)
        if self._renew_chips():
            self._lay_out()
        for chip in self.chips:
            if chip.concept == focused:
                chip.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_parts()

    def _lay_out(self) -> None:
        """All parts in their order, for the eye and for the Tab key."""
        for number in reversed(range(self._flow.count())):
            self._flow.takeAt(number)
        controls = [self.like, self.only, *self.chips, self.topics, self.lenses, self.undo_button, self.clear_button]
        for part in (*controls[:2], self._label, *controls[2:]):
            self._flow.addWidget(part)
        for one, next_one in pairwise(controls):
            QWidget.setTabOrder(one, next_one)

    def _show_parts(self) -> None:
        s = self._steering
        self._fit()
        self.only.setVisible(bool(s.channels))
        self.only.setText(tr("Only {ways}  ×", ways=", ".join(channel_name(c) for c in s.channels)))
        self.clear_button.setVisible(bool(s))
        self.setVisible(bool(s or self.chips or self.topics.topics or self.undo_button.isVisibleTo(self)))
        self._flow.invalidate()
        self.updateGeometry()

    def _renew_chips(self) -> bool:
        """Chips of the question's concepts, then of others that are steered by. True when they are others."""
        s = self._steering
        asked = {c.id: c.label for c in self._asked if s.like is None}  # words do not count beside a passage
        wanted = asked | {i: s.labels.get(i, "") for i in s.concepts if i not in asked}
        if self._flow.count() and [chip.concept for chip in self.chips] == list(wanted):
            for chip in self.chips:
                chip.show_steering(s)
            return False
        for chip in self.chips:
            chip.hide()
            chip.deleteLater()
        self.chips = [self._chip(concept, label, concept in asked) for concept, label in wanted.items()]
        return True

    def _chip(self, concept: int, label: str, asked: bool) -> ConceptChip:
        chip = ConceptChip(concept, label, self._steering, asked, self)
        chip.chosen.connect(self.chosen)
        chip.show()
        return chip
