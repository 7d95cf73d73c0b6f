"""Arabic and Hebrew in reading order: some files keep it as it looks, from left to right."""

from __future__ import annotations

import re

import numpy as np

_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_RUN = re.compile(f"{_LETTER}{{2,}}(?: {_LETTER}+)*")


def reading_order(text: str, boxes: np.ndarray) -> np.ndarray | None:
    """Indices that bring the characters into reading order; None when they are in it.

    A run is turned round when its letters go to the right on the page. Letters with one and the same box are one
    sign (a ligature such as lam-alef), which PDFium takes apart the wrong way round. `boxes` is [n, 4].
    """
    if not re.search(_LETTER, text):
        return None
    order = np.arange(len(text))
    for run in _RUN.finditer(text):
        start, end = run.span()
        middle = (boxes[start:end, 0] + boxes[start:end, 2]) / 2
        steps = np.diff(middle)
        if (steps > 0).sum() > 2 * (steps < 0).sum() and middle[-1] > middle[0]:
            order[start:end] = order[start:end][::-1]
        else:
            _turn_signs(order, boxes, start, end)
    return None if (order == np.arange(len(text))).all() else order


def _turn_signs(order: np.ndarray, boxes: np.ndarray, start: int, end: int) -> None:
    """Turns round, in place, the letters of each sign in [start, end)."""
    first = start
    for index in range(start + 1, end + 1):
        if index == end or not np.array_equal(boxes[index], boxes[first]):
            if index - first > 1 and boxes[first, 2] > boxes[first, 0]:
                order[first:index] = order[first:index][::-1]
            first = index
