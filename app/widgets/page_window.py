"""Which part of a long text is loaded: whole lines around a place, grown at either end, cut at the far one.

A text of any length is shown through a window of bounded length, so that opening it costs the same everywhere.
Lines that are too long for one layout are shown as several pieces, cut at a space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

STEP = 40_000  # characters loaded at once
MOST = 400_000  # characters held at once
LONGEST_PIECE = 4_000  # characters of one laid-out line


@dataclass(frozen=True, slots=True)
class Piece:
    """A line, or a part of a long one, of the text: `text[start:end]`, without its line break."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    start: int
    end: int

    def holds(self, offset: int) -> bool:
        return self.start <= offset < self.end or offset == self.start == self.end


def around(text: str, offset: int) -> Window:
    """The window to load first, so that `offset` is in it with context on both sides."""
    offset = max(0, min(offset, len(text)))
    start = line_start(text, max(0, offset - STEP // 2))
    return Window(start, line_end(text, min(len(text), max(offset, start) + STEP)))


def after(text: str, window: Window) -> Window:
    """What to load below `window`; empty at the end of the text."""
    return Window(
        window.end, line_end(text, min(len(text), window.end + STEP)) if window.end < len(text) else window.end
    )


def before(text: str, window: Window) -> Window:
    """What to load above `window`; empty at the start of the text."""
    return Window(line_start(text, max(0, window.start - STEP)) if window.start else 0, window.start)


def line_start(text: str, offset: int) -> int:
    """The start of the line of `offset`, or `offset` itself within a line that is too long."""
    return text.rfind("\n", max(0, offset - LONGEST_PIECE), offset) + 1 or (offset if offset > LONGEST_PIECE else 0)


def line_end(text: str, offset: int) -> int:
    """Just after the line break that ends the line of `offset`, or `offset` itself within a too long line."""
    if offset >= len(text):
        return len(text)
    found = text.find("\n", max(0, offset - 1), offset + LONGEST_PIECE)
    if found >= 0:
        return found + 1
    return len(text) if len(text) - offset <= LONGEST_PIECE else offset


def cut(text: str, window: Window) -> Iterator[Piece]:
    """The lines of a window, in order. Their ranges and the breaks between them cover the window."""
    start = window.start
    while start < window.end:
        line = text.find("\n", start, window.end)
        stop = window.end if line < 0 else line
        while stop - start > LONGEST_PIECE:
            space = text.rfind(" ", start + 1, start + LONGEST_PIECE)
            piece_end = space + 1 if space > start else start + LONGEST_PIECE
            yield Piece(start, piece_end)
            start = piece_end
        yield Piece(start, stop)
        start = stop + 1
