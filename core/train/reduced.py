"""A passage without the words of a question that was taken out of it.

Where the question's own words stand in the passage, finding it is a matter of comparing strings: it teaches and proves
nothing (the inverse cloze task, Lee, Chang & Toutanova 2019, takes them out for that reason).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.encode.encoder import input_text
from core.train.types import HEADING, SIGNALS, TITLE, WRITTEN, Piece, Question

_NOT_TAKEN = SIGNALS | {WRITTEN}  # kinds whose words are not the passage's
_NAMES = frozenset({TITLE, HEADING})  # made of what stands above the passage


def reduced(piece: Piece, questions: Sequence[Question]) -> Piece:
    """The passage without the words of these questions: the title for one that is the title, a sentence for one that
    is a sentence. `input` is made anew when something was taken out."""
    text, title, section = piece.text, piece.title, piece.section
    for question in (q for q in questions if q.kind not in _NOT_TAKEN):
        text = _cut(text, question.text)
        title = _above(title, question)
        section = tuple(left for part in section if (left := _above(part, question)))
    if (text, title, section) == (piece.text, piece.title, piece.section):
        return piece
    return replace(piece, text=text, title=title, section=section, input=input_text(section, text, title))


def _above(part: str, question: Question) -> str:
    """A title or heading without the question's words; nothing of one that the question holds whole."""
    whole = question.kind in _NAMES and _plain(part) in _plain(question.text)
    return "" if whole else _cut(part, question.text)


def _cut(text: str, words: str) -> str:
    """`text` without the first place where `words` stand, whatever the spaces between them."""
    parts = words.rstrip(".?! ").split()
    if not parts or " ".join(parts).casefold() not in _plain(text):  # a pattern costs more to make than to search for
        return text
    pattern = r"\s+".join(map(re.escape, parts))
    return re.sub(pattern, " ", text, count=1, flags=re.IGNORECASE).strip()


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
