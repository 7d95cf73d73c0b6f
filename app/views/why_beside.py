"""The Why panel, and its counterpart for what was not found, as the last part of a page's splitter: made when one is
first wanted, opened, closed."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget

from app.context import Context
from app.views.why_not_panel import WhyNotPanel
from app.views.why_panel import WhyPanel
from core.base.types import Query

NARROWEST = 350
SHARE = 0.38  # of the splitter's width


class WhyBeside(QObject):
    """With `steers`, the panels offer to change the search."""

    changed = Signal()  # it was opened or closed
    closed = Signal()  # by the person
    other_asked = Signal()  # why another passage is not among the hits
    concept_asked = Signal(object, int, QPoint)  # as of `WhyPanel`
    lifted = Signal(object, object)  # as of `WhyNotPanel`

    def __init__(self, context: Context, split: QSplitter, *, steers: bool = False) -> None:
        super().__init__(split)
        self._context = context
        self._split = split
        self._steers = steers
        self._shelf: QStackedWidget | None = None
        self._panel: WhyPanel | None = None
        self._not: WhyNotPanel | None = None
        self.passage_id: int | None = None  # asked for last

    @property
    def shelf(self) -> QStackedWidget:
        """What stands in the splitter."""
        if self._shelf is None:
            self._shelf = QStackedWidget(self._split)
            self._shelf.hide()
        return self._shelf

    @property
    def panel(self) -> WhyPanel:
        if self._panel is None:
            self._panel = WhyPanel(self._context, self.shelf)
            self._panel.set_steers(self._steers)
            self._panel.closed.connect(self._leave)
            self._panel.other_asked.connect(self.other_asked)
            self._panel.concept_asked.connect(self.concept_asked)
            self.shelf.addWidget(self._panel)
        return self._panel

    @property
    def not_panel(self) -> WhyNotPanel:
        if self._not is None:
            self._not = WhyNotPanel(self._context, self.shelf)
            self._not.closed.connect(self._leave)
            self._not.other_asked.connect(self.other_asked)
            self._not.lifted.connect(self.lifted)
            self.shelf.addWidget(self._not)
        return self._not

    @property
    def is_open(self) -> bool:
        """Asked for and not closed since (the page itself may be out of sight)."""
        return self._shelf is not None and not self._shelf.isHidden()

    @property
    def is_not(self) -> bool:
        """Open, and about a passage that was not found."""
        return self.is_open and self._not is not None and self.shelf.currentWidget() is self._not

    def ask(self, query: Query, passage_id: int) -> None:
        """Open it, and explain a passage."""
        self.shelf.setCurrentWidget(self.panel)
        self._open()
        self.passage_id = passage_id
        self.panel.ask(query, passage_id)

    def ask_not(self, query: Query, passage_id: int) -> None:
        """Open it, and say why a passage is not among the hits, or not higher."""
        self.shelf.setCurrentWidget(self.not_panel)
        self._open()
        self.not_panel.ask(query, passage_id)

    def close(self) -> None:
        self.stop()
        if self._shelf is not None:
            self._shelf.hide()
        self.changed.emit()

    def stop(self) -> None:
        """Hear nothing more of what was asked."""
        for panel in (self._panel, self._not):
            if panel is not None:
                panel.stop()

    def _open(self) -> None:
        if not self.is_open:
            self.shelf.show()
            self.changed.emit()
            self._give_room()

    def _leave(self) -> None:
        self.close()
        self.closed.emit()

    def _give_room(self) -> None:
        """The panel takes its share from its neighbour."""
        wanted = max(NARROWEST, round(self._split.width() * SHARE))
        sizes = self._split.sizes()
        sizes[-1] = wanted
        sizes[-2] = max(0, self._split.width() - wanted - sum(sizes[:-2]))
        self._split.setSizes(sizes)
