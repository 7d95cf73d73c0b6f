"""Source code by its classes and functions: each is a heading above its code, comments included.

The place of a block is its line. Python is parsed; other languages are cut at the lines that define something.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.code_names import language_of
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.plain_file import load
from core.ingest.readers.source_outline import Definition, outline

_LINES_A_BLOCK = 40  # from which a blank line begins a new block, so that a place is near what it names


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    lines = file.text.lstrip("\ufeff").split("\n")
    builder = TextBuilder(limits.output_characters)
    found = outline(lines, language_of(path.name.lower(), file.text[:200]))
    starts = [Definition(0, 0, ""), *found, Definition(len(lines), 0, "")]
    for definition, following in pairwise(starts):
        tick()
        if definition.label:
            builder.heading(definition.label, definition.level)
        for line, piece in _pieces(lines, definition.line, following.line):
            builder.add(textwrap.dedent("\n".join(piece)), BlockKind.CODE, place=f"line {line + 1}")
    yield file.marked(builder.build(warnings=file.warnings))


def _pieces(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, list[str]]]:
    """Lines from `start` to `end` in blocks with the number of their first line, from 0."""
    begin: int | None = None
    piece: list[str] = []
    for number in range(start, end):
        line = lines[number].expandtabs(4).rstrip()
        if not line and (not piece or len(piece) >= _LINES_A_BLOCK):
            if piece and begin is not None:
                yield begin, piece
            begin, piece = None, []
            continue
        begin = number if begin is None else begin
        piece.append(line)
    if piece and begin is not None:
        yield begin, piece
