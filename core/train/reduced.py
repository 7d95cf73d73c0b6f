"""A passage without the words of a question that was taken out of it.

Where the question's own words stand in the passage, finding it is a matter of comparing strings: it teaches and proves
nothing (the inverse cloze task, Lee, Chang & Toutanova 2019, takes them out for that reason).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.encode.encoder import input_text
from core.train.types import FAQ, SIGNALS, WRITTEN, Piece, Question

_NOT_TAKEN = SIGNALS | {WRITTEN, FAQ}  # kinds whose words are not the passage's, or stand beside its answer


def reduced(piece: Piece, questions: Sequence[Question]) -> Piece:
    """The passage without the words of these questions: the title for one that is the title, a sentence for one that
    is a sentence. `input` is made anew when something was taken out."""
    text, title, section = piece.text, piece.title, piece.section
    for words in (q.text for q in questions if q.kind not in _NOT_TAKEN):
        text = _cut(text, words)
        title = _cut(title, words)
        section = tuple(part for part in section if _plain(part) != _plain(words))
    if (text, title, section) == (piece.text, piece.title, piece.section):
        return piece
    return replace(piece, text=text, title=title, section=section, input=input_text(section, text, title))


def _cut(text: str, words: str) -> str:
    """`text` without the first place where `words` stand, whatever the spaces between them."""
    pattern = r"\s+".join(re.escape(word) for word in words.rstrip(".?! ").split())
    return re.sub(pattern, " ", text, count=1, flags=re.IGNORECASE).strip() if pattern else text


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
