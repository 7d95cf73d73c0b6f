"""A layout that puts widgets side by side and starts a new line where the room ends."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self.spacing() for size in shown)
        return QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QSize:
        shown = [item.minimumSize() for item in self._items if not item.isEmpty()]
        return QSize(max((s.width() for s in shown), default=0), max((s.height() for s in shown), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Lay the items out in `rect`, each line centred on its height; returns the height they take."""
        y = rect.y()
        lines = self._lines(rect.width())
        for at, line in enumerate(lines):
            height = max(size.height() for _, size in line)
            x, y = rect.x(), y + (self.spacing() if at else 0)
            for item, size in line:
                if move:
                    item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += height
        return y - rect.y()

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """What is shown, line by line, with the size of each."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        taken = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = _size(item, width)
            if not lines or taken + size.width() > width:
                lines.append([])
                taken = 0
            lines[-1].append((item, size))
            taken += size.width() + self.spacing()
        return lines


def _size(item: QLayoutItem, width: int) -> QSize:
    """What an item takes; one that is wider than a line wraps within itself where it can."""
    size = item.sizeHint()
    if size.width() > width and item.hasHeightForWidth():
        return QSize(width, item.heightForWidth(width))
    return size
