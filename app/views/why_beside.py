"""The Why panel as the last part of a page's splitter: made when it is first wanted, opened, closed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSplitter

from app.context import Context
from app.views.why_panel import WhyPanel
from core.base.types import Query

NARROWEST = 350
SHARE = 0.38  # of the splitter's width


class WhyBeside(QObject):
    changed = Signal()  # it was opened or closed
    closed = Signal()  # by the person

    def __init__(self, context: Context, split: QSplitter) -> None:
        super().__init__(split)
        self._context = context
        self._split = split
        self._panel: WhyPanel | None = None
        self.passage_id: int | None = None  # asked for last

    @property
    def panel(self) -> WhyPanel:
        if self._panel is None:
            self._panel = WhyPanel(self._context, self._split)
            self._panel.closed.connect(self._leave)
            self._panel.hide()
        return self._panel

    @property
    def is_open(self) -> bool:
        """Asked for and not closed since (the page itself may be out of sight)."""
        return self._panel is not None and not self._panel.isHidden()

    def ask(self, query: Query, passage_id: int) -> None:
        """Open it, and explain a passage."""
        if not self.is_open:
            self.panel.show()
            self.changed.emit()
            self._give_room()
        self.passage_id = passage_id
        self.panel.ask(query, passage_id)

    def close(self) -> None:
        self.stop()
        if self._panel is not None:
            self._panel.hide()
        self.changed.emit()

    def stop(self) -> None:
        """Hear nothing more of what was asked."""
        if self._panel is not None:
            self._panel.stop()

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
