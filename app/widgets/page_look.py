"""How the kinds of blocks look in a text view."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QTextCharFormat

from app.theme import colours
from core.base.types import Block, BlockKind

_HEADING_SIZES = {1: 1.5, 2: 1.28, 3: 1.14}


def piece_look(block: Block | None) -> QTextCharFormat:
    """The character format of a line that belongs to `block`."""
    look = QTextCharFormat()
    look.setForeground(colours().colour("text"))
    if block is None:
        return look
    size = QGuiApplication.font().pointSizeF()
    if block.kind is BlockKind.HEADING:
        look.setFontWeight(QFont.Weight.DemiBold)
        look.setFontPointSize(size * _HEADING_SIZES.get(block.level, 1.06))
    elif block.kind is BlockKind.CODE:
        look.setFontFamilies([QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()])
    elif block.kind in (BlockKind.CAPTION, BlockKind.QUOTE):
        look.setForeground(colours().colour("muted"))
        look.setFontItalic(block.kind is BlockKind.QUOTE)
    return look
