"""The map with its words and buttons, and the call that fetches it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.context import Context
from app.i18n import tr
from app.widgets.banner import Banner
from app.widgets.busy import Busy
from app.widgets.buttons import IconButton
from app.widgets.card import Card, row
from app.widgets.concept_map import STEP, ConceptMap
from app.widgets.empty_state import EmptyState
from app.widgets.labels import Label
from app.widgets.page_latest import Latest
from core.base.types import ConceptPoint
from core.worker.protocol import SEARCH

_HINT = (
    "Concepts that lie close are close in meaning, and of one colour where they belong together. The larger a dot, the "
    "more passages it is in."
)


class MapView(QWidget):
    """`look(id)` shows the map, fetched when it is first looked at; `chosen(id)` as of the map."""

    chosen = Signal(int)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stale, self._looked = True, False
        self._latest = Latest(context.engine, self)
        self._latest.result.connect(self._came)
        self._latest.failed.connect(self._fail)
        self.map = ConceptMap()
        self.map.chosen.connect(self.chosen)
        self.banner = Banner()
        self.banner.acted.connect(self._ask)
        self.busy = Busy(tr("Drawing the map…"), delay_ms=250)
        self.nothing = EmptyState("concepts", "", "")
        self.stack = QStackedWidget()
        self.stack.addWidget(self.map)
        self.stack.addWidget(self.nothing)
        card = Card(padding=4, spacing=0)
        card.body.addWidget(self.stack)
        self.tools = (
            IconButton("zoom-out", tr("Farther"), lambda: self.map.zoom_at_chosen(1 / STEP), kind="secondary"),
            IconButton("zoom-in", tr("Nearer"), lambda: self.map.zoom_at_chosen(STEP), kind="secondary"),
            IconButton("concepts", tr("The whole map"), self.map.show_whole, kind="secondary"),
        )
        self.hint = Label(tr(_HINT), "small", wrap=True)
        line = row(self.hint, None, *self.tools)
        line.setStretch(0, 100)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(line)
        column.addWidget(self.banner)
        column.addWidget(self.busy)
        column.addWidget(card, 1)

    def look(self, chosen: int | None) -> None:
        self._looked = True
        self.map.choose(chosen)
        if self._stale:
            self._ask()

    def renew(self) -> None:
        """The concepts changed: it is fetched again, at once when it has been looked at."""
        self._stale = True
        if self._looked:
            self._ask()

    def set_compact(self, on: bool) -> None:
        """Leave the room to the map; its tooltip says what it shows."""
        self.hint.setVisible(not on)
        self.setToolTip(tr(_HINT) if on else "")

    def choose(self, number: int | None) -> None:
        self.map.choose(number)

    def stop(self) -> None:
        self._latest.drop()
        self.busy.stop()

    def _ask(self) -> None:
        self.banner.hide()
        self.busy.start()
        self._latest.start(SEARCH, "concept_map", {})

    def _came(self, found: list[ConceptPoint]) -> None:
        self.busy.stop()
        self._stale = False
        self.map.show_points(found)
        self.nothing.set_words(tr("There is nothing on the map"), tr("All concepts are hidden."))
        self.stack.setCurrentIndex(0 if found else 1)

    def _fail(self, error: Any) -> None:
        self.busy.stop()
        self.banner.show_error(error, action=tr("Try again"))
