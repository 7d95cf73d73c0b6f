"""Judging questions by hand: what is asked next, what was said of its passages, and one step back at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from core.base.wire import from_plain
from core.worker.protocol import SEARCH

ANSWERS, PARTLY, NOT = 2, 1, 0  # gains of a passage
_AHEAD = 2  # questions fetched before they are needed


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage that may answer. `document` is what its document is called."""

    id: int
    document: str
    text: str


@dataclass(slots=True)
class Item:
    """A question, its candidates, and the gains said so far, in the order of the passages."""

    question: str
    passages: tuple[Shown, ...]
    gains: list[int] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return len(self.gains) == len(self.passages)

    @property
    def passage(self) -> Shown:
        """The one to be judged now."""
        return self.passages[min(len(self.gains), len(self.passages) - 1)]


class Judging(QObject):
    """One question at a time, the next ones fetched ahead.

    `keep(question, gains)` stores a verdict in place of an earlier one of the same question; without gains it takes
    that back. `changed()`: another question or passage. `failed(error)`: no question came.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(
        self, engine: Engine, keep: Callable[[str, dict[int, int]], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine, self._keep = engine, keep
        self._call: Call | None = None
        self._ahead: deque[Item] = deque()
        self._past: list[Item] = []
        self._asked: list[str] = []  # in this session, so that none comes twice
        self._stored = 0  # questions judged before this session, as the engine counts
        self.item: Item | None = None
        self.wanted = 0
        self.exhausted = False  # no further question can be made

    @property
    def done(self) -> int:
        """Questions that were judged, of which `wanted` make a test set."""
        return self._stored + sum(bool(item.gains) for item in self._past)

    @property
    def busy(self) -> bool:
        return self.item is None and self._call is not None

    @property
    def can_undo(self) -> bool:
        return bool(self._past) or (self.item is not None and bool(self.item.gains))

    def begin(self) -> None:
        """Fetch the first question, where there is none; new ones may have come since the last was reached."""
        self.exhausted = False
        self._fetch()

    def say(self, gain: int) -> None:
        """`gain` of the passage that is shown; after the last one comes the next question."""
        if self.item is None:
            return
        self.item.gains.append(gain)
        if self.item.over:
            self.go_on()
        else:
            self.changed.emit()

    def go_on(self) -> None:
        """To the next question: what was said counts, the other passages stay unjudged."""
        if self.item is None:
            return
        if self.item.gains:
            self._store(self.item)
        self._past.append(self.item)
        self.item = None
        self._take()

    def undo(self) -> None:
        """Take the last word back, be it of the question before."""
        if self.item is not None and self.item.gains:
            self.item.gains.pop()
        elif self._past:
            if self.item is not None:
                self._ahead.appendleft(self.item)
            self.item = self._past.pop()
            if self.item.gains:
                self._keep(self.item.question, {})
                self.item.gains.pop()
        self.changed.emit()

    def stop(self) -> None:
        """The screen is left: what was said of an unfinished question is kept."""
        if self.item is not None and self.item.gains:
            self._store(self.item)
            self._past.append(self.item)
            self.item = None
        if self._call is not None:
            self._call.cancel()

    def _store(self, item: Item) -> None:
        said = zip(item.passages, item.gains, strict=False)  # those after the last word are unjudged
        self._keep(item.question, {passage.id: gain for passage, gain in said})

    def _take(self) -> None:
        if self.item is None and self._ahead:
            self.item = self._ahead.popleft()
        self._fetch()
        self.changed.emit()

    def _fetch(self) -> None:
        waiting = len(self._ahead) + (self.item is not None)
        if self._call is not None or waiting >= _AHEAD or self.exhausted:
            return
        call = self._call = self._engine.call(SEARCH, "judge_next", {"asked": list(self._asked)})
        call.result.connect(self._came)
        call.failed.connect(self._failed)
        call.cancelled.connect(self._end)

    def _came(self, data: dict[str, Any]) -> None:
        self._end()
        self.wanted = int(data.get("wanted", 0))
        if not self._past and not self._asked:
            self._stored = int(data.get("done", 0))
        if not data.get("question") or not data.get("passages"):
            self.exhausted = True
            self.changed.emit()
            return
        passages = tuple(from_plain(Shown, one) for one in data["passages"])
        self._asked.append(str(data["question"]))
        self._ahead.append(Item(str(data["question"]), passages))
        self._take()

    def _failed(self, error: Any) -> None:
        self._end()
        self.exhausted = True
        self.failed.emit(error)
        self.changed.emit()

    def _end(self) -> None:
        self._call = None
