"""The channels of the search in plain words and in their tones."""

from __future__ import annotations

from app.i18n import tr
from core.base.types import BM25, CONCEPT, DENSE, LEXICAL, MULTI, RERANK, STEER, Level

_WHOLE, _SENTENCE = Level.DOCUMENT.value, Level.SENTENCE.value  # parts that the levels add

_NAMES = {
    DENSE: "meaning", BM25: "words", LEXICAL: "learned words", MULTI: "word by word", CONCEPT: "concepts",
    RERANK: "close reading", STEER: "steered", _WHOLE: "as a whole", _SENTENCE: "sentence",
}  # fmt: skip
_LONG = {
    BM25: "Words in common", DENSE: "Meaning", LEXICAL: "Learned words", MULTI: "Word-by-word meaning",
    CONCEPT: "Concepts", RERANK: "Close reading", STEER: "What you steer by",
    _WHOLE: "Meaning as a whole", _SENTENCE: "Meaning of the sentence",
}  # fmt: skip


def channel_name(channel: str) -> str:
    return tr(_NAMES.get(channel, channel))


def channel_title(channel: str) -> str:
    return tr(_LONG.get(channel, channel))


def channel_tone(channel: str) -> str:
    """The colour of the theme that stands for a channel wherever it is drawn."""
    if channel in (_WHOLE, _SENTENCE):
        return "series_4"
    if channel == STEER:
        channel = CONCEPT
    order = list(_NAMES)
    return f"series_{order.index(channel) % 6 + 1}" if channel in order else "muted"
