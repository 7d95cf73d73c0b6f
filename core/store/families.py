"""Rows of families: MinHash signatures of documents, their bands, and who belongs together.

A document that owns passages has a signature once it was compared (empty when it is too short to be). A negative
family number says that a member has gone or changed: the rest is grouped anew by the next comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlite_utils import Database

_OWNS = "d.copy_of IS NULL AND d.passages > 0"


def forget(db: Database, document_id: int) -> None:
    """The document's content changes or goes: it leaves its family, which may fall apart without it."""
    db.execute("DELETE FROM signature WHERE document_id = ?", (document_id,))
    db.execute("DELETE FROM band WHERE document_id = ?", (document_id,))
    row = db.execute("SELECT family FROM document WHERE id = ?", (document_id,)).fetchone()
    if row is None or row[0] is None:
        return
    db.execute("UPDATE document SET family = NULL WHERE id = ?", (document_id,))
    if row[0] > 0:
        db.execute("UPDATE document SET family = -family WHERE family = ?", (row[0],))


def hand_over(db: Database, old: int, heir: int) -> None:
    """`heir` holds from now on what `old` held."""
    for table in ("signature", "band"):
        db.execute(f"DELETE FROM {table} WHERE document_id = ?", (heir,))
        db.execute(f"UPDATE {table} SET document_id = ? WHERE document_id = ?", (heir, old))
    # `old` may be loosened by itself, not grouped yet: then the heir is to be grouped
    db.execute("UPDATE document SET family = (SELECT family FROM document WHERE id = ?) WHERE id = ?", (old, heir))


def loosen(db: Database, document_id: int) -> None:
    """The document is to be grouped, whatever happens until then."""
    db.execute("UPDATE document SET family = -id WHERE id = ? AND family IS NULL", (document_id,))


def without_signature(db: Database) -> list[int]:
    rows = db.execute(
        f"SELECT d.id FROM document d WHERE {_OWNS} "
        "AND NOT EXISTS (SELECT 1 FROM signature s WHERE s.document_id = d.id) ORDER BY d.id"
    ).fetchall()
    return [int(r[0]) for r in rows]


def put(db: Database, document_id: int, signature: bytes, keys: Sequence[int]) -> None:
    """Store a signature with its band keys (signed 64 bit)."""
    db.execute("INSERT OR REPLACE INTO signature (document_id, data) VALUES (?, ?)", (document_id, signature))
    db.execute("DELETE FROM band WHERE document_id = ?", (document_id,))
    db.conn.executemany(
        "INSERT INTO band (band, key, document_id) VALUES (?, ?, ?)",
        [(band, key, document_id) for band, key in enumerate(keys)],
    )


def loose(db: Database) -> list[int]:
    """Documents of families to be grouped anew."""
    return [int(r[0]) for r in db.execute(f"SELECT d.id FROM document d WHERE d.family < 0 AND {_OWNS}").fetchall()]


def buckets(db: Database, documents: Iterable[int]) -> Iterator[list[int]]:
    """Sets of documents with one band in common, each holding at least one of `documents`."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS compared (id INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM compared")
    db.conn.executemany("INSERT OR IGNORE INTO compared (id) VALUES (?)", ((d,) for d in documents))
    rows = db.execute(
        "SELECT o.band, o.key, o.document_id FROM "
        "(SELECT DISTINCT b.band, b.key FROM compared c CROSS JOIN band b ON b.document_id = c.id) t "
        "CROSS JOIN band o ON o.band = t.band AND o.key = t.key ORDER BY 1, 2, 3"
    )
    place: tuple[int, int] | None = None
    bucket: list[int] = []
    for band, key, document_id in rows:
        if (band, key) != place:
            if len(bucket) > 1:
                yield bucket
            place, bucket = (band, key), []
        bucket.append(int(document_id))
    if len(bucket) > 1:
        yield bucket


def signatures(db: Database, documents: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for at in range(0, len(documents), 500):
        part = tuple(documents[at : at + 500])
        marks = ", ".join("?" * len(part))
        rows = db.execute(f"SELECT document_id, data FROM signature WHERE document_id IN ({marks})", part)
        found.update((int(i), bytes(data)) for i, data in rows.fetchall())
    return found


def family_of(db: Database) -> dict[int, int]:
    """The families by their owning documents, for those that have one."""
    rows = db.execute(f"SELECT d.id, d.family FROM document d WHERE d.family IS NOT NULL AND {_OWNS}").fetchall()
    return {int(i): int(f) for i, f in rows}


def set_family(db: Database, documents: Sequence[int]) -> None:
    """One family of these owners and their copies, named by the smallest id; a single document has none."""
    number = None
    if len(documents) > 1:
        number = min(
            int(db.execute("SELECT min(id) FROM document WHERE id = ? OR copy_of = ?", (d, d)).fetchone()[0])
            for d in documents
        )
    for document_id in documents:
        db.execute(
            "UPDATE document SET family = ? WHERE (id = ? OR copy_of = ?) AND family IS NOT ?",
            (number, document_id, document_id, number),
        )
