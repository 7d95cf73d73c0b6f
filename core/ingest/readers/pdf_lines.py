"""From a page's characters to lines with their measures. Line ends and order are PDFium's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.ingest.readers.pdf_bidi import runs_to_the_left
from core.ingest.readers.pdf_chars import HYPHEN, PageChars
from core.ingest.readers.pdf_words import Words

_LINE = re.compile(rf"[^\r\n{HYPHEN}]+{HYPHEN}?|{HYPHEN}")
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


def page_lines(chars: PageChars) -> tuple[list[Line], float]:
    """All lines of a page in PDFium's order, without those too small to be seen, and the size of the body."""
    lines: list[Line] = []
    for line in _raw_lines(chars):
        lines.append(_merge(lines.pop(), line) if lines and _goes_on(lines[-1], line) else line)
    body = _body_size(lines)
    return [line for line in lines if line.size >= _HIDDEN * body or line.size <= 0], body


def _raw_lines(chars: PageChars) -> Iterator[Line]:
    """PDFium's lines with their measures, rounded to a tenth of a point, all lines of the page at once."""
    spans = _line_spans(chars.text)
    texts = [chars.text[start:end] for start, end in spans]
    any_left = runs_to_the_left(chars.text)
    to_the_left = [any_left and _is_right_to_left(text) for text in texts]
    first, last = np.searchsorted(chars.words.first, np.array(spans, np.int64).reshape(-1, 2).T)
    boxes, sizes, gaps = _measures(chars.words, first, last, np.array(to_the_left, np.bool_))
    for span, text, box, size, gap, rtl in zip(spans, texts, boxes, sizes, gaps, to_the_left, strict=True):
        left, top, right, bottom = box
        yield Line((span,), text, left, top, right, bottom, size, gap > 1.6 * size > 0, rtl)


def _measures(
    words: Words, first: np.ndarray, last: np.ndarray, to_the_left: np.ndarray
) -> tuple[list[list[float]], list[float], list[float]]:
    """Box, size and widest gap of each line, which are the words `first` up to `last`; zeros for lines without any."""
    if not len(words.first):
        return [[0.0] * 4] * len(first), [0.0] * len(first), [0.0] * len(first)
    left, top, right, bottom = words.boxes.T
    pairs = np.stack([first, last], axis=1).ravel()
    low, high = np.minimum.reduceat, np.maximum.reduceat
    sides = ((low, left), (low, top), (high, right), (high, bottom))
    boxes = np.stack([reduce(np.append(side, 0.0), pairs)[::2] for reduce, side in sides], axis=1).round(1)
    inner = np.maximum(last - 1, 0)
    sizes = np.median(
        [words.size[np.minimum(at, len(words.size) - 1)] for at in (first, (first + last) // 2, inner)], 0
    )
    pairs = np.stack([first, np.maximum(inner, first)], axis=1).ravel()
    gaps = np.where(
        to_the_left,
        high(np.append(left[:-1] - right[1:], (0.0, 0.0)), pairs)[::2],
        high(np.append(left[1:] - right[:-1], (0.0, 0.0)), pairs)[::2],
    )
    gaps[last - first < 2] = 0.0
    boxes[first == last] = sizes[first == last] = 0.0
    return boxes.tolist(), sizes.tolist(), gaps.tolist()


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Ranges of the lines that hold something to see, without the white space around it."""
    spans: list[tuple[int, int]] = []
    for found in _LINE.finditer(text):
        line = found.group()
        start = found.start() + len(line) - len(line.lstrip())
        end = start + len(line.strip())
        if start < end:
            spans.append((start, end))
    return spans


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
    count = sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in text)
    return count * 2 > sum(map(str.isalpha, text))


def _body_size(lines: Sequence[Line]) -> float:
    """The height most characters of the page have."""
    weights: dict[float, int] = {}
    for line in lines:
        key = round(line.size, 1)
        weights[key] = weights.get(key, 0) + len(line.text)
    return max(weights, key=lambda size: (weights[size], -size), default=0.0)
