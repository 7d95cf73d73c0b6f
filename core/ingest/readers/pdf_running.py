"""Running headers and footers of a PDF: lines that come again at the same place on the pages around.

Whether a line of a page runs is decided from that page and its `RADIUS` neighbours on either side, so that the
reader and the marking of a citation come to the same result without a look at the whole file. The rules lean
towards keeping: a line that is taken for a running one by mistake could not be found any more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.ingest.readers.pdf_chars import PageChars
from core.ingest.readers.pdf_lines import Line

RADIUS = 4
_FEWEST = 3  # pages that must have the line, when most pages around have it
_MANY = 4  # and when they do not: a chapter's title
_ROWS = 3  # that a header or footer may have
_SAME_PLACE = 3.0  # points
_LARGER = 1.12  # times the body size: a heading
_NUMBER = re.compile(r"\d{1,6}|(?<![^\W_])(?=[ivxlc])(?:x[lc]|l?x{0,3})(?:i[xv]|v?i{0,3})(?![^\W_])")
_LETTERS = re.compile(r"[^\W\d_]+")
_PAGE_WORD = re.compile(r"\b(?:pages?|pp?|pg|seite|s|página|pag|pág|pagina|sida|side|strana|str|стр|страница)\b|[页頁]")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Mark:
    """A line near the edge. `key` is its text without numbers and order, `distance` its way from the edge."""

    line: int
    key: str
    numbers: tuple[int, ...]
    distance: float
    large: bool
    bold: bool


@dataclass(frozen=True, slots=True)
class Row:
    """Lines on one height; `apart`: more white space lies between them and the body than between body lines."""

    marks: tuple[Mark, ...]
    apart: bool


@dataclass(frozen=True, slots=True)
class PageEdges:
    """The outermost rows of a page, from the edge inwards."""

    top: tuple[Row, ...] = ()
    bottom: tuple[Row, ...] = ()


def running_lines(pages: Mapping[int, PageEdges], index: int) -> frozenset[int]:
    """Numbers of the lines of page `index` that belong to a running header or footer.

    `pages` holds at least all pages of the document up to `RADIUS` away from `index`.
    """
    near = [i for i in range(index - RADIUS, index + RADIUS + 1) if i in pages]
    top = _side({i: pages[i].top for i in near}, index, is_top=True)
    return top | _side({i: pages[i].bottom for i in near}, index, is_top=False)


def _side(pages: Mapping[int, Sequence[Row]], index: int, *, is_top: bool) -> frozenset[int]:
    running: frozenset[int] = frozenset()
    lines: frozenset[int] = frozenset()
    for row in pages[index]:
        same = {mark.line: _again(mark, pages, index) for mark in row.marks}
        found = [mark for mark in row.marks if _runs(mark, same[mark.line], pages, index, is_top, len(row.marks))]
        lines |= {mark.line for mark in found}
        votes = [there.apart for mark in found for _, there in same[mark.line].values()]
        if sum(votes) * 2 >= max(1, len(votes)):
            running = lines
        if len(found) < len(row.marks):
            break
    return running


def _again(mark: Mark, pages: Mapping[int, Sequence[Row]], index: int) -> dict[int, tuple[Mark, Row]]:
    """Where the line stands at the same place: with the same numbers, or such that count the pages."""
    return {
        page: (other, row)
        for page, rows in pages.items()
        for row in rows
        for other in row.marks
        if _is_same(mark, other, page - index)
    }


def _is_same(mark: Mark, other: Mark, pages_on: int) -> bool:
    if other.key != mark.key or len(other.numbers) != len(mark.numbers):
        return False
    near = abs(other.distance - mark.distance) <= _SAME_PLACE
    return near and all(b - a in (0, pages_on) for a, b in zip(mark.numbers, other.numbers, strict=True))


def _runs(
    mark: Mark,
    same: Mapping[int, tuple[Mark, Row]],
    pages: Mapping[int, Sequence[Row]],
    index: int,
    is_top: bool,
    in_row: int,
) -> bool:
    words = _LETTERS.findall(mark.key)
    if words and mark.large:
        return False
    one_side = [page for page in pages if (page - index) % 2 == 0]  # left and right pages may differ
    on_most = 2 * sum(page in same for page in one_side) > len(one_side)
    if len(same) < (_FEWEST if on_most else _MANY):
        return False
    counts_pages = any(other.numbers != mark.numbers for other, _ in same.values())
    if not words:
        return counts_pages or not mark.numbers
    if counts_pages and not _PAGE_WORD.search(mark.key):  # "Day 1", "Day 2": headings
        return len(words) > 1 and not (mark.bold and is_top and in_row == 1)
    return True


# --- the edges of a page


def page_edges(chars: PageChars, lines: Sequence[Line], body: float) -> PageEdges:
    rows = _rows(lines)
    gaps = sorted(max(0.0, _top(below) - _bottom(row)) for row, below in pairwise(rows))
    typical = gaps[len(gaps) // 4] if gaps else 0.0

    def edge(row: list[Line], inner: list[Line] | None, is_top: bool) -> Row:
        marks = tuple(_mark(line, lines, chars, body, is_top) for line in row)
        return Row(marks, inner is not None and _is_apart(row, inner, typical, chars))

    inwards: list[list[Line] | None] = [*rows, None]
    outwards: list[list[Line] | None] = [*reversed(rows), None]
    return PageEdges(
        tuple(edge(row, inwards[i + 1], True) for i, row in enumerate(rows[:_ROWS])),
        tuple(edge(row, outwards[i + 1], False) for i, row in enumerate(rows[: -_ROWS - 1 : -1])),
    )


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines by height, those beside each other together. What is written upright at the margin is left out."""
    rows: list[list[Line]] = []
    for line in sorted((x for x in lines if 0 < x.bottom - x.top <= 4 * x.size), key=lambda x: (x.top, x.left)):
        above = rows[-1][0] if rows else None
        shared = min(above.bottom, line.bottom) - max(above.top, line.top) if above else 0.0
        if above and shared > 0.5 * min(above.bottom - above.top, line.bottom - line.top):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _top(row: Sequence[Line]) -> float:
    return min(line.top for line in row)


def _bottom(row: Sequence[Line]) -> float:
    return max(line.bottom for line in row)


def _mark(line: Line, lines: Sequence[Line], chars: PageChars, body: float, is_top: bool) -> Mark:
    text = line.text.casefold()
    numbers = tuple(_value(found) for found in _NUMBER.findall(text) if found)
    key = " ".join(sorted(_NUMBER.sub(lambda found: "#" if found.group() else "", text).split()))
    number = next(i for i, other in enumerate(lines) if other is line)
    distance = line.top if is_top else chars.height - line.bottom
    return Mark(number, key, numbers, distance, line.size > _LARGER * body, line.pieces[0][0] in chars.bold)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(-v if i + 1 < len(values) and v < values[i + 1] else v for i, v in enumerate(values))


def _is_apart(row: Sequence[Line], inner: Sequence[Line], typical: float, chars: PageChars) -> bool:
    size = max(line.size for line in row)
    gap = max(_top(inner) - _bottom(row), _top(row) - _bottom(inner))
    if gap < 0.6 * size or (gap < 1.35 * typical and gap < 3 * size):
        return False
    return gap >= max(1.6 * size, 1.35 * typical) or not _is_table(row, inner, chars)


def _is_table(row: Sequence[Line], inner: Sequence[Line], chars: PageChars) -> bool:
    """Do two cells stand over or under two others?"""
    outer_cells, inner_cells = _cells(row, chars), _cells(inner, chars)
    return sum(any(_are_aligned(cell, other) for other in inner_cells) for cell in outer_cells) > 1


def _are_aligned(cell: tuple[float, float], other: tuple[float, float]) -> bool:
    """By their left edges, their right edges, or their middles."""
    left, right = cell[0] - other[0], cell[1] - other[1]
    return min(abs(left), abs(right), abs(left + right) / 2) < 2


def _cells(row: Sequence[Line], chars: PageChars) -> list[tuple[float, float]]:
    """Left and right edge of each cell of a row."""
    cells: list[tuple[float, float]] = []
    for line in row:
        boxes = [box for piece in line.pieces for box in chars.words.boxes[chars.words.between(*piece)].tolist()]
        before = len(cells)
        for left, _, right, _ in sorted(boxes):
            if len(cells) > before and left - cells[-1][1] <= 1.2 * line.size:
                cells[-1] = (cells[-1][0], max(cells[-1][1], right))
            else:
                cells.append((left, right))
    return cells
