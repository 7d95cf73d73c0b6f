"""Filters as the set of passages that may answer, found by one SQL query before any scoring."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.base.errors import BadQuery
from core.base.files import path_forms, path_shown
from core.base.types import Filters
from core.text.letters import plain

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
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")

_Clause = tuple[str, Sequence[object]]


def allowed(db: Database, filters: Filters) -> npt.NDArray[np.int64] | None:
    """Ids of the passages that `filters` let through, ascending; None when there are no filters.

    A passage that copies share is let through for any one of them.

    Raises:
        BadQuery: a date that is none.
    """
    if not filters:
        return None
    where, values = _all(_clauses(filters, of_passage=True))
    sql = (
        "SELECT DISTINCT p.id FROM document d JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) "
        f"WHERE {where or '1'} ORDER BY p.id"
    )
    return np.fromiter((row[0] for row in _with_functions(db).execute(sql, values)), np.int64)


def of_document(db: Database, filters: Filters) -> tuple[str, Sequence[object]]:
    """The part of `filters` that is about the document `d`, as a condition with its values, to be asked of `db`."""
    where, values = _all(_clauses(filters, of_passage=False))
    _with_functions(db)
    return where or "1", values


def _clauses(filters: Filters, *, of_passage: bool) -> list[_Clause]:
    found = [*_document_clauses(filters), *_named_clauses(filters)]
    if of_passage and filters.languages:
        found.append(_in("p.language", [language.lower() for language in filters.languages]))
    found += [clause for one in filters.also for clause in _clauses(one, of_passage=of_passage)]
    for one in filters.none:
        inner = _clauses(one, of_passage=of_passage)
        if inner and (of_passage or not one.languages):
            found.append(_not(_all(inner)))
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


def _named_clauses(filters: Filters) -> list[_Clause]:
    found: list[_Clause] = []
    for column, wanted in (("d.title", filters.titles), ("d.author", filters.authors)):
        if wanted:
            found.append(_any([(f"instr(plain_text({column}), ?) > 0", [plain_text(value)]) for value in wanted]))
    if filters.names:
        found.append(_any([_name(plain_text(name)) for name in filters.names]))
    return found


def _name(name: str) -> _Clause:
    """Of a file, or of a file within a file."""
    shown = "plain_name(d.path, d.external_id)"
    if "*" in name or "?" in name:
        return f"{shown} GLOB ?", [name.replace("[", "[[]")]
    return f"instr({shown}, ?) > 0", [name]


def plain_text(text: str) -> str:
    """Without case, compatibility forms and accents."""
    return plain(text, "")


def plain_name(path: str, external_id: str) -> str:
    """The last part of a path, of the inner one where a file holds files."""
    return plain_text(re.split(r"[/\\]", external_id or path_shown(path))[-1])


def _with_functions(db: Database) -> Database:
    """SQLite knows upper and lower case of ASCII only."""
    db.conn.create_function("plain_text", 1, plain_text, deterministic=True)
    db.conn.create_function("plain_name", 2, plain_name, deterministic=True)
    return db


def _in_folder(folder: str) -> _Clause:
    """The path itself or what lies under it, whichever separator the system has and however its names are written.

    A text that is no absolute path is looked for as one or more whole folder names within the path.
    """
    if not re.match(r"[/\\]|[A-Za-z]:[/\\]|~|bytes:[/\\]", folder):
        inner = "/" + plain_text(folder).strip("/\\").replace("\\", "/") + "/"
        within = ("instr(replace(plain_text(d.path), char(92), '/'), ?) > 0", [inner])
        return _any([within, _prefixed(folder)])
    if folder.startswith("~"):
        with contextlib.suppress(RuntimeError):  # no such account: a folder of that name, then
            folder = str(Path(folder).expanduser())
    return _prefixed(folder)


def _prefixed(folder: str) -> _Clause:
    forms = list(dict.fromkeys(form for text in (folder, folder.rstrip("/\\")) for form in path_forms(text)))
    under = list(dict.fromkeys(form.rstrip("/\\") + separator for form in forms for separator in "/\\"))
    same, values = _in("d.path", forms)
    clauses = [(same, values), *(("substr(d.path, 1, ?) = ?", [len(start), start]) for start in under)]
    return _any(clauses)


def _any(clauses: Sequence[_Clause]) -> _Clause:
    return " OR ".join(f"({sql})" for sql, _ in clauses), [v for _, values in clauses for v in values]


def _all(clauses: Sequence[_Clause]) -> _Clause:
    return " AND ".join(f"({sql})" for sql, _ in clauses), [v for _, values in clauses for v in values]


def _not(clause: _Clause) -> _Clause:
    sql, values = clause
    return f"NOT coalesce(({sql}), 0)", values


def _in(column: str, values: Sequence[object]) -> _Clause:
    return f"{column} IN ({', '.join('?' * len(values))})", values


def _date(text: str) -> str:
    if not DATE.fullmatch(text[:10]):
        raise BadQuery(f"{text!r} is not a date.", "Write dates as 2024-03-31, 2024-03 or 2024.")
    return text[:10]
