"""The streams of a workbook: shared strings, and the cells of a sheet with their types and formats."""

from __future__ import annotations

from collections.abc import Mapping

from core.ingest.readers.number_format import built_in, show
from core.ingest.readers.ooxml import Element, attribute, child
from core.ingest.readers.sheet_rows import LAST_COLUMN, LONGEST_CELL, Cell, SheetRows, column_number

_MOST_STRINGS = 4_000_000
MOST_CELLS = 10_000_000  # of a workbook, empty ones too
_MOST_PRINTED = 100  # page headers and footers of a sheet
_PRINTED = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")


class Formats:
    """The number format and the weight of the letters of each cell style."""

    def __init__(self, styles: Element | None) -> None:
        self.epoch_1904 = False
        codes: dict[int, str] = {}
        for node in _nodes(child(styles, "numFmts")):
            codes[_number(attribute(node, "numFmtId"))] = attribute(node, "formatCode")
        looks = _nodes(child(styles, "cellXfs"))
        ids = [_number(attribute(node, "numFmtId")) for node in looks]
        self._codes = [codes.get(key) or built_in(key) for key in ids]
        bold = [child(font, "b") is not None for font in _nodes(child(styles, "fonts"))]
        fonts = [_number(attribute(node, "fontId")) for node in looks]
        self._strong = [font < len(bold) and bold[font] for font in fonts]

    def strong(self, style: int) -> bool:
        return style < len(self._strong) and self._strong[style]

    def _plain(self, style: int) -> bool:
        return style >= len(self._codes) or self._codes[style] == "General"

    def show(self, raw: str, style: int) -> str:
        """The number `raw` as cells of `style` show it; as it is when it is no number."""
        if raw.isdecimal() and self._plain(style):
            return raw
        try:
            value = float(raw)
        except ValueError:
            return raw
        if value != value or value in (float("inf"), float("-inf")):
            return ""
        return show(value, self._codes[style] if style < len(self._codes) else "General", self.epoch_1904)


class SharedStrings:
    """Hears `sharedStrings.xml`. `full` when there were more texts than are kept; those that are missing are empty."""

    def __init__(self, limit: int) -> None:
        self.full = False
        self._limit = limit
        self._texts: list[str] = []
        self._length = 0
        self._parts: list[str] = []
        self._inside = False
        self._aid = False  # in a phonetic run, which repeats the text in another script

    def __getitem__(self, index: int) -> str:
        return self._texts[index] if 0 <= index < len(self._texts) else ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "si":
            self._parts = []
        elif name == "rPh":
            self._aid = True
        self._inside = name == "t" and not self._aid

    def end(self, name: str) -> None:
        self._inside = False
        if name == "rPh":
            self._aid = False
        elif name == "si" and not self.full:
            text = "".join(self._parts)[:LONGEST_CELL]
            self._texts.append(text)
            self._length += len(text)
            self.full = self._length > self._limit or len(self._texts) >= _MOST_STRINGS

    def text(self, data: str) -> None:
        if self._inside and len(self._parts) < LONGEST_CELL:
            self._parts.append(data)


class SheetCells:
    """Hears a sheet's XML and hands its rows on. `printed` holds page headers and footers, `number` the row at hand.

    `count` is how many cells there were, empty ones too.
    """

    def __init__(self, rows: SheetRows, strings: SharedStrings, formats: Formats) -> None:
        self.printed: list[str] = []
        self.number = 0
        self.count = 0
        self._rows, self._strings, self._formats = rows, strings, formats
        self._cells: dict[int, Cell] = {}
        self._column = 0
        self._type, self._style = "", 0
        self._parts: list[str] = []
        self._inside = False
        self._aid = False
        self._length = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._inside = False
        if name == "c":
            self.count += 1
            self._column = column_number(attributes.get("r", "")) or self._column + 1
            self._type = attributes.get("t", "n")
            self._style = _number(attributes.get("s", "0"))
            self._clear()
        elif name == "row":
            self.number = _number(attributes.get("r", "")) or self.number + 1
            self._column = 0
        elif name == "rPh":
            self._aid = True
        elif name in ("v", "t"):
            self._inside = not self._aid
        elif name in _PRINTED:
            self._clear()
            self._inside = True

    def end(self, name: str) -> None:
        self._inside = False
        if name == "c":
            self._cell()
        elif name == "row":
            self._rows.row(self.number, self._cells)
            self._cells = {}
        elif name == "rPh":
            self._aid = False
        elif name in _PRINTED and len(self.printed) < _MOST_PRINTED:
            self.printed.append("".join(self._parts))

    def text(self, data: str) -> None:
        if self._inside and self._length < LONGEST_CELL:
            self._parts.append(data)
            self._length += len(data)

    def _clear(self) -> None:
        self._parts, self._length = [], 0

    def _cell(self) -> None:
        raw = "".join(self._parts)[:LONGEST_CELL]
        if not raw or self._column > LAST_COLUMN or self._type == "e":
            return
        strong = self._formats.strong(self._style)
        if self._type == "s":
            cell = Cell(self._strings[_number(raw)], strong=strong)
        elif self._type == "b":
            cell = Cell("TRUE" if raw.strip() == "1" else "FALSE", number=True)
        elif self._type == "n":
            cell = Cell(self._formats.show(raw, self._style), number=True, strong=strong)
        else:
            cell = Cell(raw, number=self._type == "d", strong=strong)
        self._cells[self._column] = cell


def _nodes(node: Element | None) -> list[Element]:
    return list(node) if node is not None else []


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
