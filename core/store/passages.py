"""Passages of a document and the vectors of what the encoder saw of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlite_utils import Database

from core.base.types import Passage
from core.store import judgements

# what SQLite takes as parameters of one statement, with room to spare
_BATCH = 500
_COLUMNS = (
    'p.id, p.document_id, p.ordinal, p.text, p.start, p."end", p.first_page, p.last_page, p.heading_path, '
    "p.language, d.path, d.title, d.external_id, d.media_type, p.place"
)


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage to be stored. `hash` names the text that the encoder will see."""

    text: str
    start: int
    end: int
    first_page: int | None
    last_page: int | None
    heading_path: tuple[str, ...]
    language: str
    hash: str
    place: str = ""


def replace_passages(db: Database, document_id: int, passages: Sequence[NewPassage]) -> int:
    """Make `passages` those of the document; call inside a transaction.

    A passage whose hash and language stay keeps its id, and with it its place in the index; the others get
    new ids, and the ids that go are tombstones at once. Returns how many are new.
    """
    old = db.execute("SELECT id, hash, language FROM passage WHERE document_id = ? ORDER BY ordinal", (document_id,))
    known: dict[tuple[str, str], list[int]] = {}
    for passage_id, content, language in old.fetchall():
        known.setdefault((content, language), []).append(passage_id)
    if known:
        db.execute("UPDATE passage SET ordinal = -1 - ordinal WHERE document_id = ?", (document_id,))
    fresh: list[tuple[Any, ...]] = []
    for ordinal, passage in enumerate(passages):
        same = known.get((passage.hash, passage.language))
        if same:
            _move(db, same.pop(0), ordinal, passage)
        else:
            fresh.append((*_values(ordinal, passage), document_id))
    _insert(db, fresh)
    gone = [(i,) for ids in known.values() for i in ids]
    judgements.follow(db, document_id, [i for (i,) in gone])
    db.conn.executemany("INSERT OR IGNORE INTO tombstone (passage_id) VALUES (?)", gone)
    db.conn.executemany("DELETE FROM passage WHERE id = ?", gone)
    db.execute("UPDATE document SET passages = ? WHERE id = ?", (len(passages), document_id))
    return len(fresh)


def _values(ordinal: int, p: NewPassage) -> tuple[Any, ...]:
    pages, headings = (p.first_page, p.last_page), json.dumps(p.heading_path)
    return (ordinal, p.text, p.start, p.end, *pages, headings, p.language, p.hash, p.place)


def _move(db: Database, passage_id: int, ordinal: int, passage: NewPassage) -> None:
    db.execute(
        'UPDATE passage SET ordinal = ?, text = ?, start = ?, "end" = ?, first_page = ?, last_page = ?, '
        "heading_path = ?, language = ?, hash = ?, place = ? WHERE id = ?",
        (*_values(ordinal, passage), passage_id),
    )


def _insert(db: Database, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows of `_values` and the document's id."""
    db.conn.executemany(
        'INSERT INTO passage (ordinal, text, start, "end", first_page, last_page, heading_path, language, hash, place, '
        "document_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def passages(db: Database, ids: Iterable[int]) -> dict[int, Passage]:
    """The passages with these ids that exist, by id."""
    wanted = list(dict.fromkeys(int(i) for i in ids))
    found = {}
    for at in range(0, len(wanted), _BATCH):
        part = wanted[at : at + _BATCH]
        marks = ", ".join("?" * len(part))
        rows = db.execute(
            f"SELECT {_COLUMNS} FROM passage p JOIN document d ON d.id = p.document_id WHERE p.id IN ({marks})",
            tuple(part),
        )
        found.update({row[0]: _passage(row) for row in rows.fetchall()})
    return found


def of_document(db: Database, document_id: int) -> list[Passage]:
    """The document's passages in order; those of a copy are its owner's, told as its own."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM document d JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) "
        "WHERE d.id = ? ORDER BY p.ordinal",
        (document_id,),
    )
    return [replace(_passage(row), document_id=document_id) for row in rows.fetchall()]


def neighbour(db: Database, document_id: int, ordinal: int) -> Passage | None:
    """The passage at this place of a document, where it has one; that of a copy is its owner's, told as its own."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM document d JOIN passage p ON p.document_id = coalesce(d.copy_of, d.id) "
        "WHERE d.id = ? AND p.ordinal = ?",
        (document_id, ordinal),
    ).fetchone()
    return None if row is None else replace(_passage(row), document_id=document_id)


def _passage(row: tuple[Any, ...]) -> Passage:
    return Passage(
        id=row[0], document_id=row[1], ordinal=row[2], text=row[3], start=row[4], end=row[5], first_page=row[6],
        last_page=row[7], heading_path=tuple(json.loads(row[8])), language=row[9], path=row[10], title=row[11],
        external_id=row[12], media_type=row[13], place=row[14],
    )  # fmt: skip


def count(db: Database) -> int:
    return int(db.execute("SELECT count(*) FROM passage").fetchone()[0])


def last_id(db: Database) -> int:
    """The highest id that a passage ever had."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passage'").fetchone()
    return int(row[0]) if row else 0


def all_hashes(db: Database) -> list[tuple[int, str]]:
    """(passage id, hash) of every passage, in the order of their ids."""
    return [(int(i), str(h)) for i, h in db.execute("SELECT id, hash FROM passage ORDER BY id").fetchall()]


def hashes(db: Database, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for at in range(0, len(ids), _BATCH):
        part = tuple(ids[at : at + _BATCH])
        marks = ", ".join("?" * len(part))
        found.update(db.execute(f"SELECT id, hash FROM passage WHERE id IN ({marks})", part).fetchall())
    return found


def languages(db: Database, ids: Sequence[int]) -> dict[int, str]:
    """The languages of those of these passages that exist."""
    found: dict[int, str] = {}
    for at in range(0, len(ids), _BATCH):
        part = tuple(ids[at : at + _BATCH])
        marks = ", ".join("?" * len(part))
        found.update(db.execute(f"SELECT id, language FROM passage WHERE id IN ({marks})", part).fetchall())
    return found


def dated(db: Database, ids: Sequence[int]) -> list[tuple[int, str]]:
    """Of each of these passages that exists the document, and the month (ISO, "" for none) that it was changed in."""
    found: list[tuple[int, str]] = []
    for at in range(0, len(ids), _BATCH):
        part = list(ids[at : at + _BATCH])
        marks = ", ".join("?" * len(part))
        rows = db.execute(
            "SELECT d.id, substr(d.modified, 1, 7) FROM passage p JOIN document d ON d.id = p.document_id "
            f"WHERE p.id IN ({marks})", part
        )  # fmt: skip
        found.extend(rows.fetchall())
    return found


def languages_counted(db: Database) -> dict[str, int]:
    """How many passages there are of each language; an empty one where it is not known."""
    return dict(db.execute("SELECT language, count(*) FROM passage GROUP BY language").fetchall())


def hashes_of(db: Database, document_id: int) -> dict[int, str]:
    """The hashes of the document's own passages, by passage id."""
    rows = db.execute("SELECT id, hash FROM passage WHERE document_id = ?", (document_id,)).fetchall()
    return {int(i): str(h) for i, h in rows}


def put_vectors(db: Database, encoder: str, rows: Iterable[tuple[str, bytes]]) -> None:
    """Store (hash, float32 bytes) pairs; those already there stay."""
    db.conn.executemany(
        "INSERT OR IGNORE INTO vector (encoder, hash, data) VALUES (?, ?, ?)", [(encoder, h, d) for h, d in rows]
    )


def vectors(db: Database, encoder: str, wanted: Iterable[str]) -> dict[str, bytes]:
    """The stored vectors among the `wanted` hashes, as float32 bytes."""
    keys = list(dict.fromkeys(wanted))
    found: dict[str, bytes] = {}
    for at in range(0, len(keys), _BATCH):
        part = keys[at : at + _BATCH]
        marks = ", ".join("?" * len(part))
        rows = db.execute(f"SELECT hash, data FROM vector WHERE encoder = ? AND hash IN ({marks})", (encoder, *part))
        found.update(rows.fetchall())
    return found


def drop_unused_vectors(db: Database) -> int:
    """Delete vectors (and what else was made of a text) that no passage needs any more. Returns how many vectors."""
    db.execute("DELETE FROM representation WHERE hash NOT IN (SELECT hash FROM passage)")
    return int(db.execute("DELETE FROM vector WHERE hash NOT IN (SELECT hash FROM passage)").rowcount)


def drop_vectors_of_others(db: Database, kept: Collection[str]) -> int:
    """Delete the vectors of all encoders but `kept`. Returns how many."""
    gone = [name for name in encoders(db) if name not in kept]
    db.conn.executemany("DELETE FROM representation WHERE encoder = ?", [(name,) for name in gone])
    return sum(int(db.execute("DELETE FROM vector WHERE encoder = ?", (name,)).rowcount) for name in gone)


def unencoded(db: Database, encoder: str) -> int:
    """How many different texts of passages have no vector of this encoder."""
    sql = "SELECT count(DISTINCT hash) FROM passage WHERE hash NOT IN (SELECT hash FROM vector WHERE encoder = ?)"
    return int(db.execute(sql, (encoder,)).fetchone()[0])


def drop_vectors(db: Database, gone: Iterable[str]) -> int:
    """Delete the vectors of these hashes that no passage needs any more. Returns how many such are left (zero)."""
    unused = [h for h in set(gone) if db.execute("SELECT 1 FROM passage WHERE hash = ?", (h,)).fetchone() is None]
    left = 0
    for encoder in encoders(db):
        for content in unused:
            for table in ("vector", "representation"):
                key = f"FROM {table} WHERE encoder = ? AND hash = ?"
                db.execute(f"DELETE {key}", (encoder, content))
                left += db.execute(f"SELECT 1 {key}", (encoder, content)).fetchone() is not None
    return left


def encoders(db: Database) -> list[str]:
    """The encoders that vectors are kept of, found by hopping over the index rather than through all vectors."""
    rows = db.execute(
        "WITH RECURSIVE hop (name) AS (SELECT min(encoder) FROM vector UNION ALL "
        "SELECT (SELECT min(encoder) FROM vector WHERE encoder > name) FROM hop WHERE name IS NOT NULL) "
        "SELECT name FROM hop WHERE name IS NOT NULL"
    ).fetchall()
    return [str(row[0]) for row in rows]
