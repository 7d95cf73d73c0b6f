"""Judging questions by hand: what is asked next, what was said of its passages, and one step back at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from core.base.events import Progress
from core.base.types import Passage, ToJudge
from core.base.wire import from_plain
from core.worker.protocol import SEARCH

ANSWERS, PARTLY, NOT = 2, 1, 0  # gains of a passage
WANTED = 50  # judged questions that make a test set


@dataclass(slots=True)
class Item:
    """A question, its candidates, and the gains said so far, in the order of the passages."""

    question: str
    passages: tuple[Passage, ...]
    gains: list[int] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return len(self.gains) == len(self.passages)

    @property
    def passage(self) -> Passage:
        """The one to be judged now."""
        return self.passages[min(len(self.gains), len(self.passages) - 1)]


class Judging(QObject):
    """One question at a time, out of those that the `search` child chose.

    `keep(question, gains)` stores a verdict in place of an earlier one of the same question; without gains it takes
    that back. `changed()`: another question or passage. `looked(Progress)`: questions are being chosen.
    `failed(error)`: none came.
    """

    changed = Signal()
    looked = Signal(object)
    failed = Signal(object)

    def __init__(
        self, engine: Engine, keep: Callable[[str, dict[int, int]], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine, self._keep = engine, keep
        self._call: Call | None = None
        self._ahead: deque[Item] = deque()
        self._past: list[Item] = []
        self._before = 0
        self.item: Item | None = None

    @property
    def done(self) -> int:
        """Questions that were judged, before and now."""
        return self._before + sum(bool(item.gains) for item in self._past)

    @property
    def busy(self) -> bool:
        return self._call is not None

    @property
    def can_undo(self) -> bool:
        return bool(self._past) or (self.item is not None and bool(self.item.gains))

    def begin(self, judged: int) -> None:
        """Have questions chosen, unless some are left; `judged` questions were judged until now."""
        if self._call is not None or self.item is not None or self._ahead:
            return
        self._before, self._past = judged, []
        call = self._call = self._engine.call(SEARCH, "judging", {"count": WANTED})
        call.progress.connect(self._looked)
        call.result.connect(self._came)
        call.failed.connect(self._failed)
        call.cancelled.connect(self._end)
        self.changed.emit()

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
            self.go_on()
        if self._call is not None:
            self._call.cancel()

    def _store(self, item: Item) -> None:
        said = zip(item.passages, item.gains, strict=False)  # those after the last word are unjudged
        self._keep(item.question, {passage.id: gain for passage, gain in said})

    def _take(self) -> None:
        self.item = self._ahead.popleft() if self._ahead else None
        self.changed.emit()

    def _looked(self, progress: Progress) -> None:
        self.looked.emit(progress)

    def _came(self, data: list[Any]) -> None:
        self._call = None
        chosen = [from_plain(ToJudge, one) for one in data]
        self._ahead.extend(Item(one.question, one.candidates) for one in chosen if one.candidates)
        self._take()

    def _failed(self, error: Any) -> None:
        self._end()
        self.failed.emit(error)

    def _end(self) -> None:
        self._call = None
        self.changed.emit()
