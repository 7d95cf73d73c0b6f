"""What was read of a library: totals by state, and the report on every document as a file."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from core.base.wire import to_plain
from core.cli.output import out, print_json
from core.library import Library
from core.store.coverage import Coverage


def show(library: Path, csv: Path | None, *, as_json: bool) -> None:
    """Print the totals; write the report to `csv` when it is given.

    Raises:
        NotALibrary, NoPermission, DiskFull
    """
    reader = Library.open(library)
    try:
        found = reader.coverage()
        lines = reader.write_report(csv.resolve()) if csv else 0
    finally:
        reader.close()
    if as_json:
        print_json({**to_plain(found), "csv": str(csv) if csv else "", "lines": lines})
        return
    _print(found)
    if csv:
        out.print(f"{lines} lines written to {escape(str(csv))}")


def _print(found: Coverage) -> None:
    out.print(f"{found.documents} documents, {found.pages} pages ({found.ocr_pages} read from their picture)")
    out.print(f"{found.characters} characters, {found.passages} passages")
    for state, number in found.states.items():
        out.print(f"  {state}: {number}")
    if found.warnings:
        out.print(f"{found.warnings} documents with a warning")
