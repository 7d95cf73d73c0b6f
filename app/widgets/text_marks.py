"""Marked parts of a text that a painter lays out itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextCharFormat, QTextLayout

from app.theme import colours
from app.widgets.page_offsets import Utf16
from core.base.types import Span


def marked(text: str, spans: Sequence[Span]) -> list[QTextLayout.FormatRange]:
    """Formats that mark the spans (in code points) of `text`."""
    units = Utf16(text)
    look = QTextCharFormat()
    look.setBackground(colours().colour("mark"))
    look.setForeground(colours().colour("on_mark"))
    ranges = []
    for span in spans:
        part = QTextLayout.FormatRange()
        part.start = units.units(span.start)
        part.length = units.units(span.end) - part.start
        part.format = look
        ranges.append(part)
    return ranges
