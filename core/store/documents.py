"""Roots, files and documents: what the person added, what lies there, what was read of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlite_utils import Database

from core.base.files import byte_path_text, has_odd_bytes
from core.base.types import Block, BlockKind, Box, Document, DocumentState, Page, ReadDocument
from core.base.wire import to_plain
from core.store import copies

# a file's name without its folder; step 0005 has an index over the same expression
_SLASHED = "replace(path, '\\', '/')"
_NAME = f"replace({_SLASHED}, rtrim({_SLASHED}, replace({_SLASHED}, '/', '')), '') COLLATE NOCASE"
SORTS = {
    "path": "path", "name": _NAME, "title": "title", "state": "state", "pages": "pages", "passages": "passages",
    "id": "id", "seconds": "seconds", "type": "media_type", "reader": "reader",
}  # fmt: skip
_COLUMNS = (
    "id, path, external_id, title, author, media_type, language, created, modified, state, reason, reader, "
    "pages, characters, passages, warnings, size, seconds, ocr_pages, copy_of, family"
)


@dataclass(frozen=True, slots=True)
class Root:
    id: int
    path: str
    is_folder: bool
    added: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the library last saw it. `complete` says that all documents of this content are stored."""

    id: int
    root_id: int
    path: str
    size: int
    mtime_ns: int
    hash: str
    state: DocumentState
    complete: bool
    strikes: int


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def add_root(db: Database, path: str, is_folder: bool) -> int:
    db.execute("INSERT OR IGNORE INTO root (path, is_folder, added) VALUES (?, ?, ?)", (path, int(is_folder), now()))
    return int(db.execute("SELECT id FROM root WHERE path = ?", (path,)).fetchone()[0])


def add_path(db: Database, path: str, is_folder: bool) -> None:
    """Let scans read `path`: take back its removal when it lies under a root, else make it a root.

    What was removed from a root stays so when the root is only looked at once more.
    """
    if any(root.path == path for root in roots(db)):
        return
    removed = any(is_under(path, gone) or is_under(gone, path) for gone in excluded(db))
    include(db, path)
    if not (removed and any(is_under(path, root.path) for root in roots(db))):
        add_root(db, path, is_folder)


def roots(db: Database) -> list[Root]:
    rows = db.execute("SELECT id, path, is_folder, added FROM root ORDER BY path").fetchall()
    return [Root(r[0], r[1], bool(r[2]), r[3]) for r in rows]


def remove_roots(db: Database, path: str) -> None:
    """Forget the roots at or under `path`. Their files must have been deleted before."""
    for root in roots(db):
        if is_under(root.path, path):
            db.execute("DELETE FROM root WHERE id = ?", (root.id,))


def is_under(path: str, folder: str) -> bool:
    """`path` is `folder` or lies in it."""
    if has_odd_bytes(path) and not has_odd_bytes(folder):
        folder = byte_path_text(folder)
    return path == folder or path.startswith(folder.rstrip("/\\") + ("\\" if "\\" in folder else "/"))


def exclude(db: Database, path: str) -> None:
    db.execute("INSERT OR IGNORE INTO excluded (path) VALUES (?)", (path,))


def include(db: Database, path: str) -> None:
    """Take back exclusions at, under or above `path`: the person added it again."""
    for known in excluded(db):
        if is_under(known, path) or is_under(path, known):
            db.execute("DELETE FROM excluded WHERE path = ?", (known,))


def take_back(db: Database, path: str) -> None:
    """Let scans read again what was left out under exactly this path."""
    db.execute("DELETE FROM excluded WHERE path = ?", (path,))


def excluded(db: Database) -> list[str]:
    return [row[0] for row in db.execute("SELECT path FROM excluded ORDER BY path").fetchall()]


def files(db: Database) -> list[FileRow]:
    rows = db.execute("SELECT id, root_id, path, size, mtime_ns, hash, state, complete, strikes FROM file").fetchall()
    return [FileRow(r[0], r[1], r[2], r[3], r[4], r[5], DocumentState(r[6]), bool(r[7]), r[8]) for r in rows]


def put_file(db: Database, root_id: int, path: str, size: int, mtime_ns: int, content_hash: str) -> int:
    """Record a file that is about to be read. A known path keeps its id and is marked incomplete."""
    db.execute(
        "INSERT INTO file (root_id, path, size, mtime_ns, hash, state) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (path) DO UPDATE SET root_id = excluded.root_id, size = excluded.size, "
        "mtime_ns = excluded.mtime_ns, hash = excluded.hash, complete = 0, "
        # strikes are against a content: new content begins without
        "strikes = CASE WHEN file.hash IN ('', excluded.hash) THEN file.strikes ELSE 0 END",
        (root_id, path, size, mtime_ns, content_hash, DocumentState.WAITING),
    )
    return int(db.execute("SELECT id FROM file WHERE path = ?", (path,)).fetchone()[0])


def finish_file(db: Database, file_id: int, state: DocumentState, reason: str, seconds: float) -> None:
    db.execute(
        "UPDATE file SET state = ?, reason = ?, complete = 1, seconds = ?, read_at = ? WHERE id = ?",
        (state, reason, seconds, now(), file_id),
    )
    db.execute("UPDATE document SET seconds = ? WHERE file_id = ? AND external_id = ''", (seconds, file_id))


def touch_file(db: Database, file_id: int, size: int, mtime_ns: int) -> None:
    """The file's time changed, its content did not."""
    db.execute("UPDATE file SET size = ?, mtime_ns = ? WHERE id = ?", (size, mtime_ns, file_id))


def read_again(db: Database, path: str) -> bool:
    """Let the next scan read this file whatever is known of it. False when the library does not have it."""
    return bool(db.execute("UPDATE file SET complete = 0, strikes = 0 WHERE path = ?", (path,)).rowcount)


def has_path(db: Database, path: str) -> bool:
    return db.execute("SELECT 1 FROM file WHERE path = ?", (path,)).fetchone() is not None


def find_document(db: Database, path: str, external_id: str) -> tuple[int, str] | None:
    """Id and content hash of a stored document."""
    row = db.execute("SELECT id, hash FROM document WHERE path = ? AND external_id = ?", (path, external_id)).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def put_document(
    db: Database,
    file_id: int,
    path: str,
    content_hash: str,
    read: ReadDocument,
    *,
    language: str,
    size: int,
) -> int:
    """Insert or replace a document's row and text. Its passages are `core.store.passages`' part."""
    values: dict[str, Any] = {
        "file_id": file_id, "path": path, "external_id": read.external_id, "hash": content_hash, "title": read.title,
        "author": read.author, "media_type": read.media_type, "language": language, "created": read.created,
        "modified": read.modified, "state": read.state.value, "reason": read.reason, "reader": read.reader,
        "pages": len(read.pages), "characters": len(read.text), "warnings": json.dumps(list(read.warnings)),
        "size": size, "ocr_pages": json.dumps(list(read.ocr_pages)),
    }  # fmt: skip
    names = ", ".join(values)
    update = ", ".join(f"{n} = excluded.{n}" for n in values if n not in ("path", "external_id"))
    marks = ", ".join("?" * len(values))
    db.execute(
        f"INSERT INTO document ({names}) VALUES ({marks}) ON CONFLICT (path, external_id) DO UPDATE SET {update}",
        tuple(values.values()),
    )
    found = find_document(db, path, read.external_id)
    assert found is not None
    _put_text(db, found[0], read)
    return found[0]


def _put_text(db: Database, document_id: int, read: ReadDocument) -> None:
    db.execute(
        "INSERT OR REPLACE INTO document_text (document_id, text, pages, blocks) VALUES (?, ?, ?, ?)",
        (
            document_id,
            zlib.compress(read.text.encode(), 3),
            _pack(to_plain(read.pages)),
            _pack([_plain_block(block) for block in read.blocks]),
        ),
    )


def _pack(values: object) -> bytes:
    return zlib.compress(json.dumps(values, separators=(",", ":")).encode(), 3)


def _plain_block(block: Block) -> dict[str, Any]:
    """What `to_plain` gives. By hand: a book has a hundred thousand of them."""
    return {
        "kind": block.kind.value, "start": block.start, "end": block.end, "page": block.page,
        "heading_path": block.heading_path, "boxes": to_plain(block.boxes), "level": block.level, "place": block.place,
    }  # fmt: skip


_TEXT_OF = "FROM document_text WHERE document_id = (SELECT coalesce(copy_of, id) FROM document WHERE id = ?)"


def document_text(db: Database, document_id: int) -> tuple[str, tuple[Page, ...], tuple[Block, ...]] | None:
    """Text, pages and blocks of a document (a copy has those of its owner), or None when it is not there."""
    row = db.execute(f"SELECT text, pages, blocks {_TEXT_OF}", (document_id,)).fetchone()
    if row is None:
        return None
    blocks = tuple(_block(b) for b in json.loads(zlib.decompress(row[2])))
    return zlib.decompress(row[0]).decode(), _pages(row[1]), blocks


def plain_text(db: Database, document_id: int) -> str | None:
    """The text of a document alone, or None when it is not there."""
    row = db.execute(f"SELECT text {_TEXT_OF}", (document_id,)).fetchone()
    return zlib.decompress(row[0]).decode() if row else None


def document_pages(db: Database, document_id: int) -> tuple[Page, ...] | None:
    """The pages of a document alone, or None when it is not there."""
    row = db.execute(f"SELECT pages {_TEXT_OF}", (document_id,)).fetchone()
    return _pages(row[0]) if row else None


def _pages(packed: bytes) -> tuple[Page, ...]:
    return tuple(Page(**p) for p in json.loads(zlib.decompress(packed)))


def _block(plain: dict[str, Any]) -> Block:
    boxes = tuple(Box(**b) for b in plain["boxes"])
    path = tuple(plain["heading_path"])
    kind, place = BlockKind(plain["kind"]), plain.get("place", "")
    return Block(kind, plain["start"], plain["end"], plain["page"], path, boxes, plain["level"], place)


def documents(
    db: Database, *, states: Iterable[DocumentState] = (), text: str = "", sort: str = "path", descending: bool = False,
    offset: int = 0, limit: int = -1,
) -> list[Document]:  # fmt: skip
    """Documents in the given states whose path or title holds `text`, one page of them."""
    where, values = _where(states, text)
    way = "DESC" if descending else "ASC"  # of all columns alike, so that an index serves
    order = ", ".join(f"{column} {way}" for column in dict.fromkeys((SORTS[sort], "path", "external_id")))
    rows = db.execute(
        # the page is found by ids alone, so that whole rows are never sorted
        f"SELECT {_COLUMNS} FROM document WHERE id IN "
        f"(SELECT id FROM document {where} ORDER BY {order} LIMIT ? OFFSET ?) ORDER BY {order}",
        (*values, limit, offset),
    ).fetchall()
    return [_document(db, row) for row in rows]


def paths(db: Database, states: Iterable[DocumentState]) -> list[str]:
    """The files with a document in one of these states."""
    where, values = _where(states, "")
    return [row[0] for row in db.execute(f"SELECT DISTINCT path FROM document {where} ORDER BY path", tuple(values))]


def count(db: Database, *, states: Iterable[DocumentState] = (), text: str = "") -> int:
    where, values = _where(states, text)
    return int(db.execute(f"SELECT count(*) FROM document {where}", tuple(values)).fetchone()[0])


def _where(states: Iterable[DocumentState], text: str) -> tuple[str, list[str]]:
    clauses, values = [], [s.value for s in states]
    if values:
        clauses.append(f"state IN ({', '.join('?' * len(values))})")
    if text:
        clauses.append("(path LIKE ? ESCAPE '\\' OR title LIKE ? ESCAPE '\\')")
        pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        values += [pattern, pattern]
    return ("WHERE " + " AND ".join(clauses) if clauses else ""), values


def document(db: Database, document_id: int) -> Document | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM document WHERE id = ?", (document_id,)).fetchone()
    return _document(db, row) if row else None


def _document(db: Database, row: tuple[Any, ...]) -> Document:
    tags = db.execute("SELECT tag FROM tag WHERE document_id = ? ORDER BY tag", (row[0],)).fetchall()
    return Document(
        id=row[0], path=row[1], external_id=row[2], title=row[3], author=row[4], media_type=row[5], language=row[6],
        created=row[7], modified=row[8], state=DocumentState(row[9]), reason=row[10], reader=row[11], pages=row[12],
        characters=row[13], passages=row[14], warnings=tuple(json.loads(row[15])), tags=tuple(t[0] for t in tags),
        size=row[16], seconds=row[17], ocr_pages=tuple(json.loads(row[18])), copy_of=row[19],
        family=abs(row[20]) if row[20] is not None else None,
    )  # fmt: skip


def counts(db: Database) -> dict[DocumentState, int]:
    """How many documents are in each state."""
    rows = db.execute("SELECT state, count(*) FROM document GROUP BY state").fetchall()
    return {DocumentState(state): n for state, n in rows}


def delete_document(db: Database, document_id: int) -> int:
    """Delete a document, and take its passages out of search at once unless a copy takes them over.

    Returns the passages gone.
    """
    copies.detach(db, document_id)
    gone = copies.drop_passages(db, document_id)
    db.execute("DELETE FROM document WHERE id = ?", (document_id,))
    return gone


def of_files(db: Database, file_ids: Sequence[int]) -> list[int]:
    """The documents of files: copies first, so that owners that go too hand nothing over to them."""
    rows = [
        row
        for file_id in file_ids
        for row in db.execute("SELECT copy_of IS NULL, id FROM document WHERE file_id = ?", (file_id,)).fetchall()
    ]
    return [int(i) for _, i in sorted(rows)]


def stored_texts(db: Database, ids: Iterable[int]) -> int:
    """How many of these documents have a text in the database."""
    sql = "SELECT count(*) FROM document_text WHERE document_id = ?"
    return sum(int(db.execute(sql, (i,)).fetchone()[0]) for i in ids)


def others_of(db: Database, file_id: int, keep: set[int]) -> list[int]:
    """The documents of a file that its newest content no longer holds, in the order of `of_files`."""
    return [i for i in of_files(db, [file_id]) if i not in keep]


def set_tags(db: Database, document_id: int, tags: Iterable[str]) -> None:
    db.execute("DELETE FROM tag WHERE document_id = ?", (document_id,))
    for tag in tags:
        db.execute("INSERT OR IGNORE INTO tag (document_id, tag) VALUES (?, ?)", (document_id, tag))


def facets(db: Database) -> dict[str, list[tuple[str, int]]]:
    """Values to filter by, each with its number of documents, the most frequent first."""
    readable = f"state IN ('{DocumentState.READ}', '{DocumentState.TRUNCATED}', '{DocumentState.UNFINISHED}')"

    def grouped(sql: str) -> list[tuple[str, int]]:
        return [(str(v), int(n)) for v, n in db.execute(sql).fetchall() if v]

    counted = f"count(*) n FROM document WHERE {readable} GROUP BY 1 ORDER BY n DESC, 1"
    return {
        "types": grouped(f"SELECT media_type, {counted}"),
        "languages": grouped(f"SELECT language, {counted}"),
        "tags": grouped("SELECT tag, count(*) n FROM tag GROUP BY 1 ORDER BY n DESC, 1"),
        "folders": grouped(
            "SELECT r.path, count(*) n FROM document d JOIN file f ON f.id = d.file_id JOIN root r ON r.id = f.root_id "
            "GROUP BY 1 ORDER BY 1"
        ),
    }
