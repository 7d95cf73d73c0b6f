"""The sheets of an OpenDocument workbook, row by row from a stream. Repeated rows and cells are never unfolded."""

from __future__ import annotations

from typing import IO

from lxml import etree

from core.ingest.limits import Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.odf_text import Looks, inline
from core.ingest.readers.ooxml import Element, attribute, name_of
from core.ingest.readers.sheet_rows import LAST_COLUMN, Cell, SheetRows, column_name

_NUMBERS = frozenset(["float", "percentage", "currency", "date", "time", "boolean"])
_MOST_REPEATS = 50  # equal cells in a row that are all said
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLES = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}automatic-styles"


def read_sheets(stream: IO[bytes], builder: TextBuilder, styles: Element | None, tick: Tick) -> None:
    """Write the sheets of the content in `stream` into `builder`.

    Raises:
        etree.XMLSyntaxError: the content is no XML at all.
    """
    events = etree.iterparse(
        stream, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, recover=True,
        tag=(f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}shapes", _STYLES),
    )  # fmt: skip
    looks, sheet, number, depth = Looks(styles), _Sheet(builder, ""), 0, 0
    for event, node in events:
        tick()
        name = name_of(node)
        if name == "table":
            depth += 1 if event == "start" else -1
            if event == "start" and depth == 1:
                number += 1
                sheet = _open(builder, node, number, looks)
            elif event == "end" and depth == 0:
                sheet.finish()
        elif event == "end" and name == "automatic-styles":
            looks = Looks(styles, node)
        elif event == "end" and depth == 1:
            sheet.row(node) if name == "table-row" else sheet.shapes(node)
            _forget(node)
        if builder.full:
            return


def _open(builder: TextBuilder, table: Element, number: int, looks: Looks) -> _Sheet:
    name = attribute(table, "name")
    hidden = " (hidden)" if attribute(table, "style-name") in looks.hidden else ""
    builder.leave_headings()
    builder.open_page(number, label=f"{name}{hidden}")
    return _Sheet(builder, name)


def _forget(node: Element) -> None:
    """Free a row that was read, and all before it."""
    node.clear()
    above = node.getparent()
    while above is not None and node.getprevious() is not None:
        del above[0]


class _Sheet:
    def __init__(self, builder: TextBuilder, name: str) -> None:
        self._rows = SheetRows(builder, name)
        self._number = 1
        self._comments: list[tuple[str, str]] = []

    def row(self, node: Element) -> None:
        cells: dict[int, Cell] = {}
        column = 1
        for item in node:
            if name_of(item) not in ("table-cell", "covered-table-cell") or column > LAST_COLUMN:
                continue
            count = _count(item, "number-columns-repeated")
            cell = self._cell(item, column)
            if cell.text.strip():
                cells |= {column + step: cell for step in range(min(count, _MOST_REPEATS))}
            column += count
        self._rows.row(self._number, cells)
        self._number += _count(node, "number-rows-repeated")

    def _cell(self, item: Element, column: int) -> Cell:
        kind = attribute(item, "value-type")
        extras: list[Element] = []
        text = "\n".join(inline(node, extras) for node in item if name_of(node) in ("p", "h"))
        if kind == "date":
            text = attribute(item, "date-value").removesuffix("T00:00:00").replace("T", " ") or text
        for note in (node for node in item if name_of(node) == "annotation"):
            author = next((n.text or "" for n in note if name_of(n) == "creator"), "")
            said = "\n".join(inline(node, []) for node in note.iter() if name_of(node) == "p")
            place = f"{column_name(column)}{self._number}"
            self._comments.append((place, f"Comment on {place}{f' by {author}' if author else ''}: {said}"))
        return Cell(text or attribute(item, "value"), number=kind in _NUMBERS)

    def shapes(self, node: Element) -> None:
        for below in node.iter():
            if name_of(below) in ("p", "h"):
                self._comments.append(("", inline(below, [])))

    def finish(self) -> None:
        self._rows.finish()
        for place, text in self._comments:
            if text.strip():
                self._rows.say(text, place)


def _count(node: Element, name: str) -> int:
    text = attribute(node, name)
    return max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1
