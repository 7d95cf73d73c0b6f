"""Work that writes to the library, in a queue that the person can see.

One task reads at a time. What is added meanwhile does not wait for it: the task that reads is asked to give way, and
a new one reads what was added first, then the rest. Removing runs beside it, at once. Adapting may take an hour: it is
stopped for whatever the person asks for, and goes on afterwards where it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.engine.call import Call
from app.engine.engine import Engine
from core.base.events import Progress
from core.base.types import IngestReport
from core.worker.protocol import JOB

ADAPT = "adapt"
_CHANGING = frozenset({"encoding", "indexing", "concepts"})  # its last stages: the library takes the new encoder over


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of a job: `op` of the `job` role with its arguments, and `title` for the person.

    A `quiet` task was not asked for by the person: no word of it when all is well.
    """

    op: str
    args: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    quiet: bool = False


class Jobs(QObject):
    """Runs tasks one after the other, removals at once beside them. Ingests that wait are merged into one.

    `changed()`: what runs, waits or is paused changed. `progress(Progress)` and `curve(Curve)` of the one that runs.
    Then one of `done(Task, result)`, `failed(Task, error)`, `cancelled(Task)`; none for a task that gave way, since
    the next one goes on with its work. `options` gives the arguments that every reading gets besides (settings).
    """

    changed = Signal()
    progress = Signal(object)
    curve = Signal(object)
    done = Signal(object, object)
    failed = Signal(object, object)
    cancelled = Signal(object)

    def __init__(
        self, engine: Engine, parent: QObject | None = None, *, options: Callable[[], dict[str, Any]] = dict
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._options = options
        self._waiting: deque[Task] = deque()
        self._removing: deque[Task] = deque()
        self._task: Task | None = None
        self._call: Call | None = None
        self._removal: Task | None = None
        self._gave_way = False
        self._hold = False  # what gave way was paused, and will be
        self._begun = 0.0
        self.last_progress: Progress | None = None

    # what the person asks

    def ingest(self, paths: list[str], *, retry: bool = False, quiet: bool = False) -> None:
        """Read files and folders; no paths: look at all known ones again. `retry` reads failed files once more."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last.op == "ingest" and paths and last.args["paths"] and last.args["retry"] == retry:
            self._waiting.pop()
            paths = _joined(last.args["paths"], paths)
            self.add(replace(last, args=last.args | {"paths": paths}, quiet=quiet))
        else:
            self.add(Task("ingest", {"paths": paths, "retry": retry}, quiet=quiet))
        if paths:
            self._make_way()

    def again(self, paths: list[str]) -> None:
        """Read these files once more, whatever is known of them; of folders, look first for what changed in them."""
        self.add(Task("ingest", {"paths": [], "retry": False, "again": paths}))
        self._make_way()

    def unlock(self, paths: list[str], password: str, *, remember: bool) -> None:
        """Read locked files with a password, which is kept in the system's keyring when it is to be remembered."""
        given = {"passwords": dict.fromkeys(paths, password), "remember": remember}
        self.add(Task("ingest", {"paths": [], "retry": False} | given))
        self._make_way()

    def purge(self) -> None:
        """Leave no byte of what was removed."""
        self.add(Task("purge"))

    def demo(self) -> None:
        self.add(Task("demo"))

    def remove(self, paths: list[str]) -> None:
        """Take files, or whole folders, out of the library."""
        if not paths:
            return
        for path in paths:
            self._forget(path)
        self._removing.append(Task("remove", {"path": paths[0]} if len(paths) == 1 else {"paths": paths}))
        self._next_removal()
        self.changed.emit()

    def add(self, task: Task) -> None:
        self._waiting.append(task)
        if self._task is None:
            self._next()
        else:
            self._adapt_later(task)
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
        self._gave_way = False
        if self._call is not None:
            self._call.cancel()
        self.changed.emit()

    # what there is

    @property
    def running(self) -> Task | None:
        """The task at work; a removal is told of when nothing else runs."""
        return self._task or self._removal

    @property
    def waiting(self) -> int:
        return len(self._waiting) + len(self._removing)

    @property
    def adapting(self) -> Task | None:
        """The adapting that is at work, or that waits to go on."""
        tasks = (self._task, *self._waiting)
        return next((task for task in tasks if task is not None and task.op == ADAPT), None)

    @property
    def removing(self) -> int:
        """Removals at work or waiting."""
        return len(self._removing) + (self._removal is not None)

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

    # one after the other

    def _next(self) -> None:
        if self._task is not None or not self._waiting:
            return
        task = self._task = self._waiting.popleft()
        self._begun = monotonic()
        args = task.args | self._options() if task.op == "ingest" else task.args
        call = self._call = self._engine.call(JOB, task.op, args)
        call.progress.connect(self._progressed)
        call.curve.connect(self.curve)
        call.result.connect(lambda value: self._finished(task, value))
        call.failed.connect(lambda error: self._end(lambda: self.failed.emit(task, error)))
        call.cancelled.connect(lambda: self._stopped(task))
        if task.op == ADAPT and self._hold:
            self._hold = False
            call.pause()

    def _adapt_later(self, task: Task) -> None:
        """Stop the adapting at work for the `task` that was added; once the library changes over it is soon done."""
        at_work, stage = self._task, self.last_progress.stage if self.last_progress else ""
        if at_work is None or at_work.op != ADAPT or task.op == ADAPT or task.quiet or stage in _CHANGING:
            return
        if self._call is not None and not self.cancelling:
            self._gave_way = True
            self._call.cancel()

    def _stopped(self, task: Task) -> None:
        if self._gave_way and task.op == ADAPT:
            self._hold = self.paused
            self._waiting.append(task)
            self._end(lambda: None)
        else:
            self._end(lambda: self.cancelled.emit(task))

    def _make_way(self) -> None:
        """Let the waiting ingest go before the one that runs, which it takes over."""
        task, next_one = self._task, self._waiting[0] if self._waiting else None
        if task is None or next_one is None or task.op != "ingest" or next_one.op != "ingest" or self.cancelling:
            return
        if self._call is not None and not self._gave_way:
            self._gave_way = True
            self._call.give_way()

    def _finished(self, task: Task, value: Any) -> None:
        follower = self._waiting[0] if self._waiting else None
        if isinstance(value, IngestReport) and value.gave_way and follower is not None and follower.op == "ingest":
            self._waiting[0] = Task("ingest", _merged(follower.args, task.args))
            begun = self._begun
            self._end(lambda: None)
            self._begun = begun  # it is one wait for the person
            return
        self._end(lambda: self.done.emit(task, value))

    def _progressed(self, value: Progress) -> None:
        self.last_progress = value
        self.progress.emit(value)

    def _end(self, tell: Callable[[], None]) -> None:
        self._task = self._call = self.last_progress = None
        self._gave_way = False
        tell()
        self._next()
        self.changed.emit()

    # beside them

    def _forget(self, path: str) -> None:
        """What is removed now is not added by an ingest that still waits."""
        kept: deque[Task] = deque()
        for task in self._waiting:
            paths = task.args.get("paths", [])
            left = [p for p in paths if p != path]
            if task.op != "ingest" or left or not paths:
                kept.append(replace(task, args=task.args | {"paths": left}) if len(left) < len(paths) else task)
        self._waiting = kept

    def _next_removal(self) -> None:
        if self._removal is not None or not self._removing:
            return
        task = self._removal = self._removing.popleft()
        if self._task is None:
            self._begun = monotonic()
        call = self._engine.call(JOB, task.op, task.args)
        call.result.connect(lambda value: self._removed(lambda: self.done.emit(task, value)))
        call.failed.connect(lambda error: self._removed(lambda: self.failed.emit(task, error)))
        call.cancelled.connect(lambda: self._removed(lambda: self.cancelled.emit(task)))

    def _removed(self, tell: Callable[[], None]) -> None:
        self._removal = None
        tell()
        self._next_removal()
        self.changed.emit()


def _joined(first: list[str], others: list[str]) -> list[str]:
    return [*first, *(path for path in others if path not in first)]


def _merged(first: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """The arguments of one ingest that does the work of two, `first` before the `rest`."""
    merged: dict[str, Any] = {
        "paths": _joined(first["paths"], rest["paths"]),
        "retry": first["retry"] or rest["retry"],
    }
    if "again" in first or "again" in rest:
        merged["again"] = _joined(first.get("again", []), rest.get("again", []))
    if "passwords" in first or "passwords" in rest:
        merged["passwords"] = rest.get("passwords", {}) | first.get("passwords", {})
        merged["remember"] = first.get("remember", False) or rest.get("remember", False)
    return merged
