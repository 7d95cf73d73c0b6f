"""Where the pages of a document lie on one long strip: sizes in, rectangles out, no painting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QRectF, QSizeF

GAP = 14.0  # between pages and around them, in logical pixels


class PageStrip:
    """Pages below each other, centred. Page numbers count from 1; all lengths are logical pixels.

    `sizes` are page sizes in points; `zoom` is logical pixels per point.
    """

    def __init__(self, sizes: Sequence[QSizeF] = (), zoom: float = 1.0) -> None:
        self._sizes = list(sizes)
        self.set_zoom(zoom)

    def set_zoom(self, zoom: float) -> None:
        self.zoom = zoom
        heights = [size.height() * zoom + GAP for size in self._sizes]
        self._tops = list(accumulate(heights, initial=GAP))
        self._width = max((size.width() for size in self._sizes), default=0.0) * zoom

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def extent(self) -> QSizeF:
        """Size of the whole strip with its margins."""
        return QSizeF(self._width + 2 * GAP, self._tops[-1])

    def size(self, number: int) -> QSizeF:
        """Size of a page in points."""
        return self._sizes[number - 1]

    def rect(self, number: int, width: float = 0.0) -> QRectF:
        """Rectangle of a page on a strip that is shown `width` wide."""
        size = self._sizes[number - 1] * self.zoom
        across = max(width, self._width + 2 * GAP)
        return QRectF((across - size.width()) / 2, self._tops[number - 1], size.width(), size.height())

    def at(self, y: float) -> int:
        """Number of the page at height `y` (the one above, within a gap)."""
        return max(1, min(len(self._sizes), bisect_right(self._tops, y, hi=len(self._sizes))))

    def between(self, top: float, bottom: float) -> range:
        """Numbers of the pages that are seen between two heights."""
        return range(self.at(top), self.at(bottom) + 1) if self._sizes else range(0)

    def width_zoom(self, width: float, number: int = 0) -> float:
        """The zoom at which page `number` (the widest by default) is as wide as `width` allows."""
        widest = self._sizes[number - 1].width() if number else max((s.width() for s in self._sizes), default=0.0)
        return max(0.05, (width - 2 * GAP) / widest) if widest else 1.0
