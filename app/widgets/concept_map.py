"""The map of concepts: what is close in meaning lies close. Drawn by hand; mouse wheel, drag and keys move about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import hypot, sqrt

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QWheelEvent,
)  # fmt: skip
from PySide6.QtWidgets import QGraphicsScene, QGraphicsView, QToolTip, QWidget

from app.i18n import plural, tr
from app.theme import colours
from app.widgets.concept_labels import Wanted, place
from app.widgets.page_offsets import one_line
from core.base.types import ConceptPoint

SIDE = 1000.0  # of the scene, in which the map is a square
EDGE = 26  # pixels around it, so that outer dots are whole
STEP, NEAREST = 1.25, 24.0  # of one zoom; how many times nearer than the whole one can go
LEAST_DOT, MOST_DOT = 3.0, 13.0  # radius in pixels
LONGEST = 28  # characters of a name on the map
FRONT = 40  # the most frequent concepts in sight, whose names may cover dots
REACH = 14.0  # pixels around the pointer in which a dot is found
GROUPS = 6  # colours
_BETWEEN = re.compile(r" · |, ")  # the words of a name that was made of them
_DIRECTIONS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1),
}  # fmt: skip


class ConceptMap(QGraphicsView):
    """`chosen(id)` when the person chooses a dot; the arrow keys choose the next one in their direction."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: tuple[ConceptPoint, ...] = ()
        self._most = 1
        self._chosen: int | None = None
        self._labels: dict[int, QRectF] | None = None  # None: to be placed again
        self._whole = True  # the whole map is shown, and stays so when the size changes
        self._pressed = QPointF()
        scene = QGraphicsScene(self)
        scene.setSceneRect(0, 0, SIDE, SIDE)
        self.setScene(scene)
        self.setAccessibleName(tr("Map of concepts"))
        self.setAccessibleDescription(tr("The arrow keys go from concept to concept, plus and minus change the scale."))
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self.setMinimumSize(220, 200)

    # what is shown

    @property
    def points(self) -> tuple[ConceptPoint, ...]:
        return self._points

    @property
    def named(self) -> set[int]:
        """The concepts whose names are written now."""
        return set(self._placed())

    def show_points(self, points: Sequence[ConceptPoint]) -> None:
        """The frequent ones get their names first."""
        self._points = tuple(sorted(points, key=lambda p: -p.passages))
        self._most = max((p.passages for p in points), default=1)
        self._stale()

    def choose(self, number: int | None) -> None:
        """Mark a concept, and bring it into sight."""
        self._chosen = number
        point = self._point(number)
        if point is not None:
            self.setAccessibleDescription(_said(point))
            if not self.viewport().rect().adjusted(30, 30, -30, -30).contains(self._at(point).toPoint()):
                self.centerOn(point.x * SIDE, point.y * SIDE)
        self._stale()

    def show_whole(self) -> None:
        self._whole = True
        size = self.viewport().size()
        across, down = (EDGE * SIDE / max(1, side - 2 * EDGE) for side in (size.width(), size.height()))
        self.setSceneRect(-across, -down, SIDE + 2 * across, SIDE + 2 * down)
        self.fitInView(self.sceneRect(), Qt.AspectRatioMode.IgnoreAspectRatio)
        self._stale()

    def zoom(self, factor: float) -> None:
        """Go nearer or farther, never beyond the whole map."""
        base_x, base_y = self._base()
        now = self.transform().m11() / base_x
        wanted = min(NEAREST, max(1.0, now * factor))
        self._whole = wanted <= 1.0
        if self._whole:
            self.show_whole()
            return
        self.scale(base_x * wanted / self.transform().m11(), base_y * wanted / self.transform().m22())
        self._stale()

    def _base(self) -> tuple[float, float]:
        """The scale at which the whole map fills the view: across and down it may differ."""
        area, scene = self.viewport().rect(), self.sceneRect()
        return max(1, area.width()) / scene.width(), max(1, area.height()) / scene.height()

    def _point(self, number: int | None) -> ConceptPoint | None:
        return next((p for p in self._points if p.id == number), None)

    def _at(self, point: ConceptPoint) -> QPointF:
        return self.viewportTransform().map(QPointF(point.x * SIDE, point.y * SIDE))

    def _radius(self, point: ConceptPoint) -> float:
        return LEAST_DOT + (MOST_DOT - LEAST_DOT) * sqrt(point.passages / max(1, self._most))

    def _stale(self) -> None:
        self._labels = None
        self.viewport().update()

    def _placed(self) -> dict[int, QRectF]:
        if self._labels is None:
            metrics = QFontMetricsF(self._font())
            wanted, area = [], QRectF(self.viewport().rect())
            for point in self._points:
                at = self._at(point)
                if not area.contains(at):
                    continue
                width = metrics.horizontalAdvance(_short(point.label)) + 4
                wanted.append(Wanted(point.id, at.x(), at.y(), self._radius(point), width, metrics.height()))
            first = () if self._chosen is None else (self._chosen,)
            self._labels = place(wanted, area, first, FRONT)
        return self._labels

    def _font(self) -> QFont:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.92)
        return font

    # painting

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        painter.fillRect(rect, colours().colour("surface"))

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        labels, area = self._placed(), self.viewport().rect().adjusted(-20, -20, 20, 20)
        for point in reversed(self._points):  # the large ones first, the small ones stay in sight
            at = self._at(point)
            if area.contains(at.toPoint()):
                self._paint_dot(painter, point, at)
        painter.setFont(self._font())
        for point in self._points:
            if point.id in labels:
                self._paint_name(painter, point, labels[point.id])
        if self.hasFocus():
            painter.setPen(QPen(colours().colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1), 8, 8)
        painter.restore()

    def _paint_dot(self, painter: QPainter, point: ConceptPoint, at: QPointF) -> None:
        tone = colours().colour(f"series_{point.group % GROUPS + 1}")
        radius = self._radius(point)
        if point.id == self._chosen:
            painter.setPen(QPen(colours().colour("text"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, radius + 4, radius + 4)
        painter.setPen(QPen(tone, 1.2))
        tone.setAlphaF(0.55)
        painter.setBrush(tone)
        painter.drawEllipse(at, radius, radius)

    def _paint_name(self, painter: QPainter, point: ConceptPoint, box: QRectF) -> None:
        font = self._font()
        chosen = point.id == self._chosen
        ground = colours().colour("accent_soft" if chosen else "surface")
        ground.setAlphaF(1.0 if chosen else 0.78)  # a dot behind it shines through
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(font)
        painter.setPen(colours().colour("accent_text" if chosen else "text"))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), _short(point.label))

    # mouse and keys

    def near(self, at: QPointF) -> ConceptPoint | None:
        """The dot at a place of the view, or the one whose name stands there."""
        found = min(self._points, key=lambda p: self._away(p, at) - self._radius(p), default=None)
        if found is not None and self._away(found, at) <= max(REACH, self._radius(found)):
            return found
        return next((self._point(key) for key, box in self._placed().items() if box.contains(at)), None)

    def _away(self, point: ConceptPoint, at: QPointF) -> float:
        here = self._at(point)
        return hypot(here.x() - at.x(), here.y() - at.y())

    def next_one(self, across: int, down: int) -> ConceptPoint | None:
        """The nearest dot in a direction from the chosen one; the largest while none is chosen."""
        start = self._point(self._chosen)
        if start is None:
            return self._points[0] if self._points else None
        here = self._at(start)
        best, least = None, float("inf")
        for point in self._points:
            there = self._at(point)
            dx, dy = there.x() - here.x(), there.y() - here.y()
            along = dx * across + dy * down
            aside = abs(dx * down) + abs(dy * across)
            if point.id != start.id and along > 0 and aside <= 1.5 * along and along + 2 * aside < least:
                best, least = point, along + 2 * aside
        return best

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        moved = (event.position() - self._pressed).manhattanLength()
        point = self.near(event.position()) if moved < 5 else None
        if point is not None:
            self._choose(point)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if event.buttons():
            return
        point = self.near(event.position())
        shape = Qt.CursorShape.PointingHandCursor if point else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        QToolTip.showText(event.globalPosition().toPoint(), _said(point) if point else "", self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        if steps:
            self.zoom(STEP**steps)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _DIRECTIONS:
            point = self.next_one(*_DIRECTIONS[key])
            if point is not None:
                self._choose(point)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_at_chosen(STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom_at_chosen(1 / STEP)
        elif key == Qt.Key.Key_0:
            self.show_whole()
        else:
            super().keyPressEvent(event)

    def zoom_at_chosen(self, factor: float) -> None:
        """Go nearer to the chosen concept, or farther from it."""
        self.zoom(factor)
        point = self._point(self._chosen)
        if point is not None and not self._whole:
            self.centerOn(point.x * SIDE, point.y * SIDE)
            self._stale()

    def _choose(self, point: ConceptPoint) -> None:
        self.choose(point.id)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.chosen.emit(point.id)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        self._stale()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._whole:
            self.show_whole()
        self._stale()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._stale()


def _short(label: str) -> str:
    """The first two words of a name made of words; else what there is room for."""
    plain = ", ".join(_BETWEEN.split(one_line(label))[:2])
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1].rstrip() + "…"


def _said(point: ConceptPoint) -> str:
    return f"{one_line(point.label)}, {plural(point.passages, '{n} passage', '{n} passages')}"
