"""From a page's characters to lines with their measures. Line ends and order are PDFium's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.ingest.readers.pdf_chars import HYPHEN, PageChars

_LINE_END = re.compile(rf"\r\n|[\r\n]|(?<={HYPHEN})")
_HIDDEN = 0.25  # times the body size: too small to be seen


@dataclass(frozen=True, slots=True)
class Line:
    """What stands on one height. `size` is the median height of its characters.

    `pieces` are ranges of the page's characters, `text` their text (a raised figure is a piece of its own).
    """

    pieces: tuple[tuple[int, int], ...]
    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    in_columns: bool  # wide gaps: a row of a table
    right_to_left: bool


def page_lines(chars: PageChars) -> list[Line]:
    """All lines of a page in PDFium's order, without those too small to be seen."""
    lines: list[Line] = []
    for line in _raw_lines(chars):
        lines.append(_merge(lines.pop(), line) if lines and _goes_on(lines[-1], line) else line)
    smallest = _HIDDEN * body_size(lines)
    return [line for line in lines if line.size >= smallest or line.size <= 0]


def _raw_lines(chars: PageChars) -> Iterator[Line]:
    """PDFium's lines with their measures, all lines of the page at once."""
    spans = _line_spans(chars.text)
    shown = _shown(chars)
    left, top, right, bottom = chars.boxes[shown].T
    height = bottom - top
    first = np.searchsorted(shown, [start for start, _ in spans])
    last = np.searchsorted(shown, [end for _, end in spans])
    for (start, end), low, high in zip(spans, first.tolist(), last.tolist(), strict=True):
        text = chars.text[start:end]
        rtl = _is_right_to_left(text)
        if low == high:  # characters without any extent
            yield Line(((start, end),), text, 0.0, 0.0, 0.0, 0.0, 0.0, False, rtl)
            continue
        part = slice(low, high)
        size = sorted(height[[low, (low + high) // 2, high - 1]].tolist())[1]
        yield Line(
            ((start, end),),
            text,
            float(left[part].min()),
            float(top[part].min()),
            float(right[part].max()),
            float(bottom[part].max()),
            size,
            _widest_gap(left[part], right[part], rtl) > 1.6 * size > 0,
            rtl,
        )


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines that hold something to see, without the white space around it."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for end, following in [*((m.start(), m.end()) for m in _LINE_END.finditer(text)), (len(text), len(text))]:
        piece = text[begin:end]
        inner = piece.strip()
        if inner:
            start = begin + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(inner)))
        begin = following
    return spans


def _shown(chars: PageChars) -> np.ndarray:
    """Indices of the characters that are no white space and have an extent."""
    codes = np.frombuffer(chars.text.encode("utf-32-le", "surrogatepass"), np.uint32)
    solid = (codes > 32) & (codes != 0xA0) & (codes != 0x3000)
    return np.flatnonzero(solid & (chars.boxes[:, 3] > chars.boxes[:, 1]))


def shown(chars: PageChars, line: Line) -> np.ndarray:
    """Indices of the characters of a line that are no white space and have an extent."""
    inside = [index for start, end in line.pieces for index in range(start, end) if not chars.text[index].isspace()]
    indices = np.array(inside, np.int64)
    boxes = chars.boxes[indices]
    return indices[(boxes[:, 3] > boxes[:, 1]) & (boxes[:, 2] > boxes[:, 0])]


def _widest_gap(left: np.ndarray, right: np.ndarray, right_to_left: bool) -> float:
    if len(left) < 2:
        return 0.0
    return float((left[:-1] - right[1:]).max() if right_to_left else (left[1:] - right[:-1]).max())


def _goes_on(before: Line, line: Line) -> bool:
    """PDFium ends a line at a raised or lowered figure: the rest of it follows on the same height."""
    size = max(before.size, line.size)
    gap = line.left - before.right
    shared = min(before.bottom, line.bottom) - max(before.top, line.top)
    small = min(before.size, line.size)
    return not before.text.endswith(HYPHEN) and shared > 0.5 * small and -0.2 * size < gap < 0.6 * size


def _merge(before: Line, line: Line) -> Line:
    main = before if len(before.text) >= len(line.text) else line
    return Line(
        before.pieces + line.pieces,
        before.text + line.text,
        min(before.left, line.left),
        main.top,
        max(before.right, line.right),
        main.bottom,
        main.size,
        before.in_columns or line.in_columns,
        before.right_to_left,
    )


def _is_right_to_left(text: str) -> bool:
    if text.isascii():
        return False
    count = sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in text)
    return count * 2 > sum(map(str.isalpha, text))


def body_size(lines: Sequence[Line]) -> float:
    """The height most characters of the page have."""
    weights: dict[float, int] = {}
    for line in lines:
        key = round(line.size, 1)
        weights[key] = weights.get(key, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size), default=0.0)
