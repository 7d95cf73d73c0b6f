"""Which names of a map can be written without covering each other, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF

CELL = 64.0  # pixels of a square in which rectangles are looked up


@dataclass(frozen=True, slots=True)
class Wanted:
    """A name of `width` × `height` that shall stand at a dot of `radius` around (x, y), in pixels."""

    key: int
    x: float
    y: float
    radius: float
    width: float
    height: float


class _Taken:
    """Rectangles by the squares that they touch, so that looking for a free place is quick."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[QRectF]] = {}

    def add(self, box: QRectF) -> None:
        for cell in _cells(box):
            self._cells.setdefault(cell, []).append(box)

    def meets(self, box: QRectF) -> bool:
        return any(box.intersects(other) for cell in _cells(box) for other in self._cells.get(cell, ()))


def place(wanted: Sequence[Wanted], area: QRectF, first: Iterable[int] = (), front: int = 0) -> dict[int, QRectF]:
    """Where each name stands, by its key; those without room are left out.

    Names are tried in their order, those in `first` before all others, at the right of their dot, then at its left,
    above and below. A name lies within `area` and covers no other name; nor does it cover a dot, unless it is in
    `first` or among the `front` first ones: without those a crowded map would have no names.
    """
    before = set(first)
    names, dots = _Taken(), _Taken()
    for one in wanted:
        dots.add(_dot(one))
    found: dict[int, QRectF] = {}
    for rank, one in enumerate(sorted(wanted, key=lambda w: w.key not in before)):
        if not area.contains(one.x, one.y):
            continue
        free = [box for box in _boxes(one) if area.contains(box) and not names.meets(box)]
        box = next((box for box in free if not dots.meets(box)), None)
        if box is None and free and (one.key in before or rank < front):
            box = free[0]
        if box is not None:
            found[one.key] = box
            names.add(box)
            names.add(_dot(one))  # a dot that has a name stays in sight
    return found


def _dot(one: Wanted) -> QRectF:
    return QRectF(one.x - one.radius, one.y - one.radius, 2 * one.radius, 2 * one.radius)


def _boxes(one: Wanted) -> tuple[QRectF, ...]:
    gap = one.radius + 3
    wide, high = one.width, one.height
    return (
        QRectF(one.x + gap, one.y - high / 2, wide, high),
        QRectF(one.x - gap - wide, one.y - high / 2, wide, high),
        QRectF(one.x - wide / 2, one.y - gap - high, wide, high),
        QRectF(one.x - wide / 2, one.y + gap, wide, high),
    )


def _cells(box: QRectF) -> list[tuple[int, int]]:
    across = range(int(box.left() // CELL), int(box.right() // CELL) + 1)
    down = range(int(box.top() // CELL), int(box.bottom() // CELL) + 1)
    return [(x, y) for x in across for y in down]
