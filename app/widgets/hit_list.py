"""The list of hits: arrows move, Enter opens, Ctrl+I asks why, Esc goes back to the search box."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from app.widgets.hit_delegate import HitDelegate
from app.widgets.hit_model import HIT, HitModel
from core.base.types import Hit

Index = QModelIndex | QPersistentModelIndex


class HitList(QListView):
    opened = Signal(object)  # Hit
    why = Signal(object)  # Hit
    chosen = Signal(object)  # Hit under the cursor, as it moves
    left = Signal()  # back to the search box

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = HitModel(self)
        self._delegate = HitDelegate(self)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAccessibleName("Search results")
        self.doubleClicked.connect(lambda index: self.opened.emit(index.data(HIT)))

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self._model.hits

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """Show `hits`. The first stays unselected until the person moves into the list."""
        self._delegate.best = max((sum(max(0.0, p.contribution) for p in h.parts) for h in hits), default=1.0)
        self._model.show_hits(hits)

    def current_hit(self) -> Hit | None:
        hit = self.currentIndex().data(HIT)
        return hit if isinstance(hit, Hit) else None

    def enter(self) -> None:
        """Take the focus, at the first hit when none is chosen."""
        if not self.currentIndex().isValid() and self.hits:
            self.setCurrentIndex(self._model.index(0))
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        hit = self.current_hit()
        if hit is not None and not selected.isEmpty():
            self.chosen.emit(hit)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self.scrollTo(current)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Rows are as tall as their snippets, so that another width means other heights."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        hit, key = self.current_hit(), event.key()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if hit is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(hit)
        elif hit is not None and control and key == Qt.Key.Key_I:
            self.why.emit(hit)
        elif key == Qt.Key.Key_Escape or (key == Qt.Key.Key_Up and self.currentIndex().row() <= 0):
            self.left.emit()
        else:
            super().keyPressEvent(event)
