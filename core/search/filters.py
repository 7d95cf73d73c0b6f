"""Filters as the set of passages that may answer, found by one SQL query before any scoring."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.errors import BadQuery
from core.base.files import path_forms
from core.base.types import Filters

SHORT_TYPES = {
    "pdf": ("application/pdf",),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    "html": ("text/html", "application/xhtml+xml"),
    "md": ("text/markdown",),
    "txt": ("text/plain",),
    "jsonl": ("application/jsonl", "application/x-ndjson", "application/x-jsonlines"),
    "pptx": ("application/vnd.openxmlformats-officedocument.presentationml.presentation",),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    "doc": ("application/msword",),
    "ppt": ("application/vnd.ms-powerpoint",),
    "xls": ("application/vnd.ms-excel", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    "odt": ("application/vnd.oasis.opendocument.text",),
    "ods": ("application/vnd.oasis.opendocument.spreadsheet",),
    "odp": ("application/vnd.oasis.opendocument.presentation",),
    "rtf": ("application/rtf",),
    "hwp": ("application/x-hwp",),
    "epub": ("application/epub+zip",),
    "fb2": ("application/x-fictionbook+xml",),
    "mail": ("message/rfc822", "application/mbox", "application/vnd.ms-outlook", "multipart/related"),
    "csv": ("text/csv", "text/tab-separated-values"),
    "json": ("application/json",),
    "xml": ("application/xml",),
    "ipynb": ("application/x-ipynb+json",),
    "code": ("text/x-source",),
    "image": ("image/png", "image/jpeg", "image/gif", "image/tiff", "image/webp", "image/bmp", "image/jp2"),
}
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")

_Clause = tuple[str, Sequence[object]]


def allowed(db: Database, filters: Filters) -> npt.NDArray[np.int64] | None:
    """Ids of the passages that `filters` let through, ascending; None when there are no filters.

    A passage that copies share is let through for any one of them.

    Raises:
        BadQuery: a date that is none.
    """
    if not filters:
        return None
    clauses = _clauses(filters)
    where = " AND ".join(f"({sql})" for sql, _ in clauses)
    values = [value for _, part in clauses for value in part]
    sql = (
        "SELECT DISTINCT p.id FROM document d JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) "
        f"WHERE {where} ORDER BY p.id"
    )
    return np.fromiter((row[0] for row in db.execute(sql, values)), np.int64)


def of_document(filters: Filters) -> tuple[str, list[object]]:
    """The part of `filters` that is about the document `d`, as a condition with its values."""
    clauses = _document_clauses(filters)
    return " AND ".join(f"({sql})" for sql, _ in clauses) or "1", [v for _, part in clauses for v in part]


def _clauses(filters: Filters) -> list[_Clause]:
    found = _document_clauses(filters)
    if filters.languages:
        found.append(_in("p.language", [language.lower() for language in filters.languages]))
    return found


def _document_clauses(filters: Filters) -> list[_Clause]:
    found: list[_Clause] = []
    if filters.folders:
        found.append(_any([_in_folder(folder) for folder in filters.folders]))
    if filters.types:
        types = [media for name in filters.types for media in SHORT_TYPES.get(name.lower(), (name,))]
        found.append(_in("d.media_type", types))
    if filters.tags:
        sql, values = _in("t.tag", filters.tags)
        found.append((f"EXISTS (SELECT 1 FROM tag t WHERE t.document_id = d.id AND {sql})", values))
    if filters.documents:
        found.append(_in("d.id", filters.documents))
    if filters.after:
        found.append(("d.modified >= ?", [_date(filters.after)]))
    if filters.before:  # as many characters as were given: a whole day, month or year is included
        date = _date(filters.before)
        found.append(("d.modified != '' AND substr(d.modified, 1, ?) <= ?", [len(date), date]))
    return found


def _in_folder(folder: str) -> _Clause:
    """The path itself or what lies under it, whichever separator the system has and however its names are written."""
    forms = list(dict.fromkeys(form for text in (folder, folder.rstrip("/\\")) for form in path_forms(text)))
    under = list(dict.fromkeys(form.rstrip("/\\") + separator for form in forms for separator in "/\\"))
    same, values = _in("d.path", forms)
    clauses = [(same, values), *(("substr(d.path, 1, ?) = ?", [len(start), start]) for start in under)]
    return _any(clauses)


def _any(clauses: Sequence[_Clause]) -> _Clause:
    return " OR ".join(f"({sql})" for sql, _ in clauses), [v for _, values in clauses for v in values]


def _in(column: str, values: Sequence[object]) -> _Clause:
    return f"{column} IN ({', '.join('?' * len(values))})", values


def _date(text: str) -> str:
    if not _DATE.fullmatch(text[:10]):
        raise BadQuery(f"{text!r} is not a date.", "Write dates as 2024-03-31, 2024-03 or 2024.")
    return text[:10]
