"""Plain text: headings, paragraphs by blank lines, pages by form feeds, wrapped lines joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.plain_file import load
from core.ingest.readers.text_headings import Heading, find_headings

_BLANK = re.compile(r"\n[^\S\n\f]*(?:\n[^\S\n\f]*)+")
_LIST_ITEM = re.compile(r"\s*(?:[-*•‣◦▪–—]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_LINES_A_BLOCK = 60
_WRAPPED = 45  # characters from which a line looks cut by a margin rather than by meaning


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    pages = [_BLANK.split(page) for page in file.text.rstrip("\f\n ").split("\f")]
    headings = find_headings([paragraph for page in pages for paragraph in page])
    found = iter(headings)
    for number, page in enumerate(pages, 1):
        if len(pages) > 1:
            builder.open_page(number)
        for paragraph in page:
            _add_paragraph(builder, paragraph, next(found))
        tick()
    yield file.marked(builder.build(title=_title(headings), warnings=file.warnings))


def _title(headings: Sequence[Heading | None]) -> str:
    """The first heading, where the text begins with it and no other is on its level."""
    first = headings[0]
    alone = first is not None and sum(h is not None and h.level <= first.level for h in headings) == 1
    return first.text if first is not None and alone else ""


def _add_paragraph(builder: TextBuilder, paragraph: str, heading: Heading | None) -> None:
    if heading is not None:
        builder.heading(heading.text, heading.level)
    for kind, lines in _items(paragraph.split("\n")[heading.lines if heading else 0 :]):
        separator = "\n" if kind is BlockKind.LIST_ITEM else "\n\n"
        for text in _portions(join_wrapped(lines)):
            builder.add(text, kind, separator=separator)
            separator = "\n"


def _items(lines: list[str]) -> Iterator[tuple[BlockKind, list[str]]]:
    """Splits the lines of a paragraph at list marks."""
    kind, current = BlockKind.PARAGRAPH, []  # type: tuple[BlockKind, list[str]]
    for line in lines:
        if _LIST_ITEM.match(line):
            if current:
                yield kind, current
            kind, current = BlockKind.LIST_ITEM, []
        current.append(line)
    if current:
        yield kind, current


def _portions(text: str) -> Iterator[str]:
    """A log has no blank lines: its lines in portions that are handled like paragraphs."""
    lines = text.split("\n")
    for begin in range(0, len(lines), _LINES_A_BLOCK):
        yield "\n".join(lines[begin : begin + _LINES_A_BLOCK])


def join_wrapped(lines: list[str]) -> str:
    """Lines broken at a margin as one line; verse, tables and the like keep their lines."""
    lines = [line.strip() for line in lines if line.strip()]
    inner = lines[:-1]
    if not inner or any("\t" in line for line in lines):
        return "\n".join(lines)
    longest = max(map(len, lines))
    wrapped = longest >= _WRAPPED and sum(len(line) >= longest * 0.7 for line in inner) >= 0.8 * len(inner)
    if not wrapped:
        return "\n".join(lines)
    text = lines[0]
    for line in lines[1:]:
        text += line if _is_wide(text[-1]) and _is_wide(line[0]) else " " + line
    return text


def _is_wide(character: str) -> bool:
    """Chinese and Japanese characters, which stand without spaces between words."""
    return "\u2e80" <= character <= "\ua4cf" or "\uf900" <= character <= "\ufaff" or "\uff00" <= character <= "\uffef"
