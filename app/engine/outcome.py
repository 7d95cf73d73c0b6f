"""How a child process ended, as a sentence for the person, and how often it may be started again."""

from __future__ import annotations

import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from app.i18n import tr
from core.base.errors import ChildDied

_WORDS = {
    "search": "The search process",
    "answer": "The answer process",
    "view": "The page view process",
    "job": "The process that reads your documents",
    "watch": "The process that watches your folders",
}
_SIGNALS = {
    "SIGSEGV": "memory fault",
    "SIGABRT": "it gave up by itself",
    "SIGKILL": "killed from outside, often because memory ran out",
    "SIGTERM": "asked to stop from outside",
    "SIGBUS": "memory fault",
    "SIGILL": "a processor instruction this machine lacks",
    "SIGFPE": "arithmetic fault",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a process. `code` is the exit code, or the signal's number when it `crashed`."""

    role: str
    code: int
    crashed: bool
    failed_to_start: bool = False
    tail: str = ""  # the last lines of its standard error

    @property
    def sentence(self) -> str:
        who = tr(_WORDS.get(self.role, "A helper process"))
        if self.failed_to_start:
            return tr("{who} could not be started.", who=who)
        if self.crashed:
            return tr("{who} ended unexpectedly ({how}).", who=who, how=self._signal())
        return tr("{who} ended unexpectedly (exit code {code}).", who=who, code=self.code)

    def _signal(self) -> str:
        if sys.platform == "win32":
            return f"0x{self.code & 0xFFFFFFFF:08X}"
        try:
            name = signal.Signals(self.code).name
        except ValueError:
            return tr("signal {code}", code=self.code)
        return f"{name}: {tr(_SIGNALS[name])}" if name in _SIGNALS else name

    def error(self, *, will_restart: bool) -> ChildDied:
        if self.role == "job":
            advice = tr("Nothing that was stored is lost. Start again: it goes on where it was.")
        elif will_restart:
            advice = tr("It is started again by itself: try once more.")
        else:
            advice = tr("It ended too often. Wait a few minutes, or restart Whymatch.")
        return ChildDied(self.sentence, advice)


class Restarts:
    """Lets a role be started again at most `limit` times within `seconds`, counted from when it last worked."""

    def __init__(self, limit: int = 3, seconds: float = 300.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._seconds, self._clock = limit, seconds, clock
        self._deaths: deque[float] = deque()

    def died(self) -> None:
        self._deaths.append(self._clock())

    def worked(self) -> None:
        """It did what it was asked, so it does not die of being started."""
        self._deaths.clear()

    @property
    def allowed(self) -> bool:
        while self._deaths and self._deaths[0] <= self._clock() - self._seconds:
            self._deaths.popleft()
        return len(self._deaths) <= self._limit
