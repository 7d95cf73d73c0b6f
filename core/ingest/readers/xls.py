"""Excel workbooks of the old kind (.xls, BIFF 2 to 8) and binary ones (.xlsb): one page a sheet, as for new ones.

The libraries hand out cells and formats; rows and the names of columns are found as in new workbooks.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from core.base.types import ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.number_format import plain, show
from core.ingest.readers.old_office import Compound, Locked, NotUnderstood, read_old
from core.ingest.readers.sheet_rows import Cell, SheetRows, column_name


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    direct = _read_packed if zipfile.is_zipfile(path) else _read_binary
    yield from read_old(path, limits, tick, direct, "xlsx")


def _read_binary(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    import xlrd
    from xlrd.biffh import XLRDError

    builder = TextBuilder(limits.output_characters)
    with Compound(path, limits) as compound:  # the library's own way into the file may go round in circles
        data = compound.stream("Workbook") or compound.stream("Book")
    if not data:
        raise NotUnderstood
    try:
        with xlrd.open_workbook(
            file_contents=data, logfile=_Silent(), on_demand=True, formatting_info=True, ragged_rows=True
        ) as book:
            for number, name in enumerate(book.sheet_names(), start=1):
                _binary_sheet(book, number, name, builder, tick)
    except XLRDError as error:
        if "encrypt" in str(error).lower() or "password" in str(error).lower():
            raise Locked from error
        raise NotUnderstood from error
    except (AssertionError, AttributeError, UnicodeError, ArithmeticError) as error:  # what it raises on damaged files
        raise NotUnderstood from error
    with Compound(path, limits) as compound:
        return compound.build(builder)


def _binary_sheet(book: Any, number: int, name: str, builder: TextBuilder, tick: Tick) -> None:
    sheet = book.sheet_by_index(number - 1)
    builder.leave_headings()
    builder.open_page(number, label=f"{name} (hidden)" if sheet.visibility else name)
    rows = SheetRows(builder, name)
    for index in range(sheet.nrows):
        tick()
        if builder.full:
            break
        cells = {column + 1: _binary_cell(book, cell) for column, cell in enumerate(sheet.row(index))}
        rows.row(index + 1, cells)
    for (row, column), note in sorted(sheet.cell_note_map.items()):
        place = f"{column_name(column + 1)}{row + 1}"
        by = f" by {note.author}" if note.author else ""
        text = note.text.removeprefix(f"{note.author}:").strip() if note.author else note.text.strip()
        rows.say(f"Comment on {place}{by}: {text}" if text else "", place)
    rows.finish()
    book.unload_sheet(number - 1)


def _binary_cell(book: Any, cell: Any) -> Cell:
    import xlrd

    look = book.xf_list[cell.xf_index] if cell.xf_index is not None and cell.xf_index < len(book.xf_list) else None
    strong = look is not None and look.font_index < len(book.font_list) and bool(book.font_list[look.font_index].bold)
    if cell.ctype == xlrd.XL_CELL_TEXT:
        return Cell(cell.value, strong=strong)
    if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        known = book.format_map.get(look.format_key) if look is not None else None
        code = known.format_str if known is not None else "General"
        return Cell(show(cell.value, code or "General", bool(book.datemode)), number=True, strong=strong)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return Cell("TRUE" if cell.value else "FALSE", number=True)
    return Cell("")


class _Silent:
    """Takes the library's complaints; what they mean for the person is in the document's state."""

    def write(self, _: str) -> int:
        return 0

    def flush(self) -> None: ...


def _read_packed(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    from python_calamine import CalamineWorkbook, SheetVisibleEnum

    with zipfile.ZipFile(path) as package:
        if sum(info.file_size for info in package.infolist()) > limits.inflated_bytes:
            raise NotUnderstood
    builder = TextBuilder(limits.output_characters)
    book = CalamineWorkbook.from_path(str(path))
    for number, about in enumerate(book.sheets_metadata, start=1):
        tick()
        hidden = about.visible != SheetVisibleEnum.Visible
        builder.leave_headings()
        builder.open_page(number, label=f"{about.name} (hidden)" if hidden else about.name)
        rows = SheetRows(builder, about.name)
        sheet = book.get_sheet_by_name(about.name)
        for index, row in enumerate(sheet.to_python(skip_empty_area=False), start=1):
            tick()
            if builder.full:
                break
            rows.row(index, {column: _packed_cell(value) for column, value in enumerate(row, start=1)})
        rows.finish()
    return builder.build()


def _packed_cell(value: object) -> Cell:
    if isinstance(value, bool):
        return Cell("TRUE" if value else "FALSE", number=True)
    if isinstance(value, (int, float)):
        return Cell(plain(value), number=True)
    if isinstance(value, datetime):
        return Cell(value.isoformat(" ").removesuffix(" 00:00:00"), number=True)
    if isinstance(value, (date, time, timedelta)):
        return Cell(str(value), number=True)
    return Cell(str(value or ""))
