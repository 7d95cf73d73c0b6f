"""The report on what was read of a library: a row a document, totals by state, and a CSV file for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from core.base.files import atomic_file
from core.base.types import Document
from core.store import documents

COLUMNS = (
    "path", "within", "state", "reason", "type", "reader", "title", "language", "pages", "pages_by_ocr", "characters",
    "passages", "copy_of", "warnings", "seconds", "bytes",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Coverage:
    """Totals over all documents. `ocr_pages` are pages whose text was read from their picture."""

    states: dict[str, int]
    documents: int
    pages: int
    ocr_pages: int
    characters: int
    passages: int
    warnings: int  # documents with a warning


def coverage(db: Database) -> Coverage:
    row = db.execute(
        "SELECT count(*), coalesce(sum(pages), 0), coalesce(sum(json_array_length(ocr_pages)), 0), "
        "coalesce(sum(characters), 0), coalesce(sum(warnings != '[]'), 0) FROM document"
    ).fetchone()
    passages = int(db.execute("SELECT count(*) FROM passage").fetchone()[0])
    states = {state.value: number for state, number in sorted(documents.counts(db).items())}
    return Coverage(states, row[0], row[1], row[2], row[3], passages, row[4])


def write_csv(db: Database, path: Path) -> int:
    """Write a line a document to `path` (UTF-8 with a mark, so that spreadsheets know it); returns how many.

    Raises:
        DiskFull, NoPermission
    """
    written = 0
    paths: dict[int, str] = {}
    with atomic_file(path) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        table = csv.writer(text)
        table.writerow(COLUMNS)
        for document in _all(db):
            table.writerow([_safe(value) for value in _row(db, document, paths)])
            written += 1
        text.detach()  # flushes; the file is closed by its own block
    return written


def _all(db: Database) -> Iterator[Document]:
    offset = 0
    while page := documents.documents(db, offset=offset, limit=_AT_ONCE):
        yield from page
        offset += len(page)


def _row(db: Database, d: Document, paths: dict[int, str]) -> tuple[object, ...]:
    return (
        d.path, d.external_id, d.state.value, d.reason, d.media_type, d.reader, d.title, d.language, d.pages or "",
        len(d.ocr_pages) or "", d.characters, d.passages, _owner(db, d.copy_of, paths), " ".join(d.warnings),
        round(d.seconds, 2), d.size,
    )  # fmt: skip


def _owner(db: Database, document_id: int | None, paths: dict[int, str]) -> str:
    if document_id is None:
        return ""
    if document_id not in paths:
        owner = documents.document(db, document_id)
        paths[document_id] = owner.path if owner else ""
    return paths[document_id]


def _safe(value: object) -> object:
    """A file's name must not become a formula in a spreadsheet (OWASP: CSV injection)."""
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
        return "'" + value if value.startswith(_FORMULA) else value
    return value
