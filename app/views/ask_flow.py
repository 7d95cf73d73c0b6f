"""One question on its way: searched, then answered. Says each step, and stops within a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.engine import Engine
from app.widgets.page_latest import Latest
from core.base.types import Answer, Filters, SearchResult, Turn
from core.worker.protocol import ANSWER, SEARCH

PASSAGES = 8  # given to the answer


class AskFlow(QObject):
    """Signals in this order: `found`, any of `drafted` and `token`, then one of `answered`, `failed`, `stopped`."""

    found = Signal(object)  # SearchResult
    drafted = Signal(object)  # Answer: a first one, shown while the model writes
    token = Signal(str)
    answered = Signal(object)  # Answer
    failed = Signal(object)
    stopped = Signal()

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._latest = Latest(engine, self)
        self._latest.partial.connect(self._partial)
        self._latest.result.connect(self._result)
        self._latest.failed.connect(self.failed)
        self._latest.cancelled.connect(self.stopped)
        self._arguments: dict[str, Any] = {}

    @property
    def busy(self) -> bool:
        return self._latest.busy

    def start(self, question: str, history: Sequence[Turn], filters: Filters, mode: str) -> None:
        self._arguments = {"question": question, "history": list(history), "mode": mode}
        self._latest.start(
            SEARCH, "retrieve", {"question": question, "history": list(history), "filters": filters, "k": PASSAGES}
        )

    def stop(self) -> None:
        """Stop hearing at once; the child is told to stop and need not be waited for."""
        if self._latest.busy:
            self._latest.drop()
            self.stopped.emit()

    def drop(self) -> None:
        self._latest.drop()

    def _partial(self, data: Any) -> None:
        if isinstance(data.get("token"), str):
            self.token.emit(data["token"])
        elif isinstance(data.get("answer"), Answer):
            self.drafted.emit(data["answer"])

    def _result(self, value: object) -> None:
        if isinstance(value, SearchResult):
            self.found.emit(value)
            if not self._latest.busy:
                self._latest.start(ANSWER, "ask", {**self._arguments, "result": value})
        elif isinstance(value, Answer):
            self.answered.emit(replace(value, question=value.question or self._arguments["question"]))
