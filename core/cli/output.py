"""What the command prints: one JSON object on standard output, or text for people; progress on standard error."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console

from core.base.events import Changed, Control, Event, Notice, Progress
from core.base.wire import to_plain

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Odd file names may hold what is no valid UTF-8: ASCII with escapes always prints."""
    sys.stdout.write(json.dumps(to_plain(value), ensure_ascii=True) + "\n")
    sys.stdout.flush()


def _amount(event: Progress) -> str:
    if "bytes" in event.counts:
        return f"{event.done / 1e6:.1f} of {event.total / 1e6:.1f} MB"
    return f"{event.done} of {event.total}" if event.total else str(event.done)


@contextmanager
def progress(quiet: bool = False) -> Iterator[ProgressLine]:
    """A line on standard error that follows a job; Ctrl+C cancels the job's control."""
    line = ProgressLine(quiet)
    previous = signal.signal(signal.SIGINT, line.interrupted)
    try:
        yield line
    finally:
        signal.signal(signal.SIGINT, previous)
        line.end()


class ProgressLine:
    def __init__(self, quiet: bool) -> None:
        self.control = Control()
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._stage = ""
        self._written = False

    def interrupted(self, number: int, frame: FrameType | None) -> None:
        if self.control.cancelled:  # a second Ctrl+C does not wait
            raise KeyboardInterrupt
        self.control.cancel()

    def __call__(self, event: Event) -> None:
        if self._quiet:
            return
        if isinstance(event, Notice):
            err.print(event.text, markup=False)
        elif isinstance(event, Progress):
            self._show(event)
        elif isinstance(event, Changed) and self._live:
            self._write(f"{event.documents} documents can be searched")

    def _show(self, event: Progress) -> None:
        if self._live:
            left = f", about {round(event.seconds_left)} s left" if event.seconds_left else ""
            self._write(f"{event.stage}: {_amount(event)}{left}  {event.detail[-60:]}")
        elif event.stage != self._stage:  # into a file: one line a stage
            err.print(f"{event.stage} ...")
        self._stage = event.stage

    def _write(self, text: str) -> None:
        width = max(20, err.width - 1)
        sys.stderr.write("\r" + text[:width].ljust(width))
        sys.stderr.flush()
        self._written = True

    def end(self) -> None:
        if self._written:
            sys.stderr.write("\n")
