"""How a table becomes lines of text."""

from __future__ import annotations

from collections.abc import Sequence


def table_rows(cells: Sequence[Sequence[str]], has_header: bool) -> list[str]:
    """One line a row, cells joined by " | ".

    With a header row of short names each later cell is "name: value", so that a row is understood alone.
    Repeats of a merged cell and empty cells are left out.
    """
    rows = [list(row) for row in cells]
    header = rows[0] if has_header and rows else []
    names = header if len(rows) > 1 and all(len(name) <= 60 for name in header) and sum(map(bool, header)) > 1 else []
    lines = []
    for index, row in enumerate(rows):
        named = names if index and len(row) == len(names) else []
        line = " | ".join(_cells(row, named))
        if line:
            lines.append(line)
    return lines


def _cells(row: Sequence[str], names: Sequence[str]) -> list[str]:
    if not names:
        return [cell for cell in row if cell]
    return [f"{name}: {cell}" if name and name != cell else cell for name, cell in zip(names, row, strict=True) if cell]
