"""From a page's characters to lines and paragraphs. The one place where the text of a PDF page is decided.

Both reading and marking a citation on the page picture come through `layout`, so that offsets and boxes always
agree. Order is PDFium's (the order of the content); its line ends are taken, its paragraphs are ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from core.base.types import Box
from core.ingest.readers.pdf_chars import HYPHEN, PageChars
from core.ingest.readers.pdf_lines import Line
from core.ingest.readers.pdf_tables import Cell, named_rows
from core.ingest.readers.pdf_text import is_wide, normalize

LIST_MARK = re.compile(r"(?:[•‣◦▪●○■□–—*\-\uf0b7\uf0a7]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\([ivx]{1,4}\))\s+\S")
_LEADERS = re.compile(r"(?:\.\s?){5,}|…{2,}")
_SENTENCE_END = tuple(".!?:;。！？：؟")
_HYPHENS = (HYPHEN, "-", "\u2010", "\xad")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`start`/`end` count in the page's text; `first_char` is PDFium's index of its first character."""

    start: int
    end: int
    boxes: tuple[Box, ...]
    size: float
    is_row: bool
    first_char: int


@dataclass(frozen=True, slots=True)
class _Joined:
    """A paragraph's text and where it comes from: pieces of the page, put together, then normalized."""

    text: str
    pieces: Sequence[tuple[int, int]]  # first character and length, the first -1 for what was put in
    origin: list[int] | None

    def source(self) -> np.ndarray:
        """Index of the page's character that each character comes from, -1 for none; [len(text)]."""
        parts = [np.arange(start, start + n) if start >= 0 else np.full(n, -1, np.int64) for start, n in self.pieces]
        joined = np.concatenate([*parts, np.full(1, -1, np.int64)])  # the last one for those from nowhere
        return joined[:-1] if self.origin is None else joined[self.origin]


@dataclass(frozen=True, slots=True)
class PageLayout:
    text: str
    paragraphs: tuple[Paragraph, ...]
    chars: PageChars
    joined: tuple[_Joined, ...]
    lines: Sequence[Line]

    def source(self) -> np.ndarray:
        """Index of PDFium's character that each character of `text` comes from, -1 for what joins lines."""
        gap = np.full(len(SEPARATOR), -1, np.int64)
        parts = [part for joined in self.joined for part in (gap, joined.source())]
        return np.concatenate(parts[1:]) if parts else np.zeros(0, np.int64)

    def line_of(self) -> np.ndarray:
        """The number of the line that each of PDFium's characters stands in, -1 for none."""
        numbers = np.full(len(self.chars.text), -1, np.int32)
        for number, line in enumerate(self.lines):
            for start, end in line.pieces:
                numbers[start:end] = number
        return numbers


SEPARATOR = "\n\n"


def layout(chars: PageChars, lines: Sequence[Line], body_size: float) -> PageLayout:
    """The text that `lines` of a page make, its paragraphs joined by `SEPARATOR`."""
    found: list[_Joined] = []
    paragraphs: list[Paragraph] = []
    start = 0
    groups = _paragraphs(lines, body_size)
    tables = _tables(groups, chars)
    for number, group in enumerate(groups):
        cells = tables.get(number)
        joined = _join_cells(cells, chars.text) if cells else _join(group, chars.text)
        if not joined.text:
            continue
        boxes = tuple(Box(line.left, line.top, line.right, line.bottom) for line in group)
        size = sorted(line.size for line in group)[len(group) // 2]
        end = start + len(joined.text)
        paragraphs.append(Paragraph(start, end, boxes, size, group[0].in_columns, group[0].pieces[0][0]))
        found.append(joined)
        start = end + len(SEPARATOR)
    text = SEPARATOR.join(joined.text for joined in found)
    return PageLayout(text, tuple(paragraphs), chars, tuple(found), lines)


# --- paragraphs


def _paragraphs(lines: Sequence[Line], body_size: float) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for region in _regions(lines):
        left, right = min(line.left for line in region), max(line.right for line in region)
        current = [region[0]]
        for line in region[1:]:
            if _belong_together(current, line, left, right, body_size):
                current.append(line)
            else:
                groups.append(current)
                current = [line]
        if groups and _continues_in_next_column(groups[-1][-1], current[0]) and current[0] is region[0]:
            groups[-1].extend(current)
        else:
            groups.append(current)
    return groups


def _regions(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines of one size, each right below the one before."""
    regions: list[list[Line]] = []
    for line in lines:
        if regions and _right_below(regions[-1][-1], line):
            regions[-1].append(line)
        else:
            regions.append([line])
    return regions


def _right_below(above: Line, line: Line) -> bool:
    size = max(above.size, line.size)
    if abs(above.size - line.size) > 0.12 * size:
        return False
    gap = line.top - above.bottom
    overlap = min(above.right, line.right) - max(above.left, line.left)
    return -0.7 * size < gap < 0.75 * size and line.top > above.top and overlap > 0


def _belong_together(current: list[Line], line: Line, left: float, right: float, body_size: float) -> bool:
    """Was the line before broken only because the margin was reached?"""
    above = current[-1]
    if line.in_columns or above.in_columns or LIST_MARK.match(line.text) or _has_leaders(above.text):
        return False
    if above.text.endswith((HYPHEN, "\xad")):
        return True
    if line.size > 1.15 * body_size:  # the lines of a title are broken by its author
        return True
    first_word = line.text.split(None, 1)[0]
    word_width = (line.right - line.left) * min(len(first_word) + 1, len(line.text)) / max(1, len(line.text))
    if is_wide(first_word[0]):
        word_width = 2 * line.size
    room = above.left - left if line.right_to_left else right - above.right
    broken_by_margin = room < word_width + 0.3 * line.size
    indent = (above.right - line.right) if line.right_to_left else line.left - above.left
    is_hanging = len(current) == 1 and LIST_MARK.match(above.text)
    new_indent = indent > 0.9 * line.size and not is_hanging and above.text.endswith(_SENTENCE_END)
    return broken_by_margin and not new_indent


def _has_leaders(text: str) -> bool:
    return (text.count(".") >= 5 or "…" in text) and _LEADERS.search(text) is not None


def _continues_in_next_column(above: Line, line: Line) -> bool:
    """A sentence that goes on at the top of the next column."""
    same_size = abs(above.size - line.size) < 0.05 * max(above.size, line.size)
    moved = line.top < above.top and line.left > above.right - above.size and not line.right_to_left
    goes_on = line.text[0].islower() and not above.text.endswith(_SENTENCE_END)
    return same_size and moved and goes_on and not (above.in_columns or line.in_columns)


# --- text


def _join(lines: list[Line], page_text: str) -> _Joined:
    """The lines of a paragraph as one, words that a hyphen broke put together."""
    parts: list[str] = []
    pieces: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        following = lines[number + 1].text if number + 1 < len(lines) else ""
        text, glue = _line_end(line.text, following, page_text)
        parts.append(text + glue)
        pieces += [(start, end - start) for start, end in line.pieces]
        if len(text) < len(line.text):  # a hyphen less
            pieces[-1] = (pieces[-1][0], pieces[-1][1] - len(line.text) + len(text))
        if glue:
            pieces.append((-1, len(glue)))
    text, origin = normalize("".join(parts))
    return _Joined(text, pieces, origin)


def _tables(groups: Sequence[Sequence[Line]], chars: PageChars) -> dict[int, list[Cell]]:
    """The cells of the paragraphs that are rows of a table with a header."""
    found: dict[int, list[Cell]] = {}
    is_row = [len(group) == 1 and group[0].in_columns and not group[0].right_to_left for group in groups]
    start = 0
    for row, run in groupby(is_row):
        end = start + len(list(run))
        if row:
            rows = named_rows([group[0] for group in groups[start:end]], chars)
            found |= {start + index: cells for index, cells in rows.items()}
        start = end
    return found


def _join_cells(cells: Sequence[Cell], page_text: str) -> _Joined:
    """The cells of a row with the names of their columns."""
    parts: list[str] = []
    pieces: list[tuple[int, int]] = []
    for cell in cells:
        lead = (" | " if parts else "") + (f"{cell.name}: " if cell.name else "")
        parts += [lead, page_text[cell.start : cell.end].replace(HYPHEN, "-")]
        pieces += [(-1, len(lead)), (cell.start, cell.end - cell.start)]
    text, origin = normalize("".join(parts))
    return _Joined(text, pieces, origin)


def _line_end(text: str, following: str, page_text: str) -> tuple[str, str]:
    """What stays of the line, and what goes between it and the next."""
    if not following:
        return text.replace(HYPHEN, "-"), ""
    if text.endswith(_HYPHENS) and len(text) > 1 and (text[-2].isalnum()):
        body = text[:-1]
        if _is_broken_word(body, following, page_text):
            return body, ""
        return body + "-", ""
    if is_wide(text[-1]) and is_wide(following[0]):
        return text, ""
    return text, " "


def _is_broken_word(body: str, following: str, page_text: str) -> bool:
    """Is the hyphen there only because of the line end?"""
    before = re.search(r"[^\W\d_]+$", body)
    after = re.match(r"[^\W\d_]+", following)
    if before is None or after is None or not after.group()[0].islower():
        return False
    compound = f"{before.group()}-{after.group()}"
    in_compound = body[: before.start()].endswith(("-", "\u2010"))
    return compound not in page_text and not in_compound
