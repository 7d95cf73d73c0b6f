"""A document's title asks for its first passage that says something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.train.pairs.source import Source, asked
from core.train.pairs.words import letters
from core.train.types import TITLE, Piece, Question

LEAST_LETTERS = 60
_SUFFIX = re.compile(r"\.(?:pdf|docx?|odt|rtf|txt|md|html?|pptx?|xlsx?|epub|tex)$", re.IGNORECASE)
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) [-–] ", re.IGNORECASE)


def pairs(source: Source) -> Iterator[Question]:
    for pieces in source.documents.values():
        title, first = cleaned(pieces[0].title), opening(pieces)
        if title and first is not None:
            yield asked(title, first, TITLE)


def cleaned(title: str) -> str:
    """Without what programs leave in titles: their own name, a file's suffix, underscores for spaces."""
    title = _SUFFIX.sub("", _PROGRAM.sub("", " ".join(title.split())))
    return title if " " in title else re.sub(r"[_-]+", " ", title)


def opening(pieces: Sequence[Piece]) -> Piece | None:
    """The first of these passages that is more than a line."""
    return next((piece for piece in pieces if letters(piece.text) >= LEAST_LETTERS), None)
