"""Copies: documents of equal content share one text and one set of passages, those of their owner.

A copy's row has `copy_of` set and nothing else hangs on it. When the owner goes or changes, a copy takes over what it
held: passages keep their ids and their place in the index. Only where the index holds the owner's file name with a
passage (a document without a title) do they get new ids. Everything here is called inside a transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePath

from sqlite_utils import Database

from core.base.types import DocumentState, context_title
from core.store import families

_SHARED = (
    "external_id, hash, title, author, media_type, language, created, modified, state, reason, reader, pages, "
    "characters, warnings, ocr_pages"
)
_PASSAGE = 'ordinal, text, start, "end", first_page, last_page, heading_path, language, hash, place'


def owner(db: Database, content_hash: str, but: int = 0) -> int | None:
    """The document other than `but` that holds the passages of this content."""
    if not content_hash:
        return None
    row = db.execute(
        "SELECT id FROM document WHERE hash = ? AND copy_of IS NULL AND passages > 0 AND id != ? "
        "ORDER BY path, external_id LIMIT 1",
        (content_hash, but),
    ).fetchone()
    return int(row[0]) if row else None


def content_of(db: Database, document_id: int) -> str:
    """The content hash of a document; empty when it is not there."""
    row = db.execute("SELECT hash FROM document WHERE id = ?", (document_id,)).fetchone()
    return str(row[0]) if row else ""


def equal_to(db: Database, content_hash: str) -> tuple[int, str, str] | None:
    """Id, path and external id of the first document with passages of this content."""
    if not content_hash:
        return None
    row = db.execute(
        "SELECT id, path, external_id FROM document WHERE hash = ? AND passages > 0 ORDER BY path, external_id LIMIT 1",
        (content_hash,),
    ).fetchone()
    return (int(row[0]), str(row[1]), str(row[2])) if row else None


def share(db: Database, document_id: int, owner_id: int) -> None:
    """Make the document a copy of `owner_id`. What it held goes; its own copies follow it."""
    drop_passages(db, document_id)
    families.forget(db, document_id)
    db.execute("DELETE FROM document_text WHERE document_id = ?", (document_id,))
    db.execute("UPDATE document SET copy_of = ? WHERE copy_of = ?", (owner_id, document_id))
    db.execute(
        "UPDATE document SET copy_of = ?, (passages, family) = (SELECT passages, family FROM document WHERE id = ?) "
        "WHERE id = ? OR copy_of = ?",
        (owner_id, owner_id, document_id, owner_id),
    )


def drop_passages(db: Database, document_id: int) -> int:
    """Delete the document's own passages and take them out of search at once. Returns how many."""
    db.execute("INSERT OR IGNORE INTO tombstone SELECT id FROM passage WHERE document_id = ?", (document_id,))
    return int(db.execute("DELETE FROM passage WHERE document_id = ?", (document_id,)).rowcount)


def detach(db: Database, document_id: int) -> None:
    """The document's content is about to change or to go: its copies keep the old one, it stands alone."""
    heir = _heir(db, document_id)
    if heir is not None:
        hand_over(db, document_id, heir)
    families.forget(db, document_id)
    db.execute("UPDATE document SET copy_of = NULL WHERE id = ?", (document_id,))


def _heir(db: Database, document_id: int) -> int | None:
    row = db.execute(
        "SELECT id FROM document WHERE copy_of = ? ORDER BY path, external_id LIMIT 1", (document_id,)
    ).fetchone()
    return int(row[0]) if row else None


def hand_over(db: Database, old: int, heir: int) -> None:
    """Give text and passages of the owner `old` to its copy `heir`; `old` and the other copies are copies of that."""
    db.execute("DELETE FROM document_text WHERE document_id = ?", (heir,))
    db.execute("UPDATE document_text SET document_id = ? WHERE document_id = ?", (heir, old))
    if indexed_title(db, old) == indexed_title(db, heir):
        db.execute("UPDATE passage SET document_id = ? WHERE document_id = ?", (heir, old))
    else:
        db.execute(
            f"INSERT INTO passage ({_PASSAGE}, document_id) SELECT {_PASSAGE}, ? FROM passage WHERE document_id = ? "
            "ORDER BY ordinal",
            (heir, old),
        )
        drop_passages(db, old)
    families.hand_over(db, old, heir)
    db.execute("UPDATE document SET copy_of = ? WHERE copy_of = ? OR id = ?", (heir, old, old))
    db.execute("UPDATE document SET copy_of = NULL WHERE id = ?", (heir,))


def indexed_title(db: Database, document_id: int) -> str:
    """The title that the index holds with the passages of this document."""
    title, path, external_id = db.execute(
        "SELECT title, path, external_id FROM document WHERE id = ?", (document_id,)
    ).fetchone()
    return context_title(title, path, external_id)


def kind_of(path: str) -> str:
    """Files of equal content and kind read alike: their suffix, or their name where there is none."""
    name = PurePath(path)
    return name.suffix.lower() or name.name


def twins(db: Database, but: Collection[int] = ()) -> frozenset[tuple[str, str]]:
    """(content hash, kind) of the files, except `but`, that are read completely and well."""
    rows = db.execute(
        "SELECT id, hash, path FROM file WHERE complete = 1 AND hash != '' AND state = ?", (DocumentState.READ.value,)
    )
    return frozenset((content, kind_of(path)) for i, content, path in rows if i not in but)


def clone_file(db: Database, file_id: int, path: str, content_hash: str) -> list[int]:
    """Give the file the documents of another one of equal content, as copies. Returns their ids.

    Empty when there is no such file (any more).
    """
    rows = db.execute(
        "SELECT id, path FROM file WHERE hash = ? AND complete = 1 AND state = ? AND id != ? ORDER BY path",
        (content_hash, DocumentState.READ.value, file_id),
    ).fetchall()
    source = next((i for i, other in rows if kind_of(other) == kind_of(path)), None)
    if source is None:
        return []
    found = db.execute("SELECT id FROM document WHERE file_id = ? ORDER BY id", (source,)).fetchall()
    return [_clone(db, file_id, path, int(row[0])) for row in found]


def _clone(db: Database, file_id: int, path: str, source: int) -> int:
    external_id, content = db.execute("SELECT external_id, hash FROM document WHERE id = ?", (source,)).fetchone()
    known = db.execute(
        "SELECT id, hash FROM document WHERE path = ? AND external_id = ?", (path, external_id)
    ).fetchone()
    if known is not None and known[1] == content:
        return int(known[0])
    if known is not None:
        detach(db, known[0])
    update = ", ".join(f"{n} = excluded.{n}" for n in ("file_id", *_SHARED.split(", ")))
    db.execute(
        f"INSERT INTO document (file_id, path, size, {_SHARED}) SELECT ?, ?, size, {_SHARED} FROM document "
        f"WHERE id = ? ON CONFLICT (path, external_id) DO UPDATE SET {update}",
        (file_id, path, source),
    )
    made, shares, passages = db.execute(
        "SELECT d.id, coalesce(s.copy_of, s.id), s.passages FROM document d JOIN document s ON s.id = ? "
        "WHERE d.path = ? AND d.external_id = ?",
        (source, path, external_id),
    ).fetchone()
    if passages:
        share(db, made, shares)
        return int(made)
    drop_passages(db, made)
    db.execute("UPDATE document SET passages = 0 WHERE id = ?", (made,))
    db.execute(
        "INSERT OR REPLACE INTO document_text (document_id, text, pages, blocks) "
        "SELECT ?, text, pages, blocks FROM document_text WHERE document_id = ?",
        (made, shares),
    )
    return int(made)


def settle(db: Database) -> None:
    """Make the first document by (path, external id) the owner of each set of equal ones.

    So a library does not depend on the order in which its files came.
    """
    several = db.execute(
        "SELECT hash FROM document WHERE copy_of IS NULL AND passages > 0 AND hash != '' "
        "GROUP BY hash HAVING count(*) > 1"
    ).fetchall()
    for (content,) in several:
        first = owner(db, content)
        while first is not None and (other := owner(db, content, but=first)) is not None:
            share(db, other, first)
    rows = db.execute(
        "SELECT o.id, c.id FROM document c JOIN document o ON o.id = c.copy_of "
        "WHERE (c.path, c.external_id) < (o.path, o.external_id) ORDER BY c.path, c.external_id"
    ).fetchall()
    heirs: dict[int, int] = {}
    for old, heir in rows:
        heirs.setdefault(int(old), int(heir))
    for old, heir in heirs.items():
        hand_over(db, old, heir)
