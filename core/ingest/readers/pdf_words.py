"""The words of a PDF page as arrays: where they begin and end in its text, and their boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Words:
    """What stands between white space, in the order of the text; words without extent are left out.

    `first` and `last` are indices of characters, [w]; `boxes` is [w, 4] left, top, right, bottom in points; `size` is
    the height of the first character, [w].
    """

    first: np.ndarray
    last: np.ndarray
    boxes: np.ndarray
    size: np.ndarray

    def between(self, start: int, end: int) -> slice:
        """The words that begin in `text[start:end]`."""
        low, high = np.searchsorted(self.first, (start, end)).tolist()
        return slice(low, high)


def ranges(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the first and the last character of each word."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    solid = np.zeros(len(codes) + 2, np.bool_)
    solid[1:-1] = (codes > 32) & (codes != 0xA0) & (codes != 0x3000)
    borders = np.flatnonzero(solid[1:] != solid[:-1])
    return borders[::2], borders[1::2] - 1


def words(first: np.ndarray, last: np.ndarray, boxes_first: np.ndarray, boxes_last: np.ndarray) -> Words:
    """Words from the boxes [w, 4] of their first and last characters."""
    low, high = np.minimum(boxes_first, boxes_last), np.maximum(boxes_first, boxes_last)
    boxes = np.concatenate([low[:, :2], high[:, 2:]], axis=1).astype(np.float64)
    kept = boxes[:, 3] > boxes[:, 1]
    size = (boxes_first[:, 3] - boxes_first[:, 1]).astype(np.float64)
    return Words(first[kept], last[kept], boxes[kept], size[kept])
