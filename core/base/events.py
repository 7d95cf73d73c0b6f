"""Progress and cancelling, as every long piece of work sees them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.base.errors import Cancelled


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a job stands. `total` is 0 while it is not known; `counts` holds counters of the stage."""

    stage: str  # scanning, reading, encoding, indexing, concepts, ...
    done: int
    total: int
    detail: str = ""  # e.g. the file at work
    counts: dict[str, int] = field(default_factory=dict)
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A commit that readers should see: which generation is current and how many documents it holds."""

    generation: int
    documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know although the work goes on (e.g. a damaged file was rebuilt)."""

    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One point of a curve of training: the mean loss around `step` of a stage; `figures` holds further ones."""

    stage: str
    step: int
    loss: float
    figures: dict[str, float] = field(default_factory=dict)


Event = Progress | Changed | Notice | Curve
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener that does nothing."""


class Control:
    """Cancel, pause and give way for one piece of work, safe to call from another thread.

    Work that is asked to give way ends soon by itself, in good order, so that other work can begin. While it is
    `interruptible` it does not wait for a good place to end: `check` raises `Cancelled` then.
    """

    def __init__(self) -> None:
        self._cancel = threading.Event()
        self._yield = threading.Event()
        self._run = threading.Event()
        self._run.set()
        self.interruptible = False

    def cancel(self) -> None:
        self._cancel.set()
        self._run.set()

    def pause(self) -> None:
        self._run.clear()

    def resume(self) -> None:
        self._run.set()

    def give_way(self) -> None:
        self._yield.set()
        self._run.set()

    @property
    def cancelled(self) -> bool:
        return self._cancel.is_set()

    @property
    def giving_way(self) -> bool:
        return self._yield.is_set()

    @property
    def paused(self) -> bool:
        return not self._run.is_set()

    def check(self) -> None:
        """Wait while paused; raise `Cancelled` when cancelled. Call between units of work."""
        self._run.wait()
        if self._cancel.is_set() or (self.interruptible and self._yield.is_set()):
            raise Cancelled("cancelled")


class Throttle:
    """Lets a call through at most once per `seconds` (the last state is the caller's to send)."""

    def __init__(self, seconds: float = 0.1) -> None:
        self._seconds = seconds
        self._next = 0.0

    def ready(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True
