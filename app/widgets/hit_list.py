"""The list of hits: arrows move, Enter opens, Ctrl+I asks why, Esc goes back to the search box."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QModelIndex, QPersistentModelIndex, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyleOptionViewItem, QWidget

from app.i18n import tr
from app.widgets.hit_delegate import HitDelegate
from app.widgets.hit_model import HIT, HitModel
from core.base.types import Hit

Index = QModelIndex | QPersistentModelIndex


class HitList(QListView):
    opened = Signal(object)  # Hit
    why = Signal(object)  # Hit
    chosen = Signal(object)  # Hit under the cursor, as it moves
    left = Signal()  # back to the search box
    menu_asked = Signal(object, object)  # Hit and where on the screen
    copies_asked = Signal(object, object)  # Hit that stands elsewhere too, and where on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "hits")
        self._model = HitModel(self)
        self._delegate = HitDelegate(self)
        self.setModel(self._model)
        self.setItemDelegate(self._delegate)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAccessibleName(tr("Search results"))
        self.entered = False  # the person is at these hits: has chosen one, scrolled, or asked about one
        self._keeping = False
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.doubleClicked.connect(lambda index: self.opened.emit(index.data(HIT)))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)

    @property
    def hits(self) -> tuple[Hit, ...]:
        return self._model.hits

    def show_hits(self, hits: Sequence[Hit], *, same: bool = False) -> None:
        """Show `hits`. The first stays unselected until the person moves into the list. With the `same` question as
        before the chosen hit stays chosen, and where it is on the screen."""
        self._delegate.best = max((sum(max(0.0, p.contribution) for p in h.parts) for h in hits), default=1.0)
        chosen, at = self.current_hit(), self.verticalScrollBar().value()
        top = self.visualRect(self.currentIndex()).top()
        self._keeping = True
        self._model.show_hits(hits)
        if same:
            self._stay(chosen, at, top)
        else:
            self.entered = False
        self._keeping = False

    def in_order_of(self, hits: Sequence[Hit]) -> bool:
        return [hit.passage.id for hit in hits] == [hit.passage.id for hit in self.hits]

    def _stay(self, chosen: Hit | None, at: int, top: int) -> None:
        """Take up the chosen hit and the place again: `at` of the scroll bar, where the hit's row began at `top`."""
        self.doItemsLayout()
        rows = {hit.passage.id: row for row, hit in enumerate(self.hits)}
        index = self._model.index(rows.get(chosen.passage.id, -1) if chosen else -1)
        if index.isValid():
            self.setCurrentIndex(index)
        bar, seen = self.verticalScrollBar(), -self.visualRect(index).height() < top < self.viewport().height()
        moved = self.visualRect(index).top() - top + bar.value() if index.isValid() and seen else at
        bar.setValue(moved)

    def _scrolled(self, value: int) -> None:
        self.entered = self.entered or (value > 0 and not self._keeping)

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
        if hit is not None and not selected.isEmpty() and not self._keeping:
            self.entered = True
            self.chosen.emit(hit)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid():
            self.scrollTo(current)

    def _menu(self, at: QPoint) -> None:
        """The menu key has no place of its own: the chosen row has."""
        index = self.indexAt(at)
        if not index.isValid():
            index = self.currentIndex()
            at = self.visualRect(index).center()
        hit = index.data(HIT)
        if isinstance(hit, Hit):
            self.menu_asked.emit(hit, self.viewport().mapToGlobal(at))

    def _copies_at(self, at: QPoint) -> Hit | None:
        """The hit whose note on copies lies there."""
        index = self.indexAt(at)
        hit = index.data(HIT)
        if not isinstance(hit, Hit) or not hit.copies:
            return None
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(index)
        return hit if self._delegate.copies_rect(option, hit).contains(QPointF(at)) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._copies_at(event.position().toPoint()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        hit = self._copies_at(event.position().toPoint())
        if hit is not None and event.button() == Qt.MouseButton.LeftButton:
            self.copies_asked.emit(hit, event.globalPosition().toPoint())

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
