"""The channels of the search in plain words and in their tones."""

from __future__ import annotations

from app.i18n import tr
from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, RERANK

_NAMES = {
    DENSE: "meaning", BM25: "words", LEXICAL: "learned words", MULTI: "word by word", CONCEPT: "concepts",
    RERANK: "close reading",
}  # fmt: skip
_LONG = {
    BM25: "Words in common", DENSE: "Meaning", LEXICAL: "Learned words", MULTI: "Word-by-word meaning",
    CONCEPT: "Concepts", RERANK: "Close reading",
}  # fmt: skip


def channel_name(channel: str) -> str:
    return tr(_NAMES.get(channel, channel))


def channel_title(channel: str) -> str:
    return tr(_LONG.get(channel, channel))


def channel_tone(channel: str) -> str:
    """The colour of the theme that stands for a channel wherever it is drawn."""
    order = list(_NAMES)
    return f"series_{order.index(channel) % 6 + 1}" if channel in order else "muted"
