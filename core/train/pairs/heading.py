"""A heading asks for the first passage of its section; one that says little alone is asked with what stands above."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from core.train.pairs.source import Source, asked
from core.train.pairs.title import cleaned, opening
from core.train.pairs.words import size
from core.train.types import HEADING, Question

ENOUGH = 2  # words that make a heading a question of its own
_NUMBER = re.compile(r"^(?:[§#]\s*)?(?:\d{1,3}|[IVXLC]{1,6}|[A-Z])(?:\.\d{1,3})*[.):]?\s+(?=\S)")


def pairs(source: Source) -> Iterator[Question]:
    for pieces in source.documents.values():
        for section, group in groupby(pieces, key=lambda piece: piece.section):
            first, text = opening(list(group)), question(section, pieces[0].title)
            if first is not None and text:
                yield asked(text, first, HEADING)


def question(section: tuple[str, ...], title: str) -> str:
    """What a heading path asks; empty where it asks no more than the title does, or nothing."""
    heading, title = bare(section[-1]) if section else "", cleaned(title)
    if not heading or heading.casefold() == title.casefold():
        return ""
    above = bare(section[-2]) if len(section) > 1 else title
    return heading if size(heading) >= ENOUGH or not above else f"{above} {heading}"


def bare(heading: str) -> str:
    """Without its number."""
    return _NUMBER.sub("", " ".join(heading.split())).rstrip(" .:")
