"""How long the event loop was blocked at most: a timer that measures its own delay. For tests.

On a busy machine a beat is late because others had the processor; the processor time that this thread itself used
between two beats says what the window did.
"""

from __future__ import annotations

from time import perf_counter, thread_time

from PySide6.QtCore import QObject, Qt, QTimer


class Pulse(QObject):
    """Beats every `interval_ms`. `longest_ms`: by how much a beat came late at most (wall clock); `longest_work_ms`:
    the most processor time that the window's thread used between two beats."""

    def __init__(self, interval_ms: int = 5, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._interval = interval_ms / 1000
        self._last = perf_counter()
        self._longest = 0.0
        self._last_work = thread_time()
        self._longest_work = 0.0
        self.beats = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        self._last, self._longest, self.beats = perf_counter(), 0.0, 0
        self._last_work, self._longest_work = thread_time(), 0.0
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @property
    def longest_ms(self) -> float:
        return self._longest * 1000

    @property
    def longest_work_ms(self) -> float:
        return self._longest_work * 1000

    def _beat(self) -> None:
        now, work = perf_counter(), thread_time()
        self._longest_work = max(self._longest_work, work - self._last_work)
        self._last_work = work
        self._longest = max(self._longest, now - self._last - self._interval)
        self._last = now
        self.beats += 1
