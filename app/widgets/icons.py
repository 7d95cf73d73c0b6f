"""Line icons of one family out of `resources/icons`, tinted with the colours in force."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.theme import colours
from core.base.paths import resources


def icon(name: str, tone: str = "text", *, size: int = 20) -> QIcon:
    """The icon `name` (a file of `resources/icons`) in the colour `tone` (a field of `Colours`).

    Made for the look in force: ask again on `QEvent.StyleChange` (the shared buttons do).
    Raises FileNotFoundError for a name that is none.
    """
    ratio = QGuiApplication.primaryScreen().devicePixelRatio() if QGuiApplication.primaryScreen() else 1.0
    made = QIcon(_pixmap(name, getattr(colours(), tone), size, ratio))
    made.addPixmap(_pixmap(name, colours().outline, size, ratio), QIcon.Mode.Disabled)
    return made


def pixmap(name: str, tone: str = "text", *, size: int = 20, ratio: float = 1.0) -> QPixmap:
    """The icon as a picture of `size` logical pixels."""
    return _pixmap(name, getattr(colours(), tone), size, ratio)


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    return (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")


@lru_cache(maxsize=512)
def _pixmap(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(_source(name).replace('stroke="#000000"', f'stroke="{colour}"').encode()))
    picture = QPixmap(QSize(round(size * ratio), round(size * ratio)))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return picture
