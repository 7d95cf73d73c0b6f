"""Checks of documents, copies, families and files beside the database, and mending them.

A document whose rows do not fit together is not guessed at: it is read again from its file by the next scan.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from sqlite_utils import Database

from core.base.types import DocumentState, Finding
from core.ingest import families
from core.ingest.reading import cache_of
from core.ingest.removal import CACHE
from core.store import copies, documents
from core.store import families as family_rows
from core.store.database import transaction

_OWN_PASSAGES = "(SELECT count(*) FROM passage p WHERE p.document_id = d.id)"
_HAS_TEXT = "EXISTS (SELECT 1 FROM document_text t WHERE t.document_id = d.id)"
# each gives the ids of documents that are not as they should be
_COUNTS = f"SELECT d.id FROM document d WHERE d.copy_of IS NULL AND d.passages != {_OWN_PASSAGES}"
_TEXTS = (
    "SELECT d.id FROM document d JOIN file f ON f.id = d.file_id "
    f"WHERE d.copy_of IS NULL AND NOT {_HAS_TEXT} AND NOT (d.hash = '' AND f.complete = 0)"
)
_COPIES = (
    "SELECT d.id FROM document d LEFT JOIN document o ON o.id = d.copy_of WHERE d.copy_of IS NOT NULL AND "
    "(o.id IS NULL OR o.copy_of IS NOT NULL OR o.hash != d.hash OR o.passages = 0 OR o.passages != d.passages "
    f"OR {_HAS_TEXT} OR {_OWN_PASSAGES} > 0)"
)
_FAMILIES = (
    "SELECT s.document_id FROM signature s JOIN document d ON d.id = s.document_id "
    "WHERE d.copy_of IS NOT NULL OR d.passages = 0 OR CASE length(s.data) WHEN 0 THEN 0 "
    f"ELSE {families.BANDS} END != (SELECT count(*) FROM band b WHERE b.document_id = s.document_id) "
    "UNION SELECT min(id) FROM document WHERE family > 0 GROUP BY family HAVING count(*) = 1"
)


def check(library: Path, db: Database) -> list[Finding]:
    """In the same order each time; nothing is changed."""
    unfinished = db.execute("SELECT count(*) FROM file WHERE complete = 0").fetchone()[0]
    return [
        counted("passage counts", len(_ids(db, _COUNTS)), "documents whose passages do not match their count"),
        counted("texts", len(_ids(db, _TEXTS)), "documents without their text"),
        counted("copies", len(_ids(db, _COPIES)), "copies that do not fit the document they are copies of"),
        counted("families", len(_ids(db, _FAMILIES)), "documents whose comparison with others is damaged", "warning"),
        counted("files", unfinished, "files were not read to the end; the next scan reads them", "warning"),
        counted("cache", len(_orphans(library, db)), "folders of files that are not in the library", "warning"),
    ]


def counted(check: str, number: int, what: str, severity: str = "error") -> Finding:
    return Finding(check, severity if number else "ok", f"{number} {what}" if number else "As it should be.")


def repair(library: Path, db: Database, wrong: set[str]) -> None:
    """Mend what the checks named `wrong` found."""
    mend: dict[str, Callable[[], None]] = {
        "passage counts": lambda: _read_again(db, _COUNTS),
        "texts": lambda: _read_again(db, _TEXTS),
        "copies": lambda: _read_again(db, _COPIES),
        "families": lambda: _compare_again(db),
        "cache": lambda: drop_orphans(library, db),
    }
    for name in mend:
        if name in wrong:
            mend[name]()


def _ids(db: Database, sql: str) -> list[int]:
    return [int(row[0]) for row in db.execute(sql).fetchall()]


def _read_again(db: Database, sql: str) -> None:
    """Empty these documents and their copies, and have the next scan read their files again. Their tags stay."""
    with transaction(db):
        wrong = _ids(db, sql)
        for owner in list(wrong):
            wrong += _ids(db, f"SELECT id FROM document WHERE copy_of = {owner}")
            db.execute("UPDATE document SET copy_of = NULL WHERE copy_of = ? OR id = ?", (owner, owner))
        for document_id in wrong:
            family_rows.forget(db, document_id)
            copies.drop_passages(db, document_id)
            db.execute("DELETE FROM document_text WHERE document_id = ?", (document_id,))
            values = (DocumentState.WAITING.value, document_id)
            db.execute("UPDATE document SET hash = '', passages = 0, characters = 0, state = ? WHERE id = ?", values)
            db.execute(
                "UPDATE file SET complete = 0, hash = '' WHERE id = (SELECT file_id FROM document WHERE id = ?)",
                (document_id,),
            )


def _compare_again(db: Database) -> None:
    with transaction(db):
        for document_id in _ids(db, _FAMILIES):
            family_rows.forget(db, document_id)
    families.update(db)


def _orphans(library: Path, db: Database) -> list[Path]:
    kept = {Path(cache_of(str(library / CACHE), row.path)).name for row in documents.files(db)}
    return [path for path in (library / CACHE).glob("*") if path.name not in kept]


def drop_orphans(library: Path, db: Database) -> None:
    """Remove what was read from pictures of files that are not in the library any more."""
    for folder in _orphans(library, db):
        shutil.rmtree(folder, ignore_errors=True)
