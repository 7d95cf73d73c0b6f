"""A note of the file at work, which outlives the job: whoever dies while reading has told where.

The note is made before a file goes to the reading child and taken back after it. The next job finds it, reads
that file last, and gives it a strike when it had been at work for a while (a job that was ended from outside
at a file of milliseconds says nothing of the file).
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

FILE = "reading.json"
SUSPICIOUS_SECONDS = 0.5
_UPDATE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Left:
    """What a job that died was reading, and for how long. `path` is empty when it was at no file."""

    path: str = ""
    seconds: float = 0.0

    @property
    def suspicious(self) -> bool:
        return bool(self.path) and self.seconds >= SUSPICIOUS_SECONDS


class Marker:
    """The note of this job. Use from one thread. Costs two short writes a file, without waiting for the disk."""

    def __init__(self, library: Path | None) -> None:
        """Without a library nothing is noted."""
        self._path = library / FILE if library is not None else None
        self._descriptor: int | None = None
        self._at = ""
        self._begun = self._written = 0.0

    def left(self) -> Left:
        """What the job before left behind; to be asked before the first `begin`."""
        if self._path is None:
            return Left()
        try:
            value = json.loads(self._path.read_bytes() or b"{}")
            return Left(str(value.get("path", "")), float(value.get("seconds", 0.0)))
        except (OSError, ValueError, AttributeError, TypeError):  # none, or cut off in the middle: it tells nothing
            return Left()

    @property
    def at(self) -> str:
        """The file at work; may be asked by any thread."""
        return self._at

    def begin(self, path: str) -> None:
        self._at, self._begun = path, time.monotonic()
        self._write()

    def still(self) -> None:
        """The file is still at work; call as often as you like."""
        if self._at and time.monotonic() - self._written > _UPDATE_SECONDS:
            self._write()

    def end(self) -> None:
        self._at = ""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)

    def close(self) -> None:
        """No file is at work any more: take the note away."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._written = time.monotonic()
        if self._path is None:
            return
        note = json.dumps({"path": self._at, "seconds": round(self._written - self._begun, 2)}).encode()
        with contextlib.suppress(OSError):  # a full disk shows itself elsewhere
            if self._descriptor is None:
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
                self._descriptor = os.open(self._path, flags, 0o666)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, note)
            os.ftruncate(self._descriptor, len(note))
