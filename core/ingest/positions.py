"""Where a passage stands, in formats with places of their own: "Q3 · B2:F9", "Slide 4", "line 120"."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from core.base.types import ReadDocument

_CELLS = re.compile(r"([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?")
_GAP = " · "


class Positions:
    """The places of one document, looked up by ranges of its text."""

    def __init__(self, document: ReadDocument) -> None:
        self._pages = [(page.start, page.label) for page in document.pages if page.label]
        self._blocks = sorted((block.start, block.place) for block in document.blocks if block.place)

    def of(self, start: int, end: int) -> str:
        """The name of the page with `start`, and the places of the blocks up to `end`; empty where nothing is named."""
        page = bisect_right(self._pages, start, key=lambda one: one[0]) - 1
        label = self._pages[max(page, 0)][1] if self._pages else ""
        return _GAP.join(part for part in (label, self._blocks_at(start, end)) if part)

    def _blocks_at(self, start: int, end: int) -> str:
        first = max(0, bisect_right(self._blocks, start, key=lambda one: one[0]) - 1)
        last = bisect_left(self._blocks, end, key=lambda one: one[0])
        places = [place for _, place in self._blocks[first:last]]
        return span(places[0], places[-1]) if places else ""


def span(first: str, last: str) -> str:
    """From one place to another: cells become the range of both, of others the first is told."""
    a, b = _CELLS.fullmatch(first), _CELLS.fullmatch(last)
    if a is None or b is None:
        return first
    cells = [(_number(column), int(line)) for m in (a, b) for column, line in _corners(m)]
    columns, lines = [c for c, _ in cells], [r for _, r in cells]
    begin, end = f"{_letters(min(columns))}{min(lines)}", f"{_letters(max(columns))}{max(lines)}"
    return begin if begin == end else f"{begin}:{end}"


def _corners(match: re.Match[str]) -> list[tuple[str, str]]:
    column, line, last_column, last_line = match.groups()
    return [(column, line), (last_column or column, last_line or line)]


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
