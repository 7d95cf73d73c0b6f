"""Page pictures from the view child: fetched as needed, decoded off the window's thread, kept within bounds."""

from __future__ import annotations

import base64
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QImage

from app.engine.call import Call
from app.engine.engine import Engine
from app.widgets.page_background import Background
from core.base.types import Span
from core.worker.protocol import VIEW

AT_ONCE = 2
BYTES = 192 << 20  # of decoded pictures kept


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as an image; `scale` is its pixels per point, `rects` are the marked places in points."""

    image: QImage
    scale: float
    rects: tuple[QRectF, ...]


class PagePictures(QObject):
    """`want` names the pages to have, the most wanted first; those that are no longer wanted are not fetched."""

    arrived = Signal(int)
    failed = Signal(object)

    def __init__(self, engine: Engine, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._document = 0
        self._spans: tuple[Span, ...] = ()
        self._round = 0  # raised when what arrives no longer counts
        self._wanted: list[tuple[int, float]] = []
        self._calls: dict[int, Call] = {}
        self._decoding: set[int] = set()
        self._kept: OrderedDict[int, Picture] = OrderedDict()
        self._broken: set[int] = set()
        self._background = Background(self)

    def open(self, document_id: int, spans: Sequence[Span]) -> None:
        """Pictures of another document, or of the same one with other marks."""
        self.stop()
        self._document, self._spans = document_id, tuple(spans)
        self._kept.clear()
        self._broken.clear()

    def stop(self) -> None:
        self._round += 1
        self._wanted = []
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.cancel()
        self._decoding.clear()

    def picture(self, number: int) -> Picture | None:
        """The newest picture of a page, whatever its scale."""
        return self._kept.get(number)

    def pictures(self) -> dict[int, Picture]:
        return dict(self._kept)

    def want(self, pages: Sequence[tuple[int, float]]) -> None:
        """`pages`: (number, scale in pixels per point)."""
        self._wanted = list(pages)
        numbers = {number for number, _ in pages}
        for number in [n for n in self._calls if n not in numbers]:
            self._calls.pop(number).cancel()
        for number, _ in pages:
            if number in self._kept:
                self._kept.move_to_end(number)
        self._next()

    def _next(self) -> None:
        for number, scale in self._wanted:
            if len(self._calls) >= AT_ONCE:
                return
            kept = self._kept.get(number)
            sharp = kept is not None and abs(kept.scale - scale) < 0.01 * scale
            if not (sharp or number in self._calls or number in self._decoding or number in self._broken):
                self._fetch(number, scale)

    def _fetch(self, number: int, scale: float) -> None:
        spans = [[span.start, span.end] for span in self._spans]
        args = {"document_id": self._document, "number": number, "scale": scale, "spans": spans}
        call = self._engine.call(VIEW, "page", args)
        self._calls[number] = call
        call.result.connect(lambda data: self._received(call, number, scale, data))
        call.failed.connect(lambda error: self._not_received(call, number, error))
        call.finished.connect(lambda: self._forget(call, number))

    def _received(self, call: Call, number: int, scale: float, data: Any) -> None:
        if self._calls.get(number) is not call:
            return
        self._decoding.add(number)
        turn = self._round
        self._background.run(lambda: _picture(data, scale), lambda picture: self._keep(turn, number, picture))

    def _not_received(self, call: Call, number: int, error: object) -> None:
        if self._calls.get(number) is call:
            self._broken.add(number)
            self.failed.emit(error)

    def _forget(self, call: Call, number: int) -> None:
        if self._calls.get(number) is call:
            del self._calls[number]
            self._next()

    def _keep(self, turn: int, number: int, picture: object) -> None:
        if turn != self._round:
            return
        self._decoding.discard(number)
        if not isinstance(picture, Picture):
            self._broken.add(number)
            self.failed.emit(picture)
            return
        self._kept[number] = picture
        self._kept.move_to_end(number)
        while len(self._kept) > 1 and sum(p.image.sizeInBytes() for p in self._kept.values()) > BYTES:
            self._kept.popitem(last=False)
        self.arrived.emit(number)
        self._next()


def _picture(data: Any, scale: float) -> Picture:
    """Decode on the pool's thread. A picture that is no image becomes an empty one, shown as a blank page."""
    image = QImage.fromData(base64.b64decode(data["image"]))
    rects = [QRectF(l / scale, t / scale, (r - l) / scale, (b - t) / scale) for l, t, r, b in data["rects"]]  # noqa: E741
    return Picture(image, scale, tuple(rects))
