"""How much longer a run takes, from its pace so far."""

from __future__ import annotations

import time

_LEAST_SECONDS, _LEAST_FILES, _LEAST_PASSAGES = 3.0, 8, 128
_FILE_COST = 16 << 10  # bytes: what opening and storing a file costs, however small it is
_LARGEST = 20 << 20  # beyond that a file's size says little of the text in it
_AT_END = 0.15  # of the time for reading and storing: versions are compared and segments merged when all is read


def cost_of(size: int) -> int:
    """What reading a file of this size is expected to cost, in units of its own."""
    return min(size, _LARGEST) + _FILE_COST


class Pace:
    """Told of the work that is done, it says how long the rest takes, or that it cannot tell yet."""

    def __init__(self, total: int) -> None:
        """`total` is the `cost_of` all files."""
        self._left = self._total = total
        self._begun = time.monotonic()
        self._files = 0
        self._encode_seconds = 0.0
        self._passages = 0

    def read(self, size: int) -> None:
        self._left -= cost_of(size)
        self._files += 1

    def encoded(self, passages: int, seconds: float) -> None:
        self._passages += passages
        self._encode_seconds += seconds

    def seconds_left(self, waiting: int) -> float | None:
        """`waiting` passages are stored and not encoded. None while there is too little to tell from."""
        elapsed = time.monotonic() - self._begun
        enough = self._files >= _LEAST_FILES and elapsed >= _LEAST_SECONDS
        if self._left > 0 and not enough:
            return None
        if waiting and self._passages < _LEAST_PASSAGES:
            return None
        each = self._encode_seconds / max(self._passages, 1)
        done = max(self._total - self._left, 1)
        # what was read so far includes the encoding of all but the passages that wait: those of the rest will, too
        reading = (elapsed + each * waiting) / done * max(self._left, 0)
        at_end = _AT_END * max(elapsed - self._encode_seconds, 0.0) / done * self._total
        return reading + each * waiting + at_end
