"""What one document says where it points to another asks for that other one.

Readers keep the words of a link, not its address. So a pointer is what is left in the text: links in the notation of
wikis, Markdown or HTML (in plain text and mail), and sentences that name another document by its whole title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from urllib.parse import unquote

from core.base.types import context_title
from core.text.sentences import split
from core.train.pairs.source import Source, asked
from core.train.pairs.title import cleaned, opening
from core.train.pairs.words import units
from core.train.types import LINK, Piece, Question

_MARKED = re.compile(
    r"\[(?P<a>[^\[\]\n]{3,160})\]\((?P<to_a>[^()\s]+)\)|\[\[(?P<to_b>[^\[\]|\n]+)\|(?P<b>[^\[\]\n]{3,160})\]\]"
    r"|<a\s[^<>]*href=[\"'](?P<to_c>[^\"'<>]+)[\"'][^<>]*>(?P<c>[^<>]{3,160})</a>",
    re.IGNORECASE,
)
_WORDS = 4  # a title must have, to be known when it is named as it is written
_BESIDE = 4  # words that a sentence must say beside the title

Words = tuple[str, ...]


def pairs(source: Source) -> Iterator[Question]:
    by_name, by_title = _names(source), _titles(source)
    for piece in source.pieces:
        for text, target in (*_marked(piece, by_name), *_named(piece, by_title)):
            if target.document != piece.document:
                yield asked(text, target, LINK)


def _marked(piece: Piece, by_name: Mapping[str, Piece]) -> Iterator[tuple[str, Piece]]:
    for found in _MARKED.finditer(piece.text):
        for kind in "abc":
            words, to = found[kind], found[f"to_{kind}"]
            target = by_name.get(_name(to)) if to else None
            if target is not None:
                yield words, target


def _named(piece: Piece, by_title: Mapping[Words, list[tuple[Words, Piece]]]) -> Iterator[tuple[str, Piece]]:
    for start, end in split(piece.text) if by_title else ():
        words = tuple(units(piece.text[start:end], piece.language))
        for place in range(len(words) - _WORDS + 1):
            for title, target in by_title.get(words[place : place + _WORDS], ()):
                named = words[place : place + len(title)] == title and cleaned(target.title) in piece.text
                if named and len(words) >= len(title) + _BESIDE:
                    yield piece.text[start:end], target


def _titles(source: Source) -> dict[Words, list[tuple[Words, Piece]]]:
    """Titles of one document only, by their first words."""
    known: dict[Words, Piece | None] = {}
    for pieces in source.documents.values():
        title, first = tuple(units(cleaned(pieces[0].title), pieces[0].language)), opening(pieces)
        if len(title) >= _WORDS and first is not None:
            known[title] = None if title in known else first
    found: dict[Words, list[tuple[Words, Piece]]] = {}
    for title, target in known.items():
        if target is not None:
            found.setdefault(title[:_WORDS], []).append((title, target))
    return found


def _names(source: Source) -> dict[str, Piece]:
    """The first passage of each document by the name of its file, with and without suffix, and by its title."""
    known: dict[str, set[int]] = {}
    rows = source.db.execute("SELECT id, path, external_id, title FROM document").fetchall() if source.db else ()
    for number, path, external_id, title in rows:
        if number in source.documents:
            file = PurePath(external_id or path)
            for name in {file.name, file.stem, context_title(title, path, external_id)}:
                known.setdefault(name.casefold(), set()).add(number)
    firsts = {name: opening(source.documents[min(owners)]) for name, owners in known.items() if len(owners) == 1}
    return {name: first for name, first in firsts.items() if first is not None}


def _name(address: str) -> str:
    return PurePath(unquote(address.partition("#")[0])).name.casefold()
