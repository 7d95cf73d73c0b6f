"""Tables of a PDF page: rows below one another whose cells stand under the names of a header row.

The rules lean towards leaving a row as it is: a name put before the wrong cell would say what the page does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.ingest.readers.pdf_chars import PageChars
from core.ingest.readers.pdf_lines import Line

_GAP = 1.2  # times the size: the space between cells
_LONGEST_NAME = 40
_USUAL_CELL = 20  # characters; longer ones on half of the rows are columns of prose
_FEWEST = 2  # rows under a header
_CURRENCY = re.compile(r"[$€£¥₹]")
_NAME = re.compile(r"[^\W\d_]|(?:19|20)\d\d$")


@dataclass(frozen=True, slots=True)
class Cell:
    """`start`/`end` count in the page's characters; `name` is what the header calls its column, empty for none."""

    start: int
    end: int
    left: float
    right: float
    name: str = ""


def named_rows(rows: Sequence[Line], chars: PageChars) -> dict[int, list[Cell]]:
    """The cells of those `rows` (lines with wide gaps, one after the other) that stand under a header, by index."""
    found: dict[int, list[Cell]] = {}
    for start, end in _tables(rows):
        if end - start <= _FEWEST:
            continue
        header, *body = (_cells(row, chars) for row in rows[start:end])
        names = [chars.text[cell.start : cell.end].strip() for cell in header]
        if not _is_header(names) or not _are_short(body):
            continue
        named = {start + 1 + i: cells for i, row in enumerate(body) if (cells := _named(row, header, names))}
        if len(named) >= max(_FEWEST, len(body) / 2):
            found |= named
    return found


def _tables(rows: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Ranges of rows that stand closely below one another."""
    start = 0
    for index in range(1, len(rows) + 1):
        if index == len(rows) or not -0.5 < (rows[index].top - rows[index - 1].bottom) / (rows[index].size or 1) < 2:
            yield start, index
            start = index


def _cells(row: Line, chars: PageChars) -> list[Cell]:
    """From left to right; none when the row is written in another order. A currency sign belongs to its amount."""
    cells: list[Cell] = []
    for begin, end in row.pieces:
        inside = chars.words.between(begin, end)
        found = zip(
            chars.words.first[inside].tolist(),
            chars.words.last[inside].tolist(),
            chars.words.boxes[inside].tolist(),
            strict=True,
        )
        for first, last, (left, _, right, _) in found:
            before = cells[-1] if cells else None
            if before and left < before.left:
                return []
            near = before is not None and left - before.right <= _GAP * row.size
            opens = first == last and _CURRENCY.match(chars.text, first) is not None
            if before and (_is_currency(before, chars) or (near and not opens)):
                cells[-1] = Cell(before.start, last + 1, before.left, max(before.right, right))
            else:
                cells.append(Cell(first, last + 1, left, right))
    return cells


def _is_currency(cell: Cell, chars: PageChars) -> bool:
    return cell.end - cell.start == 1 and _CURRENCY.match(chars.text, cell.start) is not None


def _is_header(names: Sequence[str]) -> bool:
    short = all(len(name) <= _LONGEST_NAME and not name.endswith((".", ",", ";", ":")) for name in names)
    return len(names) > 1 and short and all(_NAME.search(name) for name in names) and len(set(names)) == len(names)


def _are_short(body: Sequence[Sequence[Cell]]) -> bool:
    lengths = sorted(cell.end - cell.start for row in body for cell in row[1:])
    return bool(lengths) and lengths[len(lengths) // 2] <= _USUAL_CELL


def _named(row: Sequence[Cell], header: Sequence[Cell], names: Sequence[str]) -> list[Cell]:
    """The cells with the names they stand under; none when one stands under no name or two."""
    named: list[Cell] = []
    used = -1
    for number, cell in enumerate(row):
        under = [i for i, top in enumerate(header) if min(top.right, cell.right) > max(top.left, cell.left)]
        if len(under) == 1 and under[0] > used:
            used = under[0]
            named.append(Cell(cell.start, cell.end, cell.left, cell.right, names[used]))
        elif not under and number == 0 and cell.right <= header[0].left:  # the row's own name
            named.append(cell)
        else:
            return []
    return named if used >= 0 and len(named) > 1 else []
