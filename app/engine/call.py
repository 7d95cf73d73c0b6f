"""One piece of work that a child does, as the window sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

PROGRESS_MS = 100


class Call(QObject):
    """Made by `Engine.call`. It deletes itself after `finished`; connect at once after making it.

    Signals carry `object`, decoded to the types of `core.base`:

    - `progress(Progress)` at most every 100 ms, the newest one; `partial(object)` every one, in order: a dict as in
      `core.worker.protocol` with `"answer"` as `Answer`; `curve(Curve)` every one, in order; `notice(str)`.
    - then exactly one of `result(object)` (`SearchResult`, `Explanation`, `Answer`, `IngestReport` and the like; a
      list where an operation gives one; a dict for the other operations), `failed(KnownError | Bug)`, `cancelled()`,
    - and after it `finished()`.
    """

    progress = Signal(object)
    partial = Signal(object)
    curve = Signal(object)
    notice = Signal(str)
    result = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    finished = Signal()

    def __init__(self, role: str, op: str, send: Callable[[Call, str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.role, self.op = role, op
        self.done = False
        self.cancelling = False
        self.paused = False
        self._send = send
        self._newest: Any = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(PROGRESS_MS)
        self._rest.timeout.connect(self._flush)

    def cancel(self) -> None:
        """Stop the work. Asks first, then insists; `cancelled` comes when it has stopped."""
        if not self.done and not self.cancelling:
            self.cancelling = True
            self._send(self, "cancel")

    def pause(self) -> None:
        if not self.done and not self.paused:
            self.paused = True
            self._send(self, "pause")

    def resume(self) -> None:
        if not self.done and self.paused:
            self.paused = False
            self._send(self, "resume")

    def give_way(self) -> None:
        """Ask the work to end soon, in good order: its result comes, or `cancelled` when it had not begun."""
        if not self.done and not self.cancelling:
            self.paused = False
            self._send(self, "give_way")

    # what the engine tells it

    def tell_progress(self, value: Any) -> None:
        first = not self._rest.isActive()
        self._newest = value
        if first:
            self._flush()
            self._rest.start()

    def end_result(self, value: Any) -> None:
        self._end(lambda: self.result.emit(value))

    def end_failed(self, error: Any) -> None:
        self._end(lambda: self.failed.emit(error))

    def end_cancelled(self) -> None:
        self._end(self.cancelled.emit)

    def _flush(self) -> None:
        if self._newest is not None:
            value, self._newest = self._newest, None
            self.progress.emit(value)
            if not self.done:
                self._rest.start()

    def _end(self, tell: Callable[[], None]) -> None:
        if self.done:
            return
        self._rest.stop()
        self._flush()
        self._rest.stop()
        self.done = True
        tell()
        self.finished.emit()
        self.deleteLater()
