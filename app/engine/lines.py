"""Cutting a stream of bytes into lines, however it arrives, without looking at any byte twice."""

from __future__ import annotations

from collections import deque


class LineBuffer:
    """Feed chunks, take whole lines. A line that is not finished costs only its bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._lines: deque[bytes] = deque()

    def feed(self, chunk: bytes) -> None:
        first, newline, rest = chunk.partition(b"\n")
        self._parts.append(first)
        if not newline:
            return
        self._lines.append(b"".join(self._parts))
        *whole, last = rest.split(b"\n")
        self._lines.extend(whole)
        self._parts = [last]

    def take(self) -> bytes | None:
        """The next whole line without its end, or None."""
        return self._lines.popleft() if self._lines else None

    def __bool__(self) -> bool:
        return bool(self._lines)
