"""The pages of a PDF on one long strip: only what is seen is fetched and painted, marked sentences on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.engine.engine import Engine
from app.i18n import tr
from app.theme import LIGHT, colours
from app.widgets.page_latest import Latest
from app.widgets.page_layout import GAP, PageStrip
from app.widgets.page_pictures import PagePictures
from core.base.types import Span
from core.worker.protocol import VIEW

STEPS = (0.25, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)  # times 96/72 logical pixels a point
POINT = 96 / 72
MOST_PIXELS = 16_000_000  # of one page picture: beyond it the picture is drawn larger than it is
MOST_SCALE = 6.0  # pixels per point that the view child gives


class PdfView(QAbstractScrollArea):
    page_changed = Signal(int)
    opened = Signal(int)  # number of pages
    failed = Signal(object)

    def __init__(self, engine: Engine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Pages"))
        self._strip = PageStrip()
        self._fit_width = True
        self._page = 1
        self._document = 0
        self._spans: tuple[Span, ...] = ()
        self._target = 0  # the page whose marks are to be scrolled to when its picture is here
        self._sizes = Latest(engine, self)
        self._sizes.result.connect(self._sized)
        self._sizes.failed.connect(self.failed)
        self._pictures = PagePictures(engine, self)
        self._pictures.arrived.connect(self._arrived)
        self._pictures.failed.connect(self.failed)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(40)
        self._rest.timeout.connect(self._fetch)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._let_go())

    # what can be asked

    @property
    def page(self) -> int:
        return self._page

    @property
    def pages(self) -> int:
        return len(self._strip)

    @property
    def zoom_percent(self) -> int:
        return round(self._strip.zoom / POINT * 100)

    def marked_rects(self) -> list[tuple[int, QRectF]]:
        """(page, rectangle in points from the page's top left) of every mark on a page that is loaded."""
        return [(n, rect) for n, p in sorted(self._pictures.pictures().items()) for rect in p.rects]

    def has_picture(self, number: int) -> bool:
        return self._pictures.picture(number) is not None

    # what can be done

    def open(self, document_id: int, page: int, spans: Sequence[Span]) -> None:
        """Show `page` with `spans` (of the document's text) marked."""
        self._spans, self._target, self._page = tuple(spans), page if spans else 0, page
        self._pictures.open(document_id, spans)
        if document_id == self._document and self.pages:
            self.go_to(page)
            self._target = page if spans else 0
            return
        self._document = document_id
        self._strip = PageStrip(zoom=self._strip.zoom)
        self.viewport().update()
        self._sizes.start(VIEW, "sizes", {"document_id": document_id})

    def close_document(self) -> None:
        """Let go of pictures, sizes and what is in flight."""
        self._sizes.drop()
        self._pictures.open(0, ())
        self._strip = PageStrip(zoom=self._strip.zoom)
        self._document = 0

    def go_to(self, page: int) -> None:
        """Show the top of a page."""
        if self.pages:
            page = max(1, min(self.pages, page))
            self._target = 0
            self.verticalScrollBar().setValue(round(self._strip.rect(page).top() - GAP / 2))
            self._see(page)
            self._fetch()

    def zoom(self, direction: int) -> None:
        """One step larger (1) or smaller (-1)."""
        now = self._strip.zoom / POINT
        steps = [s for s in STEPS if (s > now * 1.01 if direction > 0 else s < now * 0.99)]
        if steps:
            self._fit_width = False
            self._set_zoom((min if direction > 0 else max)(steps) * POINT)

    def fit_width(self) -> None:
        self._fit_width = True
        self._set_zoom(self._strip.width_zoom(self.viewport().width()))

    # geometry

    def _sized(self, data: Any) -> None:
        self._strip = PageStrip([QSizeF(w, h) for w, h in data["pages"]], self._strip.zoom)
        page, target = self._page, self._target
        if self._fit_width:
            self._strip.set_zoom(self._strip.width_zoom(self.viewport().width()))
        self._extend()
        self.opened.emit(self.pages)
        self.go_to(page)
        self._target = target

    def _set_zoom(self, zoom: float) -> None:
        if not self.pages:
            return
        bar = self.verticalScrollBar()
        top = self._strip.rect(self._page).top()
        inside = (bar.value() - top) / self._strip.zoom
        self._strip.set_zoom(zoom)
        self._extend()
        bar.setValue(round(self._strip.rect(self._page).top() + inside * zoom))
        self._rest.start()
        self.viewport().update()

    def _extend(self) -> None:
        extent, seen = self._strip.extent, self.viewport().size()
        for bar, whole, part in (
            (self.verticalScrollBar(), extent.height(), seen.height()),
            (self.horizontalScrollBar(), extent.width(), seen.width()),
        ):
            bar.setRange(0, max(0, round(whole) - part))
            bar.setPageStep(part)
            bar.setSingleStep(40)

    def _origin(self) -> QPointF:
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _seen(self) -> range:
        top = self.verticalScrollBar().value()
        return self._strip.between(top, top + self.viewport().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._fit_width and self.pages:
            self.fit_width()
        else:
            self._extend()

    # following the view

    def _scrolled(self) -> None:
        if self.pages:
            middle = self.verticalScrollBar().value() + self.viewport().height() / 3
            self._see(self._strip.at(middle))
            self._rest.start()
            self.viewport().update()

    def _see(self, page: int) -> None:
        if page != self._page:
            self._page = page
        self.setAccessibleDescription(tr("Page {page} of {pages}", page=page, pages=self.pages))
        self.page_changed.emit(page)

    def _fetch(self) -> None:
        """Ask for the pages that are seen, then for the next and the one before."""
        if not self.pages:
            return
        seen = self._seen()
        around = [n for n in (seen.stop, seen.start - 1) if 1 <= n <= self.pages]
        self._pictures.want([(n, self._picture_scale(n)) for n in (*seen, *around)])

    def _picture_scale(self, number: int) -> float:
        size = self._strip.size(number)
        most = (MOST_PIXELS / max(1.0, size.width() * size.height())) ** 0.5
        return round(min(self._strip.zoom * self.devicePixelRatioF(), most, MOST_SCALE), 4)

    def _arrived(self, number: int) -> None:
        if number == self._target:
            self._show_mark(number)
        self.viewport().update()

    def _show_mark(self, number: int) -> None:
        """Scroll to the first mark of a page, a third down the view, unless it is seen already."""
        picture = self._pictures.picture(number)
        self._target = 0
        if picture is None or not picture.rects:
            return
        first = min(picture.rects, key=lambda r: (r.top(), r.left()))
        top = self._strip.rect(number).top() + first.top() * self._strip.zoom
        bar = self.verticalScrollBar()
        seen = (
            bar.value() <= top
            and top + first.height() * self._strip.zoom <= bar.value() + self.viewport().height() * 0.8
        )
        if not seen:
            bar.setValue(round(top - self.viewport().height() / 3))

    def _let_go(self) -> None:
        """The person scrolls: no mark pulls the view any more."""
        self._target = 0

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._let_go()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.viewport().update()

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.fillRect(event.rect(), colours().colour("sunken"))
        if not self.pages:
            return
        painter.translate(-self._origin())
        for number in self._seen():
            self._paint_page(painter, number)

    def _paint_page(self, painter: QPainter, number: int) -> None:
        place = self._strip.rect(number, self.viewport().width())
        picture = self._pictures.picture(number)
        if picture is None or picture.image.isNull():
            painter.fillRect(place, colours().colour("surface"))
            painter.setPen(colours().colour("muted"))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), tr("Page {n}", n=number))
        else:
            painter.drawImage(place, picture.image)
            self._paint_marks(painter, place, picture.rects)
        painter.setPen(QPen(colours().colour("border"), 1))
        painter.drawRect(place)

    def _paint_marks(self, painter: QPainter, place: QRectF, rects: Sequence[QRectF]) -> None:
        """Like a marker pen on the paper: pages are pictures of paper in the dark theme, too."""
        painter.save()
        zoom = self._strip.zoom
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        for rect in rects:
            spot = QRectF(
                place.left() + rect.left() * zoom,
                place.top() + rect.top() * zoom,
                rect.width() * zoom,
                rect.height() * zoom,
            )
            painter.fillRect(spot.adjusted(-1.5, -1.5, 1.5, 1.5), LIGHT.colour("mark"))
        painter.restore()
