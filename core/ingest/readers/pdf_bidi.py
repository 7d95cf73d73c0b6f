"""Arabic and Hebrew in reading order: some files keep it as it looks, from left to right."""

from __future__ import annotations

import re

import numpy as np

_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_RUN = re.compile(f"{_LETTER}{{2,}}(?: {_LETTER}+)*")
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")


def runs_to_the_left(text: str) -> bool:
    """Does the text hold letters of a script that is written from right to left?"""
    return not text.isascii() and re.search(_LETTER, text) is not None


def reading_order(text: str, boxes: np.ndarray) -> np.ndarray | None:
    """Indices that bring the characters into reading order; None when they are in it.

    A run is turned round when its letters go to the right on the page. An alef and a lam with one and the same box
    are the sign lam-alef, taken apart the wrong way round; so is a sign for a whole word whose space stands in front.
    `boxes` is [n, 4].
    """
    if not runs_to_the_left(text):
        return None
    order = np.arange(len(text))
    for run in _RUN.finditer(text):
        start, end = run.span()
        middle = (boxes[start:end, 0] + boxes[start:end, 2]) / 2
        steps = np.diff(middle)
        if (steps > 0).sum() > 2 * (steps < 0).sum() and middle[-1] > middle[0]:
            order[start:end] = order[start:end][::-1]
        elif _is_one_sign(boxes[start - 1 : end], text[start - 1 : start]):
            order[start - 1 : end] = order[start - 1 : end][::-1]
        else:
            for pair in _ALEF_LAM.finditer(text, start, end):
                alef = pair.start()
                if np.array_equal(boxes[alef], boxes[alef + 1]):
                    order[alef : alef + 2] = alef + 1, alef
    return None if (order == np.arange(len(text))).all() else order


def _is_one_sign(boxes: np.ndarray, before: str) -> bool:
    """Have the letters and the space `before` them one and the same box?"""
    return before == " " and len(boxes) > 3 and bool((boxes == boxes[0]).all())
