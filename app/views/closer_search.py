"""The second search of a question: the same hits read closely, once the first results have been there for a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.engine import Engine
from app.widgets.page_latest import Latest
from core.base.types import Query
from core.worker.protocol import SEARCH

REST_MS = 400  # without a letter typed


class CloserSearch(QObject):
    """`found(SearchResult)` comes for the newest question only. A reading that fails is the last one: the first results
    are good without it."""

    found = Signal(object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._query = Query("")
        self.given_up = False
        self._latest = Latest(engine, self)
        self._latest.result.connect(self.found)
        self._latest.failed.connect(self._fail)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._start)

    def begin(self, query: Query) -> None:
        """Read the hits of `query` closely after a rest."""
        self.drop()
        self._query = replace(query, rerank=True)
        if not self.given_up:
            self._rest.start()

    def postpone(self) -> None:
        """The person types: what waits waits on."""
        if self._rest.isActive():
            self._rest.start()

    def drop(self) -> None:
        """Something else is asked: hear nothing more of it."""
        self._rest.stop()
        self._latest.drop()

    def give_up(self) -> None:
        self.given_up = True
        self.drop()

    def _start(self) -> None:
        self._latest.start(SEARCH, "search", {"query": self._query})

    def _fail(self, _error: Any) -> None:
        self.given_up = True
