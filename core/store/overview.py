"""What a person asks of roots and documents beside their lists: what lies in a folder, what resembles a document."""

from __future__ import annotations

from dataclasses import dataclass

from sqlite_utils import Database

from core.base.types import Document
from core.store import documents, jobs
from core.store.documents import Root

_JOBS = 50  # the newest ones, searched for the last look at a folder


@dataclass(frozen=True, slots=True)
class RootSummary:
    """A root with its numbers. `looked` is when it was last looked at (ISO 8601, UTC), empty for never."""

    root: Root
    files: int
    documents: int
    looked: str


@dataclass(frozen=True, slots=True)
class Relatives:
    """Documents that say the same, and other versions of one; each the newest file first."""

    copies: tuple[Document, ...]
    versions: tuple[Document, ...]


def summaries(db: Database) -> list[RootSummary]:
    """Every root, in the order of the paths."""
    sql = "SELECT root_id, count(*) FROM file GROUP BY 1"
    files = {int(i): int(n) for i, n in db.execute(sql).fetchall()}
    sql = "SELECT f.root_id, count(*) FROM document d JOIN file f ON f.id = d.file_id GROUP BY 1"
    read = {int(i): int(n) for i, n in db.execute(sql).fetchall()}
    done = [job for job in jobs.recent(db, _JOBS) if job.kind == "ingest" and job.state == jobs.DONE]
    return [
        RootSummary(root, files.get(root.id, 0), read.get(root.id, 0), _looked(root, done))
        for root in documents.roots(db)
    ]


def _looked(root: Root, done: list[jobs.JobRow]) -> str:
    """The end of the newest job that found the root in its place."""
    return next((j.ended for j in done if j.ended >= root.added and root.path not in j.outcome.get("away", ())), "")


def relatives(db: Database, document_id: int, limit: int = 20) -> Relatives:
    """At most `limit` of each."""
    row = db.execute("SELECT coalesce(copy_of, id), abs(family) FROM document WHERE id = ?", (document_id,)).fetchone()
    if row is None:
        return Relatives((), ())
    owner, family = row
    same = _newest(db, "(d.id = ? OR d.copy_of = ?) AND d.id != ?", (owner, owner, document_id), limit)
    others = (
        _newest(db, "d.family IN (?, ?) AND coalesce(d.copy_of, d.id) != ?", (family, -family, owner), limit)
        if family is not None
        else ()
    )
    return Relatives(same, others)


def _newest(db: Database, where: str, values: tuple[int, ...], limit: int) -> tuple[Document, ...]:
    rows = db.execute(
        f"SELECT d.id FROM document d JOIN file f ON f.id = d.file_id WHERE {where} "
        "ORDER BY f.mtime_ns DESC, d.path, d.external_id LIMIT ?",
        (*values, limit),
    ).fetchall()
    found = (documents.document(db, int(row[0])) for row in rows)
    return tuple(document for document in found if document is not None)
