"""Tables as text (CSV, TSV): a row is a block that names its columns, so that it is understood alone."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.charset import decode

_SAMPLE = 1 << 20
_DELIMITERS = ",;\t|"
_LONGEST_CELL = 16 << 20
_LONGEST_NAME = 60
_SEPARATOR_LINE = re.compile(r"sep=(.)\s*", re.I)
_NUMBER = re.compile(r"[-+(]?[\d.,'\s]*\d[\d.,'\s]*[)%€$£]?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """One document; the file is never held whole."""
    beginning, telling = _samples(path)
    decoded = decode(telling)
    builder = TextBuilder(limits.output_characters)
    old_limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open("r", encoding=decoded.encoding, errors="replace", newline="") as lines:
            lost = _add_rows(lines, _lines(decode(beginning).text), builder, tick)
    finally:
        csv.field_size_limit(old_limit)
    warnings = (f"{lost:,} characters could not be read as {decoded.encoding}.",) if lost else ()
    yield builder.build(warnings=warnings)


def _samples(path: Path) -> tuple[bytes, bytes]:
    """The beginning of the file, and the first part of it that tells its encoding: it holds more than ASCII."""
    with path.open("rb") as file:
        beginning = part = _whole_lines(file.read(_SAMPLE))
        file.seek(len(beginning))
        while part.isascii() and b"\x1b" not in part and (following := file.read(_SAMPLE)):
            part = _whole_lines(following)
            file.seek(len(part) - len(following), 1)
    return beginning, beginning if part.isascii() else part


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1] if len(data) == _SAMPLE and b"\n" in data else data


def _lines(text: str) -> list[str]:
    return text.lstrip("\ufeff").splitlines()[:200]


def _add_rows(lines: Iterator[str], beginning: Sequence[str], builder: TextBuilder, tick: Tick) -> int:
    """Adds every row; returns how many replacement characters were met."""
    delimiter, skipped = find_delimiter(beginning)
    rows = csv.reader(_clean(lines), delimiter=delimiter)
    numbered = ((number, [collapse(cell) for cell in row]) for number, row in enumerate(rows, 1) if number > skipped)
    filled = ((number, row) for number, row in numbered if any(row))
    first = list(islice(filled, 20))
    names = _header([row for _, row in first])
    lost = 0
    for index, (number, row) in enumerate(chain(first, filled)):
        tick()
        line = row_text(row, names if index else [], delimiter)
        lost += line.count("\ufffd")
        builder.add(line, BlockKind.TABLE_ROW, separator="\n", place=f"row {number}")
        if builder.full:
            break
    return lost


def _clean(lines: Iterator[str]) -> Iterator[str]:
    """Lines without zero characters (which old versions of the parser refuse), the first without its mark."""
    for index, line in enumerate(lines):
        yield (line if index else line.lstrip("\ufeff")).replace("\0", "")


def find_delimiter(lines: Sequence[str]) -> tuple[str, int]:
    """The character between cells, and how many lines at the top are no rows (`sep=;` as spreadsheets write it).

    The one that cuts most lines into the same number of cells, more than one; ties go to more cells.
    """
    named = _SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    if named:
        return named.group(1), 1

    def regularity(delimiter: str) -> tuple[float, int]:
        try:
            sizes = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            return 0.0, 0
        if not sizes:
            return 0.0, 0
        size, count = max(sizes.items(), key=lambda item: (item[0] > 1, item[1]))
        return (count / sizes.total() if size > 1 else 0.0), size

    return max(_DELIMITERS, key=regularity), 0


def _header(rows: Sequence[Sequence[str]]) -> list[str]:
    """The names of the columns: a first row of short, different words above rows unlike it; else none."""
    if len(rows) < 2:
        return []
    names = list(rows[0])
    given = [name for name in names if name]
    short = all(len(name) <= _LONGEST_NAME for name in given) and len(given) > 1
    if not short or len(set(given)) < len(given) or any(map(_NUMBER.fullmatch, given)):
        return []
    return names


def row_text(row: Sequence[str], names: Sequence[str], delimiter: str) -> str:
    """The row with the names of its columns; as it stands in the file where it does not fit them."""
    if not names or len(row) > len(names) or len(row) < 2:
        return f"{delimiter} ".join(row) if delimiter in ",;" else " | ".join(filter(None, row))
    cells = zip(names, row, strict=False)
    return " | ".join(f"{name}: {cell}" if name and name != cell else cell for name, cell in cells if cell)
