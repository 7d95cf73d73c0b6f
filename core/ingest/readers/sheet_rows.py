"""Rows of a sheet become blocks: "header: value | header: value", each with the range of cells it came from.

A sheet may hold several tables with gaps between them. A row is taken for a table's header when its cells are short
words (or years), and the row below fills the same columns and looks like data: it has numbers, it is not in bold
letters as the header is, or it has three or more columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from core.base.types import BlockKind
from core.ingest.readers.build import TextBuilder, collapse

LAST_COLUMN = 16_384
LONGEST_CELL = 32_767
_LONGEST_NAME = 60
_YEAR = re.compile(r"(?:19|20)\d\d")
_NO_NAME = re.compile(
    r"(?:sheet|table|tabelle|feuil|hoja|foglio|planilha|blad|ark|лист|工作表|シート|시트)\s?\d+", re.I
)


class Cell(NamedTuple):
    text: str
    number: bool = False  # a number, a date or a truth value
    strong: bool = False  # in bold letters


def column_name(column: int) -> str:
    """The letters of a column counted from 1: 1 is A, 28 is AB."""
    letters = ""
    while column:
        column, digit = divmod(column - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


def column_number(reference: str) -> int:
    """The column of a reference such as AB12, counted from 1; 0 when there are no letters."""
    number = 0
    for letter in reference[:4].upper():
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number


class SheetRows:
    """Writes one sheet into a builder. Call `row` for each row with content, in order, then `finish`."""

    def __init__(self, builder: TextBuilder, name: str) -> None:
        self._builder = builder
        self._name = name
        self._header: dict[int, str] = {}
        self._waiting: tuple[int, dict[int, Cell]] | None = None
        self._last = -1

    def row(self, number: int, cells: Mapping[int, Cell]) -> None:
        """`number` counts from 1; `cells` by column, counted from 1."""
        kept = {c: cell for c, cell in sorted(cells.items()) if cell.text.strip() and 1 <= c <= LAST_COLUMN}
        if not kept:
            return
        below = self._waiting is not None and number == self._waiting[0] + 1
        if self._waiting is not None:
            self._emit(self._waiting, kept if below else {})
        self._waiting = (number, kept)

    def finish(self) -> None:
        if self._waiting is not None:
            self._emit(self._waiting, {})
            self._waiting = None

    def say(self, text: str, place: str = "") -> None:
        """Text of the sheet that is no row: a comment, a text box, a page header."""
        self.finish()
        self._begin()
        self._builder.add(text, place=place)

    def _begin(self) -> None:
        """The sheet's name stands above its content, unless it is one that the program gave."""
        if self._last < 0 and not _NO_NAME.fullmatch(self._name.strip()):
            self._builder.heading(self._name, 1)
        self._last = max(self._last, 0)

    def _emit(self, waiting: tuple[int, dict[int, Cell]], below: dict[int, Cell]) -> None:
        number, cells = waiting
        self._begin()
        gap = number != self._last + 1
        heads = _is_header(cells, below) and (gap or not self._header)
        if heads or (gap and not _goes_on(cells, self._header)):
            self._header = {}
        names = {} if len(cells) == 1 < len(self._header) - 1 else self._header  # one cell alone is a title
        texts = []
        for column, cell in cells.items():
            text = _one_line(cell.text)
            name = names.get(column, "")
            texts.append(f"{name}: {text}" if name and name != text else text)
        first, last = min(cells), max(cells)
        place = f"{column_name(first)}{number}" + (f":{column_name(last)}{number}" if last > first else "")
        separator = "\n\n" if gap else "\n"
        self._builder.add(" | ".join(texts), BlockKind.TABLE_ROW, separator=separator, place=place)
        if heads:
            self._header = {column: collapse(cell.text).rstrip(":") for column, cell in cells.items()}
        self._last = number


def _one_line(text: str) -> str:
    """`collapse`, with a short way for what most cells hold."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return collapse(text[:LONGEST_CELL])


def _goes_on(cells: Mapping[int, Cell], header: Mapping[int, str]) -> bool:
    """Whether a row after a gap still belongs to the table of `header`."""
    return set(cells) <= set(header) and 2 * len(cells) > len(header) and any(cell.number for cell in cells.values())


def _is_header(cells: Mapping[int, Cell], below: Mapping[int, Cell]) -> bool:
    """Whether `cells` name the columns of the row `below`."""
    heads = list(cells.values())
    unlike = len({cell.text for cell in heads}) == len(heads)
    if len(heads) < 2 or not below or not unlike or not all(_may_name(cell) for cell in heads):
        return False
    shared, more = set(cells) & set(below), set(below) - set(cells)
    labelled = more == {min(below)} and min(below) < min(cells) and all(below[column].number for column in shared)
    if more and not labelled:  # one column to the left, with the rows' names, needs no name itself
        return False
    years = any(cell.number for cell in heads)
    if years:
        return (labelled or not heads[0].number) and any(cell.number for cell in below.values())
    strong = all(cell.strong for cell in heads) and not all(cell.strong for cell in below.values())
    numbers = any(below[column].number for column in shared)
    return numbers or (strong and len(shared) >= 2) or (len(shared) >= 3 and len(shared) * 2 > len(cells))


def _may_name(cell: Cell) -> bool:
    return len(cell.text) <= _LONGEST_NAME and (not cell.number or bool(_YEAR.fullmatch(cell.text)))
