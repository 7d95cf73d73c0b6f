"""A caption asks for the table below or above it; that of a figure for the passage that tells of the figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.base.types import Block, BlockKind
from core.train.pairs.source import Layout, Source, asked
from core.train.types import CAPTION, Piece, Question

_NEAR = 2  # blocks between a caption and its table
_LABEL = re.compile(
    r"^(?P<label>(?:fig(?:ure|ura|\.)?|abb(?:ildung|\.)?|tab(?:le|elle|leau|ela|ella|la|lo|\.)?|рис(?:унок|\.)?|"
    r"табл(?:ица|\.)?|şekil|kuva|taulukko|chart|scheme|شكل|جدول|图|圖|図|表|그림|표)\s*[\dIVX]+(?:[.-]\d+)*)\s*[.:)|–—-]*\s*",
    re.IGNORECASE,
)
_OF_TABLE = re.compile(r"tab|табл|taulukko|جدول|表|표", re.IGNORECASE)


def pairs(source: Source) -> Iterator[Question]:
    for layout in source.layouts():
        for number, block in enumerate(layout.blocks):
            if block.kind is not BlockKind.CAPTION:
                continue
            caption = " ".join(layout.text[block.start : block.end].split())
            target = _target(layout, number, caption)
            if target is not None:
                yield asked(_LABEL.sub("", caption), target, CAPTION)


def _target(layout: Layout, number: int, caption: str) -> Piece | None:
    label = _LABEL.match(caption)
    of_table = label is None or _OF_TABLE.match(label["label"])
    row = _row(layout.blocks, number) if of_table else None
    own = layout.at(layout.blocks[number].start)
    if row is not None:
        return layout.at(row.start)
    return (_telling(layout.pieces, label["label"], own) if label else None) or own


def _row(blocks: Sequence[Block], number: int) -> Block | None:
    """The nearest row of a table, those below first."""
    below = blocks[number + 1 : number + 1 + _NEAR]
    above = blocks[max(0, number - _NEAR) : number][::-1]
    return next((block for block in (*below, *above) if block.kind is BlockKind.TABLE_ROW), None)


def _telling(pieces: Sequence[Piece], label: str, but: Piece | None) -> Piece | None:
    """The first passage, not that of the caption itself, that names the figure."""
    pattern = re.compile(r"\s*".join(map(re.escape, label.split())) + r"(?!\d)", re.IGNORECASE)
    return next((piece for piece in pieces if piece is not but and pattern.search(piece.text)), None)
