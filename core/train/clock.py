"""The seconds that a run has worked, over interruptions, and those that it still needs."""

from __future__ import annotations

import time
from collections import deque
from statistics import mean

_RECENT = 32  # steps that the estimate of the time left is made from
_LEAST = 3  # the first steps are slower: caches are cold, memory is taken


class Clock:
    """Counts steps' seconds. Pauses are not work: only what lies between `start` and `lap` counts."""

    def __init__(self, minutes: float | None) -> None:
        self.seconds = 0.0
        self._budget = None if minutes is None else 60 * minutes
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._since = 0.0

    def start(self) -> None:
        self._since = time.monotonic()

    def lap(self, of_a_step: bool = True) -> None:
        """Add the seconds since `start`; those of a checkpoint are no step's."""
        took = time.monotonic() - self._since
        self.seconds += took
        if of_a_step:
            self._recent.append(took)

    @property
    def is_up(self) -> bool:
        """Would a further step go beyond the budget?"""
        step = mean(self._recent) if self._recent else 0.0
        return self._budget is not None and self.seconds + step > self._budget

    def left(self, steps: int) -> float | None:
        """Seconds for `steps` further steps at the pace of the last ones, within the budget; None until it is known."""
        if len(self._recent) < _LEAST:
            return None
        left = steps * mean(self._recent)
        return left if self._budget is None else max(0.0, min(left, self._budget - self.seconds))

    def planned(self, steps: int) -> int:
        """How many of `steps` further steps will be made in the time left."""
        left = self.left(steps)
        return steps if left is None or not self._recent else min(steps, round(left / max(mean(self._recent), 1e-9)))
