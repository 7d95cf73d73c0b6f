"""The channels of the search in plain words and in their colours."""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.widgets.page_colours import Colours
from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, RERANK

_NAMES = {
    BM25: "words", DENSE: "meaning", LEXICAL: "learned words", MULTI: "word by word", CONCEPT: "concepts",
    RERANK: "close reading",
}  # fmt: skip
_LONG = {
    BM25: "Words in common", DENSE: "Meaning", LEXICAL: "Learned words", MULTI: "Word-by-word meaning",
    CONCEPT: "Concepts", RERANK: "Close reading",
}  # fmt: skip


def channel_name(channel: str) -> str:
    return _NAMES.get(channel, channel)


def channel_title(channel: str) -> str:
    return _LONG.get(channel, channel)


def channel_colour(colours: Colours, channel: str) -> QColor:
    """The same colour wherever a channel is drawn."""
    order = list(_NAMES)
    return colours.series(order.index(channel) if channel in order else len(order))
