"""The reading order of lines found in a picture: columns one after the other, rows of a table across, paragraphs.

Columns are found where few lines cross a strip from top to bottom; lines that cross it (a title, a footer) part the
page into bands that are read one after the other (after Nagy and Seth's X-Y cut, with crossing lines allowed for).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from core.ingest.readers.pdf_layout import LIST_MARK
from core.ingest.readers.pdf_text import is_wide

_FEWEST = 3  # lines that make a column
_WIDE = 6.0  # times its height: a line of a column is wider, a cell of a table mostly not
_CROSSING = 0.2  # of the lines may cross the strip between two columns
_DEEPEST = 6
_GAP = 0.9  # of a line's height between two lines of one paragraph
_ALIKE = 0.3  # two heights of lines of one paragraph differ by less


def in_order(boxes: np.ndarray, texts: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """(line, number of its paragraph, is it a cell of a row) in reading order; `boxes` is [n, 4] left, top, ..."""
    number = 0
    for region in _regions(boxes, np.arange(len(boxes)), 0):
        before: list[int] = []
        for row in _rows(boxes, region):
            if before and not _goes_on(boxes, texts, region, before, row):
                number += 1
            elif before:
                yield from ((index, number, False) for index in row)
                before = row
                continue
            yield from ((index, number, len(row) > 1) for index in row)
            before = row
        number += 1


def _regions(boxes: np.ndarray, lines: np.ndarray, depth: int) -> Iterator[np.ndarray]:
    """Groups of lines, each to be read from top to bottom."""
    strip = _strip(boxes[lines]) if len(lines) >= 2 * _FEWEST and depth < _DEEPEST else None
    if strip is None:
        if len(lines):
            yield lines
        return
    middle = (boxes[lines, 1] + boxes[lines, 3]) / 2
    left, right = boxes[lines, 2] <= strip, boxes[lines, 0] >= strip
    left, right = _nearest_side(boxes[lines], strip, left, right)
    crossing = ~(left | right)
    edges = [-np.inf, *np.sort(middle[crossing]).tolist(), np.inf]
    above: list[int] = []
    for start, end in pairwise(edges):
        inside = (middle > start) & (middle < end)
        if (inside & (left | right)).any():
            if above:
                yield np.array(above)
                above = []
            yield from _regions(boxes, lines[inside & left], depth + 1)
            yield from _regions(boxes, lines[inside & right], depth + 1)
        above += lines[middle == end].tolist()
    if above:
        yield np.array(above)


def _nearest_side(
    boxes: np.ndarray, strip: float, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A line that reaches over the strip by less than its height belongs to the side it stands on."""
    height = boxes[:, 3] - boxes[:, 1]
    return left | (boxes[:, 2] - strip < 0.5 * height), right | (strip - boxes[:, 0] < 0.5 * height)


def _strip(boxes: np.ndarray) -> float | None:
    """Where the best strip between two columns stands; None when the lines are one column, or cells of a table."""
    height = float(np.median(boxes[:, 3] - boxes[:, 1]))
    left, right = boxes[:, 0] + 0.25 * height, boxes[:, 2] - 0.25 * height
    places = np.unique(np.concatenate([boxes[:, 0], boxes[:, 2]]))
    middles = (places[1:] + places[:-1]) / 2
    best: tuple[int, int, float] | None = None  # crossing lines, less is better; lines of the smaller side; place
    for place in middles.tolist():
        crossing = int(((left < place) & (right > place)).sum())
        if crossing > _CROSSING * len(boxes):
            continue
        sides = (boxes[right <= place], boxes[left >= place])
        if any(len(side) < _FEWEST or not _is_column(side) for side in sides):
            continue
        best = max(best or (-len(boxes), 0, 0.0), (-crossing, min(map(len, sides)), place))
    return None if best is None else best[2]


def _is_column(boxes: np.ndarray) -> bool:
    """Running text: lines wide enough, and most about as wide as the column."""
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    if np.median(width / np.maximum(1, height)) < _WIDE:
        return False
    across = np.percentile(boxes[:, 2], 90) - np.percentile(boxes[:, 0], 10)
    return bool(np.median(width) > 0.35 * across)


def _rows(boxes: np.ndarray, region: np.ndarray) -> list[list[int]]:
    """Lines from top to bottom, those beside each other from left to right."""
    rows: list[list[int]] = []
    for index in region[np.argsort(boxes[region, 1] + boxes[region, 3], kind="stable")].tolist():
        above = rows[-1][-1] if rows else None
        if above is not None and _beside(boxes[above], boxes[index]):
            rows[-1].append(index)
        else:
            rows.append([index])
    return [sorted(row, key=lambda index: float(boxes[index, 0])) for row in rows]


def _beside(one: np.ndarray, other: np.ndarray) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    apart = max(one[0], other[0]) - min(one[2], other[2])
    return bool(shared > 0.5 * min(one[3] - one[1], other[3] - other[1]) and apart > -0.5 * (one[3] - one[1]))


def _goes_on(boxes: np.ndarray, texts: Sequence[str], region: np.ndarray, before: list[int], row: list[int]) -> bool:
    """Was the line before broken only because the margin was reached?"""
    if len(before) > 1 or len(row) > 1:
        return False
    above, line, text = boxes[before[0]], boxes[row[0]], texts[row[0]]
    heights = above[3] - above[1], line[3] - line[1]
    if abs(heights[0] - heights[1]) > _ALIKE * max(heights) or line[1] - above[3] > _GAP * min(heights):
        return False
    if LIST_MARK.match(text):
        return False
    margin = float(np.percentile(boxes[region, 2], 90))
    word = 1.0 if is_wide(text[0]) else float(len(text.split(None, 1)[0]) + 1)
    width = float(line[2] - line[0]) * min(word, len(text)) / len(text)
    return bool(margin - above[2] < width + 0.5 * heights[1])
