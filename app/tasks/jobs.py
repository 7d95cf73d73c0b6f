"""Work that writes to the library: one at a time, the rest in a queue that the person can see."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from core.base.events import Progress
from core.worker.protocol import JOB


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a job: `op` of the `job` role with its arguments, and `title` for the person."""

    op: str
    args: dict[str, Any] = field(default_factory=dict)
    title: str = ""


class Jobs(QObject):
    """Runs tasks one after the other. Ingests that wait are merged into one.

    `changed()`: what runs, waits or is paused changed. `progress(Progress)` of the one that runs.
    Then one of `done(Task, result)`, `failed(Task, error)`, `cancelled(Task)`.
    """

    changed = Signal()
    progress = Signal(object)
    done = Signal(object, object)
    failed = Signal(object, object)
    cancelled = Signal(object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._waiting: deque[Task] = deque()
        self._task: Task | None = None
        self._call: Call | None = None
        self._begun = 0.0
        self.last_progress: Progress | None = None

    # what the person asks

    def ingest(self, paths: list[str], *, retry: bool = False) -> None:
        """Read files and folders; no paths: look at all known ones again. `retry` reads failed files once more."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last.op == "ingest" and last.args["paths"] and paths and last.args["retry"] == retry:
            self._waiting.pop()
            paths = [*last.args["paths"], *(p for p in paths if p not in last.args["paths"])]
        self.add(Task("ingest", {"paths": paths, "retry": retry}))

    def demo(self) -> None:
        self.add(Task("demo"))

    def remove(self, paths: list[str]) -> None:
        """Take files, or whole folders, out of the library."""
        for path in paths:
            self.add(Task("remove", {"path": path}))

    def add(self, task: Task) -> None:
        self._waiting.append(task)
        if self._task is None:
            self._next()
        self.changed.emit()

    def pause(self) -> None:
        if self._call is not None:
            self._call.pause()
            self.changed.emit()

    def resume(self) -> None:
        if self._call is not None:
            self._call.resume()
            self.changed.emit()

    def cancel(self) -> None:
        """Stop what runs, and drop what waits."""
        self._waiting.clear()
        if self._call is not None:
            self._call.cancel()
        self.changed.emit()

    # what there is

    @property
    def running(self) -> Task | None:
        return self._task

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def paused(self) -> bool:
        return self._call is not None and self._call.paused

    @property
    def cancelling(self) -> bool:
        return self._call is not None and self._call.cancelling

    @property
    def elapsed(self) -> float:
        """Seconds since the task that runs, or ran last, was begun: all that the person waited for."""
        return monotonic() - self._begun

    def _next(self) -> None:
        if self._task is not None or not self._waiting:
            return
        task = self._task = self._waiting.popleft()
        self._begun = monotonic()
        call = self._call = self._engine.call(JOB, task.op, task.args)
        call.progress.connect(self._progressed)
        call.result.connect(lambda value: self._end(lambda: self.done.emit(task, value)))
        call.failed.connect(lambda error: self._end(lambda: self.failed.emit(task, error)))
        call.cancelled.connect(lambda: self._end(lambda: self.cancelled.emit(task)))

    def _progressed(self, value: Progress) -> None:
        self.last_progress = value
        self.progress.emit(value)

    def _end(self, tell: Any) -> None:
        self._task = self._call = self.last_progress = None
        tell()
        self._next()
        self.changed.emit()
